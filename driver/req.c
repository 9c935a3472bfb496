// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests: submitted by system call, or, for small receives, through the
 * posting ring. Either way the numbers come from user space, once, into the
 * driver's own copy, and are checked there.
 */
#include "o2gk.h"

#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "atomic.h"

#define SQ_TURN 256 /* entries of the ring, then others get the lock */

struct o2gk_req *o2gk_req_find(struct o2gk_ep *ep, u32 slot)
{
	if (slot >= ep->file.nslots)
		return NULL;
	return &ep->file.slabs[slot / O2GK_SLAB][slot % O2GK_SLAB];
}

/* What a request needs before it may be started. */
struct prep {
	struct o2g_seg seg;
	void *result; /* of an atomic */
	struct o2gk_pin *pin;
	struct iovec *iov, iov0;
	struct o2gk_ctl *out;
};

static void prep_drop(struct prep *p)
{
	o2gk_pin_free(p->pin);
	if (p->iov != &p->iov0)
		kvfree(p->iov);
	kfree(p->out);
	kfree(p->result);
}

/* --- memory, before the lock is taken --- */

static int prep_import(struct prep *p, const struct o2gd_sqe *e)
{
	p->seg.type = O2GK_SEG_USER;
	return o2gk_iov_import(e->addr, e->nsegs, e->len, &p->iov0, &p->iov,
			       &p->seg.n);
}

/* Refused: whoever copies does so with the process's memory. */
static void prep_pin(struct o2gk_ep *ep, struct prep *p, bool write)
{
	p->pin = o2gk_pin_user(ep, p->iov, p->seg.n, write);
	if (!p->pin)
		return;
	p->seg.type = O2GK_SEG_PAGES;
	p->seg.pin = p->pin;
}

/*
 * A small body is copied, to where it will leave from: it can then be sent by anybody
 * at any time, and takes no memory then.
 */
static int prep_send(struct o2gk_ep *ep, struct prep *p,
		     const struct o2gd_sqe *e)
{
	struct iov_iter iter;
	int err = prep_import(p, e);

	if (err)
		return err;
	if (e->len > O2GD_SMALL) {
		if (o2gk_local_wants(ep, e))
			prep_pin(ep, p, false);
		return 0;
	}
	p->seg.type = O2GK_SEG_KERNEL;
	p->out = o2gk_ctl_alloc(ep, e->len, GFP_KERNEL);
	if (!p->out)
		return -ENOMEM;
	p->seg.kaddr = p->out->body;
	iov_iter_init(&iter, ITER_SOURCE, p->iov, p->seg.n, e->len);
	return copy_from_iter_full(p->out->body, e->len, &iter) ? 0 : -EFAULT;
}

static int prep_recv(struct o2gk_ep *ep, struct prep *p,
		     const struct o2gd_sqe *e)
{
	int err;

	p->seg.type = O2GK_SEG_LATER;
	if (e->len <= O2GD_SMALL)
		return 0;
	err = prep_import(p, e);
	if (err)
		return err;
	prep_pin(ep, p, true);
	return 0;
}

/*
 * The results of an atomic are few, and kept. Operands that leave in one packet are copied,
 * as those of a put are; the packets of others are sent from where they are, one by one.
 */
static int prep_atomic(struct o2gk_ep *ep, struct prep *p,
		       const struct o2gd_sqe *e)
{
	int err;

	if (e->flags & O2GD_FETCH_OLD) {
		p->result = o2gk_alloc(ep, e->len, GFP_KERNEL);
		if (!p->result)
			return -ENOMEM;
	}
	if ((u8)e->tag == O2G_AOP_NO_OP) /* it has none */
		return 0;
	if (e->len <= 8 || (u8)e->tag == O2G_AOP_CAS)
		return prep_send(ep, p, e);
	err = prep_import(p, e);
	if (!err && o2gk_local_wants(ep, e))
		prep_pin(ep, p, false);
	return err;
}

static int prepare(struct o2gk_ep *ep, struct prep *p, const struct o2gd_sqe *e)
{
	switch (e->op) {
	case O2GD_OP_SEND:
	case O2GD_OP_PUT:
		return prep_send(ep, p, e);
	case O2GD_OP_ATOMIC:
		return prep_atomic(ep, p, e);
	default:
		return prep_recv(ep, p, e);
	}
}

/* --- starting, under ep->lock --- */

