/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The kernel engine's messages: to the driver, to the user engine, to both. */
#include <stdlib.h>

#include "kernel.h"
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

struct user_req *kern_req_alloc(struct user_ep *ep, const struct o2g_seg *segs,
				unsigned nsegs, int *err)
{
	struct user_req *r;

	/* The driver knows addresses only. */
	*err = -EOPNOTSUPP;
	if (nsegs == O2G_VIEW)
		return NULL;
	r = user_req_alloc(ep);
	*err = -ENOMEM;
	if (!r)
		return NULL;
	if (!user_req_set_segs(&r->core, segs, nsegs))
		return r;
	user_req_free(ep, r);
	return NULL;
}

/* --- sending --- */

/*
 * The peer if the driver carries it. NULL and *err 0: the user engine does; else
 * there is none.
 */
static struct user_peer *driver_peer(struct user_ep *ep, int rank, int *err)
{
	struct user_peer *p = NULL;

	*err = -EINVAL;
	if ((unsigned)rank >= (unsigned)ep->eng.size)
		return NULL;
	*err = 0;
	if (ep->peers[rank] && ep->peers[rank]->cp.chan)
		p = ep->peers[rank];
	else
		p = user_peer_connect(ep, rank, err);
	/* Unreachable is how the request ends, as the user engine has it. */
	if (*err && *err != -ENOMEM)
		*err = 0;
	return p && kern_carries(ep, p) ? p : NULL;
}

static int inject(struct user_ep *ep, int rank, u64 tag, const void *buf,
		  size_t len)
{
	struct o2gd_inject i = { .peer = (u32)rank,
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

void kern_set_send(struct user_req *r, struct user_peer *p, u64 tag)
{
	r->core.kind = O2G_REQ_SEND;
	r->core.peer = &p->cp.core;
	r->core.tag = tag;
}

static int start_send(struct user_ep *ep, struct user_peer *p, u64 tag,
		      const struct o2g_seg *segs, unsigned nsegs,
		      unsigned flags, struct o2g_req **req)
{
	struct o2gd_sqe e = { .op = O2GD_OP_SEND,
			      .tag = tag,
			      .peer = p->cp.core.rank,
			      .flags = flags & O2G_SYNC ? O2GD_SYNC : 0 };
	struct user_req *r;
	int err;

	r = kern_req_alloc(ep, segs, nsegs, &err);
	if (!r)
		return err;
	kern_set_send(r, p, tag);
	if (!flags && nsegs == 1 && r->core.len <= O2GD_SMALL &&
	    !inject(ep, (int)e.peer, tag, segs[0].base, segs[0].len)) {
		r->core.state = O2G_ST_DONE;
		ep->core.ops->complete(&ep->core, &r->core);
		*req = &r->core;
		return 0;
	}
	e.slot = r->slot;
	kern_set_buffer(&e, &r->core);
	err = kern_submit(ep, r, &e);
	if (err)
		user_req_free(ep, r);
	else
		*req = &r->core;
	return err;
}

int kern_isend(struct o2g_ep *o, int peer, u64 tag, const struct o2g_seg *segs,
	       unsigned nsegs, unsigned flags, struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;
	int err;

	user_lock(ep);
	ep->calls++;
	p = driver_peer(ep, peer, &err);
	if (p)
		err = start_send(ep, p, tag, segs, nsegs, flags, req);
	else if (!err)
		err = user_isend(o, peer, tag, segs, nsegs, flags, req);
	user_unlock(ep);
	return err;
}

int kern_inject(struct o2g_ep *o, int rank, u64 tag, const void *buf,
		size_t len)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p = NULL;
	int ret = -EAGAIN;

	user_lock(ep);
	if ((unsigned)rank < (unsigned)ep->eng.size)
		p = ep->peers[rank];
	if (p && kern_carries(ep, p)) {
		if (len <= O2GD_SMALL)
			ret = inject(ep, rank, tag, buf, len);
		if (ret)
			ret = -EAGAIN;
	} else {
		ret = user_inject(o, rank, tag, buf, len);
	}
	user_unlock(ep);
	return ret;
}

int kern_send(struct o2g_ep *o, int peer, u64 tag, const void *buf, size_t len,
	      unsigned flags)
{
	struct o2g_seg seg = { (void *)buf, len };
	struct o2g_req *req;
	int err;

	if (!flags && !kern_inject(o, peer, tag, buf, len))
		return 0;
	err = kern_isend(o, peer, tag, &seg, 1, flags, &req);
	return err ? err : user_wait(req, NULL);
}

/* --- receiving --- */

enum route { TO_USER, TO_DRIVER, TO_BOTH };

/* Who may get the message that a receive waits for. */
static enum route route_of(struct user_ep *ep, int source)
{
	struct user_peer *p;

	if (source == O2G_ANY_SOURCE)
		return TO_BOTH;
	if ((unsigned)source >= (unsigned)ep->eng.size ||
	    source == ep->eng.rank)
		return TO_USER;
	p = ep->peers[source];
	if (!p || !p->cp.chan)
		return TO_BOTH; /* it may come either way */
	return kern_carries(ep, p) ? TO_DRIVER : TO_USER;
}

static int post(struct user_ep *ep, struct user_req *r)
{
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = r->slot,
			      .peer = r->core.match.src,
			      .tag = r->core.match.tag,
			      .ignore = r->core.match.ignore };

	if (r->core.len > O2GD_SMALL) {
		kern_set_buffer(&e, &r->core);
		return kern_submit(ep, r, &e);
	}
	e.len = r->core.len;
	r->in_driver = true;
	kern_post_small(ep, &e, r->core.peer && r->core.peer->down);
	return 0;
}

