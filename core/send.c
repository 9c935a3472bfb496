/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The sending side of messages.
 *
 *	send --small, credit--> EAGER ------------------------> done
 *	   \                       \--SYNC--> wait --FIN-------> done
 *	    \--large, or extra credit--> RTS --> wait --FIN----> done  (it read)
 *	     \                                     \--CTS--> DATA* > done
 *	      \                                           REFERENCE: wait --FIN--> done
 *	      \--no credit--> stalled (in order) --credit--> as above
 *
 * A request that waits for an answer is put in the peer's list before its
 * packet is handed down: the answer may come from inside that call (a message
 * to oneself), and the request may be gone when it returns.
 */
#include "quick.h"

static void wait_for_answer(struct o2g_req *req)
{
	req->state = O2G_ST_WAIT;
	o2g_list_del(&req->link);
	o2g_list_add_tail(&req->link, &req->peer->waiting);
}

static noinline void send_eager_sync(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .flags = O2G_PKTF_SYNC,
			     .tag = req->tag,
			     .length = req->len,
			     .cookie = req->id };

	wait_for_answer(req);
	if (xmit(c, req->peer, &h, req, 0, req->len) > 0)
		req->state = O2G_ST_XMIT;
}

static inline void send_eager(struct o2g_core *c, struct o2g_req *req, u8 flags)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .flags = flags,
			     .tag = req->tag,
			     .length = req->len };
	int ret = xmit(c, req->peer, &h, req, 0, req->len);

	if (likely(ret == 0)) {
		finish(c, req, 0);
	} else if (ret > 0) {
		req->state = O2G_ST_XMIT;
		o2g_list_del(&req->link);
		o2g_list_add_tail(&req->link, &req->peer->waiting);
	} else {
		finish(c, req, -O2G_ERR_PEER);
	}
}

static void send_rts(struct o2g_core *c, struct o2g_req *req, u8 flags)
{
	struct o2g_hdr h = { .type = O2G_PKT_RTS,
			     .flags = flags,
			     .tag = req->tag,
			     .length = req->len,
			     .cookie = req->id };

	if (c->ops->expose && c->ops->expose(c, req, &h.aux))
		h.flags |= O2G_PKTF_GETTABLE;
	c->stats.rts_sent++;
	count_sent(req->peer, req->len);
	wait_for_answer(req);
	xmit(c, req->peer, &h, NULL, 0, 0);
}

/* To a handler. What takes more than half of the grant is announced, if there is not
 * enough left: credit for the rest comes whatever happens. */
static noinline bool start_call(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;
	u64 cost = req->len + O2G_COST;
	bool eager = req->len <= p->eager_max;

	if (eager && cost <= p->served_credit) {
		p->served_credit -= (u32)cost;
		c->stats.eager_sent++;
		count_sent(p, req->len);
		send_eager(c, req, O2G_PKTF_SERVED);
		return true;
	}
	if ((eager && cost <= c->served_grant / 2) ||
	    p->served_credit < O2G_COST)
		return false;
	p->served_credit -= O2G_COST;
	c->stats.rts_no_credit += eager;
	send_rts(c, req, O2G_PKTF_SERVED);
	return true;
}

/* Start one send if there is credit for it. */
static inline bool start(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;
	u8 flags = 0;

	if (likely(req->len <= p->eager_max)) {
		if (likely(o2g_credit_take(p, req->len + O2G_COST))) {
			c->stats.eager_sent++;
			count_sent(p, req->len);
			if (unlikely(req->flags & O2G_REQF_SYNC))
				send_eager_sync(c, req);
			else
				send_eager(c, req, 0);
			return true;
		}
		/* Stall and ask for room, unless told that there is none. */
		if (p->env_credit < O2G_COST)
			return false;
		c->stats.rts_no_credit++;
	}
	if (!o2g_credit_take_envelope(p, &flags))
		return false;
	send_rts(c, req, flags);
	return true;
}

