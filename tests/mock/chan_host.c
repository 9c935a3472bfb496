/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "chan_host.h"

#include "clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

/* --- what channels ask for --- */

struct o2g_core *chan_ep_core(struct chan_ep *ep)
{
	return &ep->core;
}

u32 chan_ep_rank(const struct chan_ep *ep)
{
	return ep->core.rank;
}

u32 chan_ep_size(const struct chan_ep *ep)
{
	return ep->size;
}

const char *chan_ep_job(const struct chan_ep *ep)
{
	return "test";
}

const unsigned char *chan_ep_secret(const struct chan_ep *ep)
{
	static const unsigned char secret[O2G_SECRET_SIZE] = "secret";

	return secret;
}

unsigned chan_ep_local_size(const struct chan_ep *ep)
{
	return ep->size;
}

int chan_ep_handover(struct chan_ep *ep, struct chan_peer *p, int fd)
{
	return 1;
}

const char *chan_ep_node(const struct chan_ep *ep)
{
	return ep->node;
}

bool chan_ep_away(const struct chan_ep *ep)
{
	return false;
}

struct chan_peer *chan_ep_peer(struct chan_ep *ep, u32 rank)
{
	if (rank >= ep->size)
		return NULL;
	if (!ep->known[rank]) {
		o2g_peer_init(&ep->core, &ep->peers[rank].core, rank);
		ep->known[rank] = true;
	}
	return &ep->peers[rank];
}

int chan_watch_add(struct chan_ep *ep, struct chan_watch *w, u32 events)
{
	struct epoll_event e = { .events = events | EPOLLET, .data.ptr = w };

	return epoll_ctl(ep->epoll, EPOLL_CTL_ADD, w->fd, &e) ? -errno : 0;
}

int chan_watch_mod(struct chan_ep *ep, struct chan_watch *w, u32 events)
{
	struct epoll_event e = { .events = events | EPOLLET, .data.ptr = w };

	return epoll_ctl(ep->epoll, EPOLL_CTL_MOD, w->fd, &e) ? -errno : 0;
}

