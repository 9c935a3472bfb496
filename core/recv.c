/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The receiving side of messages.
 *
 * A message is matched when its header is here, whether or not its body is: a
 * posted receive gets the body straight into its buffer; without one the body
 * goes to unexpected memory, from where a later receive copies it, at once or
 * when the last byte is in. An RTS is answered when matched: with a read of the
 * sender's memory and FIN, or with CTS, after which DATA comes.
 */
#include "proto_impl.h"

/* --- rendezvous --- */

/* Read it out of the sender's memory; false when that is not possible. */
static bool try_get(struct o2g_core *c, struct o2g_req *req,
		    const struct o2g_hdr *rts, u64 want, int *status)
{
	struct o2g_peer *p = req->peer;
	int ret;

	if (!(rts->flags & O2G_PKTF_GETTABLE) || !p->can_get || p->no_get ||
	    !c->ops->get || req->view)
		return false;
	ret = c->ops->get(c, req, rts->aux, want);
	if (ret == -EAGAIN)
		return false;
	if (ret == -EOPNOTSUPP || ret == -EPERM) {
		p->no_get = true;
		return false;
	}
	c->stats.gets++;
	*status = ret;
	return true;
}

/* A receive and an RTS have met. */
static void answer_rts(struct o2g_core *c, struct o2g_req *req,
		       const struct o2g_hdr *rts)
{
	struct o2g_peer *p = req->peer;
	u64 want = min_u64(req->len, rts->length);
	int status = 0;

	if (want == 0 || try_get(c, req, rts, want, &status)) {
		req->got = want;
		xmit_answer(c, p, O2G_PKT_FIN, rts->cookie, 0, 0);
		finish(c, req, status ? status : recv_status(req));
		return;
	}
	req->state = O2G_ST_DATA;
	o2g_list_add_tail(&req->link, &p->incoming);
	xmit_answer(c, p, O2G_PKT_CTS, rts->cookie, want, req->id);
}

/* --- unexpected messages by name, for CANCEL --- */