static bool has_peer(const struct o2gd_sqe *e)
{
	return e->op != O2GD_OP_MRECV &&
	       (e->op != O2GD_OP_RECV || e->peer != O2GD_ANY);
}

static bool is_atomic_sound(const struct o2gd_sqe *e)
{
	u32 op = (u8)e->tag, type = (u8)(e->tag >> 8);
	u32 size = o2g_atomic_size(type);
	bool fetch = e->flags & O2GD_FETCH_OLD;

	if (e->tag >> 16 || !o2g_atomic_exists(op, type) || !e->len ||
	    e->len % size || (fetch && e->len > O2GD_SMALL))
		return false;
	return op == O2G_AOP_CAS   ? e->len == 2 * size :
	       op == O2G_AOP_NO_OP ? fetch :
				     true;
}

static u8 flags_of(u8 op)
{
	switch (op) {
	case O2GD_OP_SEND:
		return O2GD_SYNC | O2GD_SERVED;
	case O2GD_OP_ATOMIC:
		return O2GD_FETCH_OLD;
	default:
		return 0;
	}
}

static int check_sqe(const struct o2gk_ep *ep, const struct o2gd_sqe *e)
{
	if (has_peer(e) && !o2gk_is_number(ep, e->peer))
		return -EINVAL;
	if (e->op < O2GD_OP_SEND || e->op > O2GD_OP_ATOMIC || e->pad ||
	    e->flags & ~flags_of(e->op) ||
	    (e->flags & O2GD_SERVED && e->len > O2G_SERVED_BODY_MAX) ||
	    e->len > O2G_BODY_MAX ||
	    (e->op == O2GD_OP_ATOMIC && !is_atomic_sound(e)))
		return -EINVAL;
	return 0;
}

static struct o2gk_req *claim_slot(struct o2gk_ep *ep, u32 slot, int *err)
{
	struct o2gk_req *r = o2gk_req_find(ep, slot);

	*err = -EINVAL;
	if (!r)
		return NULL;
	*err = -EBUSY;
	if (r->phase != O2GK_FREE)
		return NULL;
	kfree(r->kbuf); /* a body that was never fetched */
	r->kbuf = NULL;
	return r;
}

static void init_atomic(struct o2gk_req *r, const struct o2gd_sqe *e,
			const struct prep *p)
{
	struct o2g_req *c = &r->core;

	c->op = (u8)e->tag;
	c->type = (u8)(e->tag >> 8);
	if (!p->result)
		return;
	c->flags |= O2G_REQF_FETCH;
	r->kbuf = p->result;
	r->kbuf_len = c->op == O2G_AOP_CAS ? e->len / 2 : e->len;
	env_seg_set(&c->result, r->kbuf);
	c->result.len = r->kbuf_len;
	c->result_segs = &c->result;
	c->n_result_segs = 1;
	c->result_view = NULL;
}

static void init_req(struct o2gk_req *r, const struct o2gd_sqe *e,
		     const struct prep *p)
{
	struct o2g_req *c = &r->core;

	r->phase = O2GK_BUSY;
	r->quiet = false;
	r->inside = false;
	r->done_inside = false;
	r->direct = false;
	r->done.dump = 0;
	r->done.cqe.where = O2GD_AT_BUFFER;
	r->pin = p->pin;
	r->out = p->out;
	r->iov0 = p->iov0;
	r->iov = p->iov == &p->iov0 ? &r->iov0 : p->iov;
	c->id = (u64)r->gen << 32 | (r->slot + 1);
	c->flags = (e->flags & O2GD_SYNC ? O2G_REQF_SYNC : 0) |
		   (e->flags & O2GD_SERVED ? O2G_REQF_SERVED : 0);
	c->state = O2G_ST_NEW;
	c->status = 0;
	c->tag = e->tag;
	c->len = e->len;
	c->msg_len = 0;
	c->got = 0;
	c->key = e->key;
	c->offset = e->offset;
	c->seg0 = p->seg;
	c->seg0.len = e->len;
	c->seg0.off = 0;
	if (c->seg0.type == O2GK_SEG_USER)
		c->seg0.iov = r->iov;
	c->segs = &c->seg0;
	c->nsegs = 1;
	c->view = NULL;
	if (e->op == O2GD_OP_ATOMIC)
		init_atomic(r, e, p);
	c->match.src = e->peer;
	c->match.tag = e->tag;
	c->match.ignore = e->ignore;
}

