/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the core asks of its engine: memory, completion, transmission. */
#include "core_ops.h"

#include <stdlib.h>

#include "carrier.h"
#include "clock.h"
#include "counter.h"
#include "mem.h"
#include "serve.h"

void eng_tell(struct o2g_ep *ep)
{
	u64 one = 1;

	if (ep->sleepers) {
		atomic_fetch_add(&ep->events, 1);
		eng_futex_wake(&ep->events, INT32_MAX);
	}
	if (ep->poller_asleep)
		if (write(ep->wake_fd, &one, sizeof(one)) < 0)
			return; /* full: it will wake anyway */
	if (ep->user_fd_used && !ep->user_fd_set) {
		ep->user_fd_set = true;
		if (write(ep->user_fd, &one, sizeof(one)) < 0)
			return;
	}
}

static void both_have_copied(struct o2g_req *req)
{
	struct eng_copies *c = &eng_peer_of_core(req->peer)->copies;

	if (!req->status)
		eng_copies_both_took(c, req->got, o2g_now_ns() - c->since);
	c->since = 0;
}

/* There is more to it than to say that it is done. False: do not say so. */
static noinline bool complete_marked(struct o2g_ep *ep, struct eng_req *r)
{
	/* The driver has it as well, and may have been quicker. */
	if (r->in_driver && !ep->driver->claim(ep, r))
		return false;
	if (r->timed)
		both_have_copied(&r->core);
	if (r->has_counter)
		eng_counter_done(r);
	if (r->fn) {
		r->next = NULL;
		*ep->callbacks_tail = r;
		ep->callbacks_tail = &r->next;
	} else if (r->detached) {
		eng_req_free(ep, r);
		return false;
	} else if (r->unwatched) {
		atomic_store_explicit(&r->done, true, memory_order_release);
		return false;
	}
	return true;
}

static void complete(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_ep *ep = ep_of_core(c);
	struct eng_req *r = eng_req_of(req);

	if (unlikely(r->marks || r->fn) && !complete_marked(ep, r))
		return;
	/* After this its owner may free it. Callbacks are run with the lock
	 * held, so a request with one is not freed before. */
	atomic_store_explicit(&r->done, true, memory_order_release);
	eng_event(ep);
}

void eng_run_callbacks(struct o2g_ep *ep)
{
	struct eng_req *r;

	ep->lock.depth++;
	while ((r = ep->callbacks)) {
		void (*fn)(void *) = r->fn;

		ep->callbacks = r->next;
		if (!ep->callbacks)
			ep->callbacks_tail = &ep->callbacks;
		r->fn = NULL;
		fn(r->arg);
		if (r->detached)
			eng_req_free(ep, r);
	}
	ep->lock.depth--;
}

static int xmit(struct o2g_core *c, struct o2g_peer *p, const struct o2g_hdr *h,
		struct o2g_req *req, u64 off, u64 len)
{
	struct chan_peer *cp = container_of(p, struct chan_peer, core);

	if (unlikely(!cp->chan || p->down))
		return -O2G_ERR_PEER;
	return cp->chan->ops->send(cp->chan, cp, h, req, off, len);
}

static int inject(struct o2g_core *c, struct o2g_peer *p,
		  const struct o2g_hdr *h, const void *buf, u64 len)
{
	struct chan_peer *cp = container_of(p, struct chan_peer, core);

	return cp->chan->ops->inject(cp->chan, cp, h, buf, len);
}

static struct o2g_req *find(struct o2g_core *c, u64 id)
{
	struct o2g_ep *ep = ep_of_core(c);
	u32 slot = (u32)id - 1;
	struct eng_req *r;

	if (slot >= ep->nslabs * ENG_SLAB)
		return NULL;
	r = &ep->slabs[slot / ENG_SLAB][slot % ENG_SLAB];
	if (r->core.id != id || r->core.state == O2G_ST_DONE ||
	    r->core.state == O2G_ST_NEW)
		return NULL;
	return &r->core;
}

/* Handlers are given the body where it is. */
struct eng_unexp {
	struct o2g_unexp core;
	_Alignas(16) u8 body[];
};

static struct o2g_unexp *unexp_alloc(struct o2g_core *c, struct o2g_peer *p,
				     u64 body)
{
	struct o2g_ep *ep = ep_of_core(c);
	struct eng_unexp *e = malloc(sizeof(*e) + body);
	struct o2g_unexp *u;

	if (!e)
		return NULL;
	u = &e->core;
	u->body.base = e->body;
	u->body.len = body;
	ep->unexp_bytes += body + sizeof(*u);
	if (ep->unexp_bytes > ep->unexp_peak)
		ep->unexp_peak = ep->unexp_bytes;
	return u;
}