static noinline void call(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	if (o2g_list_empty(&p->calls) && start_call(c, req))
		return;
	req->state = O2G_ST_STALLED;
	o2g_list_add_tail(&req->link, &p->calls);
}

void o2g_proto_send(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	o2g_list_init(&req->link);
	if (unlikely(p->down)) {
		finish(c, req, -O2G_ERR_PEER);
		return;
	}
	if (unlikely(req->flags & O2G_REQF_SERVED)) {
		call(c, req);
		return;
	}
	if (likely(o2g_list_empty(&p->stalled)) && likely(start(c, req)))
		return;
	req->state = O2G_ST_STALLED;
	o2g_list_add_tail(&req->link, &p->stalled);
	o2g_credit_say_stalled(c, p);
}

/* It counts as stalled, so that a cancel, or the loss of the peer, finds it. */
void o2g_proto_hold(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_peer *p = req->peer;

	o2g_list_init(&req->link);
	if (p->down) {
		finish(c, req, -O2G_ERR_PEER);
		return;
	}
	req->state = O2G_ST_STALLED;
	o2g_list_add_tail(&req->link, &p->stalled);
}

int o2g_proto_inject(struct o2g_core *c, struct o2g_peer *p, u64 tag,
		     const void *buf, u64 len)
{
	return quick_inject(c, p, tag, buf, len);
}

/*
 * Credit came: start what it is enough for, in order. A packet to oneself may
 * bring credit from inside start(), before its own message is looked at; that
 * credit is left to the loop that is running already.
 */
static bool start_some(struct o2g_core *c, struct o2g_peer *p,
		       struct o2g_list *sends,
		       bool (*fn)(struct o2g_core *c, struct o2g_req *req))
{
	u32 left = c->turn ? c->turn : ~0u;
	bool started = true;

	while (started && left && !p->down && !o2g_list_empty(sends)) {
		struct o2g_req *req =
			o2g_list_first(sends, struct o2g_req, link);

		o2g_list_del(&req->link);
		started = fn(c, req);
		if (!started)
			o2g_list_add_tail(&req->link, sends->next);
		left--;
	}
	if (!o2g_list_empty(sends) && started && !p->down)
		c->ops->again(c, p);
	return !started || left;
}

static bool start_plain(struct o2g_core *c, struct o2g_req *req)
{
	return start(c, req);
}

bool o2g_send_stalled(struct o2g_core *c, struct o2g_peer *p)
{
	bool all;

	p->starting = true;
	all = start_some(c, p, &p->stalled, start_plain);
	p->starting = false;
	if (o2g_list_empty(&p->stalled))
		p->said_stall = false;
	return all;
}

void o2g_send_calls(struct o2g_core *c, struct o2g_peer *p)
{
	p->calling = true;
	start_some(c, p, &p->calls, start_call);
	p->calling = false;
}

/* The last piece of a send by reference: over when the receiver says that it has it. */
static void send_last_data(struct o2g_core *c, struct o2g_req *req,
			   struct o2g_hdr *h)
{
	u64 off = req->got;

	h->flags = O2G_PKTF_REFERENCE;
	h->tag = req->id;
	req->got += h->length;
	wait_for_answer(req);
	if (xmit(c, req->peer, h, req, off, h->length) > 0)
		req->state = O2G_ST_XMIT;
}

/*
 * Send the rest of what the receiver (or getter) asked for, msg_len bytes of
 * which `got` are out.
 */
void o2g_send_data(struct o2g_core *c, struct o2g_req *req)
{
	bool reference = req->flags & O2G_REQF_REFERENCE;

	while (req->got < req->msg_len) {
		u64 n = min_u64(req->msg_len - req->got, c->data_chunk);
		struct o2g_hdr h = { .type = O2G_PKT_DATA,
				     .length = n,
				     .cookie = req->remote,
				     .aux = req->got };
		u64 off = req->got;
		int ret;

		if (reference && off + n == req->msg_len) {
			send_last_data(c, req, &h);
			return;
		}
		req->got += n;
		req->state = O2G_ST_XMIT;
		ret = xmit(c, req->peer, &h, req, off, n);
		if (ret)
			return; /* o2g_proto_sent, or peer_down, goes on */
	}
	if (req->kind == O2G_REQ_REPLY)
		o2g_reply_end(c, req, 0);
	else if (reference)
		req->state = O2G_ST_WAIT;
	else
		finish(c, req, 0);
}