void kern_set_recv(struct user_ep *ep, struct o2g_req *r, int source, u64 tag,
		   u64 ignore)
{
	user_req_set_recv(r, tag, ignore);
	if (source == O2G_ANY_SOURCE)
		return;
	r->match.src = (u32)source;
	r->peer = &user_peer_get(ep, source)->cp.core;
}

static int start_recv(struct user_ep *ep, enum route route, int source, u64 tag,
		      u64 ignore, const struct o2g_seg *segs, unsigned nsegs,
		      struct o2g_req **req)
{
	struct user_req *r;
	int err;

	if (source != O2G_ANY_SOURCE && !user_peer_get(ep, source))
		return -ENOMEM;
	r = kern_req_alloc(ep, segs, nsegs, &err);
	if (!r)
		return err;
	kern_set_recv(ep, &r->core, source, tag, ignore);
	*req = &r->core;
	if (route == TO_BOTH) {
		r->core.flags |= O2G_REQF_SHARED;
		o2g_proto_recv(&ep->core, &r->core);
		if (o2g_match_wants(&ep->core.match))
			user_match_grow(ep);
		if (r->core.state != O2G_ST_POSTED)
			return 0;
	}
	err = post(ep, r);
	if (err) {
		o2g_proto_withdraw(&ep->core, &r->core);
		user_req_free(ep, r);
	}
	return err;
}

int kern_irecv(struct o2g_ep *o, int source, u64 tag, u64 ignore,
	       const struct o2g_seg *segs, unsigned nsegs, struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	enum route route;
	int err;

	user_lock(ep);
	ep->calls++;
	route = route_of(ep, source);
	if (route == TO_USER)
		err = user_irecv(o, source, tag, ignore, segs, nsegs, req);
	else
		err = start_recv(ep, route, source, tag, ignore, segs, nsegs,
				 req);
	user_unlock(ep);
	return err;
}

int kern_recv(struct o2g_ep *o, int source, u64 tag, u64 ignore, void *buf,
	      size_t len, struct o2g_status *status)
{
	struct o2g_seg seg = { buf, len };
	struct o2g_req *req;
	int err = kern_irecv(o, source, tag, ignore, &seg, 1, &req);

	return err ? err : user_wait(req, status);
}

/* --- cancelling --- */

/* 0 and it is over, or why the driver keeps it. */
static int take_back(struct user_ep *ep, struct user_req *r, int status)
{
	u32 slot = r->slot;
	int err = kern_call(ep->kern, O2GD_CANCEL, &slot);

	if (err)
		return err;
	kern_left(ep, r);
	if (r->core.flags & O2G_REQF_SHARED)
		o2g_proto_withdraw(&ep->core, &r->core);
	r->core.state = O2G_ST_DONE;
	r->core.status = status;
	ep->core.ops->complete(&ep->core, &r->core);
	return 0;
}

static int cancel_driver(struct user_ep *ep, struct user_req *r)
{
	int err = take_back(ep, r, -O2G_ERR_CANCELLED);

	return err == -EINPROGRESS ? 0 : err;
}

int kern_cancel(struct o2g_req *req)
{
	struct user_ep *ep = user_ep_of_req(req);
	struct user_req *r = user_req_of(req);
	int err;

	user_lock(ep);
	err = r->in_driver ? cancel_driver(ep, r) : user_cancel(req);
	user_unlock(ep);
	return err;
}

/* Those that the core has, too, are given up there; of matched messages (which
 * come from any source here) the driver knows the end. */
static bool only_driver_has(const struct user_req *r)
{
	return r->in_driver && !(r->core.flags & O2G_REQF_SHARED) &&
	       (r->core.kind == O2G_REQ_SEND ||
		(r->core.kind == O2G_REQ_RECV &&
		 r->core.match.src != O2G_MATCH_ANY));
}

static void give_up(struct user_ep *ep, struct user_req *r,
		    bool (*doomed)(const struct o2g_req *req, void *arg))
{
	if (doomed(&r->core, ep))
		take_back(ep, r,
			  r->core.kind == O2G_REQ_SEND ? -O2G_ERR_CANCELLED :
							 -O2G_ERR_PEER);
}

void kern_give_up(struct user_ep *ep, enum o2g_req_kind kind,
		  bool (*doomed)(const struct o2g_req *req, void *arg))
{
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < USER_SLAB; j++) {
			struct user_req *r = &ep->slabs[i][j];

			if (only_driver_has(r) && r->core.kind == kind)
				give_up(ep, r, doomed);
		}
}

/* --- callbacks --- */

void kern_on_done(struct o2g_req *req, void (*fn)(void *), void *arg)
{
	struct user_ep *ep = user_ep_of_req(req);
	struct user_req *r = user_req_of(req);

	user_lock(ep);
	if (r->in_driver) {
		ep->kern->callbacks++;
		user_req_of(req)->counted = true;
		user_async_want(ep);
	}
	user_on_done(req, fn, arg);
	user_unlock(ep);
}
