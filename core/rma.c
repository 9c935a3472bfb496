/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Put and get by packets, for memory that cannot be reached directly.
 *
 * A put goes out in pieces, each answered with FIN or NAK; it is complete when
 * every piece that was sent has been answered. For a put, msg_len counts the
 * bytes sent and got those answered. Pieces beyond O2G_PUTS_MAX wait at home, so that
 * the answers that a target has to keep for us are bounded. A get is one request answered with DATA
 * (sent by a REPLY request at the target) or NAK. Gets beyond O2G_GETS_MAX wait
 * at home, so that replies take a bounded memory at the target.
 */
#include "proto_impl.h"

/* Too much is unanswered: it goes on when something is answered. */
static void hold_put(struct o2g_req *req)
{
	req->state = O2G_ST_WAIT;
	o2g_list_del(&req->link);
	o2g_list_add_tail(&req->link, &req->peer->held_puts);
}

/* Send further pieces until the channel holds one. */
void o2g_rma_push(struct o2g_core *c, struct o2g_req *req)
{
	while (!req->status && req->msg_len < req->len) {
		u64 n = min_u64(req->len - req->msg_len, c->data_chunk);
		u64 off = req->msg_len;
		struct o2g_hdr h = { .type = O2G_PKT_PUT,
				     .tag = req->key,
				     .length = n,
				     .cookie = req->id,
				     .aux = req->offset + off };
		int ret;

		if (req->peer->puts >= O2G_PUTS_MAX) {
			hold_put(req);
			return;
		}
		req->peer->puts++;
		req->msg_len += n;
		/* Not WAIT: an answer from inside the call must not end it. */
		req->state = O2G_ST_NEW;
		ret = xmit(c, req->peer, &h, req, off, n);
		if (ret > 0)
			req->state = O2G_ST_XMIT;
		if (ret)
			return;
	}
	req->state = O2G_ST_WAIT;
	if (req->got == req->msg_len)
		finish(c, req, req->status);
}

void o2g_proto_put(struct o2g_core *c, struct o2g_req *req)
{
	o2g_list_init(&req->link);
	req->status = 0;
	req->got = 0;
	req->msg_len = 0;
	if (req->peer->down) {
		finish(c, req, -O2G_ERR_PEER);
		return;
	}
	count_sent(req->peer, req->len);
	req->state = O2G_ST_WAIT;
	o2g_list_add_tail(&req->link, &req->peer->waiting);
	o2g_rma_push(c, req);
}

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
}

enum o2g_proto_reason o2g_rma_rx_put(struct o2g_core *c, struct o2g_peer *p,
				     struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;

	count_recv(p, h->length);
	rx->nak = c->ops->mem(c, p, h->tag, h->aux, h->length, true,
			      &rx->put_seg);
	if (rx->nak)
		return O2G_PROTO_OK; /* the body is dropped: no room in sink */
	rx->sink.segs = &rx->put_seg;
	rx->sink.nsegs = 1;
	rx->sink.off = 0;
	rx->sink.room = h->length;
	rx->sink.view = NULL;
	return O2G_PROTO_OK;
}

void o2g_rma_rx_put_end(struct o2g_core *c, struct o2g_peer *p,
			struct o2g_rx *rx)
{
	xmit_answer(c, p, rx->nak ? O2G_PKT_NAK : O2G_PKT_FIN, rx->hdr.cookie,
		    rx->hdr.length, (u64)-rx->nak);
}

enum o2g_proto_reason o2g_rma_rx_get(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h)
{
	struct o2g_seg seg;
	struct o2g_req *req;
	int err;

	if (h->length == 0 || p->replies == O2G_GETS_MAX)
		return O2G_PROTO_BAD_STATE;
	err = c->ops->mem(c, p, h->tag, h->aux, h->length, false, &seg);
	if (err) {
		xmit_answer(c, p, O2G_PKT_NAK, h->cookie, h->length, (u64)-err);
		return O2G_PROTO_OK;
	}
	req = c->ops->reply_alloc(c, p);
	if (!req)
		return O2G_PROTO_NO_MEMORY;
	req->kind = O2G_REQ_REPLY;
	req->flags = 0;
	req->peer = p;
	req->seg0 = seg;
	req->segs = &req->seg0;
	req->nsegs = 1;
	req->len = h->length;
	req->msg_len = h->length;
	req->got = 0;
	req->remote = h->cookie;
	o2g_list_init(&req->link);
	o2g_list_add_tail(&req->link, &p->waiting);
	p->replies++;
	o2g_send_data(c, req);
	return O2G_PROTO_OK;
}

/* A piece was answered: what was held back may go. */
static void push_held(struct o2g_core *c, struct o2g_peer *p)
{
	if (p->puts)
		p->puts--;
	if (p->pushing)
		return;
	p->pushing = true;
	while (p->puts < O2G_PUTS_MAX && !o2g_list_empty(&p->held_puts)) {
		struct o2g_req *req =
			o2g_list_first(&p->held_puts, struct o2g_req, link);

		o2g_list_del(&req->link);
		o2g_list_add_tail(&req->link, &p->waiting);
		o2g_rma_push(c, req);
	}
	p->pushing = false;
}

/* FIN or NAK for one piece of a put. */
enum o2g_proto_reason o2g_rma_rx_answer(struct o2g_core *c, struct o2g_req *req,
					const struct o2g_hdr *h, int status)
{
	struct o2g_peer *p = req->peer;

	/* A piece the channel still holds cannot have been answered. */
	if (h->length > req->msg_len - req->got ||
	    (req->state == O2G_ST_XMIT &&
	     h->length > req->msg_len - req->got - req->tx.left))
		return O2G_PROTO_BAD_RANGE;
	req->got += h->length;
	if (status && !req->status)
		req->status = status;
	if (req->state == O2G_ST_WAIT && req->got == req->msg_len &&
	    (req->msg_len == req->len || req->status))
		finish(c, req, req->status);
	push_held(c, p);
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_rma_rx_nak(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h)
{
	struct o2g_req *req = c->ops->find(c, h->cookie);
	int err = h->aux && h->aux < 4096 ? -(int)h->aux : -EIO;

	if (!req || req->peer != p)
		return O2G_PROTO_NO_REQUEST;
	if (req->kind == O2G_REQ_PUT)
		return o2g_rma_rx_answer(c, req, h, err);
	if (req->kind != O2G_REQ_GET || req->state != O2G_ST_DATA ||
	    req->got != 0)
		return O2G_PROTO_BAD_STATE;
	o2g_rma_get_end(c, req, err);
	return O2G_PROTO_OK;
}