/* Of its number of arrival, and of what peers do not know. */
static u64 weight_of(const struct o2g_match *m, u64 seq)
{
	u64 h = (seq ^ m->key[1]) * m->key[0];

	h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* Only what its sender waits for has a name. */
static void name(struct o2g_core *c, struct o2g_unexp *u)
{
	u->named = u->type == O2G_PKT_RTS || u->flags & O2G_PKTF_SYNC;
	if (!u->named)
		return;
	u->cookie.weight = weight_of(&c->match, u->match.seq);
	o2g_cookies_add(&u->peer->named, &u->cookie);
}

void o2g_recv_unname(struct o2g_unexp *u)
{
	if (!u->named)
		return;
	u->named = false;
	o2g_cookies_del(&u->peer->named, &u->cookie);
}

/* All of it that is sent without asking? */
static bool is_here(const struct o2g_unexp *u)
{
	return u->complete || u->type == O2G_PKT_RTS;
}

/* --- a receive meets an unexpected message --- */

static void deliver_unexp(struct o2g_core *c, struct o2g_req *req,
			  struct o2g_unexp *u)
{
	struct o2g_peer *p = u->peer;
	u64 n = min_u64(u->len, req->len);
	struct o2g_sink to;

	if (n) {
		sink_to_req(&to, req, 0, n);
		c->ops->copy(c, &to, &u->body, n);
	}
	req->got = n;
	if (u->flags & O2G_PKTF_SYNC)
		xmit_answer(c, p, O2G_PKT_FIN, u->cookie.value, 0, 0);
	o2g_recv_drop_unexpected(c, u);
	finish(c, req, recv_status(req));
}

static void claim(struct o2g_core *c, struct o2g_req *req, struct o2g_unexp *u)
{
	o2g_recv_unname(u);
	matched(req, u->peer, u->match.tag, u->len);
	if (unlikely(u->error)) {
		int error = u->error;

		o2g_recv_drop_unexpected(c, u);
		finish(c, req, error);
	} else if (u->type == O2G_PKT_RTS) {
		struct o2g_hdr rts = { .flags = u->flags,
				       .length = u->len,
				       .cookie = u->cookie.value,
				       .aux = u->aux };

		o2g_recv_drop_unexpected(c, u);
		answer_rts(c, req, &rts);
	} else if (u->complete) {
		deliver_unexp(c, req, u);
	} else {
		req->state = O2G_ST_CLAIMED;
		u->req = req;
	}
}

/* Give its memory and its credit back; it is in no matching queue. */
void o2g_recv_drop_unexpected(struct o2g_core *c, struct o2g_unexp *u)
{
	struct o2g_peer *p = u->peer;
	u64 charge = u->charge;
	enum o2g_paid paid = u->paid;

	o2g_list_del(&u->link);
	c->ops->unexp_free(c, u);
	o2g_credit_return(c, p, charge, paid);
}

/* A message that it takes may be here already. False: it is queued. */
static noinline bool takes_unexpected(struct o2g_core *c, struct o2g_req *req)
{
	struct o2g_match_entry *e = o2g_match_post(&c->match, &req->match);

	if (e)
		claim(c, req, unexp_of(e));
	return e;
}

/* Posted, but something is wrong with whom it waits for. */
static noinline void may_wait_in_vain(struct o2g_core *c, struct o2g_req *req)
{
	if (req->peer && req->peer->down) {
		o2g_recv_unpost(c, req);
		finish(c, req, -O2G_ERR_PEER);
	} else {
		o2g_credit_wanted(c, req->peer);
	}
}

void o2g_proto_recv(struct o2g_core *c, struct o2g_req *req)
{
	o2g_list_init(&req->link);
	if (likely(!c->match.nunexp && !match_is_wild(&req->match)))
		match_post_exact(&c->match, &req->match);
	else if (takes_unexpected(c, req))
		return;
	req->state = O2G_ST_POSTED;
	count_posted(c, req, 1);
	if (unlikely((req->peer && req->peer->down) ||
		     !o2g_list_empty(&c->stalled_peers)))
		may_wait_in_vain(c, req);
}

bool o2g_proto_withdraw(struct o2g_core *c, struct o2g_req *req)
{
	if (!o2g_match_remove(&c->match, &req->match))
		return false;
	count_posted(c, req, -1);
	return true;
}

void o2g_proto_mrecv(struct o2g_core *c, struct o2g_req *req,
		     struct o2g_unexp *u)
{
	o2g_list_init(&req->link);
	if (u->type == O2G_PKT_RTS && u->peer->down)
		u->error = -O2G_ERR_PEER;
	claim(c, req, u);
}

void o2g_recv_unpost(struct o2g_core *c, struct o2g_req *req)
{
	o2g_match_remove(&c->match, &req->match);
	count_posted(c, req, -1);
}

struct o2g_unexp *o2g_proto_probe(struct o2g_core *c, u32 src, u64 tag,
				  u64 ignore)
{
	struct o2g_match_entry *e = o2g_match_peek(&c->match, src, tag, ignore);
	struct o2g_list *l, *tmp;

	if (e)
		return unexp_of(e);
	o2g_list_for_each_safe(l, tmp, &c->stalled_peers) {
		struct o2g_peer *p =
			container_of(l, struct o2g_peer, stall_link);

		if (src == O2G_MATCH_ANY || src == p->rank)
			o2g_credit_wanted(c, p);
	}
	return NULL;
}

struct o2g_unexp *o2g_proto_mprobe(struct o2g_core *c, u32 src, u64 tag,
				   u64 ignore)
{
	struct o2g_unexp *u = o2g_proto_probe(c, src, tag, ignore);

	if (u)
		o2g_proto_take(c, u);
	return u;
}

void o2g_proto_take(struct o2g_core *c, struct o2g_unexp *u)
{
	o2g_match_remove(&c->match, &u->match);
	o2g_recv_unname(u);
	if (is_here(u))
		o2g_list_del(&u->link);
}

/* --- packets --- */

struct o2g_unexp *o2g_recv_keep(struct o2g_core *c, struct o2g_peer *p,
				const struct o2g_hdr *h, u64 body)
{
	struct o2g_unexp *u = c->ops->unexp_alloc(c, p, body);

	if (!u)
		return NULL;
	u->peer = p;
	u->type = h->type;
	u->flags = h->flags;
	u->complete = body == 0;
	u->len = h->length;
	u->aux = h->aux;
	u->charge = body + O2G_COST;
	u->paid = (u8)o2g_credit_paid(h);
	u->req = NULL;
	u->error = 0;
	u->match.src = p->rank;
	u->match.tag = h->tag;
	u->match.queued = 0;
	u->named = false;
	u->cookie.value = h->cookie;
	o2g_list_init(&u->link);
	o2g_list_init(&u->served);
	return u;
}

static struct o2g_unexp *add_unexpected(struct o2g_core *c, struct o2g_peer *p,
					const struct o2g_hdr *h, u64 body)
{
	struct o2g_unexp *u = o2g_recv_keep(c, p, h, body);

	if (!u)
		return NULL;
	o2g_list_add_tail(&u->link, is_here(u) ? &p->here : &p->arriving);
	o2g_match_add_unexpected(&c->match, &u->match);
	name(c, u);
	c->stats.unexpected++;
	return u;
}

/* The last byte is in. It may be claimed, or taken by a probe. */
static void completed(struct o2g_unexp *u)
{
	u->complete = true;
	o2g_list_del(&u->link);
	if (u->match.queued)
		o2g_list_add_tail(&u->link, &u->peer->here);
}

enum o2g_proto_reason o2g_recv_rx_eager(struct o2g_core *c, struct o2g_peer *p,
					struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	struct o2g_req *req;
	struct o2g_unexp *u;

	if (unlikely(!o2g_credit_charge(c, p, h->length + O2G_COST,
					o2g_credit_paid(h))))
		return O2G_PROTO_TOO_LONG;
	count_recv(p, h->length);
	if (unlikely(h->flags & O2G_PKTF_SERVED))
		return o2g_served_rx(c, p, rx, h->length);
	req = arrive(c, p, h->tag);
	if (likely(req)) {
		matched(req, p, h->tag, h->length);
		req->state = O2G_ST_CLAIMED;
		o2g_list_add_tail(&req->link, &p->incoming);
		sink_to_req(&rx->sink, req, 0, min_u64(h->length, req->len));
		rx->req = req;
		return O2G_PROTO_OK;
	}
	u = add_unexpected(c, p, h, h->length);
	if (!u)
		return O2G_PROTO_NO_MEMORY;
	rx->unexp = u;
	sink_to_seg(&rx->sink, &u->body, h->length);
	if (c->ops->arrived)
		c->ops->arrived(c, u);
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_recv_whole_unexpected(struct o2g_core *c,
						struct o2g_peer *p, u64 tag,
						const void *body, u64 len)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .tag = tag, .length = len };
	struct o2g_unexp *u;

	if (!o2g_credit_charge(c, p, len + O2G_COST, O2G_PAID_CREDIT))
		return O2G_PROTO_TOO_LONG;
	u = add_unexpected(c, p, &h, len);
	if (!u)
		return O2G_PROTO_NO_MEMORY;
	env_seg_write(&u->body, body, len);
	completed(u);
	if (c->ops->arrived)
		c->ops->arrived(c, u);
	return O2G_PROTO_OK;
}

