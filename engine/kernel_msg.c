/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Messages, put and get that the driver carries, and its part of probes. */
#include "atomic.h"
#include "kernel.h"
#include "probe.h"
#include "serve.h"
#include "uapi/o2g.h"

/* struct o2g_seg is a struct iovec. */
void kern_set_buffer(struct o2gd_sqe *e, const struct o2g_req *r)
{
	e->len = r->len;
	if (r->nsegs == 1) {
		e->addr = (uintptr_t)r->segs[0].base;
		e->nsegs = 0;
	} else {
		e->addr = (uintptr_t)r->segs;
		e->nsegs = r->nsegs;
	}
}

static int submit(struct o2g_ep *ep, struct eng_req *r, struct o2gd_sqe *e)
{
	if (r->core.view) /* the driver knows addresses only */
		return -EOPNOTSUPP;
	e->slot = r->slot;
	kern_set_buffer(e, &r->core);
	return kern_submit(ep, r, e);
}

/* --- sending --- */

static int inject(struct o2g_ep *ep, u32 rank, u64 tag, const void *buf,
		  size_t len)
{
	struct o2gd_inject i = { .peer = rank,
				 .len = (u32)len,
				 .tag = tag,
				 .addr = (uintptr_t)buf };
	int err;

	if (kern_batch_take(ep, i.peer, tag, buf, len))
		return 0;
	if (unlikely(ep->kern->batch.len && kern_batch_flush(ep)))
		return -ENOMEM;
	err = kern_call(ep->kern, O2GD_INJECT, &i);
	kern_batch_left(ep);
	return err;
}

int kern_inject(struct o2g_ep *ep, struct eng_peer *p, u64 tag, const void *buf,
		size_t len)
{
	if (len > O2GD_SMALL || inject(ep, p->cp.core.rank, tag, buf, len))
		return -EAGAIN;
	return 0;
}

int kern_send(struct o2g_ep *ep, struct eng_req *r)
{
	const struct o2g_req *c = &r->core;
	struct o2gd_sqe e = { .op = O2GD_OP_SEND,
			      .tag = c->tag,
			      .peer = c->peer->rank };

	if (c->flags & O2G_REQF_SYNC)
		e.flags |= O2GD_SYNC;
	if (c->flags & O2G_REQF_SERVED)
		e.flags |= O2GD_SERVED;
	if (!e.flags && c->nsegs == 1 && c->len <= O2GD_SMALL &&
	    !inject(ep, e.peer, c->tag, c->segs->base, c->len)) {
		eng_req_finish(ep, r, 0);
		return 0;
	}
	return submit(ep, r, &e);
}

/* --- receiving --- */

int kern_post(struct o2g_ep *ep, struct eng_req *r)
{
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = r->slot,
			      .peer = r->core.match.src,
			      .tag = r->core.match.tag,
			      .ignore = r->core.match.ignore };

	if (r->core.view || r->core.len > O2GD_SMALL)
		return submit(ep, r, &e);
	e.len = r->core.len;
	r->in_driver = true;
	kern_post_small(ep, &e, r->core.peer && r->core.peer->down);
	return 0;
}

int kern_mrecv(struct o2g_ep *ep, struct eng_req *r, u64 handle)
{
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV, .key = handle };

	return submit(ep, r, &e);
}

/* Asked only if it has anything at all. */
int kern_probe(struct o2g_ep *ep, struct eng_probe *p)
{
	struct o2gd_probe args = { .source = p->src,
				   .take = p->take,
				   .tag = p->tag,
				   .ignore = p->ignore };
	int err;

	if (!__atomic_load_n(&ep->kern->shared->unexpected, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	err = kern_call(ep->kern, O2GD_PROBE, &args);
	if (err)
		return err == -ENOTCONN ? -O2G_ERR_PEER : err;
	p->handle = args.handle;
	p->status = (struct o2g_status){ .source = (int)args.from,
					 .tag = args.msg_tag,
					 .length = args.length,
					 .message_length = args.length };
	return 0;
}

/* --- messages for handlers --- */

bool kern_serve(struct o2g_ep *ep, u32 source)
{
	struct o2gd_probe args = { .source = source, .take = O2GD_TAKE_SERVED };
	struct eng_peer *p;

	if (kern_call(ep->kern, O2GD_PROBE, &args))
		return false;
	p = eng_peer_get(ep, (int)args.from);
	if (p)
		eng_serve_handed(p, args.msg_tag, args.length, args.handle);
	return true;
}

void kern_next_served(struct o2g_ep *ep, struct eng_peer *p)
{
	/* Unless it is forgotten, and another has its number. */
	if (ep->kern->fd >= 0 && eng_peer_get(ep, (int)p->cp.core.rank) == p)
		kern_serve(ep, p->cp.core.rank);
}

/* --- put, get and atomics --- */

static int atomic(struct o2g_ep *ep, struct eng_req *r)
{
	const struct o2g_req *c = &r->core;
	struct o2gd_sqe e = { .op = O2GD_OP_ATOMIC,
			      .slot = r->slot,
			      .peer = c->peer->rank,
			      .tag = O2GD_ATOMIC(c->op, c->type),
			      .len = c->len,
			      .key = c->key,
			      .offset = c->offset };
	bool fetch = c->flags & O2G_REQF_FETCH;

	/* It knows addresses only, and keeps results in memory of its own. */
	if (fetch && (c->result_view || c->len > O2GD_SMALL))
		return -EOPNOTSUPP;
	if (fetch)
		e.flags = O2GD_FETCH_OLD;
	return c->op == O2G_AOP_NO_OP ? kern_submit(ep, r, &e) :
					submit(ep, r, &e);
}

int kern_rma(struct o2g_ep *ep, struct eng_req *r)
{
	struct o2gd_sqe e = { .op = r->core.kind == O2G_REQ_PUT ? O2GD_OP_PUT :
								  O2GD_OP_GET,
			      .peer = r->core.peer->rank,
			      .key = r->core.key,
			      .offset = r->core.offset };

	if (r->core.kind == O2G_REQ_ATOMIC)
		return atomic(ep, r);
	return submit(ep, r, &e);
}

_Static_assert(O2GD_CAS == O2G_AOP_CAS, "compare-and-swap, likewise");
_Static_assert(O2GD_ANY == O2G_MATCH_ANY, "any source, here and in the driver");