void chan_watch_del(struct chan_ep *ep, struct chan_watch *w)
{
	epoll_ctl(ep->epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

void chan_timer_set(struct chan_ep *ep, struct chan_timer *t, u64 us)
{
	t->due_us = o2g_now_us() + us;
	if (t->link.next)
		o2g_list_del(&t->link);
	o2g_list_add_tail(&t->link, &ep->timers);
}

void chan_timer_del(struct chan_ep *ep, struct chan_timer *t)
{
	if (t->link.next)
		o2g_list_del(&t->link);
}

void chan_peer_lost(struct chan_peer *p, int err, const char *fmt, ...)
{
	struct chan_ep *ep = p->chan->ep;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ep->lost[p->core.rank], sizeof(ep->lost[0]), fmt, ap);
	va_end(ap);
	ep->lost_err[p->core.rank] = err;
	p->chan->ops->disconnect(p->chan, p, false);
	o2g_proto_peer_down(&ep->core, &p->core, err);
}

/* --- what the core asks for --- */

static struct chan_ep *ep_of(struct o2g_core *c)
{
	return container_of(c, struct chan_ep, core);
}

static struct chan_peer *peer_of(struct o2g_peer *p)
{
	return container_of(p, struct chan_peer, core);
}

static int host_xmit(struct o2g_core *c, struct o2g_peer *p,
		     const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		     u64 len)
{
	struct chan_peer *cp = host_peer(ep_of(c), p->rank);

	if (!cp || !cp->link)
		return -O2G_ERR_PEER;
	return cp->chan->ops->send(cp->chan, cp, h, req, off, len);
}

static void host_complete(struct o2g_core *c, struct o2g_req *req)
{
	ep_of(c)->reqs[req->id] = NULL;
	container_of(req, struct host_req, req)->done = true;
}

static struct o2g_req *host_find(struct o2g_core *c, u64 id)
{
	struct chan_ep *ep = ep_of(c);

	return id < HOST_REQS && ep->reqs[id] ? &ep->reqs[id]->req : NULL;
}

static struct o2g_unexp *host_unexp_alloc(struct o2g_core *c,
					  struct o2g_peer *p, u64 body)
{
	struct o2g_unexp *u = malloc(sizeof(*u) + body);

	if (u) {
		memset(u, 0, sizeof(*u));
		u->body.base = u + 1;
		u->body.len = body;
	}
	return u;
}

static void host_unexp_free(struct o2g_core *c, struct o2g_unexp *u)
{
	free(u);
}

static void host_copy(struct o2g_core *c, const struct o2g_sink *to,
		      const struct o2g_seg *from, u64 len)
{
	struct o2g_sink sink = *to;

	chan_sink_write(&sink, from->base, len);
}

static int host_get(struct o2g_core *c, struct o2g_peer *p, u64 addr,
		    const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	struct chan_peer *cp = peer_of(p);

	return cp->chan->ops->get(cp->chan, cp, addr, segs, nsegs, len);
}

static bool host_expose(struct o2g_core *c, struct o2g_req *req, u64 *addr)
{
	if (ep_of(c)->no_expose || req->nsegs != 1 || !req->peer->can_get ||
	    req->len < req->peer->get_min)
		return false;
	*addr = (uintptr_t)req->segs->base;
	return true;
}

/* No memory is registered here. */
static int host_mem(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		    u64 len, bool write, struct o2g_seg *seg)
{
	return -ENOENT;
}

static const struct o2g_core_ops host_ops = {
	.xmit = host_xmit,
	.complete = host_complete,
	.find = host_find,
	.unexp_alloc = host_unexp_alloc,
	.unexp_free = host_unexp_free,
	.copy = host_copy,
	.get = host_get,
	.mem = host_mem,
	.expose = host_expose,
};

/* --- for tests --- */

int host_open(struct chan_ep *ep, const struct chan_ops *ops, u32 rank,
	      u32 size)
{
	int err;

	memset(ep, 0, sizeof(*ep));
	ep->size = size;
	ep->node = "0123456789abcdef";
	o2g_list_init(&ep->timers);
	o2g_core_init(&ep->core, &host_ops, rank, ep->bins, 64, 1);
	ep->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = ops->open(ep, &ep->chan, ep->why, sizeof(ep->why));
	if (err) {
		close(ep->epoll);
		return err;
	}
	return ops->card(ep->chan, ep->cards[rank], sizeof(ep->cards[0]));
}

void host_close(struct chan_ep *ep)
{
	for (u32 i = 0; i < ep->size; i++) {
		struct chan_peer *p = &ep->peers[i];

		if (!ep->known[i] || p->chan != ep->chan || !p->link)
			continue;
		o2g_proto_bye(&ep->core, &p->core);
		if (p->link)
			p->chan->ops->disconnect(p->chan, p, true);
		o2g_proto_peer_down(&ep->core, &p->core, -O2G_ERR_PEER);
	}
	ep->chan->ops->close(ep->chan);
	close(ep->epoll);
}

struct chan_peer *host_peer(struct chan_ep *ep, u32 rank)
{
	struct chan_peer *p = chan_ep_peer(ep, rank);

	if (p->chan || p->core.down)
		return p;
	if (ep->chan->ops->connect(ep->chan, p, ep->cards[rank]))
		return NULL;
	p->chan = ep->chan;
	return p;
}

static void host_request(struct chan_ep *ep, struct host_req *r, u32 rank,
			 const struct o2g_seg *segs, u32 nsegs)
{
	u64 id = 1;

	while (ep->reqs[id])
		id++;
	env_assert(id < HOST_REQS);
	ep->reqs[id] = r;
	memset(r, 0, sizeof(*r));
	r->req.id = id;
	if (rank != O2G_MATCH_ANY)
		r->req.peer = &chan_ep_peer(ep, rank)->core;
	if (nsegs == 1) {
		r->seg = *segs;
		segs = &r->seg;
	}
	r->req.segs = segs;
	r->req.nsegs = nsegs;
	for (u32 i = 0; i < nsegs; i++)
		r->req.len += segs[i].len;
}

void host_isend(struct chan_ep *ep, struct host_req *r, u32 to, u64 tag,
		const struct o2g_seg *segs, u32 nsegs)
{
	host_peer(ep, to);
	host_request(ep, r, to, segs, nsegs);
	r->req.kind = O2G_REQ_SEND;
	r->req.tag = tag;
	o2g_proto_send(&ep->core, &r->req);
}

void host_irecv(struct chan_ep *ep, struct host_req *r, u32 from, u64 tag,
		const struct o2g_seg *segs, u32 nsegs)
{
	host_request(ep, r, from, segs, nsegs);
	r->req.kind = O2G_REQ_RECV;
	r->req.match.src = from;
	r->req.match.tag = tag;
	o2g_proto_recv(&ep->core, &r->req);
}

static void host_timers(struct chan_ep *ep)
{
	struct o2g_list *at;

	o2g_list_for_each(at, &ep->timers) {
		struct chan_timer *t =
			container_of(at, struct chan_timer, link);

		if (t->due_us > o2g_now_us())
			continue;
		o2g_list_del(&t->link);
		t->fn(t);
		return;
	}
}

int host_round(struct chan_ep *ep, int timeout_ms)
{
	int n = ep->chan->ops->poll(ep->chan), ready;
	struct epoll_event e;

	if (n)
		timeout_ms = 0;
	if (timeout_ms && ep->chan->ops->arm(ep->chan))
		timeout_ms = 0;
	if (timeout_ms)
		ep->sleeps++;
	ready = epoll_wait(ep->epoll, &e, 1, timeout_ms);
	ep->chan->ops->disarm(ep->chan);
	if (ready == 1) {
		struct chan_watch *w = e.data.ptr;

		n += w->ready(w, e.events);
	}
	host_timers(ep);
	return n;
}

bool host_until(struct chan_ep *ep, const bool *flag, int ms, bool sleep)
{
	u64 end = o2g_now_us() + (u64)ms * 1000;
	u32 spins = 0;

	while (!*flag) {
		if (sleep) {
			host_round(ep, 50);
		} else if (!ep->chan->ops->poll(ep->chan)) {
			o2g_cpu_relax();
			/* One core may have to do for both ends. */
			if (++spins % 1024 == 0)
				host_round(ep, 0);
			if (spins % 65536 == 0)
				usleep(1);
		}
		if (spins % 256 == 0 && o2g_now_us() > end)
			return false;
	}
	return true;
}

void chan_nudged(struct chan_ep *ep)
{
}