void o2g_recv_whole_segs(struct o2g_core *c, struct o2g_req *req,
			 const void *body, u64 len)
{
	struct o2g_seg from = { .len = len };
	struct o2g_sink to;

	if (!req->got)
		return;
	env_seg_set(&from, body);
	sink_to_req(&to, req, 0, req->got);
	c->ops->copy(c, &to, &from, req->got);
}

void o2g_recv_rx_eager_end(struct o2g_core *c, struct o2g_peer *p,
			   struct o2g_rx *rx)
{
	struct o2g_unexp *u = rx->unexp;
	struct o2g_req *req = rx->req;

	if (unlikely(u)) {
		/* Without a body it was complete at once and may be gone. */
		if (rx->hdr.length == 0)
			return;
		completed(u);
		if (u->flags & O2G_PKTF_SERVED)
			o2g_served_complete(c, u);
		else if (u->req)
			deliver_unexp(c, u->req, u);
		return;
	}
	req->got = min_u64(req->len, req->msg_len);
	if (unlikely(rx->hdr.flags & O2G_PKTF_SYNC))
		xmit_answer(c, p, O2G_PKT_FIN, rx->hdr.cookie, 0, 0);
	o2g_credit_return(c, p, rx->hdr.length + O2G_COST, O2G_PAID_CREDIT);
	finish(c, req, recv_status(req));
}

