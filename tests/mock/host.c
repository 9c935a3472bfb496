/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"

/* --- what channels ask for --- */

static struct host *host_of(const struct chan_ep *ep)
{
	return (struct host *)ep;
}

struct o2g_core *chan_ep_core(struct chan_ep *ep)
{
	return &host_of(ep)->core;
}

u32 chan_ep_rank(const struct chan_ep *ep)
{
	return host_of(ep)->rank;
}

const char *chan_ep_listen(const struct chan_ep *ep)
{
	return NULL;
}

const char *chan_ep_job(const struct chan_ep *ep)
{
	return host_of(ep)->job;
}

const unsigned char *chan_ep_secret(const struct chan_ep *ep)
{
	return host_of(ep)->secret;
}

unsigned chan_ep_local_size(const struct chan_ep *ep)
{
	return 2;
}

bool chan_ep_needs_network(const struct chan_ep *ep)
{
	return true;
}

int chan_ep_handover(struct chan_ep *ep, struct chan_peer *p, int fd)
{
	return 1;
}

const char *chan_ep_node(const struct chan_ep *ep)
{
	return host_of(ep)->node;
}

bool chan_ep_crowded(const struct chan_ep *ep)
{
	return false;
}

bool chan_ep_away(const struct chan_ep *ep)
{
	return host_of(ep)->away;
}

void chan_nudged(struct chan_ep *ep)
{
	host_of(ep)->nudges++;
}

u64 chan_ep_job_id(const struct chan_ep *ep)
{
	return host_of(ep)->job_id;
}

struct chan_peer *chan_ep_other(struct chan_ep *ep, u64 job, u32 rank)
{
	return job == host_of(ep)->other_job ? chan_ep_peer(ep, rank) : NULL;
}

struct chan_peer *chan_ep_peer(struct chan_ep *ep, u32 rank)
{
	struct host *h = host_of(ep);
	struct host_peer *p;

	if (rank >= HOST_PEERS)
		return NULL;
	p = &h->peers[rank];
	if (!p->known) {
		o2g_peer_init(&h->core, &p->cp.core, rank);
		p->host = h;
		p->known = true;
	}
	return &p->cp;
}

int chan_watch_add(struct chan_ep *ep, struct chan_watch *w, u32 events)
{
	struct epoll_event e = { .events = events | EPOLLET, .data.ptr = w };

	if (epoll_ctl(host_of(ep)->epfd, EPOLL_CTL_ADD, w->fd, &e))
		return -errno;
	host_of(ep)->watches++;
	return 0;
}

int chan_watch_mod(struct chan_ep *ep, struct chan_watch *w, u32 events)
{
	struct epoll_event e = { .events = events | EPOLLET, .data.ptr = w };

	return epoll_ctl(host_of(ep)->epfd, EPOLL_CTL_MOD, w->fd, &e) ? -errno :
									0;
}

void chan_watch_del(struct chan_ep *ep, struct chan_watch *w)
{
	struct host *h = host_of(ep);
	struct epoll_event *live = h->live;

	if (epoll_ctl(h->epfd, EPOLL_CTL_DEL, w->fd, NULL))
		abort(); /* deleting what is not watched is a bug */
	h->watches--;
	for (int i = 0; i < h->nlive; i++)
		if (live[i].data.ptr == w)
			live[i].data.ptr = NULL;
}

void chan_timer_set(struct chan_ep *ep, struct chan_timer *t, u64 us)
{
	if (t->link.next)
		o2g_list_del(&t->link);
	t->due_us = o2g_now_us() + us;
	o2g_list_add_tail(&t->link, &host_of(ep)->timers);
}

void chan_timer_del(struct chan_ep *ep, struct chan_timer *t)
{
	if (t->link.next)
		o2g_list_del(&t->link);
}

void chan_peer_lost(struct chan_peer *cp, int err, const char *fmt, ...)
{
	struct host_peer *p = container_of(cp, struct host_peer, cp);
	va_list ap;

	p->lost++;
	p->lost_err = err;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	if (cp->chan && cp->link)
		cp->chan->ops->disconnect(cp->chan, cp, false);
	if (p->host->chan->ops->forget)
		p->host->chan->ops->forget(p->host->chan, cp);
	o2g_proto_peer_down(&p->host->core, &cp->core, -O2G_ERR_PEER);
}

