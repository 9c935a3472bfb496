/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The quick way: what a small message does from the caller to the channel, and from
 * the channel to the buffer of its receive, each in one piece of code. It has no
 * request at its sender, and no struct o2g_rx at its receiver.
 *
 *	quick_inject	a message leaves without a request, now or not at all
 *	whole_rx	one that has come as a whole
 *	whole_feed	the same, several in a row, among the bytes of a stream
 *
 * Nearly all messages go this way, so it is inlined where they pass: the engine's
 * send.c and the channels. Whatever is not plain (flags, no credit, a body in pieces)
 * takes the long way, by send.c and recv.c.
 */
#ifndef O2G_QUICK_H
#define O2G_QUICK_H

#include "proto_impl.h"
#include "wire.h"

/* --- sending --- */

/* The contract is o2g_proto_inject()'s. */
static inline int quick_inject(struct o2g_core *c, struct o2g_peer *p, u64 tag,
			       const void *buf, u64 len)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .tag = tag,
			     .length = len,
			     .src = c->rank,
			     .dst = p->wire_rank,
			     .credit = p->owed };

	if (unlikely(len >= p->inject_max || p->down ||
		     !o2g_list_empty(&p->stalled) ||
		     !credit_covers(p, len + O2G_COST)))
		return -EAGAIN;
	/* Before the call: a message to oneself is received inside it. */
	p->owed -= h.credit;
	p->credit -= (u32)(len + O2G_COST);
	if (unlikely(c->ops->inject(c, p, &h, buf, len))) {
		p->owed += h.credit;
		p->credit += (u32)(len + O2G_COST);
		return -EAGAIN;
	}
	c->stats.eager_sent++;
	count_sent(p, len);
	return 0;
}

/* --- receiving --- */

static inline enum o2g_proto_reason whole_recv(struct o2g_core *c,
					       struct o2g_peer *p, u64 tag,
					       const void *body, u64 len)
{
	struct o2g_req *req;

	if (unlikely(!credit_granted(p, len + O2G_COST)))
		return O2G_PROTO_TOO_LONG;
	count_recv(p, len);
	req = arrive(c, p, tag);
	if (unlikely(!req))
		return o2g_recv_whole_unexpected(c, p, tag, body, len);
	matched(req, p, tag, len);
	req->got = min_u64(len, req->len);
	if (likely(req->nsegs == 1))
		env_seg_write(req->segs, body, req->got);
	else
		o2g_recv_whole_segs(c, req, body, len);
	o2g_credit_passed(c, p, len + O2G_COST);
	req->state = O2G_ST_DONE;
	req->status = len > req->len ? -O2G_ERR_TRUNCATED : 0;
	c->ops->complete(c, req);
	return O2G_PROTO_OK;
}

/*
 * For a plain EAGER packet (no flags, the right ends) that is all here, its body at
 * @body: o2g_proto_rx_begin() and o2g_proto_rx_end() in one.
 */
static inline enum o2g_proto_reason whole_rx(struct o2g_core *c,
					     struct o2g_peer *p, u64 tag,
					     u32 credit, const void *body,
					     u64 len)
{
	enum o2g_proto_reason r = O2G_PROTO_AFTER_BYE;

	if (unlikely(p->said_bye))
		goto bad;
	if (unlikely(credit)) {
		struct o2g_hdr h = { .type = O2G_PKT_EAGER, .credit = credit };

		r = o2g_credit_rx(c, p, &h);
		if (r)
			goto bad;
	}
	r = whole_recv(c, p, tag, body, len);
	if (likely(r == O2G_PROTO_OK))
		return r;
bad:
	c->stats.bad_packets++;
	return r;
}

/*
 * Bytes that came after a packet's end: takes the messages off their front that
 * are plain, shorter than @most and all here. The number of bytes used; what is
 * left is for the parser, or the message that *reason says is wrong.
 */
static inline size_t whole_feed(struct o2g_core *c, struct o2g_peer *p,
				const void *data, size_t n, u64 most,
				int *packets, enum o2g_proto_reason *reason)
{
	size_t used = 0;

	while (n - used >= O2G_HDR_SIZE) {
		const u8 *at = (const u8 *)data + used;
		struct o2g_wire_hdr w;
		u64 len;

		memcpy(&w, at, sizeof(w));
		len = le64_to_cpu(w.length);
		if (unlikely(!o2g_wire_is_plain(&w) || len >= most ||
			     len > n - used - O2G_HDR_SIZE ||
			     le32_to_cpu(w.src) != p->wire_rank ||
			     le32_to_cpu(w.dst) != c->rank))
			break;
		*reason = whole_rx(c, p, le64_to_cpu(w.tag),
				   le32_to_cpu(w.credit), at + O2G_HDR_SIZE,
				   len);
		if (unlikely(*reason))
			break;
		*packets += 1;
		used += O2G_HDR_SIZE + len;
	}
	return used;
}

#endif
