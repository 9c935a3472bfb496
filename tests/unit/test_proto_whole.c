/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* Messages that have arrived in one piece. */
#include <stdlib.h>

#include "quick.h"

#include "proto_fixture.h"

/* --- whole_rx --- */

static enum o2g_proto_reason whole(u64 tag, u32 credit, u64 len)
{
	return whole_rx(&t.core, &tc->peer, tag, credit, data, len);
}

static void whole_rx__posted(void **state)
{
	static const u64 lens[] = { 0, 1, 8, 100 };

	for (int i = 0; i < 4; i++) {
		/* the mock cuts a buffer into 1 + length % 3 segments */
		for (u64 room = 0; room < 3; room++) {
			struct mock_req *r =
				mock_recv(&t, 1, 3, 0, lens[i] + room);

			assert_int_equal(whole(3, 0, lens[i]), OK);
			assert_int_equal(r->tag, 3);
			assert_int_equal(r->src, 1);
			assert_int_equal(r->msg_len, lens[i]);
			got(r, lens[i]);
		}
	}
	assert_int_equal(t.unexp_count, 0);
	assert_int_equal(tc->peer.used, 0);
	assert_int_equal(tc->peer.posted, 0);
	assert_int_equal(tc->peer.owed, 3 * 109 + 12 * O2G_COST);
}

static void whole_rx__unexpected(void **state)
{
	assert_int_equal(whole(3, 0, 100), OK);
	assert_int_equal(whole(3, 0, 0), OK);
	assert_int_equal(t.unexp_count, 2);
	assert_int_equal(tc->peer.used, 100 + 2 * O2G_COST);
	got(mock_recv(&t, ANY, 3, 0, 100), 100);
	got(mock_recv(&t, ANY, 3, 0, 100), 0);
	assert_int_equal(tc->peer.used, 0);
}

static void whole_rx__truncated(void **state)
{
	for (u64 room = 0; room < 4; room++) {
		struct mock_req *r = mock_recv(&t, 1, 3, 0, room);

		assert_int_equal(whole(3, 0, 8), OK);
		assert_int_equal(r->got, room);
		assert_int_equal(r->msg_len, 8);
		assert_memory_equal(r->buf, data, room);
		ends(r, -O2G_ERR_TRUNCATED);
	}
}

static void whole_rx__credit(void **state)
{
	u64 given = 0;

	for (int i = 0; i < 100; i++) {
		struct mock_req *r = mock_recv(&t, 1, 3, 0, 1000);

		assert_int_equal(whole(3, 5, 1000), OK);
		got(r, 1000);
		while (mock_first(tc))
			given += next_out(tc, O2G_PKT_CREDIT).credit;
	}
	assert_int_equal(tc->peer.credit, O2G_CREDIT_INIT + 500);
	/* what was used comes back, and what the grant grew by */
	assert_int_equal(given + tc->peer.owed, 100 * (1000 + O2G_COST) +
							tc->peer.granted -
							O2G_CREDIT_INIT);
}

static void whole_rx__refuses(void **state)
{
	int n = 0;

	assert_int_equal(whole(3, ~0u, 8), O2G_PROTO_BAD_CREDIT);
	t.fail_alloc = 1;
	assert_int_equal(whole(3, 0, 8), O2G_PROTO_NO_MEMORY);
	tc->peer.used = 0;
	while (whole(3, 0, 1000) == OK)
		n++;
	assert_int_equal(n, O2G_CREDIT_INIT / (1000 + O2G_COST));
	assert_int_equal(whole(3, 0, 1000), O2G_PROTO_TOO_LONG);
	TO_T(.type = O2G_PKT_BYE);
	assert_int_equal(whole(3, 0, 8), O2G_PROTO_AFTER_BYE);
	assert_true(t.core.stats.bad_packets >= 4);
}

/* --- whole_feed --- */

/* An eager message for `t`, behind @at bytes; where it ends. */
static size_t put_eager(u8 *buf, size_t at, struct o2g_hdr h)
{
	h.type = O2G_PKT_EAGER;
	h.tag = 3;
	o2g_wire_encode(&h, buf + at);
	memcpy(buf + at + O2G_HDR_SIZE, data, h.length);
	return at + O2G_HDR_SIZE + h.length;
}

/* So many bytes of @n are used, for so many messages. */
static void feeds(const u8 *buf, size_t n, size_t used, int packets,
		  enum o2g_proto_reason why)
{
	enum o2g_proto_reason reason = OK;
	u8 *exact = malloc(n + !n);
	int seen = 0;

	memcpy(exact, buf, n);
	assert_int_equal(whole_feed(&t.core, &tc->peer, exact, n, 500, &seen,
				    &reason),
			 used);
	assert_int_equal(seen, packets);
	assert_int_equal(reason, why);
	free(exact);
}

static void whole_feed__several(void **state)
{
	struct mock_req *r[3];
	size_t two, three;
	u8 buf[2000];

	two = put_eager(buf, 0, (struct o2g_hdr){ .src = 1, .length = 8 });
	two = put_eager(buf, two, (struct o2g_hdr){ .src = 1 });
	three = put_eager(buf, two, (struct o2g_hdr){ .src = 1, .length = 99 });
	for (int i = 0; i < 3; i++)
		r[i] = mock_recv(&t, 1, 3, 0, 100);
	feeds(buf, three - 1, two, 2, OK); /* the last one is not all here */
	feeds(buf + two, O2G_HDR_SIZE - 1, 0, 0, OK);
	assert_false(r[2]->done);
	feeds(buf + two, three - two, three - two, 1, OK);
	feeds(buf, 0, 0, 0, OK);
	got(r[0], 8);
	got(r[1], 0);
	got(r[2], 99);
}

/* What is not plain, or long, is the parser's; so are complaints about headers. */
static void whole_feed__leaves(void **state)
{
	static const struct o2g_hdr others[] = {
		{ .src = 1, .length = 500 },
		{ .src = 1, .flags = O2G_PKTF_SYNC },
		{ .src = 2 },
		{ .src = 1, .dst = 1 },
		{ .src = 1, .length = O2G_BODY_MAX + 1 },
	};
	u8 buf[2000] = { 0 };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct o2g_hdr h = others[i];

		h.type = O2G_PKT_EAGER;
		o2g_wire_encode(&h, buf);
		feeds(buf, sizeof(buf), 0, 0, OK);
	}
	for (int i = 0; i < 4; i++) { /* version, type, flags, size */
		put_eager(buf, 0, (struct o2g_hdr){ .src = 1 });
		buf[i] ^= 1;
		feeds(buf, O2G_HDR_SIZE, 0, 0, OK);
	}
	assert_int_equal(t.unexp_count, 0);
	assert_int_equal(t.core.stats.bad_packets, 0);
}

static void whole_feed__refuses(void **state)
{
	u8 buf[2000];
	size_t one, two;

	one = put_eager(buf, 0, (struct o2g_hdr){ .src = 1, .length = 8 });
	two = put_eager(buf, one, (struct o2g_hdr){ .src = 1, .credit = ~0u });
	feeds(buf, two, one, 1, O2G_PROTO_BAD_CREDIT);
	assert_int_equal(t.core.stats.bad_packets, 1);
	got(mock_recv(&t, 1, 3, 0, 8), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(whole_rx__posted),	S(whole_rx__unexpected),
		S(whole_rx__truncated), S(whole_rx__credit),
		S(whole_rx__refuses),	S(whole_feed__several),
		S(whole_feed__leaves),	S(whole_feed__refuses),
	};

	return cmocka_run_group_tests_name("proto_whole", tests, NULL, NULL);
}
