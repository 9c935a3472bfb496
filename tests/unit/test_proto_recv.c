/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* The protocols at the receiver, call by call; also probes. */
#include "proto_fixture.h"

/* --- o2g_proto_recv --- */

static void o2g_proto_recv__eager_posted(void **state)
{
	struct mock_req *r = mock_recv(&b, 0, 7, 0, 200);
	struct mock_req *s = mock_send(&a, 1, 7, data, 100, 0);

	pump();
	assert_int_equal(r->src, 0);
	assert_int_equal(r->tag, 7);
	assert_int_equal(r->msg_len, 100);
	assert_int_equal(b.core.stats.unexpected, 0);
	got(r, 100);
	ends(s, 0);
}

/* A receive that another matcher has, too: the message is ours if it is. */
static void o2g_proto_recv__shared_is_claimed(void **state)
{
	struct mock_req *r = mock_recv(&b, ANY, 7, 0, 200), *s;

	r->core.flags |= O2G_REQF_SHARED;
	s = mock_send(&a, 1, 7, data, 100, 0);
	pump();
	assert_int_equal(b.claims, 1);
	got(r, 100);
	ends(s, 0);
}

/* Small, large, and in one piece: each goes to the next receive that is ours. */
static void o2g_proto_recv__shared_went_elsewhere(void **state)
{
	static const u64 lengths[] = { 100, 100000, 100 };

	for (int i = 0; i < 3; i++) {
		u64 n = lengths[i];
		struct mock_req *gone = mock_recv(&b, ANY, 7, 0, n), *r, *s;

		ba->whole = i == 2 ? 1000 : 0;
		gone->core.flags |= O2G_REQF_SHARED;
		b.claim_fails = true;
		r = mock_recv(&b, 0, 7, 0, n);
		s = mock_send(&a, 1, 7, data, n, 0);
		pump();
		assert_int_equal(b.claims, i + 1);
		assert_false(gone->done);
		assert_false(o2g_proto_withdraw(&b.core, &gone->core));
		got(r, n);
		ends(s, 0);
		/* The other matcher completes it, in the engine's own way. */
		o2g_list_init(&gone->core.link);
		gone->core.state = O2G_ST_DONE;
		gone->core.status = 0;
		b.core.ops->complete(&b.core, &gone->core);
		mock_req_free(gone);
	}
	assert_int_equal(b.core.posted_any, 0);
	assert_int_equal(ba->peer.posted, 0);
}

static void o2g_proto_withdraw__leaves_no_trace(void **state)
{
	struct mock_req *r = mock_recv(&b, ANY, 7, 0, 200), *s;

	assert_int_equal(b.core.posted_any, 1);
	assert_true(o2g_proto_withdraw(&b.core, &r->core));
	assert_int_equal(b.core.posted_any, 0);
	s = mock_send(&a, 1, 7, data, 100, 0);
	pump();
	assert_int_equal(b.unexp_count, 1);
	o2g_proto_recv(&b.core, &r->core);
	got(r, 100);
	ends(s, 0);
}

static void o2g_proto_recv__eager_unexpected(void **state)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, 100, 0), *r;

	pump();
	assert_int_equal(b.unexp_count, 1);
	r = mock_recv(&b, ANY, 0, ~0ull, 100);
	assert_int_equal(r->src, 0);
	assert_int_equal(r->tag, 7);
	got(r, 100);
	assert_int_equal(b.unexp_count, 0);
	ends(s, 0);
}

static void o2g_proto_recv__empty_message(void **state)
{
	struct mock_req *r1 = mock_recv(&b, 0, 7, 0, 10), *r2;

	ends(mock_send(&a, 1, 7, NULL, 0, 0), 0);
	ends(mock_send(&a, 1, 7, NULL, 0, 0), 0);
	pump();
	got(r1, 0);
	r2 = mock_recv(&b, 0, 7, 0, 0);
	got(r2, 0);
}

static void o2g_proto_recv__claims_what_is_arriving(void **state)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, 100, 0), *r;

	mock_deliver(ab, O2G_HDR_SIZE + 50);
	r = mock_recv(&b, 0, 7, 0, 100);
	assert_false(r->done);
	assert_int_equal(o2g_proto_cancel(&b.core, &r->core), -EBUSY);
	mock_deliver(ab, 49);
	assert_false(r->done);
	mock_deliver(ab, 1);
	got(r, 100);
	assert_int_equal(b.unexp_count, 0);
	ends(s, 0);
}

