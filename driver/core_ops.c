// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the core asks of its engine: completion, unexpected messages, memory.
 * All of it runs under ep->lock, mostly in softirq. What differs by whom the endpoint
 * is for is asked of its front.
 */
#include "kfront.h"
#include "o2gk.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>

static struct kmem_cache *unexp_cache;

int o2gk_unexp_init(void)
{
	unexp_cache = KMEM_CACHE(o2gk_unexp, SLAB_ACCOUNT);
	return unexp_cache ? 0 : -ENOMEM;
}

void o2gk_unexp_exit(void)
{
	kmem_cache_destroy(unexp_cache);
}

/* --- requests --- */

static void req_complete(struct o2g_core *c, struct o2g_req *req)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_req *r = o2gk_req_of(req);

	if (req->kind != O2G_REQ_REPLY) {
		ep->front->done(ep, r);
		return;
	}
	o2gk_mem_put(ep, r->mem);
	kfree(r);
}

static struct o2g_req *req_by_id(struct o2g_core *c, u64 id)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_req *r = ep->front->find(ep, id);

	if (!r || r->core.id != id || r->core.state == O2G_ST_DONE ||
	    r->core.state == O2G_ST_NEW)
		return NULL;
	return &r->core;
}

static struct o2g_req *reply_alloc(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_req *r = o2gk_reserve_reply(ep);

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->core.owner = ep;
	r->mem = ep->used_mem;
	ep->used_mem = NULL;
	return &r->core;
}

static void take_body(struct o2g_core *c, const struct o2g_sink *to,
		      const struct o2g_seg *from, u64 len)
{
	struct o2gk_ep *ep = o2gk_of_core(c);

	ep->front->copy(ep, to, from, len);
}

/* --- unexpected messages --- */

struct o2gk_unexp *o2gk_unexp_new(struct o2gk_ep *ep, gfp_t gfp)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	struct o2gk_unexp *u =
		kmem_cache_alloc(unexp_cache, gfp | __GFP_NOWARN);

	set_active_memcg(before);
	return u;
}

void o2gk_unexp_drop(struct o2gk_unexp *u)
{
	if (u)
		kmem_cache_free(unexp_cache, u);
}

/* One is kept for the next: messages that come a little early come one by one. */
static struct o2gk_unexp *unexp_get(struct o2gk_ep *ep)
{
	struct o2gk_unexp *u = ep->spare;

	ep->spare = NULL;
	if (u)
		memset(u, 0, sizeof(*u));
	return u;
}

static void unexp_put(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	if (ep->spare)
		kmem_cache_free(unexp_cache, u);
	else
		ep->spare = u;
}

/*
 * Memory for its body: beside it when it will be in the completion, of the dump
 * area, or the kernel's when that is full.
 */
static bool unexp_body(struct o2gk_ep *ep, struct o2gk_unexp *u, u64 body)
{
	if (body <= O2GD_INLINE) {
		u->core.body.kaddr = u->small;
		return true;
	}
	u->dump = o2gk_dump_alloc(ep, body);
	if (u->dump) {
		u->core.body.kaddr = o2gk_dump_addr(ep, u->dump);
		return true;
	}
	u->kbuf = o2gk_reserve_body(ep, body);
	u->core.body.kaddr = u->kbuf;
	return u->kbuf;
}

static struct o2g_unexp *unexp_alloc(struct o2g_core *c, struct o2g_peer *p,
				     u64 body)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gd_info *s = &ep->stats;
	struct o2gk_unexp *u;

	u = unexp_get(ep);
	if (!u)
		return NULL;
	u->core.body.type = O2GK_SEG_KERNEL;
	u->core.body.len = body;
	if (!unexp_body(ep, u, body)) {
		unexp_put(ep, u);
		return NULL;
	}
	s->unexpected_bytes += body + sizeof(*u);
	s->unexpected_peak = max(s->unexpected_peak, s->unexpected_bytes);
	return &u->core;
}

void o2gk_unexp_end(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	ep->stats.unexpected_bytes -= u->core.body.len + sizeof(*u);
	o2gk_dump_free(ep, u->dump);
	kfree(u->kbuf);
	unexp_put(ep, u);
}

static void unexp_free(struct o2g_core *c, struct o2g_unexp *unexp)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_unexp *u = o2gk_unexp_of(unexp);

	if (!ep->kernel || o2gk_kernel_unexp_free(ep, u))
		o2gk_unexp_end(ep, u);
}

static void arrived(struct o2g_core *c, struct o2g_unexp *u)
{
	struct o2gk_ep *ep = o2gk_of_core(c);

	ep->front->arrived(ep, o2gk_unexp_of(u));
}

/* Between two turns its socket or link gets what the last has queued. */
static void again(struct o2g_core *c, struct o2g_peer *peer)
{
	struct o2gk_peer *p = o2gk_peer_of(peer);

	p->go_on = true;
	o2gk_queue(p, &p->tx_work);
}

static void bye(struct o2g_core *c, struct o2g_peer *peer)
{
	struct o2gk_peer *p = o2gk_peer_of(peer);

	p->bye = true;
	o2gk_queue(p, &p->rx_work);
}

#define COMMON_OPS                                                         \
	.xmit = o2gk_tx_xmit, .inject = o2gk_tx_inject,                    \
	.complete = req_complete, .find = req_by_id,                       \
	.unexp_alloc = unexp_alloc, .unexp_free = unexp_free,              \
	.copy = take_body, .arrived = arrived, .mem = o2gk_mem_find,       \
	.atomic = o2gk_atomic, .reply_alloc = reply_alloc, .again = again, \
	.bye = bye

const struct o2g_core_ops o2gk_core_ops = {
	COMMON_OPS,
	.served = o2gk_served,
};

/* Modules have no handlers: such messages are refused. */
const struct o2g_core_ops o2gk_kernel_ops = { COMMON_OPS };