/* A send of this peer that waits for an answer, or NULL. */
static struct o2g_req *find_waiting(struct o2g_core *c, struct o2g_peer *p,
				    u64 cookie)
{
	struct o2g_req *req = c->ops->find(c, cookie);

	if (!req || req->peer != p || req->kind == O2G_REQ_RECV)
		return NULL;
	return req;
}

enum o2g_proto_reason o2g_send_rx_cts(struct o2g_core *c, struct o2g_peer *p,
				      const struct o2g_hdr *h)
{
	struct o2g_req *req = find_waiting(c, p, h->cookie);

	if (!req || req->kind != O2G_REQ_SEND)
		return O2G_PROTO_NO_REQUEST;
	if (req->state != O2G_ST_WAIT || req->flags & O2G_REQF_GOT_CTS)
		return O2G_PROTO_BAD_STATE;
	if (h->length > req->len || h->length == 0)
		return O2G_PROTO_BAD_RANGE;
	req->flags |= O2G_REQF_GOT_CTS;
	if (c->ops->lend && c->ops->lend(c, req, h->length))
		req->flags |= O2G_REQF_REFERENCE;
	req->remote = h->aux;
	req->msg_len = h->length;
	req->got = 0;
	o2g_send_data(c, req);
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_send_rx_fin(struct o2g_core *c, struct o2g_peer *p,
				      const struct o2g_hdr *h)
{
	struct o2g_req *req = find_waiting(c, p, h->cookie);

	if (!req)
		return O2G_PROTO_NO_REQUEST;
	if (req->kind == O2G_REQ_PUT || req->kind == O2G_REQ_ATOMIC)
		return o2g_rma_rx_answer(c, req, h, 0);
	if (req->kind == O2G_REQ_GET)
		return o2g_rma_rx_brief(c, req, h);
	if (req->kind != O2G_REQ_SEND || req->state != O2G_ST_WAIT)
		return O2G_PROTO_BAD_STATE;
	finish(c, req, 0);
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_send_rx_cancel_ack(struct o2g_core *c,
					     struct o2g_peer *p,
					     const struct o2g_hdr *h)
{
	struct o2g_req *req = find_waiting(c, p, h->cookie);

	/* It may have completed before the peer heard of the cancel. */
	if (!req)
		return O2G_PROTO_OK;
	if (!(req->flags & O2G_REQF_CANCEL))
		return O2G_PROTO_BAD_STATE;
	req->flags &= ~O2G_REQF_CANCEL;
	if (!h->aux)
		return O2G_PROTO_OK;
	if (req->state != O2G_ST_WAIT || req->flags & O2G_REQF_GOT_CTS)
		return O2G_PROTO_BAD_STATE;
	req->flags |= O2G_REQF_CANCELLED;
	finish(c, req, -O2G_ERR_CANCELLED);
	return O2G_PROTO_OK;
}

void o2g_proto_sent(struct o2g_core *c, struct o2g_req *req)
{
	switch (req->kind) {
	case O2G_REQ_PUT:
	case O2G_REQ_ATOMIC:
		o2g_rma_sent(c, req);
		return;
	case O2G_REQ_REPLY:
		o2g_send_data(c, req);
		return;
	default:
		if (req->flags & O2G_REQF_GOT_CTS)
			o2g_send_data(c, req);
		else if (req->flags & O2G_REQF_SYNC)
			req->state = O2G_ST_WAIT;
		else
			finish(c, req, 0);
	}
}
