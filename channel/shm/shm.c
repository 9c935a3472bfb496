/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "shm.h"

#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_WITH_FULL_RINGS 8
#define SMALL_RING (32u << 10)

static u32 power_at_most(u64 n)
{
	u32 p = 1;

	while (p < SHM_DATA_MAX && (u64)p * 2 <= n)
		p *= 2;
	return p;
}

static u32 clamp(u32 n, u32 min, u32 max)
{
	return n < min ? min : n > max ? max : n;
}

/* With n ranks on a host there may be n * n rings: unless the user has set
 * their size, many ranks get smaller ones. */
static u64 ring_size(struct shm *s)
{
	u64 ring = o2g_settings()->shm_ring;
	unsigned ranks = chan_ep_local_size(s->chan.ep);

	if (o2g_setting_given(&o2g_settings()->shm_ring))
		return ring;
	for (; ranks > RANKS_WITH_FULL_RINGS && ring > SMALL_RING; ranks /= 2)
		ring /= 2;
	return ring;
}

static void choose_sizes(struct shm *s)
{
	u64 ring = ring_size(s);

	s->data = clamp(power_at_most(ring), SHM_DATA_MIN, SHM_DATA_MAX);
	s->cells = clamp(s->data / 256, SHM_CELLS_MIN, SHM_CELLS_MAX);
	if (ring < SHM_DATA_MIN || ring > SHM_DATA_MAX)
		o2g_warn(
			"O2G_SHM_RING is %llu, but 16k to 1g is possible; using %u",
			(unsigned long long)ring, s->data);
}

static int shm_open_channel(struct chan_ep *ep, struct chan **chan, char *why,
			    size_t why_size)
{
	struct shm *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	s->chan.ops = &shm_chan_ops;
	s->chan.ep = ep;
	s->core = chan_ep_core(ep);
	s->rank = chan_ep_rank(ep);
	s->use_get = o2g_settings()->shm_get;
	s->own.fd = -1;
	o2g_list_init(&s->pending);
	o2g_list_init(&s->links);
	o2g_list_init(&s->graves);
	gethostname(s->host, sizeof(s->host) - 1);
	choose_sizes(s);
	s->can_barrier = shm_barrier_setup();
	err = shm_seg_create(s, why, why_size);
	if (err)
		goto err_free;
	err = shm_bell_open(s, why, why_size);
	if (err)
		goto err_seg;
	s->chan.waiting = &s->own.head->waiting;
	*chan = &s->chan;
	return 0;

err_seg:
	shm_seg_close(&s->own);
	shm_hall_leave(s);
err_free:
	free(s);
	return err;
}

static void shm_close_channel(struct chan *c)
{
	struct shm *s = container_of(c, struct shm, chan);

	while (!o2g_list_empty(&s->links))
		shm_drop_link(o2g_list_first(&s->links, struct shm_link, all),
			      false);
	shm_bury(s);
	if (s->alive_timer_set)
		chan_timer_del(s->chan.ep, &s->alive_timer);
	shm_bell_close(s);
	shm_seg_close(&s->own);
	shm_hall_leave(s);
	free(s->scan);
	free(s->mine);
	free(s);
}

/* "node=N,pid=P,token=T,fd=F,at=A" or, at the end, path=… instead of the last
 * two, since a path may hold a comma. */
int shm_card(struct chan *c, char *buf, size_t size)
{
	struct shm *s = container_of(c, struct shm, chan);
	const struct shm_head *h = s->own.head;
	char where[300];
	int n;

	if (strchr(s->own.path, ';'))
		return -EINVAL;
	if (s->own.path[0])
		snprintf(where, sizeof(where), "path=%s", s->own.path);
	else
		snprintf(where, sizeof(where), "fd=%d,at=%llu", s->own.fd,
			 (unsigned long long)s->own.at);
	n = snprintf(buf, size, "node=%s,pid=%u,token=%016llx,%s",
		     chan_ep_node(c->ep), h->pid, (unsigned long long)h->token,
		     where);
	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

int shm_parse_card(const char *card, struct shm_where *w)
{
	unsigned long long token, offset;
	int at = 0;

	memset(w, 0, sizeof(*w));
	w->fd = -1;
	if (sscanf(card, "node=%39[^,],pid=%u,token=%llx,%n", w->node, &w->pid,
		   &token, &at) != 3 ||
	    !at)
		return -EINVAL;
	w->token = token;
	card += at;
	if (sscanf(card, "fd=%d,at=%llu", &w->fd, &offset) == 2) {
		w->at = offset;
		return w->fd >= 0 && w->pid && !(offset % SHM_PAGE) ? 0 :
								      -EINVAL;
	}
	if (strncmp(card, "path=/", 6) || strlen(card + 5) >= sizeof(w->path))
		return -EINVAL;
	strcpy(w->path, card + 5);
	return 0;
}

/* Also one that has ended: connecting says so. */
static bool shm_reaches(struct chan *c, const char *card)
{
	struct shm_where w;

	return !shm_parse_card(card, &w) &&
	       !strcmp(w.node, chan_ep_node(c->ep)) &&
	       (shm_seg_openable(&w) || shm_process_ended(w.pid, -1));
}

static void shm_describe(struct chan *c, struct chan_peer *p, char *buf,
			 size_t size)
{
	const struct shm_link *l = p->link;

	snprintf(buf, size, "pid %d -> pid %u", getpid(), l ? l->pid : 0);
}

static bool shm_waits(struct chan *c, struct chan_peer *p)
{
	const struct shm_link *l = p->link;

	return l && l->theirs &&
	       __atomic_load_n(&l->theirs->waiting, __ATOMIC_RELAXED);
}

/* Nothing is ever held back. */
static void shm_flush(struct chan *c)
{
}

const struct chan_ops shm_chan_ops = {
	.name = "shm",
	.local = true,
	.open = shm_open_channel,
	.close = shm_close_channel,
	.card = shm_card,
	.reaches = shm_reaches,
	.connect = shm_connect,
	.meet = shm_meet,
	.known = shm_known,
	.disconnect = shm_disconnect,
	.send = shm_send,
	.inject = shm_inject,
	.poll = shm_poll,
	.flush = shm_flush,
	.arm = shm_arm,
	.disarm = shm_disarm,
	.nudge = shm_nudge,
	.get = shm_get,
	.put = shm_put,
	.set_key = shm_set_key,
	.find_key = shm_find_key,
	.deny = shm_deny,
	.waits = shm_waits,
	.describe = shm_describe,
};
