/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Operations on registered memory by packets: put and get, and what an atomic
 * operation (rma_atomic.c) has in common with a put.
 *
 * Puts and atomics, the "ops", go out in pieces, each of which is answered. For
 * them msg_len counts the bytes sent and got those answered. They are sent in the
 * order in which they were started, and since one connection and one parser carry them
 * they are done in that order: only the first in p->ops is being cut into pieces;
 * all of whose pieces are sent are in p->waiting. Pieces beyond O2G_PUTS_MAX wait at
 * home, so that the answers that a target has to keep for us are bounded.
 *
 * A get is one request answered with DATA (sent by a REPLY request at the target), with
 * a FIN that has the few bytes in it, or NAK. Gets beyond O2G_GETS_MAX wait at home, so
 * that replies take a bounded memory at the target.
 */
#include "proto_impl.h"

/* --- puts and atomics --- */

/* A reply with a body of its own: the target keeps it until it is sent. */
static bool is_replied_to(const struct o2g_req *req)
{
	return req->kind == O2G_REQ_ATOMIC && req->flags & O2G_REQF_FETCH &&
	       o2g_atomic_span(req) > 8;
}

static bool has_more(const struct o2g_req *req)
{
	return !req->status && req->msg_len < req->len;
}

static bool must_wait(const struct o2g_req *req)
{
	const struct o2g_peer *p = req->peer;

	if (p->puts >= O2G_PUTS_MAX)
		return true;
	return is_replied_to(req) &&
	       (req->got < req->msg_len || p->gets >= O2G_GETS_MAX);
}

/* Hand down @n bytes; as xmit(). */
static int push_piece(struct o2g_core *c, struct o2g_req *req, u64 n)
{
	bool put = req->kind == O2G_REQ_PUT;
	u64 off = req->msg_len, at = req->offset + off;
	struct o2g_hdr h = { .type = put ? O2G_PKT_PUT : O2G_PKT_ATOMIC,
			     .tag = req->key,
			     .length = n,
			     .cookie = req->id };

	h.aux = put ? at : o2g_wire_atomic(at, req->op, req->type);
	if (req->flags & O2G_REQF_FETCH)
		h.flags = O2G_PKTF_FETCH;
	req->peer->puts++;
	req->peer->gets += is_replied_to(req);
	req->msg_len += n;
	/* Not WAIT: an answer from inside the call must not end it. */
	req->state = O2G_ST_PUSH;
	if (!o2g_wire_body(&h))
		return xmit(c, req->peer, &h, NULL, 0, 0);
	return xmit(c, req->peer, &h, req, off, n);
}

/* Nothing more will be sent of it. */
static void sent_all(struct o2g_core *c, struct o2g_req *req)
{
	req->state = O2G_ST_WAIT;
	if (req->got == req->msg_len)
		finish(c, req, req->status);
	else if (c->ops->departed)
		c->ops->departed(c, req);
}

/* Compare-and-swap is never cut: both its operands are one element. */
static u64 longest_piece(const struct o2g_core *c, const struct o2g_req *req)
{
	if (req->kind == O2G_REQ_PUT)
		return c->data_chunk;
	return req->flags & O2G_REQF_FETCH && req->op != O2G_AOP_CAS ?
		       c->fetch_piece :
		       c->atomic_piece;
}

/* Send further pieces of the first op; true: it is the next one's turn. */
static bool push(struct o2g_core *c, struct o2g_req *req)
{
	u64 most = longest_piece(c, req);
	int ret = 0;

	if (req->state == O2G_ST_XMIT)
		return false; /* o2g_rma_sent() goes on */
	while (!ret && has_more(req)) {
		if (must_wait(req)) {
			req->state = O2G_ST_WAIT;
			return false;
		}
		ret = push_piece(c, req,
				 min_u64(req->len - req->msg_len, most));
	}
	if (ret < 0)
		return false; /* o2g_proto_peer_down() comes soon */
	if (ret > 0)
		req->state = O2G_ST_XMIT;
	if (ret > 0 && has_more(req))
		return false;
	o2g_list_del(&req->link);
	o2g_list_add_tail(&req->link, &req->peer->waiting);
	if (!ret)
		sent_all(c, req);
	return true;
}

static void push_ops(struct o2g_core *c, struct o2g_peer *p)
{
	if (p->pushing)
		return;
	p->pushing = true;
	while (!p->down && !o2g_list_empty(&p->ops))
		if (!push(c, o2g_list_first(&p->ops, struct o2g_req, link)))
			break;
	p->pushing = false;
}

void o2g_rma_sent(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	if (p->ops.next == &req->link) {
		req->state = O2G_ST_WAIT;
		push_ops(c, p);
	} else {
		sent_all(c, req);
	}
}