static void unexp_free(struct o2g_core *c, struct o2g_unexp *u)
{
	ep_of_core(c)->unexp_bytes -= u->body.len + sizeof(*u);
	free(container_of(u, struct eng_unexp, core));
}

static void copy(struct o2g_core *c, const struct o2g_sink *to,
		 const struct o2g_seg *from, u64 len)
{
	struct o2g_sink s = *to;

	chan_sink_write(&s, from->base, len);
}

static void arrived(struct o2g_core *c, struct o2g_unexp *u)
{
	struct o2g_ep *ep = ep_of_core(c);

	if (unlikely(o2g_match_wants(&c->match)))
		eng_match_grow(ep);
	eng_event(ep);
}

/* Bins double as keys come; failing to get memory only costs time. */
void eng_match_grow(struct o2g_ep *ep)
{
	u32 n = o2g_match_wants(&ep->core.match);
	struct o2g_match_bin *bins = n ? calloc(n, sizeof(*bins)) : NULL;

	if (bins)
		free(o2g_match_rehash(&ep->core.match, bins, n));
}

/*
 * Two copies, by both ends at once, may be quicker than one by a single core: as
 * long as both have a core, and the sender, who could do without us, has nothing
 * else to do.
 */
#define BOTH_COPY_MIN (2u << 20)

static bool both_may_copy(struct o2g_ep *ep, struct chan_peer *cp, u64 len)
{
	return len >= BOTH_COPY_MIN && !ep->oversubscribed &&
	       cp->chan->ops->waits && cp->chan->ops->waits(cp->chan, cp);
}

/* Only one whose bytes wait for nobody else's can be timed. */
static void time_both(struct eng_peer *p, struct o2g_req *req)
{
	if (p->copies.since || !o2g_list_empty(&p->cp.core.incoming))
		return;
	p->copies.since = o2g_now_ns();
	eng_req_of(req)->timed = true;
}

static int get(struct o2g_core *c, struct o2g_req *req, u64 addr, u64 len)
{
	struct eng_peer *p = eng_peer_of_core(req->peer);
	struct chan *chan = p->cp.chan;
	u64 begin;
	int err;

	if (!chan || !chan->ops->get)
		return -EOPNOTSUPP;
	if (!both_may_copy(ep_of_core(c), &p->cp, len))
		return chan->ops->get(chan, &p->cp, addr, req->segs, req->nsegs,
				      len);
	if (eng_copies_both(&p->copies)) {
		time_both(p, req);
		return -EAGAIN;
	}
	begin = o2g_now_ns();
	err = chan->ops->get(chan, &p->cp, addr, req->segs, req->nsegs, len);
	if (!err)
		eng_copies_one_took(&p->copies, len, o2g_now_ns() - begin);
	return err;
}

static struct o2g_req *reply_alloc(struct o2g_core *c, struct o2g_peer *p)
{
	struct eng_req *r = eng_req_alloc(ep_of_core(c));

	if (!r)
		return NULL;
	r->detached = true;
	return &r->core;
}

/* A peer on this host can read one contiguous piece of our memory. */
static bool expose(struct o2g_core *c, struct o2g_req *req, u64 *addr)
{
	if (!req->peer->can_get || req->nsegs != 1 ||
	    req->len < req->peer->get_min)
		return false;
	*addr = (u64)(uintptr_t)req->segs[0].base;
	return true;
}

/* Its channel may send a large message by reference to its pages. */
static bool lend(struct o2g_core *c, struct o2g_req *req, u64 len)
{
	struct chan_peer *cp = container_of(req->peer, struct chan_peer, core);

	return cp->chan && cp->chan->ops->lend &&
	       cp->chan->ops->lend(cp->chan, cp, req, len);
}

static void departed(struct o2g_core *c, struct o2g_req *req)
{
	struct eng_req *r = eng_req_of(req);

	if (r->has_counter && !(req->flags & O2G_REQF_FETCH)) {
		eng_counter_departed(r);
		eng_event(ep_of_core(c));
	}
}

static bool claim(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_ep *ep = ep_of_core(c);

	return ep->driver->claim(ep, eng_req_of(req));
}

static void bye(struct o2g_core *c, struct o2g_peer *p)
{
	eng_bye_later(container_of(p, struct eng_peer, cp.core),
		      "it has finished");
}

const struct o2g_core_ops eng_core_ops = {
	.xmit = xmit,
	.inject = inject,
	.claim = claim,
	.complete = complete,
	.find = find,
	.unexp_alloc = unexp_alloc,
	.unexp_free = unexp_free,
	.copy = copy,
	.arrived = arrived,
	.get = get,
	.mem = eng_mem_find,
	.atomic = eng_mem_atomic,
	.peek = eng_mem_peek,
	.served = eng_serve_peer,
	.departed = departed,
	.reply_alloc = reply_alloc,
	.expose = expose,
	.lend = lend,
	.bye = bye,
};
