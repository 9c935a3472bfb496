/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the protocol files share among themselves. Outside of core/ it comes with
 * quick.h, for those who move a small message without a call; nothing else of it is
 * for them.
 */
#ifndef O2G_PROTO_IMPL_H
#define O2G_PROTO_IMPL_H

#include "match_impl.h"
#include "proto.h"

static inline struct o2g_req *req_of(struct o2g_match_entry *e)
{
	return container_of(e, struct o2g_req, match);
}

static inline struct o2g_unexp *unexp_of(struct o2g_match_entry *e)
{
	return container_of(e, struct o2g_unexp, match);
}

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Fill in the ends and the credit we owe, and hand the packet down. */
static inline int xmit(struct o2g_core *c, struct o2g_peer *p,
		       struct o2g_hdr *h, struct o2g_req *req, u64 off, u64 len)
{
	h->src = c->rank;
	h->dst = p->wire_rank;
	h->credit = unlikely(h->flags & O2G_PKTF_SERVED) ? p->served_owed :
							   p->owed;
	*(unlikely(h->flags & O2G_PKTF_SERVED) ? &p->served_owed : &p->owed) =
		0;
	return c->ops->xmit(c, p, h, req, off, len);
}

/* A packet without a body that answers @cookie. */
static inline int xmit_answer(struct o2g_core *c, struct o2g_peer *p,
			      enum o2g_pkt type, u64 cookie, u64 length,
			      u64 aux)
{
	struct o2g_hdr h = { .type = type,
			     .cookie = cookie,
			     .length = length,
			     .aux = aux };

	if (p->down)
		return -O2G_ERR_PEER;
	return xmit(c, p, &h, NULL, 0, 0);
}

/* The request leaves whatever list it is in and is handed to its owner. */
static inline void finish(struct o2g_core *c, struct o2g_req *req, int status)
{
	o2g_list_del(&req->link);
	req->state = O2G_ST_DONE;
	req->status = status;
	c->ops->complete(c, req);
}

static inline int recv_status(const struct o2g_req *req)
{
	return req->msg_len > req->len ? -O2G_ERR_TRUNCATED : 0;
}

static inline void count_sent(struct o2g_peer *p, u64 bytes)
{
	p->msgs_sent++;
	p->bytes_sent += bytes;
}

static inline void count_recv(struct o2g_peer *p, u64 bytes)
{
	p->msgs_recv++;
	p->bytes_recv += bytes;
}

/*
 * The questions about credit. As sender: does it cover this eager message, with what
 * is left to envelopes? As receiver: is this within what the peer was granted? And is
 * so much owed that it is told, without waiting for a packet that goes there?
 */
static inline bool credit_covers(const struct o2g_peer *p, u64 cost)
{
	return p->credit >= cost + O2G_CREDIT_RESERVE;
}
static inline bool credit_granted(const struct o2g_peer *p, u64 cost)
{
	return cost <= p->granted - p->used;
}
static inline bool credit_due(const struct o2g_peer *p, u64 owed)
{
	return owed >= p->granted / 4 || p->is_stalled;
}

/* credit.c: sender's side */
static inline bool o2g_credit_take(struct o2g_peer *p, u64 cost)
{
	if (unlikely(!credit_covers(p, cost)))
		return false;
	p->credit -= (u32)cost;
	return true;
}
/* For an RTS; sets its ENVELOPE flag when it is paid with extra credit. */
bool o2g_credit_take_envelope(struct o2g_peer *p, u8 *flags);
enum o2g_proto_reason o2g_credit_rx(struct o2g_core *c, struct o2g_peer *p,
				    const struct o2g_hdr *h);
void o2g_credit_say_stalled(struct o2g_core *c, struct o2g_peer *p);
/* credit.c: receiver's side */
bool o2g_credit_charge(const struct o2g_core *c, struct o2g_peer *p, u64 cost,
		       enum o2g_paid paid);
void o2g_credit_return(struct o2g_core *c, struct o2g_peer *p, u64 cost,
		       enum o2g_paid paid);
