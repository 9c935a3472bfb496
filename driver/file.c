// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The front of an endpoint that is an open file: requests have slots, and end in the
 * completion ring. Nothing here copies more than a few bytes: a body that has to move
 * from an unexpected message to a receive does so by changing the owner of its piece of
 * the dump area, and user space copies it out of there.
 */
#include "o2gk.h"

#include <linux/slab.h>

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

/* The values from before, which have come one by one. */
static void give_result(struct o2gk_req *r)
{
	struct o2gd_cqe *cqe = &r->done.cqe;

	if (r->core.kind != O2G_REQ_ATOMIC || !r->kbuf)
		return;
	cqe->length = r->kbuf_len;
	if (r->core.status)
		return;
	cqe->where = r->kbuf_len > O2GD_INLINE ? O2GD_AT_DRIVER :
						 O2GD_AT_INLINE;
	if (cqe->where == O2GD_AT_INLINE)
		memcpy(cqe->data, r->kbuf, r->kbuf_len);
}

static void done(struct o2gk_ep *ep, struct o2gk_req *r)
{
	struct o2g_req *req = &r->core;
	bool out = req->kind == O2G_REQ_SEND || req->kind == O2G_REQ_PUT;
	bool silent = r->quiet || (r->inside && out && req->status == 0);

	if (silent || (req->status && req->status != -O2G_ERR_TRUNCATED))
		drop_body(ep, r);
	fill_cqe(r);
	give_result(r);
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

static struct o2gk_req *find(struct o2gk_ep *ep, u64 id)
{
	struct o2gk_req *r = o2gk_req_find(ep, (u32)id - 1);

	return r && r->phase == O2GK_BUSY ? r : NULL;
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
static void copy(struct o2gk_ep *ep, const struct o2g_sink *to,
		 const struct o2g_seg *from, u64 len)
{
	struct o2gk_req *r = container_of(to->segs, struct o2gk_req, core.seg0);
	struct o2gk_unexp *u = container_of(from, struct o2gk_unexp, core.body);
	struct o2gd_cqe *cqe = &r->done.cqe;

	if (to->segs->type == O2GK_SEG_KERNEL) { /* an atomic's result */
		memcpy(to->segs->kaddr + to->off, from->kaddr, len);
	} else if (len <= O2GD_INLINE) {
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

/* --- peers --- */

static void arrived(struct o2gk_ep *ep, struct o2gk_unexp *u)
{
	WRITE_ONCE(ep->file.arrived, ep->file.arrived + 1);
	WRITE_ONCE(ep->file.shared->arrived, ep->file.arrived);
	ep->file.wake = true;
}

static void lost(struct o2gk_peer *p)
{
	o2gk_cq_post(p->ep, &p->done);
}

static void forget(struct o2gk_peer *p)
{
	o2gk_cq_forget(p->ep, &p->done);
}

/* The receive in the next slot, if it is for this peer alone. */
static bool end_posted(struct o2gk_peer *p)
{
	struct o2gk_req *r = o2gk_req_find(p->ep, p->losing_slot++);

	if (!r)
		return false;
	if (r->phase == O2GK_BUSY && r->core.kind == O2G_REQ_RECV &&
	    r->core.match.src == p->core.rank)
		o2g_proto_end_posted(&p->ep->core, &r->core, -O2G_ERR_PEER);
	return true;
}

static bool drop_posted(struct o2gk_ep *ep)
{
	struct o2gk_req *r = o2gk_req_find(ep, ep->file.closing_slot++);

	if (!r)
		return false;
	if (r->phase == O2GK_BUSY && r->core.kind == O2G_REQ_RECV)
		o2g_proto_end_posted(&ep->core, &r->core, -O2G_ERR_PEER);
	return true;
}

void o2gk_file_free(struct o2gk_ep *ep)
{
	u32 i, j;

	for (i = 0; i < ep->file.nslots / O2GK_SLAB; i++) {
		for (j = 0; j < O2GK_SLAB; j++) {
			struct o2gk_req *r = &ep->file.slabs[i][j];

			o2gk_req_release(ep, r);
			kfree(r->kbuf);
		}
		kvfree(ep->file.slabs[i]);
	}
	kvfree(ep->file.slabs);
	ep->file.slabs = NULL;
}

const struct o2gk_front o2gk_file_front = {
	.done = done,
	.find = find,
	.copy = copy,
	.arrived = arrived,
	.lost = lost,
	.forget = forget,
	.end_posted = end_posted,
	.drop_posted = drop_posted,
};
