/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The process as a carrier: its core, and the channel of the peer. Then the two
 * together, while nobody knows which of them will have the message.
 */
#include "async.h"
#include "carrier.h"

static int own_send(struct o2g_ep *ep, struct eng_req *r)
{
	o2g_proto_send(&ep->core, &r->core);
	return 0;
}

static int own_inject(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
		      const void *buf, size_t len)
{
	return o2g_proto_inject(&ep->core, &p->cp.core, tag, buf, len);
}

static int own_post_one(struct o2g_ep *ep, struct eng_req *r)
{
	own_post(ep, r);
	return 0;
}

/* --- put and get: at once, if the channel reaches the peer's memory --- */

#define VIEW_PIECE (32u << 10)

/* A view goes through memory of ours, which the cache holds. */
static int direct_view(struct chan *chan, struct chan_peer *cp, u64 addr,
		       const struct o2g_req *r)
{
	const struct o2g_view *view = r->view;
	u8 piece[VIEW_PIECE];
	int err = 0;

	for (u64 off = 0; off < r->len && !err; off += sizeof(piece)) {
		u64 n = r->len - off;
		struct o2g_seg seg = { piece, n < VIEW_PIECE ? n : VIEW_PIECE };

		if (r->kind == O2G_REQ_PUT) {
			view->read(view, off, piece, seg.len);
			err = chan->ops->put(chan, cp, addr + off, &seg, 1,
					     seg.len);
			continue;
		}
		err = chan->ops->get(chan, cp, addr + off, &seg, 1, seg.len);
		if (!err)
			view->write(view, off, piece, seg.len);
	}
	return err;
}

static int direct_copy(struct chan *chan, struct chan_peer *cp, u64 addr,
		       const struct o2g_req *r)
{
	bool put = r->kind == O2G_REQ_PUT;

	if (unlikely(r->view))
		return direct_view(chan, cp, addr, r);
	return (put ? chan->ops->put : chan->ops->get)(chan, cp, addr, r->segs,
						       r->nsegs, r->len);
}

/* A put may not overtake operations that go by packets. */
static bool may_be_direct(const struct chan_peer *cp, const struct o2g_req *r)
{
	const struct o2g_peer *p = &cp->core;

	if (!cp->chan || p->down || !p->can_get || p->no_get ||
	    !cp->chan->ops->find_key || r->kind == O2G_REQ_ATOMIC)
		return false;
	return r->kind == O2G_REQ_GET || (!p->puts && o2g_list_empty(&p->ops));
}

/*
 * Copy directly if the channel can and finds the key, also afterwards. -EAGAIN:
 * have it done with packets, which the owner answers, or refuses in its words.
 */
static int direct(struct o2g_req *r)
{
	struct chan_peer *cp = container_of(r->peer, struct chan_peer, core);
	bool put = r->kind == O2G_REQ_PUT;
	struct chan *chan = cp->chan;
	u64 addr;
	int err;

	if (!may_be_direct(cp, r))
		return -EAGAIN;
	err = chan->ops->find_key(chan, cp, r->key, r->offset, r->len, put,
				  &addr);
	if (err)
		return err;
	err = direct_copy(chan, cp, addr, r);
	if (err)
		return -EAGAIN;
	return chan->ops->find_key(chan, cp, r->key, r->offset, r->len, put,
				   &addr);
}

/*
 * May an operation need us while the program computes? One that sends does as long as
 * not all of it has left; answers can wait until the program comes back. Threads that
 * would take each of them as it comes keep one that sends much in many puts from doing
 * so. The request may be gone.
 */
static bool rma_needs_us(const struct o2g_peer *p, const struct o2g_req *r,
			 enum o2g_req_kind kind)
{
	if (kind == O2G_REQ_GET || !o2g_list_empty(&p->ops))
		return true;
	return p->waiting.prev == &r->link && r->state == O2G_ST_XMIT;
}

/* Afterwards it may be over, and gone if nobody waits for it. */
static int own_rma(struct o2g_ep *ep, struct eng_req *r)
{
	const struct o2g_peer *p = r->core.peer;
	enum o2g_req_kind kind = r->core.kind;
	bool is_long = r->core.len > ENG_ASYNC_MIN;
	int err = direct(&r->core);

	if (err != -EAGAIN) {
		o2g_list_init(&r->core.link);
		eng_req_finish(ep, r, err);
		return 0;
	}
	if (r->core.kind == O2G_REQ_PUT)
		o2g_proto_put(&ep->core, &r->core);
	else if (r->core.kind == O2G_REQ_GET)
		o2g_proto_get(&ep->core, &r->core);
	else
		o2g_proto_atomic(&ep->core, &r->core);
	if (unlikely(is_long) && rma_needs_us(p, &r->core, kind))
		eng_async_want(ep);
	return 0;
}

const struct carrier own_carrier = {
	.send = own_send,
	.inject = own_inject,
	.post = own_post_one,
	.rma = own_rma,
};

/* --- either of two --- */

/*
 * Posted to the core and to the driver. The one that has a message for it claims
 * it: the other then knows nothing of it any more, or was quicker.
 */
static int post_to_both(struct o2g_ep *ep, struct eng_req *r)
{
	int err;

	if (r->core.view) /* which the driver does not know */
		return -EOPNOTSUPP;
	r->core.flags |= O2G_REQF_SHARED;
	own_post(ep, r);
	if (r->core.state != O2G_ST_POSTED)
		return 0;
	err = ep->driver->post(ep, r);
	if (err)
		o2g_proto_withdraw(&ep->core, &r->core);
	return err;
}

/* Sends get here when the peer has no channel and will not have one: they fail. */
const struct carrier both_carriers = {
	.send = own_send,
	.inject = own_inject,
	.post = post_to_both,
	.rma = own_rma,
};

const struct carrier *carrier_find(const struct o2g_ep *ep, struct eng_peer *p)
{
	const struct chan *chan = p->cp.chan;

	if (p->carrier)
		return p->carrier;
	if (!chan && ep->driver && (int)p->cp.core.rank != ep->rank)
		return &both_carriers;
	p->carrier = ep->driver && chan && chan->hands_over ? ep->driver :
							      &own_carrier;
	return p->carrier;
}
