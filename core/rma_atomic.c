/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Atomic operations on registered memory: the target's side.
 *
 * The operands of a packet are gathered before anything is done, in the packet's state
 * if they are few, else in memory that a REPLY request holds. Then all elements are
 * updated at once, by ops->atomic, and the values from before take the operands'
 * place. Up to 8 bytes of them go back in a FIN, more in one DATA packet.
 *
 * The memory is looked up when the packet begins, so that nothing is gathered in vain,
 * and once more when it ends: its owner may have deregistered it meanwhile.
 */
#include "proto_impl.h"

/* Bytes of memory that a packet is about. */
static u64 span_of(const struct o2g_hdr *h)
{
	return o2g_wire_atomic_op(h) == O2G_AOP_CAS ? h->length / 2 : h->length;
}

static bool is_big(const struct o2g_hdr *h)
{
	return h->flags & O2G_PKTF_FETCH ? span_of(h) > 8 :
					   h->length > O2G_SHORT;
}

static bool is_sound(const struct o2g_hdr *h)
{
	u32 op = o2g_wire_atomic_op(h), type = o2g_wire_atomic_type(h);
	u32 size = o2g_atomic_size(type);

	if (!o2g_atomic_exists(op, type) || !h->length ||
	    h->length > O2G_ATOMIC_PIECE || h->length % size)
		return false;
	if (op == O2G_AOP_NO_OP)
		return h->flags & O2G_PKTF_FETCH;
	return op != O2G_AOP_CAS || h->length == 2 * size;
}

/* All but reading needs both kinds of access. */
static int find_memory(struct o2g_core *c, struct o2g_peer *p,
		       const struct o2g_hdr *h, struct o2g_seg *seg)
{
	u64 offset = o2g_wire_atomic_offset(h), span = span_of(h);
	int err;

	if (!c->ops->atomic || (c->atomics_short && is_big(h)))
		return -EOPNOTSUPP;
	err = c->ops->mem(c, p, h->tag, offset, span, false, seg);
	if (!err && o2g_wire_atomic_op(h) != O2G_AOP_NO_OP)
		err = c->ops->mem(c, p, h->tag, offset, span, true, seg);
	return err;
}

/* Memory for operands and results, which the reply takes along. */
static enum o2g_proto_reason get_memory(struct o2g_core *c, struct o2g_peer *p,
					struct o2g_rx *rx)
{
	struct o2g_unexp *u;

	if (p->replies >= O2G_GETS_MAX + 1)
		return O2G_PROTO_BAD_STATE;
	u = c->ops->unexp_alloc(c, p, rx->hdr.length);
	if (!u)
		return O2G_PROTO_NO_MEMORY;
	rx->req = o2g_reply_new(c, p, &rx->hdr);
	if (!rx->req) {
		c->ops->unexp_free(c, u);
		return O2G_PROTO_NO_MEMORY;
	}
	rx->req->memory = u;
	rx->req->seg0 = u->body;
	return O2G_PROTO_OK;
}

enum o2g_proto_reason o2g_atomic_rx(struct o2g_core *c, struct o2g_peer *p,
				    struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	enum o2g_proto_reason r;
	struct o2g_seg seg;

	if (!is_sound(h))
		return O2G_PROTO_BAD_RANGE;
	count_recv(p, h->length);
	rx->operand[0] = 0;
	rx->nak = find_memory(c, p, h, &seg);
	if (rx->nak)
		return O2G_PROTO_OK; /* the body is dropped */
	if (is_big(h)) {
		r = get_memory(c, p, rx);
		if (!r)
			sink_to_seg(&rx->sink, &rx->req->seg0,
				    o2g_wire_body(h));
		return r;
	}
	rx->put_seg.len = sizeof(rx->operand);
	env_seg_set(&rx->put_seg, rx->operand);
	sink_to_seg(&rx->sink, &rx->put_seg, o2g_wire_body(h));
	return O2G_PROTO_OK;
}

static int operate(struct o2g_core *c, struct o2g_peer *p, struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	u32 op = o2g_wire_atomic_op(h), type = o2g_wire_atomic_type(h);
	void *operands = rx->req ? env_seg_memory(&rx->req->seg0) : rx->operand;
	struct o2g_seg seg;
	int err = find_memory(c, p, h, &seg);

	if (err)
		return err;
	return c->ops->atomic(c, &seg, op, type, operands,
			      span_of(h) / o2g_atomic_size(type));
}

void o2g_atomic_rx_end(struct o2g_core *c, struct o2g_peer *p,
		       struct o2g_rx *rx)
{
	const struct o2g_hdr *h = &rx->hdr;
	bool fetch = h->flags & O2G_PKTF_FETCH;
	struct o2g_req *reply = rx->req;

	if (!rx->nak)
		rx->nak = operate(c, p, rx);
	if (!rx->nak && fetch && reply) {
		o2g_send_data(c, reply);
		return;
	}
	if (reply)
		o2g_reply_end(c, reply, 0);
	if (rx->nak)
		xmit_answer(c, p, O2G_PKT_NAK, h->cookie, h->length,
			    (u64)-rx->nak);
	else
		xmit_answer(c, p, O2G_PKT_FIN, h->cookie, h->length,
			    fetch ? o2g_atomic_read(rx->operand, span_of(h)) :
				    0);
}

/* At the origin: what came in a FIN. */
void o2g_atomic_result(struct o2g_core *c, struct o2g_req *req,
		       const struct o2g_hdr *h)
{
	struct o2g_seg from = { .len = sizeof(h->aux) };
	u64 n = o2g_atomic_part(req, h->length);
	struct o2g_sink to = { .segs = req->result_segs,
			       .nsegs = req->n_result_segs,
			       .off = req->got,
			       .room = n,
			       .view = req->result_view };

	env_seg_set(&from, &h->aux);
	c->ops->copy(c, &to, &from, n);
}