static inline enum o2g_paid o2g_credit_paid(const struct o2g_hdr *h)
{
	if (unlikely(h->flags & O2G_PKTF_SERVED))
		return O2G_PAID_SERVED;
	return h->type == O2G_PKT_RTS && h->flags & O2G_PKTF_ENVELOPE ?
		       O2G_PAID_EXTRA :
		       O2G_PAID_CREDIT;
}
/* What was charged is given back at once. */
static inline void o2g_credit_passed(struct o2g_core *c, struct o2g_peer *p,
				     u64 cost)
{
	if (unlikely(credit_due(p, p->owed + cost))) {
		p->used += (u32)cost;
		o2g_credit_return(c, p, cost, O2G_PAID_CREDIT);
	} else {
		p->owed += (u32)cost;
	}
}
/* CREDIT: what it says beside its credit field. */
enum o2g_proto_reason o2g_credit_rx_packet(struct o2g_core *c,
					   struct o2g_peer *p,
					   const struct o2g_hdr *h);
/* Somebody here waits for a message of @p (NULL: of anybody). */
void o2g_credit_wanted(struct o2g_core *c, struct o2g_peer *p);

/* send.c */
/* False: there is more to start, and ops->again was called. */
bool o2g_send_stalled(struct o2g_core *c, struct o2g_peer *p);
/* The same for messages to handlers. */
void o2g_send_calls(struct o2g_core *c, struct o2g_peer *p);
void o2g_send_data(struct o2g_core *c, struct o2g_req *req);
enum o2g_proto_reason o2g_send_rx_cts(struct o2g_core *c, struct o2g_peer *p,
				      const struct o2g_hdr *h);
enum o2g_proto_reason o2g_send_rx_fin(struct o2g_core *c, struct o2g_peer *p,
				      const struct o2g_hdr *h);
enum o2g_proto_reason o2g_send_rx_cancel_ack(struct o2g_core *c,
					     struct o2g_peer *p,
					     const struct o2g_hdr *h);

/* recv.c: what quick.h also needs, then its calls */
static inline void sink_to_req(struct o2g_sink *s, const struct o2g_req *req,
			       u64 off, u64 room)
{
	s->segs = req->segs;
	s->nsegs = req->nsegs;
	s->off = off;
	s->room = room;
	s->view = req->view;
}

static inline void matched(struct o2g_req *req, struct o2g_peer *p, u64 tag,
			   u64 msg_len)
{
	req->peer = p;
	req->tag = tag;
	req->msg_len = msg_len;
	req->got = 0;
}

static inline void count_posted(struct o2g_core *c, struct o2g_req *req, int n)
{
	if (req->match.src == O2G_MATCH_ANY)
		c->posted_any += n;
	else if (req->peer)
		req->peer->posted += n;
}

/*
 * The receive a message belongs to, taken off the queue, or NULL. One that is
 * posted elsewhere too and went there is over here.
 */
static inline struct o2g_req *arrive(struct o2g_core *c, struct o2g_peer *p,
				     u64 tag)
{
	struct o2g_match_entry *e;

	while ((e = match_arrive(&c->match, p->rank, tag))) {
		struct o2g_req *req = req_of(e);

		count_posted(c, req, -1);
		if (likely(!(req->flags & O2G_REQF_SHARED)) ||
		    c->ops->claim(c, req))
			return req;
	}
	return NULL;
}

static inline void sink_to_seg(struct o2g_sink *s, const struct o2g_seg *seg,
			       u64 room)
{
	s->segs = seg;
	s->nsegs = 1;
	s->off = 0;
	s->room = room;
	s->view = NULL;
}

/* A message to keep, in no queue yet; NULL when out of memory. */
struct o2g_unexp *o2g_recv_keep(struct o2g_core *c, struct o2g_peer *p,
				const struct o2g_hdr *h, u64 body);
enum o2g_proto_reason o2g_recv_rx_eager(struct o2g_core *c, struct o2g_peer *p,
					struct o2g_rx *rx);
/* Of a whole message: nobody waits for it; its receive has several segments. */
enum o2g_proto_reason o2g_recv_whole_unexpected(struct o2g_core *c,
						struct o2g_peer *p, u64 tag,
						const void *body, u64 len);
