// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Packets of an endpoint of this host, as their receiver sees them: what rx.c is
 * to those from the network. local.c and mail.c say when.
 */
#include "local.h"

#include <linux/bvec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "trace.h"

static struct o2gk_pin *pin_of(struct o2g_req *req)
{
	struct o2gk_req *r = o2gk_req_of(req);

	return r->mem ? r->mem->pin : r->pin;
}

void o2gk_parcel_take(struct o2gk_parcel *it, struct o2g_tx *tx)
{
	it->tx = NULL;
	it->ctl = NULL;
	it->pin = NULL;
	it->mem = NULL;
	it->detail = 0;
	o2g_wire_decode(tx->hdr, &it->hdr);
	it->off = tx->off;
	it->len = tx->left;
	if (!tx->req) {
		it->ctl = container_of(tx, struct o2gk_ctl, tx);
		return;
	}
	it->tx = tx;
	it->pin = pin_of(tx->req);
	refcount_inc(&it->pin->refs);
	it->off += tx->req->seg0.off;
}

/* What a packet from the network goes through in rx.c. */
enum o2gd_lost o2gk_parcel_begin(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	struct o2gk_ep *ep = q->ep;
	u64 unexpected = ep->core.stats.unexpected;
	const struct o2g_sink *s = &it->rx.sink;

	trace_o2g_receive(ep->rank, q->core.rank, &it->hdr);
	o2gk_sq_drain(ep);
	o2gk_local_sent(q);
	it->detail = o2g_proto_rx_begin(&ep->core, &q->core, &it->hdr, &it->rx);
	if (it->hdr.type == O2G_PKT_PUT)
		swap(it->mem, ep->used_mem);
	o2gk_mem_done(ep);
	if (it->detail)
		return O2GD_LOST_PACKET;
	o2gk_rx_trace(q, &it->hdr, ep->core.stats.unexpected != unexpected);
	if (it->rx.req && s->room && s->segs->type == O2GK_SEG_LATER &&
	    o2gk_recv_resolve(ep, it->rx.req))
		return O2GD_LOST_MEMORY;
	return 0;
}

void o2gk_parcel_end(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	o2g_proto_rx_end(&q->ep->core, &q->core, &it->rx);
	o2gk_mem_done(q->ep);
}

void o2gk_parcel_put(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	struct o2gk_pin *pin;

	spin_lock(&q->link->lock); /* or the sender takes it back just now */
	pin = it->pin;
	it->pin = NULL;
	spin_unlock(&q->link->lock);
	o2gk_pin_put(q->ep, pin);
	o2gk_mem_put(q->ep, it->mem);
	kfree(it->ctl);
}

bool o2gk_parcel_to_user(const struct o2gk_parcel *it)
{
	return it->rx.sink.room && it->rx.sink.segs->type == O2GK_SEG_USER;
}

static bool copy_pages(const struct o2gk_parcel *it, u64 left,
		       struct iov_iter *to)
{
	u64 off = it->off;
	const struct bio_vec *bv = o2gk_bvec_at(it->pin, &off);

	for (; left; bv++) {
		size_t n;

		if (off >= bv->bv_len) {
			off -= bv->bv_len;
			continue;
		}
		n = min_t(u64, bv->bv_len - off, left);
		if (copy_page_to_iter(bv->bv_page, bv->bv_offset + off, n,
				      to) != n)
			return false;
		left -= n;
		off = 0;
	}
	return true;
}

enum o2gd_lost o2gk_parcel_copy(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	const struct o2g_sink *s = &it->rx.sink;
	u64 n = min(it->len, s->room);
	struct iov_iter to;
	struct kvec v;
	bool copied;

	if (n < it->len && it->hdr.type == O2G_PKT_EAGER)
		o2gk_drop(q, O2GD_DROP_EXCESS, it->len - n);
	if (!n)
		return 0;
	if (s->segs->type == O2GK_SEG_KERNEL && it->ctl) {
		memcpy(s->segs->kaddr + s->off, it->ctl->body + it->off, n);
		return 0;
	}
	if (s->segs->type == O2GK_SEG_USER && current->mm != q->ep->mm)
		return O2GD_LOST_LOCAL; /* the process is dead */
	if (s->segs->type == O2GK_SEG_KERNEL) {
		v.iov_base = s->segs->kaddr + s->off;
		v.iov_len = n;
		iov_iter_kvec(&to, ITER_DEST, &v, 1, n);
	} else {
		o2gk_seg_iter(s->segs, ITER_DEST, s->off, n, &to);
	}
	copied = it->ctl ? copy_to_iter(it->ctl->body + it->off, n, &to) == n :
			   copy_pages(it, n, &to);
	return copied ? 0 : O2GD_LOST_ERROR;
}

/* --- what a worker holds of a sender's --- */

/* It is over as soon as whoever copies it has found that it is not there. */
static void take_back(struct o2gk_peer *p, struct o2gk_way *w,
		      struct o2gk_parcel *it)
{
	if (it == w->copied)
		return;
	o2gk_pin_put(p->ep, it->pin);
	it->pin = NULL;
}

void o2gk_parcel_take_back(struct o2gk_peer *p, struct o2gk_way *w)
{
	if (w->copier && o2gk_parcel_to_user(w->copied))
		send_sig(SIGKILL, w->copier, 1);
	if (w->held)
		take_back(p, w, w->held);
	if (w->is_late)
		take_back(p, w, &w->late);
}

/* False: the sender has taken it back. */
static bool begin_copy(struct o2gk_link *l, struct o2gk_way *w,
		       const struct o2gk_parcel *it)
{
	bool is_there;

	spin_lock_bh(&l->lock);
	is_there = it->ctl || it->pin;
	if (is_there) {
		w->copied = it;
		w->copier = current;
	}
	spin_unlock_bh(&l->lock);
	return is_there;
}

static void end_copy(struct o2gk_peer *q, struct o2gk_way *w)
{
	spin_lock_bh(&q->link->lock);
	w->copied = NULL;
	w->copier = NULL;
	spin_unlock_bh(&q->link->lock);
	if (unlikely(signal_pending(current)))
		o2gk_borrow_on(q->ep);
}

enum o2gd_lost o2gk_parcel_copy_held(struct o2gk_peer *q,
				     struct o2gk_parcel *it)
{
	struct o2gk_way *w = &q->link->way[!q->side];
	enum o2gd_lost why;

	if (!begin_copy(q->link, w, it))
		return O2GD_LOST_CLOSED;
	why = o2gk_parcel_copy(q, it);
	end_copy(q, w);
	return why;
}
