/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The protocols' front: set-up, the packet dispatcher, cancelling and the death
 * of a peer. The stories are in send.c, recv.c, served.c, rma.c, rma_atomic.c and
 * credit.c.
 */
#include "proto_impl.h"

static const char *const reason_names[O2G_PROTO_REASONS] = {
	[O2G_PROTO_OK] = "ok",
	[O2G_PROTO_WRONG_ENDPOINT] = "wrong endpoint",
	[O2G_PROTO_TOO_LONG] = "message beyond its credit",
	[O2G_PROTO_NO_REQUEST] = "unknown request",
	[O2G_PROTO_BAD_STATE] = "packet out of turn",
	[O2G_PROTO_BAD_RANGE] = "data outside its buffer",
	[O2G_PROTO_BAD_CREDIT] = "impossible credit",
	[O2G_PROTO_NO_MEMORY] = "out of memory",
	[O2G_PROTO_AFTER_BYE] = "packet after goodbye",
};

const char *o2g_proto_reason_name(enum o2g_proto_reason r)
{
	return (u32)r < O2G_PROTO_REASONS ? reason_names[r] : "unknown";
}

void o2g_core_init(struct o2g_core *c, const struct o2g_core_ops *ops, u32 rank,
		   struct o2g_match_bin *bins, u32 nbins, u64 seed)
{
	memset(c, 0, sizeof(*c));
	c->ops = ops;
	c->rank = rank;
	c->budget_total = 64u << 20;
	c->budget_peer = 4u << 20;
	c->served_grant = O2G_CREDIT_SERVED;
	c->extra_max = (u32)~0;
	c->data_chunk = 1u << 20;
	c->atomic_piece = O2G_ATOMIC_PIECE;
	c->fetch_piece = O2G_ATOMIC_PIECE;
	o2g_list_init(&c->stalled_peers);
	o2g_match_init(&c->match, bins, nbins, seed);
}

void o2g_peer_init(struct o2g_core *c, struct o2g_peer *p, u32 rank)
{
	memset(p, 0, sizeof(*p));
	p->rank = rank;
	p->wire_rank = rank;
	p->credit = O2G_CREDIT_INIT;
	p->granted = O2G_CREDIT_INIT;
	p->served_credit = c->served_grant;
	c->granted_total += O2G_CREDIT_INIT;
	c->npeers_alive++;
	o2g_list_init(&p->stall_link);
	o2g_list_init(&p->stalled);
	o2g_list_init(&p->calls);
	o2g_list_init(&p->waiting);
	o2g_list_init(&p->incoming);
	o2g_list_init(&p->arriving);
	o2g_list_init(&p->here);
	o2g_list_init(&p->held_gets);
	o2g_list_init(&p->ops);
	o2g_list_init(&p->served);
}

void o2g_sink_advance(struct o2g_sink *s, u64 n)
{
	s->off += n;
	s->room -= min_u64(n, s->room);
}

static enum o2g_proto_reason dispatch(struct o2g_core *c, struct o2g_peer *p,
				      struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;

	switch (h->type) {
	case O2G_PKT_RTS:
		return o2g_recv_rx_rts(c, p, rx);
	case O2G_PKT_DATA:
		return o2g_recv_rx_data(c, p, rx);
	case O2G_PKT_CTS:
		return o2g_send_rx_cts(c, p, h);
	case O2G_PKT_FIN:
		return o2g_send_rx_fin(c, p, h);
	case O2G_PKT_CREDIT:
		return o2g_credit_rx_packet(c, p, h);
	case O2G_PKT_PUT:
		return o2g_rma_rx_put(c, p, rx);
	case O2G_PKT_GET:
		return o2g_rma_rx_get(c, p, h);
	case O2G_PKT_ATOMIC:
		return o2g_atomic_rx(c, p, rx);
	case O2G_PKT_NAK:
		return o2g_rma_rx_nak(c, p, h);
	case O2G_PKT_CANCEL:
		o2g_recv_rx_cancel(c, p, h);
		return O2G_PROTO_OK;
	case O2G_PKT_CANCEL_ACK:
		return o2g_send_rx_cancel_ack(c, p, h);
	case O2G_PKT_BYE:
		p->said_bye = true;
		if (c->ops->bye)
			c->ops->bye(c, p);
		return O2G_PROTO_OK;
	default:
		return O2G_PROTO_BAD_STATE;
	}
}

enum o2g_proto_reason o2g_proto_rx_begin(struct o2g_core *c, struct o2g_peer *p,
					 const struct o2g_hdr *h,
					 struct o2g_rx *rx)
{
	enum o2g_proto_reason r;

