/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Links. Who connects allocates the rings of both directions, so that either
 * both ends can use shared memory or neither tries; it puts its card into its
 * ring, sets its bit in the peer's segment and counts up the peer's attention.
 * The peer's next poll sees that and completes the link from its side. Both may
 * do this at the same time: there is one ring for each direction, whoever
 * allocates it.
 *
 * It can still happen that another channel carries what we send to a peer and
 * that the peer sends through shared memory. Then the link has only its
 * receiving half and p->link is not ours (not bound).
 */
#include "shm.h"

#include "log.h"

#include <stdlib.h>
#include <unistd.h>

static struct shm_link *link_find(struct shm *s, struct chan_peer *p)
{
	struct o2g_list *at;

	if (p->chan == &s->chan && p->link)
		return p->link;
	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->p == p)
			return l;
	}
	return NULL;
}

static struct shm_link *link_new(struct shm *s, struct chan_peer *p)
{
	struct shm_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->shm = s;
	l->p = p;
	l->seg.fd = -1;
	o2g_list_init(&l->queue);
	o2g_list_init(&l->pending);
	o2g_list_add_tail(&l->all, &s->links);
	return l;
}

static void warn_no_room(struct shm *s, int err)
{
	static bool said;
	unsigned kib = shm_ring_bytes(s->cells, s->data) / 1024;

	if (said)
		return;
	said = true;
	o2g_warn(
		"shm: no room for two rings of %u KiB in %s (%s); set O2G_SHM_DIR to a directory with room, O2G_SHM_RING to a smaller size, or O2G_CHANNELS=tcp",
		kib, shm_dir_given() ? o2g_settings()->shm_dir : "memory",
		strerror(-err));
}

/* Our receiving half: the peer's ring in our segment. */
static int map_rx(struct shm_link *l)
{
	int err;

	if (l->rx.ring)
		return 0;
	err = shm_ring_map(&l->shm->own, l->p->core.rank, &l->rx);
	if (err)
		return err;
	err = shm_scan_add(l);
	if (err)
		shm_ring_unmap(&l->rx);
	return err;
}

/* The peer's segment and our ring in it. */
static int map_tx(struct shm_link *l, const char *card, int *pidfd)
{
	struct shm *s = l->shm;
	struct shm_where w;
	int err;

	if (shm_parse_card(card, &w))
		return -EINVAL;
	shm_seg_close(&l->seg); /* of an earlier try */
	l->theirs = NULL;
	l->pid = w.pid;
	/*
	 * The pidfd first: if its process still lives after the segment was
	 * found through its pid, then it is that process's segment.
	 */
	*pidfd = shm_pidfd(w.pid);
	if (*pidfd == -ESRCH)
		return -ESRCH;
	err = shm_seg_open(&w, l->p->core.rank, s->size, &l->seg);
	if (err)
		return shm_process_ended(w.pid, *pidfd) ? -ESRCH : err;
	l->theirs = l->seg.head;
	if (shm_process_ended(w.pid, *pidfd))
		return -ESRCH;
	err = shm_ring_map(&l->seg, s->rank, &l->tx);
	if (err)
		return err;
	l->fence = !s->can_barrier || l->theirs->no_barrier;
	close(l->seg.fd);
	l->seg.fd = -1;
	return shm_card(&s->chan, l->tx.ring->card, SHM_CARD_MAX);
}

