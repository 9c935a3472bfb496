/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The wire format. Every packet starts with the same 48-byte header, all
 * fields little-endian; EAGER, DATA, PUT and ATOMIC are followed by `length` bytes.
 * docs/protocol.md tells what each packet means and when it is sent.
 *
 *	 0  version  type  flags  size      each u8; size is 48
 *	 4  credit   u32   bytes of budget returned to the receiver of this packet
 *	 8  src      u32   endpoint that sent it
 *	12  dst      u32   endpoint it is for
 *	16  tag      u64   EAGER, RTS: the tag. PUT, GET, ATOMIC: the memory key.
 *	                   DATA with REFERENCE: the send
 *	24  length   u64   EAGER, DATA, PUT, ATOMIC: body. RTS: message. CTS, GET:
 *	                   wanted. FIN, NAK: of the piece that they answer
 *	32  cookie   u64   the request this packet belongs to, at one of the ends
 *	40  aux      u64   DATA, PUT, GET: offset. ATOMIC: the same, operation and
 *	                   type above it. RTS: address. CTS: reply cookie. FIN: up
 *	                   to 8 bytes that were asked for. NAK: error. CANCEL_ACK: 1
 *	                   when cancelled
 */
#ifndef O2G_WIRE_H
#define O2G_WIRE_H

#include "atomic.h"

#define O2G_WIRE_VERSION 1
#define O2G_HDR_SIZE 48
#define O2G_BODY_MAX (1ull << 48)
#define O2G_ATOMIC_PIECE (16u << 10) /* bytes in one ATOMIC packet */

/*
 * A new packet takes:
 *	its number here (none is ever used again) and its line in wire.c;
 *	o2g_wire_body() below if it has a body;
 *	dispatch() of proto.c, and o2g_proto_rx_end() if it has a body;
 *	docs/protocol.md, which has the table of packets and their stories;
 *	in the driver O2GK_PKT_WORDS (trace.h), and tx.c if it answers another packet;
 *	tests: test_wire.c, mock_engine.c, and fuzz_proto.c, which makes them up.
 * Older endpoints close a connection on which it comes. If they would take it for
 * something else, or it is sent unasked, O2G_WIRE_VERSION grows.
 */
enum o2g_pkt {
	O2G_PKT_EAGER = 1, /* a whole message; cookie when SYNC */
	O2G_PKT_RTS,	   /* cookie: the send; aux: its memory when GETTABLE */
	O2G_PKT_CTS,	   /* cookie: the send; aux: the receive */
	O2G_PKT_DATA,	/* cookie: the receive (or get) the body belongs to */
	O2G_PKT_FIN,	/* cookie: the send, put or get that is complete */
	O2G_PKT_CREDIT, /* only the credit field and STALLED */
	O2G_PKT_PUT,	/* cookie: the put, answered with FIN or NAK */
	O2G_PKT_GET,	/* cookie: the get, answered with DATA or NAK */
	O2G_PKT_NAK,	/* cookie: the refused put, get or send */
	O2G_PKT_CANCEL, /* cookie: the send whose RTS is to be forgotten */
	O2G_PKT_CANCEL_ACK, /* cookie: that send */
	O2G_PKT_BYE,	    /* the sender closes in order; nothing follows */
	/* These are the channels' own, headers without a body. The core has no
	 * use for one that reaches it, and refuses it. */
	O2G_PKT_CHANNEL = 13,
	O2G_PKT_CHANNEL_LAST = 15,
	/* cookie: the operation, answered with FIN, DATA or NAK. Without a body
	 * when it only reads: then length is what it wants. */
	O2G_PKT_ATOMIC = 16,
	O2G_PKT_MAX
};

