// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the core asks of its engine: completion, unexpected messages, memory.
 * All of it runs under ep->lock, mostly in softirq, and none of it copies more
 * than a few bytes: a body that has to move from an unexpected message to a
 * receive does so by changing the owner of its piece of the dump area, and user
 * space copies it out of there.
 */
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

/* Give back what it holds; a body that waits for O2GD_FETCH stays. */
void o2gk_req_release(struct o2gk_ep *ep, struct o2gk_req *r)
{
	if (r->pin)
		o2gk_pin_later(ep, r->pin);
	r->pin = NULL;
	if (r->iov != &r->iov0)
		kvfree(r->iov);
	r->iov = NULL;
	kfree(r->out);
	r->out = NULL;
	if (r->kbuf && r->done.cqe.where != O2GD_AT_DRIVER) {
		kfree(r->kbuf);
		r->kbuf = NULL;
	}
}

static void fill_cqe(struct o2gk_req *r)
{
	const struct o2g_req *req = &r->core;
	struct o2gd_cqe *cqe = &r->done.cqe;
	bool recv = req->kind == O2G_REQ_RECV;

	cqe->slot = r->slot;
	cqe->status = req->status;
	cqe->source = req->peer ? req->peer->rank : O2GD_ANY;
	cqe->tag = req->tag;
	cqe->length = recv ? req->got : req->len;
	cqe->msg_len = recv ? req->msg_len : req->len;
}

/* The body of a receive that failed is nobody's. */
static void drop_body(struct o2gk_ep *ep, struct o2gk_req *r)
{
	o2gk_dump_free(ep, r->done.dump);
	r->done.dump = 0;
	r->done.cqe.where = O2GD_AT_BUFFER;
}

static void req_complete(struct o2g_core *c, struct o2g_req *req)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_req *r = o2gk_req_of(req);
	bool out = req->kind == O2G_REQ_SEND || req->kind == O2G_REQ_PUT;
	bool silent = r->quiet || (r->inside && out && req->status == 0);

	if (req->kind == O2G_REQ_REPLY) {
		o2gk_mem_put(ep, r->mem);
		kfree(r);
		return;
	}
	if (silent || (req->status && req->status != -O2G_ERR_TRUNCATED))
		drop_body(ep, r);
	fill_cqe(r);
	o2gk_req_release(ep, r);
	if (!silent) {
		o2gk_cq_post(ep, &r->done);
		return;
	}
	r->done_inside = true;
	r->phase = O2GK_FREE;
	r->gen++;
	r->core.id = 0;
}

static struct o2g_req *req_by_id(struct o2g_core *c, u64 id)
{
	struct o2gk_req *r = o2gk_req_find(o2gk_of_core(c), (u32)id - 1);

	if (!r || r->phase != O2GK_BUSY || r->core.id != id ||
	    r->core.state == O2G_ST_DONE || r->core.state == O2G_ST_NEW)
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

/* --- where bodies of small receives go --- */

int o2gk_recv_resolve(struct o2gk_ep *ep, struct o2g_req *req)
{
	struct o2gk_req *r = o2gk_req_of(req);
	struct o2gd_cqe *cqe = &r->done.cqe;
	struct o2g_seg *seg = &r->core.seg0;
	u64 want = r->core.kind == O2G_REQ_RECV ?
			   min(r->core.len, r->core.msg_len) :
			   r->core.len;

	lockdep_assert_held(&ep->lock);
	seg->type = O2GK_SEG_KERNEL;
	seg->off = 0;
	if (want <= O2GD_INLINE) {
		cqe->where = O2GD_AT_INLINE;
		seg->kaddr = cqe->data;
		return 0;
	}
	r->done.dump = o2gk_dump_alloc(ep, want);
	if (r->done.dump) {
		cqe->where = O2GD_AT_DUMP;
		cqe->off = (r->done.dump - 1) * O2GD_BLOCK;
		seg->kaddr = o2gk_dump_addr(ep, r->done.dump);
		return 0;
	}
	r->kbuf = o2gk_reserve_body(ep, want);
	if (!r->kbuf)
		return -ENOMEM;
	r->kbuf_len = want;
	cqe->where = O2GD_AT_DRIVER;
	seg->kaddr = r->kbuf;
	return 0;
}

/* From an unexpected message to the receive it belongs to. */
static void take_body(struct o2g_core *c, const struct o2g_sink *to,
		      const struct o2g_seg *from, u64 len)
{
	struct o2gk_req *r = container_of(to->segs, struct o2gk_req, core.seg0);
	struct o2gk_unexp *u = container_of(from, struct o2gk_unexp, core.body);
	struct o2gd_cqe *cqe = &r->done.cqe;

	if (len <= O2GD_INLINE) {
		memcpy(cqe->data, from->kaddr, len);
		cqe->where = O2GD_AT_INLINE;
	} else if (u->dump) {
		r->done.dump = u->dump;
		u->dump = 0;
		cqe->where = O2GD_AT_DUMP;
		cqe->off = (r->done.dump - 1) * O2GD_BLOCK;
	} else {
		r->kbuf = u->kbuf;
		r->kbuf_len = len;
		u->kbuf = NULL;
		cqe->where = O2GD_AT_DRIVER;
	}
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

static void unexp_free(struct o2g_core *c, struct o2g_unexp *unexp)
{
	struct o2gk_ep *ep = o2gk_of_core(c);
	struct o2gk_unexp *u = o2gk_unexp_of(unexp);

	ep->stats.unexpected_bytes -= unexp->body.len + sizeof(*u);
	o2gk_dump_free(ep, u->dump);
	kfree(u->kbuf);
	unexp_put(ep, u);
}

static void arrived(struct o2g_core *c, struct o2g_unexp *u)
{
	struct o2gk_ep *ep = o2gk_of_core(c);

	WRITE_ONCE(ep->arrived, ep->arrived + 1);
	WRITE_ONCE(ep->shared->arrived, ep->arrived);
	ep->wake = true;
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

const struct o2g_core_ops o2gk_core_ops = {
	.xmit = o2gk_tx_xmit,
	.inject = o2gk_tx_inject,
	.complete = req_complete,
	.find = req_by_id,
	.unexp_alloc = unexp_alloc,
	.unexp_free = unexp_free,
	.copy = take_body,
	.arrived = arrived,
	.mem = o2gk_mem_find,
	.reply_alloc = reply_alloc,
	.again = again,
	.bye = bye,
};