static void get_attention(struct shm_link *l)
{
	__atomic_fetch_add(&l->theirs->attention, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	shm_wake(l->shm, l->theirs);
}

static void announce(struct shm_link *l)
{
	u32 rank = l->shm->rank;

	__atomic_fetch_or(&l->theirs->attached[rank / 64], 1ull << rank % 64,
			  __ATOMIC_SEQ_CST);
	get_attention(l);
}

static void bind(struct shm_link *l)
{
	struct chan_peer *p = l->p;

	l->bound = true;
	p->link = l;
	p->chan = &l->shm->chan;
	if (!p->host[0])
		gethostname(p->host, sizeof(p->host) - 1);
	p->core.eager_max = o2g_settings()->shm_eager;
	p->core.inject_max = p->core.eager_max + 1;
	l->can_get = l->theirs && shm_can_get(l->shm, l);
	p->core.can_get = l->can_get;
	p->core.get_min = o2g_settings()->shm_get_min;
}

/* --- the other end has attached --- */

/*
 * A sender that we do not know yet. If it cannot be reached it may have gone
 * already, having said all it had to say: then what is in its ring is taken,
 * and answers go nowhere.
 */
static void accept_sender(struct shm *s, struct chan_peer *p)
{
	struct shm_link *l = link_new(s, p);
	char card[SHM_CARD_MAX];
	int pidfd = -1, err;

	if (!l)
		return;
	if (map_rx(l)) {
		shm_drop_link(l, false);
		return;
	}
	memcpy(card, l->rx.ring->card, sizeof(card));
	card[sizeof(card) - 1] = '\0';
	err = map_tx(l, card, &pidfd);
	if ((p->chan && p->chan != &s->chan) ||
	    (err && err != -ESRCH && err != -ENOENT)) {
		shm_ring_unmap(&l->tx);
		if (pidfd >= 0)
			close(pidfd);
		return;
	}
	bind(l);
	if (!err) {
		shm_watch_process(l, pidfd);
		announce(l);
		return;
	}
	if (pidfd >= 0)
		close(pidfd);
	/* Not from here: connect may have called, from inside the core. */
	l->gone = true;
	__atomic_fetch_add(&s->own.head->attention, 1, __ATOMIC_SEQ_CST);
}

static void attend_attached(struct shm *s)
{
	for (u32 i = 0; i < (s->size + 63) / 64; i++) {
		u64 bits = __atomic_load_n(&s->own.head->attached[i],
					   __ATOMIC_ACQUIRE);

		for (; bits; bits &= bits - 1) {
			u32 rank = i * 64 + __builtin_ctzll(bits);
			struct chan_peer *p;

			if (rank >= s->size || rank == s->rank ||
			    s->known[i] & (1ull << rank % 64))
				continue;
			s->known[i] |= 1ull << rank % 64;
			p = chan_ep_peer(s->chan.ep, rank);
			if (p && !p->core.down && !link_find(s, p))
				accept_sender(s, p);
		}
	}
}

/* --- connecting --- */

int shm_connect(struct chan *c, struct chan_peer *p, const char *card)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_link *l;
	int pidfd = -1, err;

	/* It may have come to us first, and even be gone again. */
	attend_attached(s);
	l = link_find(s, p);
	if (l && l->bound)
		return 0;
	if (!l)
		l = link_new(s, p);
	if (!l)
		return -ENOMEM;
	err = map_tx(l, card, &pidfd);
	if (!err)
		err = map_rx(l);
	if (err) {
		if (err == -ENOSPC || err == -ENOMEM)
			warn_no_room(s, err);
		if (pidfd >= 0)
			close(pidfd);
		/* Not announced: the peer must not see it close either. */
		shm_ring_unmap(&l->tx);
		shm_drop_link(l, false);
		return err;
	}
	bind(l);
	shm_watch_process(l, pidfd);
	announce(l);
	return 0;
}

/* --- the other end has closed --- */

static void attend_closed(struct shm *s)
{
	struct o2g_list *at;
again:
	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->saw_close || !l->rx.ring ||
		    !(l->gone ||
		      __atomic_load_n(&l->rx.ring->closed, __ATOMIC_ACQUIRE)))
			continue;
		l->saw_close = true;
		shm_drain(l);
		if (!l->dead)
			shm_scan_del(l);
		if (!l->dead && l->bound && !l->p->core.said_bye)
			chan_peer_lost(l->p, -O2G_ERR_PEER,
				       l->gone ? "its process has ended" :
						 "it closed the connection");
		goto again; /* the list may have changed */
	}
}

void shm_attend(struct shm *s)
{
	s->attention =
		__atomic_load_n(&s->own.head->attention, __ATOMIC_SEQ_CST);
	s->depth++;
	attend_attached(s);
	attend_closed(s);
	s->depth--;
}

/* --- the end of a link --- */

static void drop_queue(struct shm_link *l)
{
	while (!o2g_list_empty(&l->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&l->queue, struct o2g_tx, link);

		o2g_list_del(&tx->link);
		if (!tx->req)
			free(tx);
	}
	o2g_list_del(&l->pending);
}

/*
 * The link is out of every list and of p->link at once; its memory and its
 * rings stay until no loop is under way that may hold it.
 */
void shm_drop_link(struct shm_link *l, bool orderly)
{
	struct shm *s = l->shm;

	if (l->dead)
		return;
	if (orderly && l->tx.ring && !l->failed)
		shm_push_last(l);
	l->dead = true;
	drop_queue(l);
	shm_scan_del(l);
	shm_unwatch_process(l);
	if (l->tx.ring) {
		__atomic_store_n(&l->tx.ring->closed, 1, __ATOMIC_RELEASE);
		get_attention(l);
	}
	if (l->bound)
		l->p->link = NULL;
	o2g_list_del(&l->all);
	o2g_list_add_tail(&l->all, &s->graves);
	shm_bury(s);
}

void shm_bury(struct shm *s)
{
	while (!s->depth && !o2g_list_empty(&s->graves)) {
		struct shm_link *l =
			o2g_list_first(&s->graves, struct shm_link, all);

		o2g_list_del(&l->all);
		shm_ring_unmap(&l->tx);
		shm_ring_unmap(&l->rx);
		shm_seg_close(&l->seg);
		free(l);
	}
}

void shm_disconnect(struct chan *c, struct chan_peer *p, bool orderly)
{
	if (p->link)
		shm_drop_link(p->link, orderly);
}