static struct o2gk_unexp *find_taken(struct o2gk_ep *ep, u64 handle)
{
	struct o2g_cookie *k = o2g_cookies_find(ep->file.taken, handle);

	return k ? container_of(k, struct o2gk_unexp, handle) : NULL;
}

/* -ENXIO: one that has to be met, in process context. */
static int find_peer(struct o2gk_ep *ep, const struct o2gd_sqe *e,
		     struct o2gk_peer **p)
{
	*p = NULL;
	if (!has_peer(e))
		return 0;
	*p = o2gk_peer_find(ep, e->peer);
	if (likely(*p))
		return 0;
	return e->peer < ep->size ? -ENXIO : -ENOTCONN;
}

/* The message was taken by a probe; nobody finds it there any more. */
static void receive_taken(struct o2gk_ep *ep, struct o2gk_req *r,
			  struct o2gk_unexp *u)
{
	struct o2gk_peer *from = o2gk_peer_of(u->core.peer);

	o2g_cookies_del(&ep->file.taken, &u->handle);
	o2g_proto_mrecv(&ep->core, &r->core, &u->core);
	o2gk_peer_put(from);
}

/* From here on the request is the protocol's. @u is for O2GD_OP_MRECV. */
static void launch(struct o2gk_ep *ep, struct o2gk_req *r, unsigned int op,
		   struct o2gk_unexp *u)
{
	switch (op) {
	case O2GD_OP_SEND:
		r->core.kind = O2G_REQ_SEND;
		o2g_proto_send(&ep->core, &r->core);
		break;
	case O2GD_OP_RECV:
		r->core.kind = O2G_REQ_RECV;
		o2g_proto_recv(&ep->core, &r->core);
		break;
	case O2GD_OP_MRECV:
		r->core.kind = O2G_REQ_RECV;
		receive_taken(ep, r, u);
		break;
	case O2GD_OP_PUT:
		r->core.kind = O2G_REQ_PUT;
		o2g_proto_put(&ep->core, &r->core);
		break;
	case O2GD_OP_GET:
		r->core.kind = O2G_REQ_GET;
		o2g_proto_get(&ep->core, &r->core);
		break;
	case O2GD_OP_ATOMIC:
		r->core.kind = O2G_REQ_ATOMIC;
		o2g_proto_atomic(&ep->core, &r->core);
		break;
	}
}

/* On success the request owns what was prepared. */
static int start(struct o2gk_ep *ep, const struct o2gd_sqe *e,
		 const struct prep *prep, struct o2gk_req **req)
{
	struct o2gk_unexp *u = NULL;
	struct o2gk_req *r;
	struct o2gk_peer *p;
	int err = find_peer(ep, e, &p);

	if (err)
		return err;
	if (e->op == O2GD_OP_RECV &&
	    o2gk_too_odd(&ep->core.match, e->peer, e->ignore))
		return -ENOSPC;
	if (e->op == O2GD_OP_MRECV) {
		u = find_taken(ep, e->key);
		if (!u)
			return -ENOENT;
	}
	r = claim_slot(ep, e->slot, &err);
	if (!r)
		return err;
	init_req(r, e, prep);
	r->core.peer = p ? &p->core : NULL;
	r->inside = req;
	if (req)
		*req = r;
	if (prep->pin)
		ep->stats.pinned_pages += prep->pin->n;
	else if (prep->seg.type == O2GK_SEG_USER && e->op == O2GD_OP_RECV)
		ep->stats.pin_refused++;
	launch(ep, r, e->op, u);
	return 0;
}

static struct o2g_match_entry match_of(const struct o2gd_sqe *e)
{
	return (struct o2g_match_entry){ .src = e->peer,
					 .tag = e->tag,
					 .ignore = e->ignore };
}

/* In process context: nobody else is to be held up by what it is compared with. */
static int start_recv(struct o2gk_ep *ep, const struct o2gd_sqe *e,
		      const struct prep *prep, struct o2gk_req **req)
{
	struct o2g_match_entry recv = match_of(e);
	struct o2gk_seek seek;
	int err;

	o2gk_seek_all(&ep->core.match, &ep->lock, &seek, &recv);
	err = start(ep, e, prep, req);
	o2gk_seek_end(&ep->core.match, &seek);
	return err;
}