/* --- what the core asks for --- */

static struct host *host_of_core(struct o2g_core *c)
{
	return container_of(c, struct host, core);
}

static struct chan_peer *peer_of(struct o2g_peer *p)
{
	return container_of(p, struct chan_peer, core);
}

static int core_xmit(struct o2g_core *c, struct o2g_peer *p,
		     const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		     u64 len)
{
	struct chan_peer *cp = host_peer(host_of_core(c), p->rank);

	if (!cp || !cp->link)
		return -O2G_ERR_PEER;
	return cp->chan->ops->send(cp->chan, cp, h, req, off, len);
}

static void core_complete(struct o2g_core *c, struct o2g_req *req)
{
	((struct host_req *)req)->done = true;
}

static struct o2g_req *core_find(struct o2g_core *c, u64 id)
{
	struct host *h = host_of_core(c);

	if (!id || id > HOST_REQS || !h->reqs[id - 1].used ||
	    h->reqs[id - 1].done)
		return NULL;
	return &h->reqs[id - 1].r;
}

static struct o2g_unexp *core_unexp_alloc(struct o2g_core *c,
					  struct o2g_peer *p, u64 body)
{
	struct o2g_unexp *u = calloc(1, sizeof(*u) + body);

	u->body.base = u + 1;
	u->body.len = body;
	host_of_core(c)->unexp++;
	return u;
}

static void core_unexp_free(struct o2g_core *c, struct o2g_unexp *u)
{
	host_of_core(c)->unexp--;
	free(u);
}

static void core_copy(struct o2g_core *c, const struct o2g_sink *to,
		      const struct o2g_seg *from, u64 len)
{
	struct o2g_sink s = *to;

	chan_sink_write(&s, from->base, len);
}

static int core_get(struct o2g_core *c, struct o2g_req *req, u64 addr, u64 len)
{
	struct chan_peer *cp = peer_of(req->peer);

	return cp->chan->ops->get(cp->chan, cp, addr, req->segs, req->nsegs,
				  len);
}

static bool core_expose(struct o2g_core *c, struct o2g_req *req, u64 *addr)
{
	if (host_of_core(c)->no_expose || req->view || req->nsegs != 1 ||
	    !req->peer->can_get || req->len < req->peer->get_min)
		return false;
	*addr = (uintptr_t)req->segs->base;
	return true;
}

static bool core_lend(struct o2g_core *c, struct o2g_req *req, u64 len)
{
	struct chan_peer *cp = peer_of(req->peer);

	return cp->chan->ops->lend &&
	       cp->chan->ops->lend(cp->chan, cp, req, len);
}

/* No memory is registered here. */
static int core_mem(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		    u64 len, bool write, struct o2g_seg *seg)
{
	return -ENOENT;
}

static const struct o2g_core_ops core_ops = {
	.xmit = core_xmit,
	.complete = core_complete,
	.find = core_find,
	.unexp_alloc = core_unexp_alloc,
	.unexp_free = core_unexp_free,
	.copy = core_copy,
	.get = core_get,
	.mem = core_mem,
	.expose = core_expose,
	.lend = core_lend,
};

/* --- life --- */

struct host *host_create(u32 rank, const struct chan_ops *ops, char *why,
			 size_t why_size)
{
	struct host *h = calloc(1, sizeof(*h));

	h->rank = rank;
	h->job = "test";
	h->node = "0123456789abcdef";
	memset(h->secret, 7, sizeof(h->secret));
	o2g_list_init(&h->timers);
	h->epfd = epoll_create1(EPOLL_CLOEXEC);
	o2g_core_init(&h->core, &core_ops, rank, h->bins, 256, 42);
	h->core.budget_total = 16 << 20;
	h->core.budget_peer = 4 << 20;
	h->core.data_chunk = 1 << 20;
	if (ops && ops->open(host_ep(h), &h->chan, why, why_size)) {
		close(h->epfd);
		free(h);
		return NULL;
	}
	return h;
}