static void o2g_proto_recv__truncated(void **state)
{
	struct mock_req *posted = mock_recv(&b, 0, 7, 0, 60), *r, *s1, *s2;

	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	s1 = mock_send(&a, 1, 7, data, 5000, 0);
	s2 = mock_send(&a, 1, 7, data, 5000, 0);
	pump();
	assert_int_equal(posted->got, 60);
	assert_int_equal(posted->msg_len, 100);
	assert_memory_equal(posted->buf, data, 60);
	ends(posted, -O2G_ERR_TRUNCATED);
	r = mock_recv(&b, 0, 7, 0, 60);
	assert_memory_equal(r->buf, data, 60);
	ends(r, -O2G_ERR_TRUNCATED);
	r = mock_recv(&b, 0, 7, 0, 60);
	pump();
	assert_int_equal(r->msg_len, 5000);
	assert_memory_equal(r->buf, data, 60);
	ends(r, -O2G_ERR_TRUNCATED);
	/* room for nothing: no data is asked for */
	r = mock_recv(&b, 0, 7, 0, 0);
	pump();
	ends(r, -O2G_ERR_TRUNCATED);
	ends(s1, 0);
	ends(s2, 0);
}

static void o2g_proto_recv__sync(void **state)
{
	struct mock_req *posted = mock_recv(&b, 0, 7, 0, 100), *s, *r;

	s = mock_send(&a, 1, 7, data, 100, O2G_REQF_SYNC);
	assert_false(s->done);
	pump();
	got(posted, 100);
	ends(s, 0);
	s = mock_send(&a, 1, 7, data, 100, O2G_REQF_SYNC);
	pump();
	assert_false(s->done);
	r = mock_recv(&b, 0, 7, 0, 100);
	got(r, 100);
	assert_false(s->done);
	pump();
	ends(s, 0);
}

static void o2g_proto_recv__rendezvous(void **state)
{
	struct mock_req *posted = mock_recv(&b, 0, 7, 0, 5000), *s, *r;

	a.core.data_chunk = 999;
	s = mock_send(&a, 1, 7, data, 5000, 0);
	pump();
	got(posted, 5000);
	ends(s, 0);
	s = mock_send(&a, 1, 7, data, 5000, 0);
	pump();
	assert_int_equal(b.unexp_count, 1);
	assert_int_equal(b.unexp_body, 0);
	r = mock_recv(&b, ANY, 7, 0, 6000);
	pump();
	got(r, 5000);
	ends(s, 0);
}

static void o2g_proto_recv__data_in_pieces(void **state)
{
	struct mock_req *r = mock_recv(&b, 0, 7, 0, 5000), *s;

	a.core.data_chunk = 700;
	s = mock_send(&a, 1, 7, data, 5000, 0);
	while (!r->done || !s->done) {
		size_t moved = mock_deliver(ab, 13) + mock_deliver(ba, 13);

		assert_true(moved > 0);
	}
	got(r, 5000);
	ends(s, 0);
}

/* The sender's request lives until the last byte is here, however it comes. */
static void o2g_proto_recv__by_reference(void **state)
{
	static const u64 room[] = { 5000, 7000, 3000 };

	a.core.data_chunk = 700;
	for (int i = 0; i < 3; i++) {
		struct mock_req *r = mock_recv(&b, 0, 7, 0, room[i]), *s;
		bool short_of = room[i] < 5000;

		s = mock_send(&a, 1, 7, data, 5000, O2G_REQF_REFERENCE);
		while (!r->done || !s->done) {
			size_t moved =
				mock_deliver(ab, 13) + mock_deliver(ba, 13);

			assert_true(moved > 0);
			assert_true(r->done || !s->done);
		}
		if (short_of)
			ends(r, -O2G_ERR_TRUNCATED);
		else
			got(r, 5000);
		ends(s, 0);
	}
}