static bool is_done(struct o2gk_ep *ep, struct o2gk_req *r)
{
	bool done;

	spin_lock_bh(&ep->lock);
	done = r->done_inside;
	r->inside = false;
	spin_unlock_bh(&ep->lock);
	return done;
}

int o2gk_submit(struct o2gk_ep *ep, const struct o2gd_sqe *e)
{
	struct prep prep = {};
	struct o2gk_req *r;
	int err = check_sqe(ep, e);

	if (!err && has_peer(e))
		err = o2gk_peer_meet(ep, e->peer);
	if (err)
		return err;
	o2gk_ep_housekeeping(ep);
	err = prepare(ep, &prep, e);
	if (err)
		goto err_prep;
	o2gk_ep_lock(ep);
	o2gk_sq_drain_all(ep);
	err = e->op == O2GD_OP_RECV ? start_recv(ep, e, &prep, &r) :
				      start(ep, e, &prep, &r);
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	if (!err)
		return is_done(ep, r);
err_prep:
	prep_drop(&prep);
	return err;
}

/* --- the posting ring --- */

static bool may_post(const struct o2gk_ep *ep, const struct o2gd_sqe *e)
{
	return e->op == O2GD_OP_RECV && e->len <= O2GD_SMALL &&
	       !check_sqe(ep, e);
}

/* No call is there to tell: it ends with this. */
static void post_failed(struct o2gk_ep *ep, const struct o2gd_sqe *e,
			const struct prep *prep, int status)
{
	struct o2gk_req *r;
	int err;

	r = claim_slot(ep, e->slot, &err);
	if (!r) {
		ep->stats.bad_posts++;
		return;
	}
	init_req(r, e, prep);
	r->core.kind = O2G_REQ_RECV;
	r->core.peer = NULL;
	r->core.state = O2G_ST_DONE;
	r->core.status = status;
	o2gk_core_ops.complete(&ep->core, &r->core);
}

/* False: its peer has to be met first, or @left did not suffice. */
static bool post(struct o2gk_ep *ep, const struct o2gd_sqe *e, u32 *left)
{
	static const struct prep small = { .seg.type = O2GK_SEG_LATER };
	struct o2g_match_entry recv = match_of(e);
	int err;

	if (!o2gk_seek(&ep->core.match, &ep->file.sq_seek, &recv, left))
		return false;
	err = may_post(ep, e) ? start(ep, e, &small, NULL) : -EINVAL;
	o2gk_seek_end(&ep->core.match, &ep->file.sq_seek);
	if (err == -ENXIO && !ep->file.sq_no_memory) {
		ep->file.sq_unmet = e->peer;
		return false;
	}
	if (err == -ENXIO)
		post_failed(ep, e, &small, -ENOMEM);
	else if (err == -ENOTCONN)
		post_failed(ep, e, &small, -O2G_ERR_PEER);
	else if (err == -ENOSPC)
		post_failed(ep, e, &small, err);
	else if (err)
		ep->stats.bad_posts++;
	ep->file.sq_no_memory = false;
	ep->file.sq_unmet = O2GD_ANY;
	return true;
}

/* The ring may be long: what is left is for a worker, or for the caller's loop. */
bool o2gk_sq_drain(struct o2gk_ep *ep)
{
	u32 tail, left = SQ_TURN;
	struct o2gd_sqe e;

	lockdep_assert_held(&ep->lock);
	if (!ep->file.shared) /* there is no ring: its front is another */
		return true;
	/* After the entries it covers. */
	tail = smp_load_acquire(&ep->file.shared->sq_tail);
	if (likely(tail == ep->file.sq_head))
		return true;
	if (tail - ep->file.sq_head > ep->file.sq_mask + 1) {
		ep->stats.bad_posts++;
		return true;
	}
	for (; ep->file.sq_head != tail && left; ep->file.sq_head++, left--) {
		memcpy(&e, &ep->file.sq[ep->file.sq_head & ep->file.sq_mask],
		       sizeof(e));
		barrier(); /* from here on only the copy counts */
		if (!post(ep, &e, &left))
			break;
		if (!left) { /* it was the last */
			ep->file.sq_head++;
			break;
		}
	}
	WRITE_ONCE(ep->file.shared->sq_head, ep->file.sq_head);
	if (likely(ep->file.sq_head == tail))
		return true;
	if (!ep->closing)
		queue_work(ep->wq, &ep->work);
	return false;
}