static void start_op(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	o2g_list_init(&req->link);
	req->status = 0;
	req->got = 0;
	req->msg_len = 0;
	if (unlikely(p->down)) {
		finish(c, req, -O2G_ERR_PEER);
		return;
	}
	count_sent(p, req->len);
	req->state = O2G_ST_WAIT;
	o2g_list_add_tail(&req->link, &p->ops);
	push_ops(c, p);
}

void o2g_proto_put(struct o2g_core *c, struct o2g_req *req)
{
	start_op(c, req);
}

void o2g_proto_atomic(struct o2g_core *c, struct o2g_req *req)
{
	start_op(c, req);
}

/* @n bytes were answered. */
static void answered(struct o2g_core *c, struct o2g_req *req, u64 n, int status)
{
	struct o2g_peer *p = req->peer;

	req->got += n;
	if (status && !req->status)
		req->status = status;
	if (p->puts)
		p->puts--;
	if (is_replied_to(req) && p->gets)
		p->gets--;
	if (req->state == O2G_ST_WAIT && req->got == req->msg_len &&
	    !has_more(req))
		finish(c, req, req->status);
	push_ops(c, p);
}

/* Not more than was sent, and not what the channel still holds. */
static bool is_sent(const struct o2g_req *req, u64 n)
{
	u64 sent = req->msg_len - req->got;

	if (req->state == O2G_ST_XMIT)
		sent -= min_u64(sent, req->tx.left);
	return n && n <= sent;
}

/* FIN or NAK for one piece. */
enum o2g_proto_reason o2g_rma_rx_answer(struct o2g_core *c, struct o2g_req *req,
					const struct o2g_hdr *h, int status)
{
	if (req->flags & O2G_REQF_FILLED)
		return O2G_PROTO_BAD_STATE;
	if (!is_sent(req, h->length))
		return O2G_PROTO_BAD_RANGE;
	/* One piece of it is under way at a time; the last may be a short one. */
	if (!status && req->flags & O2G_REQF_FETCH) {
		if (h->length != req->msg_len - req->got ||
		    o2g_atomic_part(req, h->length) > 8)
			return O2G_PROTO_BAD_STATE;
		o2g_atomic_result(c, req, h);
	}
	answered(c, req, h->length, status);
	return O2G_PROTO_OK;
}

/* --- DATA with the values from before --- */

enum o2g_proto_reason o2g_atomic_rx_data(struct o2g_req *req, struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;

	if (!is_replied_to(req) || req->flags & O2G_REQF_FILLED)
		return O2G_PROTO_BAD_STATE;
	/* A reply is one packet, for the one piece that is under way. */
	if (h->length != req->msg_len - req->got || !is_sent(req, h->length) ||
	    h->aux)
		return O2G_PROTO_BAD_RANGE;
	rx->sink.segs = req->result_segs;
	rx->sink.nsegs = req->n_result_segs;
	rx->sink.view = req->result_view;
	rx->sink.off = req->got;
	rx->sink.room = h->length;
	rx->req = req;
	req->flags |= O2G_REQF_FILLED;
	return O2G_PROTO_OK;
}

void o2g_atomic_rx_data_end(struct o2g_core *c, struct o2g_rx *rx)
{
	struct o2g_req *req = rx->req;

	req->flags &= ~O2G_REQF_FILLED;
	answered(c, req, rx->hdr.length, 0);
}

/* --- gets --- */

static void start_get(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_hdr h = { .type = O2G_PKT_GET,
			     .tag = req->key,
			     .length = req->len,
			     .cookie = req->id,
			     .aux = req->offset };

	req->peer->gets++;
	req->state = O2G_ST_DATA;
	o2g_list_add_tail(&req->link, &req->peer->incoming);
	xmit(c, req->peer, &h, NULL, 0, 0);
}

void o2g_proto_get(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	o2g_list_init(&req->link);
	req->got = 0;
	if (p->down || req->len == 0) {
		finish(c, req, p->down ? -O2G_ERR_PEER : 0);
	} else if (p->gets < O2G_GETS_MAX) {
		start_get(c, req);
	} else {
		req->state = O2G_ST_STALLED;
		o2g_list_add_tail(&req->link, &p->held_gets);
	}
}

void o2g_rma_get_end(struct o2g_core *c, struct o2g_req *req, int status)
{
	struct o2g_peer *p = req->peer;

	finish(c, req, status);
	p->gets--;
	while (p->gets < O2G_GETS_MAX && !o2g_list_empty(&p->held_gets)) {
		req = o2g_list_first(&p->held_gets, struct o2g_req, link);
		o2g_list_del(&req->link);
		start_get(c, req);
	}
	if (unlikely(!o2g_list_empty(&p->ops)))
		push_ops(c, p);
}

