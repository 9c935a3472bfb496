/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/stream.c core/wire.c */
/*
 * Arbitrary bytes through the stream parser: once in one piece, once in pieces
 * the input chooses by o2g_stream_feed, once by the primitive calls. All three
 * must see the same packets and end in the same way. Pieces lie in memory of
 * their exact size, so that ASan sees a byte read too many.
 */
#include "fuzz.h"
#include "stream.h"

/* What a run saw: an order-sensitive sum over everything. */
struct trace {
	u64 hash, begins, ends, body_bytes;
	u64 refuse_at; /* begin fails at this packet; 0 never */
	bool open;
};

static void note(struct trace *t, const void *data, size_t n)
{
	const u8 *p = data;

	while (n--)
		t->hash = (t->hash ^ *p++) * 0x100000001b3ull;
}

static int on_begin(void *ctx, const struct o2g_hdr *h)
{
	struct trace *t = ctx;
	u8 raw[O2G_HDR_SIZE];
	struct o2g_hdr again;

	CHECK(!t->open);
	if (++t->begins == t->refuse_at)
		return -EPROTO;
	t->open = true;
	/* What was accepted can be encoded and accepted again. */
	o2g_wire_encode(h, raw);
	CHECK(o2g_wire_decode(raw, &again) == O2G_WIRE_OK);
	CHECK(h->length <= O2G_BODY_MAX && o2g_wire_body(h) <= h->length);
	CHECK(strcmp(o2g_wire_pkt_name(h->type), "unknown packet"));
	note(t, raw, sizeof(raw));
	return 0;
}

static void on_body(void *ctx, const void *data, size_t n)
{
	struct trace *t = ctx;

	CHECK(t->open && n);
	t->body_bytes += n;
	note(t, data, n);
}

static int on_end(void *ctx)
{
	struct trace *t = ctx;

	CHECK(t->open);
	t->open = false;
	t->ends++;
	note(t, "]", 1);
	return 0;
}

static const struct o2g_stream_ops ops = { on_begin, on_body, on_end };

/* The caller's side of the primitives, as a channel would write it. */
static long by_hand(struct o2g_stream *s, const u8 *data, size_t len,
		    struct trace *t)
{
	size_t used = 0;

	while (used < len) {
		void *where;
		u64 n = o2g_stream_want_header(s, &where);
		int rc;

		if (n) {
			n = n < len - used ? n : len - used;
			memcpy(where, data + used, n);
			used += n;
			rc = o2g_stream_header_done(s, n);
			if (rc > 0)
				rc = on_begin(t, &s->hdr);
			if (rc < 0)
				return rc;
			if (!s->in_body || s->body_left)
				continue;
		}
		n = s->body_left < len - used ? s->body_left : len - used;
		if (n)
			on_body(t, data + used, n);
		used += n;
		if (o2g_stream_body_done(s, n))
			on_end(t);
	}
	return used;
}

/* Feed in pieces; returns the error that stopped it, or 0. */
static long in_pieces(struct o2g_stream *s, const u8 *data, size_t len,
		      struct input cuts, struct trace *t, bool hand)
{
	while (len) {
		size_t n = 1 + in_u8(&cuts) % 97;
		u8 *piece;
		long rc;

		n = n < len ? n : len;
		piece = malloc(n);
		CHECK(piece);
		memcpy(piece, data, n);
		rc = hand ? by_hand(s, piece, n, t) :
			    o2g_stream_feed(s, piece, n, &ops, t);
		free(piece);
		if (rc < 0)
			return rc;
		CHECK(rc == (long)n);
		data += n;
		len -= n;
	}
	return 0;
}

static void check_state(const struct o2g_stream *s, const struct trace *t)
{
	CHECK(s->have <= O2G_HDR_SIZE);
	CHECK(s->failed || s->in_body == t->open);
	CHECK(s->in_body || s->failed || s->have < O2G_HDR_SIZE);
	CHECK(!s->error || s->failed == -EBADMSG);
	CHECK(t->ends <= t->begins);
}

static void same(const struct trace *a, const struct trace *b)
{
	CHECK(a->hash == b->hash && a->begins == b->begins &&
	      a->ends == b->ends && a->body_bytes == b->body_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct o2g_stream whole, cut, hand;
	struct trace a = { 0 }, b, c;
	struct input in = { data, size };
	struct input cuts;
	u8 *copy;
	long rc;

	a.refuse_at = in_u8(&in) % 16;
	cuts = (struct input){ in.at, in.left / 4 };
	in.at += cuts.left;
	in.left -= cuts.left;
	b = c = a;

	copy = malloc(in.left + 1);
	CHECK(copy);
	memcpy(copy, in.at, in.left);
	/* Version and size must be right for anything to happen after them. */
	if (in.left > 4 && copy[2] & 0x80) {
		copy[0] = O2G_WIRE_VERSION;
		copy[3] = O2G_HDR_SIZE;
		copy[2] &= 0x0f;
	}

	o2g_stream_init(&whole);
	rc = in.left ? o2g_stream_feed(&whole, copy, in.left, &ops, &a) : 0;
	CHECK(rc < 0 || rc == (long)in.left);
	rc = rc < 0 ? rc : 0;
	check_state(&whole, &a);

	o2g_stream_init(&cut);
	CHECK(in_pieces(&cut, copy, in.left, cuts, &b, false) == rc);
	check_state(&cut, &b);
	same(&a, &b);
	CHECK(cut.failed == whole.failed && cut.error == whole.error);
	CHECK(cut.body_left == whole.body_left && cut.have == whole.have);

	o2g_stream_init(&hand);
	CHECK(in_pieces(&hand, copy, in.left, cuts, &c, true) == rc);
	same(&a, &c);

	if (rc < 0) /* it stays failed */
		CHECK(o2g_stream_feed(&whole, "x", 1, &ops, &a) == rc);
	free(copy);
	return 0;
}