enum o2g_proto_reason o2g_recv_rx_rts(struct o2g_core *c, struct o2g_peer *p,
				      struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	enum o2g_paid paid = o2g_credit_paid(h);
	struct o2g_req *req;
	struct o2g_unexp *u;

	if (!o2g_credit_charge(c, p, O2G_COST, paid))
		return O2G_PROTO_TOO_LONG;
	c->stats.rts_recv++;
	count_recv(p, h->length);
	if (h->flags & O2G_PKTF_SERVED)
		return o2g_served_rx(c, p, rx, 0);
	req = arrive(c, p, h->tag);
	if (req) {
		matched(req, p, h->tag, h->length);
		answer_rts(c, req, h);
		o2g_credit_return(c, p, O2G_COST, paid);
		return O2G_PROTO_OK;
	}
	u = add_unexpected(c, p, h, 0);
	if (!u)
		return O2G_PROTO_NO_MEMORY;
	if (c->ops->arrived)
		c->ops->arrived(c, u);
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_recv_rx_data(struct o2g_core *c, struct o2g_peer *p,
				       struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	struct o2g_req *req = c->ops->find(c, h->cookie);
	u64 want;

	if (!req || req->peer != p)
		return O2G_PROTO_NO_REQUEST;
	if (req->kind == O2G_REQ_ATOMIC)
		return o2g_atomic_rx_data(req, rx);
	if (req->state != O2G_ST_DATA)
		return O2G_PROTO_BAD_STATE;
	want = req->kind == O2G_REQ_RECV ? min_u64(req->len, req->msg_len) :
					   req->len;
	if (h->aux != req->got || h->length > want - req->got || h->length == 0)
		return O2G_PROTO_BAD_RANGE;
	if (unlikely(h->flags & O2G_PKTF_REFERENCE) &&
	    (req->kind != O2G_REQ_RECV || h->length != want - req->got))
		return O2G_PROTO_BAD_RANGE;
	sink_to_req(&rx->sink, req, req->got, h->length);
	rx->req = req;
	/* A peer may have two connections, and its packets are not trusted. */
	req->state = O2G_ST_FILLING;
	c->stats.data_recv++;
	return O2G_PROTO_OK;
}

void o2g_recv_rx_data_end(struct o2g_core *c, struct o2g_rx *rx)
{
	struct o2g_req *req = rx->req;

	if (req->kind == O2G_REQ_ATOMIC) {
		o2g_atomic_rx_data_end(c, rx);
		return;
	}
	req->state = O2G_ST_DATA;
	req->got += rx->hdr.length;
	if (req->kind == O2G_REQ_GET) {
		if (req->got == req->len)
			o2g_rma_get_end(c, req, 0);
	} else if (req->got == min_u64(req->len, req->msg_len)) {
		/* Only now may its sender use the memory again. */
		if (unlikely(rx->hdr.flags & O2G_PKTF_REFERENCE))
			xmit_answer(c, req->peer, O2G_PKT_FIN, rx->hdr.tag, 0,
				    0);
		finish(c, req, recv_status(req));
	}
}

/* --- cancelling a send: forget its envelope if nobody has matched it --- */

void o2g_recv_rx_cancel(struct o2g_core *c, struct o2g_peer *p,
			const struct o2g_hdr *h)
{
	struct o2g_cookie *n = o2g_cookies_find(p->named, h->cookie);
	struct o2g_unexp *u = n ? container_of(n, struct o2g_unexp, cookie) :
				  NULL;

	if (u && (u->type == O2G_PKT_RTS || u->complete)) {
		o2g_match_remove(&c->match, &u->match);
		o2g_recv_unname(u);
		o2g_recv_drop_unexpected(c, u);
	} else {
		u = NULL;
	}
	xmit_answer(c, p, O2G_PKT_CANCEL_ACK, h->cookie, 0, u != NULL);
}