/* Without the lock: whoever the next receive is from becomes known. */
static int meet_next(struct o2gk_ep *ep, u32 number)
{
	return number == O2GD_ANY ? 0 : o2gk_peer_meet(ep, number);
}

void o2gk_sq_drain_all(struct o2gk_ep *ep)
{
	while (!o2gk_sq_drain(ep)) {
		u32 number = ep->file.sq_unmet;
		int err;

		spin_unlock_bh(&ep->lock);
		err = meet_next(ep, number);
		cond_resched();
		spin_lock_bh(&ep->lock);
		ep->file.sq_no_memory = err;
	}
}

/* --- the other calls --- */

int o2gk_slot_cancel(struct o2gk_ep *ep, u32 slot)
{
	struct o2gk_req *r;
	int err = -EBUSY;

	o2gk_ep_lock(ep);
	o2gk_sq_drain_all(ep);
	r = o2gk_req_find(ep, slot);
	if (r && r->phase == O2GK_BUSY) {
		r->quiet = true;
		err = o2g_proto_cancel(&ep->core, &r->core);
		if (err)
			r->quiet = false;
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return err;
}

static void take(struct o2gk_ep *ep, struct o2gk_unexp *u, u64 *handle)
{
	u->handle.value = ++ep->file.next_handle;
	u->handle.weight = get_random_u64();
	refcount_inc(&o2gk_peer_of(u->core.peer)->refs);
	o2g_cookies_add(&ep->file.taken, &u->handle);
	*handle = u->handle.value;
}

static struct o2g_unexp *look_for(struct o2gk_ep *ep,
				  const struct o2gd_probe *a)
{
	struct o2g_match_entry like = { .src = a->source,
					.tag = a->tag,
					.ignore = a->ignore };
	struct o2gk_seek seek;
	struct o2g_unexp *u;

	o2gk_seek_all(&ep->core.match, &ep->lock, &seek, &like);
	u = a->take ?
		    o2g_proto_mprobe(&ep->core, a->source, a->tag, a->ignore) :
		    o2g_proto_probe(&ep->core, a->source, a->tag, a->ignore);
	o2gk_seek_end(&ep->core.match, &seek);
	return u;
}

static struct o2g_unexp *find_message(struct o2gk_ep *ep,
				      const struct o2gd_probe *a)
{
	struct o2gk_unexp *u;

	if (a->take != O2GD_TAKE_SERVED)
		return look_for(ep, a);
	u = o2gk_served_take(ep, a->source);
	return u ? &u->core : NULL;
}

int o2gk_slot_probe(struct o2gk_ep *ep, struct o2gd_probe *a)
{
	struct o2g_unexp *u;
	int err = -EAGAIN;

	if ((a->source != O2GD_ANY && !o2gk_is_number(ep, a->source)) ||
	    a->take > O2GD_TAKE_SERVED)
		return -EINVAL;
	o2gk_ep_lock(ep);
	o2gk_sq_drain(ep);
	u = find_message(ep, a);
	if (u) {
		a->from = u->peer->rank;
		a->msg_tag = u->match.tag;
		a->length = u->len;
		a->handle = 0;
		if (a->take)
			take(ep, o2gk_unexp_of(u), &a->handle);
		err = 0;
	} else if (a->source != O2GD_ANY &&
		   o2gk_peer_state(ep, a->source) == O2GD_PEER_LOST) {
		err = -ENOTCONN;
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return err;
}

int o2gk_fetch(struct o2gk_ep *ep, const struct o2gd_fetch *f)
{
	struct iovec *iov, iov0;
	struct iov_iter iter;
	struct o2gk_req *r;
	void *kbuf = NULL;
	u32 n, len = 0;
	int err = o2gk_iov_import(f->addr, f->nsegs, f->len, &iov0, &iov, &n);

	if (err)
		return err;
	o2gk_ep_lock(ep);
	r = o2gk_req_find(ep, f->slot);
	if (r && r->phase == O2GK_FREE) {
		kbuf = r->kbuf;
		len = min_t(u64, r->kbuf_len, f->len);
		r->kbuf = NULL;
	}
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	if (kbuf) {
		iov_iter_init(&iter, ITER_DEST, iov, n, f->len);
		if (copy_to_iter(kbuf, len, &iter) != len)
			err = -EFAULT;
	} else {
		err = -ENOENT;
	}
	kfree(kbuf);
	if (iov != &iov0)
		kvfree(iov);
	return err;
}