static void o2g_proto_recv__reference_on_the_last_only(void **state)
{
	struct mock_req *r = mock_recv(&t, 1, 7, 0, 1000);
	struct mock_req *g = mock_get(&t, 1, 1, 0, 100);
	u64 id;

	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .tag = 7, .length = 1000,
			      .cookie = 55),
			 OK);
	next_out(tc, O2G_PKT_GET);
	id = next_out(tc, O2G_PKT_CTS).aux;
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = id, .length = 999,
			      .tag = 55, .flags = O2G_PKTF_REFERENCE),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 100, .tag = 55,
			      .flags = O2G_PKTF_REFERENCE),
			 O2G_PROTO_BAD_RANGE);
	nothing_out(tc);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

static void o2g_proto_recv__get(void **state)
{
	struct mock_req *r = mock_recv(&b, 0, 7, 0, 5000), *s;

	a.exposes = true;
	ba->peer.can_get = true;
	s = mock_send(&a, 1, 7, data, 5000, 0);
	pump();
	assert_int_equal(b.gets, 1);
	assert_int_equal(b.core.stats.gets, 1);
	assert_int_equal(b.core.stats.data_recv, 0);
	got(r, 5000);
	ends(s, 0);
}

static void o2g_proto_recv__get_refused_falls_back(void **state)
{
	static const int errors[] = { -EPERM, -EOPNOTSUPP };

	for (int i = 0; i < 2; i++) {
		struct mock_req *r1 = mock_recv(&b, 0, 7, 0, 5000), *s1;
		struct mock_req *r2 = mock_recv(&b, 0, 7, 0, 5000), *s2;

		a.exposes = true;
		ba->peer.can_get = true;
		ba->peer.no_get = false;
		b.get_error = errors[i];
		b.gets = 0;
		s1 = mock_send(&a, 1, 7, data, 5000, 0);
		s2 = mock_send(&a, 1, 7, data, 5000, 0);
		pump();
		assert_int_equal(b.gets, 1); /* tried once, never again */
		assert_true(ba->peer.no_get);
		got(r1, 5000);
		got(r2, 5000);
		ends(s1, 0);
		ends(s2, 0);
	}
}

static void o2g_proto_recv__get_fails(void **state)
{
	struct mock_req *r = mock_recv(&b, 0, 7, 0, 5000), *s;

	a.exposes = true;
	ba->peer.can_get = true;
	b.get_error = -EFAULT;
	s = mock_send(&a, 1, 7, data, 5000, 0);
	pump();
	ends(r, -EFAULT);
	ends(s, 0);
}

static void o2g_proto_recv__to_oneself(void **state)
{
	struct mock_req *r, *s;

	r = mock_recv(&a, 0, 7, 0, 100);
	ends(mock_send(&a, 0, 7, data, 100, 0), 0);
	got(r, 100);
	s = mock_send(&a, 0, 7, data, 100, O2G_REQF_SYNC);
	assert_false(s->done);
	got(mock_recv(&a, 0, 7, 0, 100), 100);
	ends(s, 0);
	s = mock_send(&a, 0, 7, data, 5000, 0);
	got(mock_recv(&a, ANY, 7, 0, 5000), 5000);
	ends(s, 0);
}

/*
 * Stalled sends to oneself, and room for more than one of them: the credit that
 * the first gives back comes with the second, and must not let the third
 * overtake it.
 */
static void o2g_proto_recv__to_oneself_in_order(void **state)
{
	struct mock_req *s[400];
	u32 n = 0;

	a.core.budget_peer = O2G_CREDIT_INIT;
	while (a.core.stats.stalls == 0)
		s[n++] = mock_send(&a, 0, 1, NULL, 0, 0);
	for (u32 i = 0; i < 3; i++)
		s[n + i] = mock_send(&a, 0, 7, &i, sizeof(i), 0);
	a.core.budget_peer = 1 << 20;
	for (u32 i = 0; i < 3; i++) {
		struct mock_req *r = mock_recv(&a, 0, 7, 0, sizeof(i));

		assert_true(r->done);
		assert_memory_equal(r->buf, &i, sizeof(i));
		mock_req_free(r);
	}
	for (u32 i = 0; i < n; i++)
		got(mock_recv(&a, 0, 1, 0, 0), 0);
	for (u32 i = 0; i < n + 3; i++)
		ends(s[i], 0);
}

/* --- o2g_proto_probe, o2g_proto_mprobe, o2g_proto_mrecv --- */

