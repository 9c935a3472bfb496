/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The incremental parser: bytes in any pieces, packets out.
 *
 * It never copies a body. It says what it wants next (the rest of a header, or
 * body bytes) and the caller, who knows where the bytes are (a buffer, an skb),
 * moves them: header bytes to the place the parser names, body bytes to the
 * sink that the packet's begin callback prepared. o2g_stream_feed() does both
 * for bytes that lie in one piece of memory.
 */
#ifndef O2G_STREAM_H
#define O2G_STREAM_H

#include "wire.h"

struct o2g_stream {
	u8 raw[O2G_HDR_SIZE];
	u32 have;	    /* header bytes in raw */
	bool in_body;	    /* header decoded, body_left bytes to come */
	struct o2g_hdr hdr; /* valid while in_body */
	u64 body_left;
	int failed;		    /* 0, or the errno that has stopped it */
	enum o2g_wire_reason error; /* ... when that is -EBADMSG of a header */
};

void o2g_stream_init(struct o2g_stream *s);

/* Header bytes still wanted, and where they go; 0 while in a body. */
u32 o2g_stream_want_header(struct o2g_stream *s, void **where);

/*
 * @n header bytes were put in place. 0: more wanted. 1: header complete,
 * s->hdr and s->body_left valid (body_left may be 0: call body_done at once).
 * -EBADMSG: malformed, s->error says why, the stream is dead.
 */
int o2g_stream_header_done(struct o2g_stream *s, u32 n);

/* @n body bytes were taken. 1 when the packet is complete, 0 otherwise. */
int o2g_stream_body_done(struct o2g_stream *s, u64 n);

/* Nothing may follow what has been fed: -EPROTO for whatever does. */
void o2g_stream_end(struct o2g_stream *s);

/* Between two packets: nothing has been fed that is not over. */
static inline bool o2g_stream_between(const struct o2g_stream *s)
{
	return !s->have && !s->in_body && !s->failed;
}

/* Bytes to the end of the header, or of the body, that is being fed. */
static inline u64 o2g_stream_left(const struct o2g_stream *s)
{
	return s->in_body ? s->body_left : O2G_HDR_SIZE - s->have;
}

struct o2g_stream_ops {
	/* A header is complete. 0, or a negative errno that stops the stream. */
	int (*begin)(void *ctx, const struct o2g_hdr *h);
	/* Body bytes, in order. */
	void (*body)(void *ctx, const void *data, size_t n);
	/* The packet's last byte was delivered. 0 or negative errno. */
	int (*end)(void *ctx);
};

/*
 * Feed contiguous bytes. Returns the number consumed (always @len unless it
 * fails) or a negative errno: -EBADMSG for a malformed header, else what a
 * callback returned. A stream that failed stays failed. Callbacks must not free
 * the stream.
 */
long o2g_stream_feed(struct o2g_stream *s, const void *data, size_t len,
		     const struct o2g_stream_ops *ops, void *ctx);

#endif