enum o2g_pkt_flags {
	O2G_PKTF_SYNC = 1,     /* EAGER: send FIN when matched */
	O2G_PKTF_GETTABLE = 2, /* RTS: aux names memory the peer may read */
	O2G_PKTF_STALLED = 4,  /* CREDIT: sends wait here for more credit */
	/* CREDIT: good for RTS only. RTS: paid with that */
	O2G_PKTF_ENVELOPE = 8,
	/* EAGER, RTS: for a handler, not for a receive. These and CREDIT: the credit
	 * that it gives is for such messages */
	O2G_PKTF_SERVED = 16,
	O2G_PKTF_FETCH = 32, /* ATOMIC: answer with the values from before */
	O2G_PKTF_REFERENCE =
		64, /* DATA: the last one; send FIN when it is here */
};

struct o2g_wire_hdr {
	u8 version, type, flags, size;
	__le32 credit;
	__le32 src, dst;
	__le64 tag;
	__le64 length;
	__le64 cookie;
	__le64 aux;
};
_Static_assert(sizeof(struct o2g_wire_hdr) == O2G_HDR_SIZE, "wire header");

/* The same, decoded. */
struct o2g_hdr {
	u8 type, flags;
	u32 credit;
	u32 src, dst;
	u64 tag, length, cookie, aux;
};

/* Why a header was refused; also the index of a drop counter. */
enum o2g_wire_reason {
	O2G_WIRE_OK,
	O2G_WIRE_BAD_VERSION,
	O2G_WIRE_BAD_SIZE,
	O2G_WIRE_BAD_TYPE,
	O2G_WIRE_BAD_FLAGS,
	O2G_WIRE_BAD_LENGTH,
	O2G_WIRE_REASONS
};

void o2g_wire_encode(const struct o2g_hdr *h, void *buf48);
/* The same, for whoever does it with every message. */
static inline void o2g_wire_put(const struct o2g_hdr *h, void *buf48)
{
	const struct o2g_wire_hdr w = {
		.version = O2G_WIRE_VERSION,
		.type = h->type,
		.flags = h->flags,
		.size = O2G_HDR_SIZE,
		.credit = cpu_to_le32(h->credit),
		.src = cpu_to_le32(h->src),
		.dst = cpu_to_le32(h->dst),
		.tag = cpu_to_le64(h->tag),
		.length = cpu_to_le64(h->length),
		.cookie = cpu_to_le64(h->cookie),
		.aux = cpu_to_le64(h->aux),
	};

	memcpy(buf48, &w, sizeof(w));
}
enum o2g_wire_reason o2g_wire_decode(const void *buf48, struct o2g_hdr *h);
const char *o2g_wire_reason_name(enum o2g_wire_reason r);
const char *o2g_wire_pkt_name(u8 type);

/* Is it an eager message without flags, as nearly all are? */
static inline bool o2g_wire_is_plain(const struct o2g_wire_hdr *w)
{
	return w->version == O2G_WIRE_VERSION && w->type == O2G_PKT_EAGER &&
	       w->flags == 0 && w->size == O2G_HDR_SIZE;
}

/* What aux of an ATOMIC is made of. */
#define O2G_ATOMIC_OFFSET ((1ull << 48) - 1)
static inline u64 o2g_wire_atomic(u64 offset, u32 op, u32 type)
{
	return (offset & O2G_ATOMIC_OFFSET) | (u64)op << 48 | (u64)type << 56;
}
static inline u32 o2g_wire_atomic_op(const struct o2g_hdr *h)
{
	return h->aux >> 48 & 0xff;
}
static inline u32 o2g_wire_atomic_type(const struct o2g_hdr *h)
{
	return h->aux >> 56;
}
static inline u64 o2g_wire_atomic_offset(const struct o2g_hdr *h)
{
	return h->aux & O2G_ATOMIC_OFFSET;
}

/* Bytes that follow this header on the connection. */
static inline u64 o2g_wire_body(const struct o2g_hdr *h)
{
	switch (h->type) {
	case O2G_PKT_EAGER:
	case O2G_PKT_DATA:
	case O2G_PKT_PUT:
		return h->length;
	case O2G_PKT_ATOMIC:
		return o2g_wire_atomic_op(h) == O2G_AOP_NO_OP ? 0 : h->length;
	default:
		return 0;
	}
}

#endif