void o2g_recv_whole_segs(struct o2g_core *c, struct o2g_req *req,
			 const void *body, u64 len);
void o2g_recv_rx_eager_end(struct o2g_core *c, struct o2g_peer *p,
			   struct o2g_rx *rx);
enum o2g_proto_reason o2g_recv_rx_rts(struct o2g_core *c, struct o2g_peer *p,
				      struct o2g_rx *rx);
enum o2g_proto_reason o2g_recv_rx_data(struct o2g_core *c, struct o2g_peer *p,
				       struct o2g_rx *rx);
void o2g_recv_rx_data_end(struct o2g_core *c, struct o2g_rx *rx);
void o2g_recv_rx_cancel(struct o2g_core *c, struct o2g_peer *p,
			const struct o2g_hdr *h);
void o2g_recv_unpost(struct o2g_core *c, struct o2g_req *req);
void o2g_recv_drop_unexpected(struct o2g_core *c, struct o2g_unexp *u);
/* It leaves the matching queues: a CANCEL does not find it any more. */
void o2g_recv_unname(struct o2g_unexp *u);

/* served.c */
enum o2g_proto_reason o2g_served_rx(struct o2g_core *c, struct o2g_peer *p,
				    struct o2g_rx *rx, u64 body);
void o2g_served_complete(struct o2g_core *c, struct o2g_unexp *u);

/* rma.c */
enum o2g_proto_reason o2g_rma_rx_put(struct o2g_core *c, struct o2g_peer *p,
				     struct o2g_rx *rx);
void o2g_rma_rx_put_end(struct o2g_core *c, struct o2g_peer *p,
			struct o2g_rx *rx);
enum o2g_proto_reason o2g_rma_rx_get(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h);
enum o2g_proto_reason o2g_rma_rx_answer(struct o2g_core *c, struct o2g_req *req,
					const struct o2g_hdr *h, int status);
enum o2g_proto_reason o2g_rma_rx_nak(struct o2g_core *c, struct o2g_peer *p,
				     const struct o2g_hdr *h);
/* A piece of it is out of the channel. */
void o2g_rma_sent(struct o2g_core *c, struct o2g_req *req);
/* FIN with what a get of a few bytes wants. */
enum o2g_proto_reason o2g_rma_rx_brief(struct o2g_core *c, struct o2g_req *req,
				       const struct o2g_hdr *h);
/* A get that was sent is done; one that was held back may go. */
void o2g_rma_get_end(struct o2g_core *c, struct o2g_req *req, int status);
/* A request of ours that answers @h with DATA; its segment is still to be set. */
struct o2g_req *o2g_reply_new(struct o2g_core *c, struct o2g_peer *p,
			      const struct o2g_hdr *h);
void o2g_reply_end(struct o2g_core *c, struct o2g_req *req, int status);
/* Bytes of memory that @len bytes of its operands are about. */
static inline u64 o2g_atomic_part(const struct o2g_req *req, u64 len)
{
	return req->op == O2G_AOP_CAS ? len / 2 : len;
}

/* Bytes of memory that an atomic is about. */
static inline u64 o2g_atomic_span(const struct o2g_req *req)
{
	return req->op == O2G_AOP_CAS ? req->len / 2 : req->len;
}

/* rma_atomic.c */
enum o2g_proto_reason o2g_atomic_rx(struct o2g_core *c, struct o2g_peer *p,
				    struct o2g_rx *rx);
void o2g_atomic_rx_end(struct o2g_core *c, struct o2g_peer *p,
		       struct o2g_rx *rx);
/* DATA with values from before. */
enum o2g_proto_reason o2g_atomic_rx_data(struct o2g_req *req,
					 struct o2g_rx *rx);
void o2g_atomic_rx_data_end(struct o2g_core *c, struct o2g_rx *rx);
/* Copy what came in a FIN to where the result goes. */
void o2g_atomic_result(struct o2g_core *c, struct o2g_req *req,
		       const struct o2g_hdr *h);

#endif