enum o2g_proto_reason o2g_rma_rx_brief(struct o2g_core *c, struct o2g_req *req,
				       const struct o2g_hdr *h)
{
	struct o2g_seg from = { .len = sizeof(h->aux) };
	struct o2g_sink to;

	if (req->state != O2G_ST_DATA || req->got)
		return O2G_PROTO_BAD_STATE;
	if (h->length != req->len || h->length > sizeof(h->aux))
		return O2G_PROTO_BAD_RANGE;
	env_seg_set(&from, &h->aux);
	sink_to_req(&to, req, 0, req->len);
	c->ops->copy(c, &to, &from, req->len);
	req->got = req->len;
	o2g_rma_get_end(c, req, 0);
	return O2G_PROTO_OK;
}

/* --- at the target --- */

enum o2g_proto_reason o2g_rma_rx_put(struct o2g_core *c, struct o2g_peer *p,
				     struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;

	count_recv(p, h->length);
	rx->nak = c->ops->mem(c, p, h->tag, h->aux, h->length, true,
			      &rx->put_seg);
	if (rx->nak)
		return O2G_PROTO_OK; /* the body is dropped: no room in sink */
	sink_to_seg(&rx->sink, &rx->put_seg, h->length);
	return O2G_PROTO_OK;
}

void o2g_rma_rx_put_end(struct o2g_core *c, struct o2g_peer *p,
			struct o2g_rx *rx)
{
	xmit_answer(c, p, rx->nak ? O2G_PKT_NAK : O2G_PKT_FIN, rx->hdr.cookie,
		    rx->hdr.length, (u64)-rx->nak);
}

struct o2g_req *o2g_reply_new(struct o2g_core *c, struct o2g_peer *p,
			      const struct o2g_hdr *h)
{
	struct o2g_req *req = c->ops->reply_alloc(c, p);

	if (!req)
		return NULL;
	req->kind = O2G_REQ_REPLY;
	req->state = O2G_ST_NEW;
	req->flags = 0;
	req->peer = p;
	req->memory = NULL;
	req->segs = &req->seg0;
	req->nsegs = 1;
	req->len = h->length;
	req->msg_len = h->length;
	req->got = 0;
	req->remote = h->cookie;
	o2g_list_init(&req->link);
	o2g_list_add_tail(&req->link, &p->waiting);
	p->replies++;
	return req;
}

void o2g_reply_end(struct o2g_core *c, struct o2g_req *req, int status)
{
	struct o2g_unexp *memory = req->memory;

	req->peer->replies--;
	finish(c, req, status);
	if (memory)
		c->ops->unexp_free(c, memory);
}

/* A few bytes come with the answer, without a reply that would have to be kept. */
static bool answer_briefly(struct o2g_core *c, struct o2g_peer *p,
			   const struct o2g_hdr *h, const struct o2g_seg *seg)
{
	u64 value = 0;

	if (h->length > sizeof(value) || !c->ops->peek ||
	    !c->ops->peek(c, seg, &value))
		return false;
	xmit_answer(c, p, O2G_PKT_FIN, h->cookie, h->length, value);
	return true;
}

enum o2g_proto_reason o2g_rma_rx_get(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h)
{
	struct o2g_seg seg;
	struct o2g_req *req;
	int err;

	if (h->length == 0 || p->replies >= O2G_GETS_MAX)
		return O2G_PROTO_BAD_STATE;
	err = c->ops->mem(c, p, h->tag, h->aux, h->length, false, &seg);
	if (err) {
		xmit_answer(c, p, O2G_PKT_NAK, h->cookie, h->length, (u64)-err);
		return O2G_PROTO_OK;
	}
	if (answer_briefly(c, p, h, &seg))
		return O2G_PROTO_OK;
	req = o2g_reply_new(c, p, h);
	if (!req)
		return O2G_PROTO_NO_MEMORY;
	req->seg0 = seg;
	o2g_send_data(c, req);
	return O2G_PROTO_OK;
}

/* --- refusals --- */

enum o2g_proto_reason o2g_rma_rx_nak(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h)
{
	struct o2g_req *req = c->ops->find(c, h->cookie);
	int err = h->aux && h->aux < 4096 ? -(int)h->aux : -EIO;

	if (!req || req->peer != p)
		return O2G_PROTO_NO_REQUEST;
	if (req->kind == O2G_REQ_PUT || req->kind == O2G_REQ_ATOMIC)
		return o2g_rma_rx_answer(c, req, h, err);
	if (req->kind != O2G_REQ_GET || req->state != O2G_ST_DATA ||
	    req->got != 0)
		return O2G_PROTO_BAD_STATE;
	o2g_rma_get_end(c, req, err);
	return O2G_PROTO_OK;
}