static void drop_unexpected(struct o2g_match_entry *e, void *arg)
{
	struct host *h = arg;

	o2g_match_remove(&h->core.match, e);
	core_unexp_free(&h->core, container_of(e, struct o2g_unexp, match));
}

void host_destroy(struct host *h, bool orderly)
{
	for (u32 i = 0; i < HOST_PEERS; i++) {
		struct host_peer *p = &h->peers[i];

		if (!p->known || p->cp.core.down)
			continue;
		if (orderly && p->cp.link)
			o2g_proto_bye(&h->core, &p->cp.core);
		if (p->cp.link)
			p->cp.chan->ops->disconnect(p->cp.chan, &p->cp,
						    orderly);
		o2g_proto_peer_down(&h->core, &p->cp.core, -O2G_ERR_PEER);
	}
	if (h->chan)
		h->chan->ops->close(h->chan);
	o2g_match_each_unexpected(&h->core.match, drop_unexpected, h);
	if (h->watches || !o2g_list_empty(&h->timers))
		abort(); /* a watch or timer outlived its channel */
	close(h->epfd);
	free(h);
}

/* --- messages --- */

static struct host_req *req_new(struct host *h)
{
	for (u32 i = 0; i < HOST_REQS; i++) {
		struct host_req *q = &h->reqs[i];

		if (q->used)
			continue;
		memset(q, 0, sizeof(*q));
		q->used = true;
		q->r.id = i + 1;
		return q;
	}
	abort();
}

/* A list of one segment is copied, so that it may be the caller's local. */
static void use_segs(struct host_req *q, const struct o2g_seg *segs, u32 nsegs)
{
	if (nsegs == 1) {
		q->r.seg0 = *segs;
		segs = &q->r.seg0;
	}
	q->r.segs = segs;
	q->r.nsegs = nsegs;
	for (u32 i = 0; i < nsegs; i++)
		q->r.len += segs[i].len;
}

static void use_view(struct host_req *q, const struct o2g_view *view,
		     size_t len)
{
	q->r.view = view;
	q->r.segs = &q->r.seg0;
	q->r.len = len;
}

static struct host_req *start_send(struct host *h, struct host_req *q, u32 to,
				   u64 tag)
{
	host_peer(h, to); /* how a message is sent depends on the channel */
	q->r.kind = O2G_REQ_SEND;
	q->r.peer = &chan_ep_peer(host_ep(h), to)->core;
	q->r.tag = tag;
	o2g_proto_send(&h->core, &q->r);
	return q;
}

static struct host_req *start_recv(struct host *h, struct host_req *q, u32 from,
				   u64 tag)
{
	q->r.kind = O2G_REQ_RECV;
	if (from != O2G_MATCH_ANY)
		q->r.peer = &chan_ep_peer(host_ep(h), from)->core;
	q->r.match.src = from;
	q->r.match.tag = tag;
	o2g_proto_recv(&h->core, &q->r);
	return q;
}

struct host_req *host_send(struct host *h, u32 to, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs)
{
	struct host_req *q = req_new(h);

	use_segs(q, segs, nsegs);
	return start_send(h, q, to, tag);
}

struct host_req *host_recv(struct host *h, u32 from, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs)
{
	struct host_req *q = req_new(h);

	use_segs(q, segs, nsegs);
	return start_recv(h, q, from, tag);
}

struct host_req *host_send_buf(struct host *h, u32 to, u64 tag, const void *buf,
			       size_t len)
{
	struct o2g_seg seg = { (void *)buf, len };

	return host_send(h, to, tag, &seg, 1);
}

struct host_req *host_recv_buf(struct host *h, u32 from, u64 tag, void *buf,
			       size_t len)
{
	struct o2g_seg seg = { buf, len };

	return host_recv(h, from, tag, &seg, 1);
}

struct host_req *host_send_view(struct host *h, u32 to, u64 tag,
				const struct o2g_view *view, size_t len)
{
	struct host_req *q = req_new(h);

	use_view(q, view, len);
	return start_send(h, q, to, tag);
}

