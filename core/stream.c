/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "stream.h"

void o2g_stream_init(struct o2g_stream *s)
{
	memset(s, 0, sizeof(*s));
}

u32 o2g_stream_want_header(struct o2g_stream *s, void **where)
{
	*where = s->raw + s->have;
	return s->in_body || s->failed ? 0 : O2G_HDR_SIZE - s->have;
}

int o2g_stream_header_done(struct o2g_stream *s, u32 n)
{
	if (s->failed)
		return s->failed;
	env_assert(!s->in_body && n <= O2G_HDR_SIZE - s->have);
	s->have += n;
	if (s->have < O2G_HDR_SIZE)
		return 0;
	s->error = o2g_wire_decode(s->raw, &s->hdr);
	if (s->error) {
		s->failed = -EBADMSG;
		return s->failed;
	}
	s->in_body = true;
	s->body_left = o2g_wire_body(&s->hdr);
	return 1;
}

int o2g_stream_body_done(struct o2g_stream *s, u64 n)
{
	env_assert(s->in_body && n <= s->body_left);
	s->body_left -= n;
	if (s->body_left)
		return 0;
	s->in_body = false;
	s->have = 0;
	return 1;
}

void o2g_stream_end(struct o2g_stream *s)
{
	s->failed = -EPROTO;
}

/* Header bytes; returns how many were used or a negative errno. */
static long feed_header(struct o2g_stream *s, const void *data, size_t len,
			const struct o2g_stream_ops *ops, void *ctx)
{
	void *where;
	u32 n = o2g_stream_want_header(s, &where);
	int rc;

	if (n > len)
		n = len;
	memcpy(where, data, n);
	rc = o2g_stream_header_done(s, n);
	if (rc > 0)
		rc = ops->begin(ctx, &s->hdr);
	return rc < 0 ? rc : (long)n;
}

/* Body bytes, maybe none; ends the packet with its last one. */
static long feed_body(struct o2g_stream *s, const void *data, size_t len,
		      const struct o2g_stream_ops *ops, void *ctx)
{
	size_t n = len < s->body_left ? len : s->body_left;
	int rc = 0;

	if (n)
		ops->body(ctx, data, n);
	if (o2g_stream_body_done(s, n))
		rc = ops->end(ctx);
	return rc < 0 ? rc : (long)n;
}

long o2g_stream_feed(struct o2g_stream *s, const void *data, size_t len,
		     const struct o2g_stream_ops *ops, void *ctx)
{
	size_t used = 0;

	if (s->failed)
		return s->failed;
	/* A packet without a body ends with no byte left to look at. */
	while (used < len || (s->in_body && !s->body_left)) {
		const u8 *at = (const u8 *)data + used;
		long n = s->in_body ? feed_body(s, at, len - used, ops, ctx) :
				      feed_header(s, at, len - used, ops, ctx);

		if (n < 0) {
			s->failed = n;
			return n;
		}
		used += n;
	}
	return used;
}