	rx->hdr = *h;
	rx->req = NULL;
	rx->unexp = NULL;
	rx->sink.room = 0;
	r = O2G_PROTO_WRONG_ENDPOINT;
	if (unlikely(h->src != p->wire_rank || h->dst != c->rank))
		goto bad;
	r = O2G_PROTO_AFTER_BYE;
	if (unlikely(p->said_bye))
		goto bad;
	if (h->credit) {
		r = o2g_credit_rx(c, p, h);
		if (r)
			goto bad;
	}
	if (likely(h->type == O2G_PKT_EAGER))
		r = o2g_recv_rx_eager(c, p, rx);
	else
		r = dispatch(c, p, rx);
	if (likely(r == O2G_PROTO_OK))
		return r;
bad:
	c->stats.bad_packets++;
	return r;
}

void o2g_proto_rx_end(struct o2g_core *c, struct o2g_peer *p, struct o2g_rx *rx)
{
	switch (rx->hdr.type) {
	case O2G_PKT_EAGER:
		o2g_recv_rx_eager_end(c, p, rx);
		break;
	case O2G_PKT_DATA:
		o2g_recv_rx_data_end(c, rx);
		break;
	case O2G_PKT_PUT:
		o2g_rma_rx_put_end(c, p, rx);
		break;
	case O2G_PKT_ATOMIC:
		o2g_atomic_rx_end(c, p, rx);
		break;
	}
}

static int cancel_send(struct o2g_core *c, struct o2g_req *req)
{
	if (req->state == O2G_ST_STALLED) {
		req->flags |= O2G_REQF_CANCELLED;
		finish(c, req, -O2G_ERR_CANCELLED);
		return 0;
	}
	if (req->state != O2G_ST_WAIT || req->flags & O2G_REQF_GOT_CTS)
		return -EBUSY;
	if (!(req->flags & O2G_REQF_CANCEL)) {
		req->flags |= O2G_REQF_CANCEL;
		xmit_answer(c, req->peer, O2G_PKT_CANCEL, req->id, 0, 0);
	}
	return -EINPROGRESS;
}

int o2g_proto_cancel(struct o2g_core *c, struct o2g_req *req)
{
	if (req->kind == O2G_REQ_SEND)
		return cancel_send(c, req);
	if (req->kind != O2G_REQ_RECV || req->state != O2G_ST_POSTED)
		return -EBUSY;
	o2g_recv_unpost(c, req);
	req->flags |= O2G_REQF_CANCELLED;
	finish(c, req, -O2G_ERR_CANCELLED);
	return 0;
}

void o2g_proto_bye(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2g_hdr h = { .type = O2G_PKT_BYE };

	if (!p->down)
		xmit(c, p, &h, NULL, 0, 0);
}

/* --- the death of a peer --- */

/* What is here as a whole is still handled. They are few: credit is short. */
static void reap_served(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2g_list *l, *tmp;

	o2g_list_for_each_safe(l, tmp, &p->served) {
		struct o2g_unexp *u = container_of(l, struct o2g_unexp, served);

		if (u->type == O2G_PKT_EAGER && u->complete)
			continue;
		o2g_list_del(&u->served);
		o2g_recv_drop_unexpected(c, u);
	}
}

void o2g_proto_peer_cut(struct o2g_core *c, struct o2g_peer *p)
{
	if (p->down)
		return;
	p->down = true;
	p->is_stalled = false;
	o2g_list_del(&p->stall_link);
	c->npeers_alive--;
	c->granted_total -= p->granted;
	c->extra_total -= p->extra;
	reap_served(c, p);
}

/* A message that was arriving: claimed, taken by a matched probe, or neither. */
static void reap_arriving(struct o2g_core *c, struct o2g_unexp *u, int err)
{
	struct o2g_req *req = u->req;

	o2g_list_del(&u->link);
	if (o2g_match_remove(&c->match, &u->match)) {
		o2g_recv_unname(u);
		o2g_recv_drop_unexpected(c, u);
	} else if (req) {
		o2g_recv_drop_unexpected(c, u);
		finish(c, req, err);
	} else {
		u->error = -O2G_ERR_PEER;
	}
}

/* Nobody will cancel it any more; what was only announced will not come. */
static void reap_named(struct o2g_core *c, struct o2g_unexp *u)
{
	o2g_recv_unname(u);
	if (u->type != O2G_PKT_RTS)
		return;
	o2g_match_remove(&c->match, &u->match);
	o2g_recv_drop_unexpected(c, u);
}

static bool reap_request(struct o2g_core *c, struct o2g_list *reqs, int err)
{
	struct o2g_req *req;

	if (o2g_list_empty(reqs))
		return false;
	req = o2g_list_first(reqs, struct o2g_req, link);
	if (req->kind == O2G_REQ_REPLY)
		o2g_reply_end(c, req, err);
	else
		finish(c, req, err);
	return true;
}