static void o2g_proto_probe__leaves_it(void **state)
{
	struct o2g_unexp *u;

	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	assert_null(o2g_proto_probe(&b.core, ANY, 0, ~0ull));
	pump();
	u = o2g_proto_probe(&b.core, ANY, 0, ~0ull);
	assert_non_null(u);
	assert_int_equal(u->len, 100);
	assert_int_equal(u->match.tag, 7);
	assert_ptr_equal(u->peer, &ba->peer);
	assert_null(o2g_proto_probe(&b.core, 0, 8, 0));
	got(mock_recv(&b, 0, 7, 0, 100), 100);
}

static void o2g_proto_mprobe__takes_it(void **state)
{
	struct mock_req *r;
	struct o2g_unexp *u;

	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	pump();
	u = o2g_proto_mprobe(&b.core, 0, 7, 0);
	assert_non_null(u);
	assert_null(o2g_proto_mprobe(&b.core, 0, 7, 0));
	r = mock_recv(&b, 0, 7, 0, 100);
	assert_false(r->done);
	got(mock_mrecv(&b, u, 100), 100);
	cancel(r);
}

static void o2g_proto_mrecv__still_arriving(void **state)
{
	struct o2g_unexp *u;
	struct mock_req *r;

	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	mock_deliver(ab, O2G_HDR_SIZE + 10);
	u = o2g_proto_mprobe(&b.core, 0, 7, 0);
	assert_non_null(u);
	r = mock_mrecv(&b, u, 100);
	assert_false(r->done);
	pump();
	got(r, 100);
}

static void o2g_proto_mrecv__rendezvous(void **state)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, 5000, 0), *r;
	struct o2g_unexp *u;

	pump();
	u = o2g_proto_mprobe(&b.core, 0, 7, 0);
	r = mock_mrecv(&b, u, 5000);
	pump();
	got(r, 5000);
	ends(s, 0);
}

static void o2g_proto_mrecv__peer_died_between(void **state)
{
	struct o2g_unexp *eager, *rts, *part;
	struct mock_req *s;

	ends(mock_send(&a, 1, 1, data, 100, O2G_REQF_SYNC * 0), 0);
	s = mock_send(&a, 1, 2, data, 5000, 0);
	pump();
	ends(mock_send(&a, 1, 3, data, 100, 0), 0);
	mock_deliver(ab, O2G_HDR_SIZE + 10);
	eager = o2g_proto_mprobe(&b.core, 0, 1, 0);
	rts = o2g_proto_mprobe(&b.core, 0, 2, 0);
	part = o2g_proto_mprobe(&b.core, 0, 3, 0);
	mock_lose(ba, -O2G_ERR_PEER);
	mock_lose(ab, -O2G_ERR_PEER);
	got(mock_mrecv(&b, eager, 100), 100);
	ends(mock_mrecv(&b, rts, 5000), -O2G_ERR_PEER);
	ends(mock_mrecv(&b, part, 100), -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	assert_int_equal(b.unexp_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_recv__eager_posted),
		S(o2g_proto_recv__shared_is_claimed),
		S(o2g_proto_recv__shared_went_elsewhere),
		S(o2g_proto_withdraw__leaves_no_trace),
		S(o2g_proto_recv__eager_unexpected),
		S(o2g_proto_recv__empty_message),
		S(o2g_proto_recv__claims_what_is_arriving),
		S(o2g_proto_recv__truncated),
		S(o2g_proto_recv__sync),
		S(o2g_proto_recv__rendezvous),
		S(o2g_proto_recv__data_in_pieces),
		S(o2g_proto_recv__by_reference),
		S(o2g_proto_recv__reference_on_the_last_only),
		S(o2g_proto_recv__get),
		S(o2g_proto_recv__get_refused_falls_back),
		S(o2g_proto_recv__get_fails),
		S(o2g_proto_recv__to_oneself),
		S(o2g_proto_recv__to_oneself_in_order),
		S(o2g_proto_probe__leaves_it),
		S(o2g_proto_mprobe__takes_it),
		S(o2g_proto_mrecv__still_arriving),
		S(o2g_proto_mrecv__rendezvous),
		S(o2g_proto_mrecv__peer_died_between),
	};

	return cmocka_run_group_tests_name("proto_recv", tests, NULL, NULL);
}