struct host_req *host_recv_view(struct host *h, u32 from, u64 tag,
				const struct o2g_view *view, size_t len)
{
	struct host_req *q = req_new(h);

	use_view(q, view, len);
	return start_recv(h, q, from, tag);
}

int host_inject(struct host *h, u32 to, u64 tag, const void *buf, u64 len)
{
	struct chan_peer *p = chan_ep_peer(host_ep(h), to);
	struct o2g_hdr hdr = { .type = O2G_PKT_EAGER,
			       .src = h->rank,
			       .dst = to,
			       .tag = tag,
			       .length = len };

	return h->chan->ops->inject(h->chan, p, &hdr, buf, len);
}

void host_req_free(struct host_req *q)
{
	q->used = false;
}

/* --- connecting --- */

struct chan_peer *host_peer(struct host *h, u32 rank)
{
	struct chan_peer *p = chan_ep_peer(host_ep(h), rank);

	if (p->chan || p->core.down)
		return p;
	if (!h->peers[rank].card[0] ||
	    h->chan->ops->connect(h->chan, p, h->peers[rank].card))
		return NULL;
	p->chan = h->chan;
	return p;
}

int host_connect(struct host *h, struct host *to)
{
	struct chan_peer *p = chan_ep_peer(host_ep(h), to->rank);
	char card[O2G_ADDRESS_MAX];
	int err;

	if (p->chan)
		return 0;
	err = to->chan->ops->card(to->chan, card, sizeof(card));
	if (err)
		return err;
	if (!h->chan->ops->reaches(h->chan, card))
		return -EHOSTUNREACH;
	err = h->chan->ops->connect(h->chan, p, card);
	if (!err)
		p->chan = h->chan;
	return err;
}

/* --- time --- */

static void run_timers(struct host *h)
{
	u64 now = o2g_now_us();
	struct o2g_list *l;
again:
	o2g_list_for_each(l, &h->timers) {
		struct chan_timer *t = container_of(l, struct chan_timer, link);

		if (t->due_us > now)
			continue;
		o2g_list_del(&t->link);
		t->fn(t);
		goto again;
	}
}

#define READY 8 /* events taken at a time */

static int take_events(struct host *h, int timeout_ms)
{
	struct epoll_event e[READY];
	int n = epoll_wait(h->epfd, e, READY, timeout_ms), packets = 0;

	h->live = e;
	h->nlive = n > 0 ? n : 0;
	for (int i = 0; i < n; i++) {
		struct chan_watch *w = e[i].data.ptr;

		if (w)
			packets += w->ready(w, e[i].events);
	}
	h->nlive = 0;
	return packets;
}

int host_round(struct host *h, int timeout_ms)
{
	const struct chan_ops *ops = h->chan->ops;
	int n;

	if (h->chan->needs_flush && !h->no_flush)
		ops->flush(h->chan);
	n = ops->poll(h->chan);
	if (n || (timeout_ms && ops->arm(h->chan)))
		timeout_ms = 0;
	h->sleeps += timeout_ms > 0;
	n += take_events(h, timeout_ms);
	ops->disarm(h->chan);
	run_timers(h);
	h->packets += n;
	return n;
}

void host_pump(struct host *h)
{
	host_round(h, 0);
}

bool host_run(struct host **hosts, u32 n, const bool *flag, int ms)
{
	u64 end = o2g_now_us() + ms * 1000ull;

	while (!*flag && o2g_now_us() < end)
		for (u32 i = 0; i < n; i++)
			host_pump(hosts[i]);
	return *flag;
}

bool host_until(struct host *h, const bool *flag, int ms, bool sleep)
{
	u64 end = o2g_now_us() + ms * 1000ull;
	u32 spins = 0;

	while (!*flag && o2g_now_us() < end) {
		if (sleep)
			host_round(h, 50);
		else if (!host_round(h, 0) && ++spins % 256 == 0)
			usleep(1); /* one core may have to do for both ends */
	}
	return *flag;
}

void host_idle(struct host **hosts, u32 n, int ms)
{
	bool never = false;

	host_run(hosts, n, &never, ms);
}