/* One thing; false: there is none. */
static bool reap_one(struct o2g_core *c, struct o2g_peer *p, int err)
{
	if (!o2g_list_empty(&p->arriving))
		reap_arriving(
			c, o2g_list_first(&p->arriving, struct o2g_unexp, link),
			err);
	else if (p->named)
		reap_named(c, container_of(p->named, struct o2g_unexp, cookie));
	else
		return reap_request(c, &p->ops, err) ||
		       reap_request(c, &p->stalled, err) ||
		       reap_request(c, &p->calls, err) ||
		       reap_request(c, &p->waiting, err) ||
		       reap_request(c, &p->incoming, err) ||
		       reap_request(c, &p->held_gets, err);
	return true;
}

bool o2g_proto_peer_reap(struct o2g_core *c, struct o2g_peer *p, int err,
			 u32 max)
{
	while (max && reap_one(c, p, err))
		max--;
	return max;
}

bool o2g_proto_end_posted(struct o2g_core *c, struct o2g_req *req, int err)
{
	if (req->state != O2G_ST_POSTED)
		return false;
	o2g_recv_unpost(c, req);
	finish(c, req, err);
	return true;
}

struct reaper {
	struct o2g_core *core;
	struct o2g_peer *peer;
	struct o2g_list reqs; /* to complete once nothing is being walked */
};

static void reap_posted(struct o2g_match_entry *e, void *arg)
{
	struct reaper *r = arg;
	struct o2g_req *req = req_of(e);

	if (req->match.src == O2G_MATCH_ANY ?
		    r->core->any_outlives || r->peer->said_bye :
		    req->match.src != r->peer->rank)
		return;
	o2g_recv_unpost(r->core, req);
	o2g_list_add_tail(&req->link, &r->reqs);
}

void o2g_proto_peer_down(struct o2g_core *c, struct o2g_peer *p, int err)
{
	struct reaper r = { .core = c, .peer = p };

	if (p->down)
		return;
	o2g_proto_peer_cut(c, p);
	o2g_list_init(&r.reqs);
	o2g_match_each_posted(&c->match, reap_posted, &r);
	while (reap_request(c, &r.reqs, err))
		;
	while (!o2g_proto_peer_reap(c, p, err, ~0u))
		;
	if (o2g_proto_served(p))
		c->ops->served(c, p);
}

bool o2g_proto_forget(struct o2g_core *c, struct o2g_peer *p, u32 max)
{
	for (; max && !o2g_list_empty(&p->here); max--) {
		struct o2g_unexp *u =
			o2g_list_first(&p->here, struct o2g_unexp, link);

		o2g_match_remove(&c->match, &u->match);
		o2g_recv_unname(u);
		o2g_recv_drop_unexpected(c, u);
	}
	return o2g_list_empty(&p->here);
}

/* --- giving up --- */

struct doom {
	struct o2g_core *core;
	bool (*fn)(const struct o2g_req *req, void *arg);
	void *arg;
	struct o2g_list reqs;
};

static void doom_posted(struct o2g_match_entry *e, void *arg)
{
	struct doom *d = arg;
	struct o2g_req *req = req_of(e);

	if (!d->fn(req, d->arg))
		return;
	o2g_recv_unpost(d->core, req);
	o2g_list_add_tail(&req->link, &d->reqs);
}

void o2g_proto_give_up(struct o2g_core *c,
		       bool (*fn)(const struct o2g_req *req, void *arg),
		       void *arg, int err)
{
	struct doom d = { .core = c, .fn = fn, .arg = arg };

	o2g_list_init(&d.reqs);
	o2g_match_each_posted(&c->match, doom_posted, &d);
	while (!o2g_list_empty(&d.reqs))
		finish(c, o2g_list_first(&d.reqs, struct o2g_req, link), err);
}

/* Those that the peer has not taken yet; it is asked to forget them. */
static void give_up_sends(struct o2g_core *c, struct o2g_list *sends,
			  bool (*fn)(const struct o2g_req *req, void *arg),
			  void *arg)
{
	struct o2g_list *l, *tmp;

	o2g_list_for_each_safe(l, tmp, sends) {
		struct o2g_req *req = container_of(l, struct o2g_req, link);

		if (req->kind == O2G_REQ_SEND &&
		    !(req->flags & O2G_REQF_CANCEL) && fn(req, arg))
			o2g_proto_cancel(c, req);
	}
}

void o2g_proto_give_up_sends(struct o2g_core *c, struct o2g_peer *p,
			     bool (*fn)(const struct o2g_req *req, void *arg),
			     void *arg)
{
	if (p->down)
		return;
	give_up_sends(c, &p->stalled, fn, arg);
	give_up_sends(c, &p->waiting, fn, arg);
}
