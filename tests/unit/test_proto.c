/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* The front of the protocols: peers come and go, requests are taken back. */
#include "proto_fixture.h"

/* --- o2g_proto_reason_name --- */

static void o2g_proto_reason_name__all(void **state)
{
	for (int i = 0; i < O2G_PROTO_REASONS; i++)
		assert_non_null(o2g_proto_reason_name(i));
	assert_string_equal(o2g_proto_reason_name(O2G_PROTO_REASONS),
			    "unknown");
}

/* --- o2g_core_init, o2g_peer_init --- */

static void o2g_peer_init__grants(void **state)
{
	assert_int_equal(ab->peer.credit, O2G_CREDIT_INIT);
	assert_int_equal(ba->peer.granted, O2G_CREDIT_INIT);
	assert_int_equal(a.core.granted_total, 2 * O2G_CREDIT_INIT);
	assert_int_equal(a.core.npeers_alive, 2);
}

/* --- o2g_sink_advance --- */

static void o2g_sink_advance__stops_at_room(void **state)
{
	struct o2g_sink s = { .off = 5, .room = 10 };

	o2g_sink_advance(&s, 4);
	assert_int_equal(s.off, 9);
	assert_int_equal(s.room, 6);
	o2g_sink_advance(&s, 100);
	assert_int_equal(s.room, 0);
}

/* --- o2g_proto_cancel --- */

static void o2g_proto_cancel__posted_receive(void **state)
{
	struct mock_req *r1 = mock_recv(&b, 0, 7, 0, 8);
	struct mock_req *r2 = mock_recv(&b, ANY, 7, 0, 8);

	cancel(r1);
	cancel(r2);
	assert_int_equal(ba->peer.posted, 0);
	assert_int_equal(b.core.posted_any, 0);
	assert_int_equal(b.core.match.nposted, 0);
}

static void o2g_proto_cancel__receive_with_data_coming(void **state)
{
	struct mock_req *r = mock_recv(&b, 0, 7, 0, 5000);
	struct mock_req *s = mock_send(&a, 1, 7, data, 5000, 0);

	mock_deliver(ab, 1 << 16);
	assert_int_equal(o2g_proto_cancel(&b.core, &r->core), -EBUSY);
	pump();
	got(r, 5000);
	ends(s, 0);
}

static void cancel_send_unmatched(u64 len, u8 flags)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, len, flags);

	pump();
	assert_int_equal(b.unexp_count, 1);
	assert_int_equal(o2g_proto_cancel(&a.core, &s->core), -EINPROGRESS);
	assert_int_equal(o2g_proto_cancel(&a.core, &s->core), -EINPROGRESS);
	assert_false(s->done);
	pump();
	assert_true(s->flags & O2G_REQF_CANCELLED);
	ends(s, -O2G_ERR_CANCELLED);
	assert_int_equal(b.unexp_count, 0);
	assert_int_equal(ba->peer.used, 0);
}

static void o2g_proto_cancel__send_nobody_took(void **state)
{
	cancel_send_unmatched(5000, 0);
	cancel_send_unmatched(100, O2G_REQF_SYNC);
}

static void o2g_proto_cancel__send_that_is_taken(void **state)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, 5000, 0), *r;

	pump();
	assert_int_equal(o2g_proto_cancel(&a.core, &s->core), -EINPROGRESS);
	r = mock_recv(&b, 0, 7, 0, 5000); /* the cancel is still on its way */
	pump();
	got(r, 5000);
	assert_false(s->flags & O2G_REQF_CANCELLED);
	ends(s, 0);
}

static void o2g_proto_cancel__send_taken_by_mprobe(void **state)
{
	struct mock_req *s = mock_send(&a, 1, 7, data, 5000, 0), *r;
	struct o2g_unexp *u;

	pump();
	u = o2g_proto_mprobe(&b.core, 0, 7, 0);
	assert_int_equal(o2g_proto_cancel(&a.core, &s->core), -EINPROGRESS);
	pump();
	assert_false(s->done);
	r = mock_mrecv(&b, u, 5000);
	pump();
	got(r, 5000);
	ends(s, 0);
}

static void o2g_proto_cancel__stalled_send(void **state)
{
	struct mock_req *s[400];
	int n = stall(s);

	cancel(s[n]);
	finish_all(s, n);
}

static void o2g_proto_cancel__send_under_way(void **state)
{
	struct mock_req *s = mock_send(&t, 1, 7, data, 5000, 0);
	struct o2g_hdr h = next_out(tc, O2G_PKT_RTS);

	tc->hold = 1;
	TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie, .length = 5000);
	assert_int_equal(o2g_proto_cancel(&t.core, &s->core), -EBUSY);
	mock_push(tc, 9);
	ends(s, 0);
}

static void o2g_proto_cancel__put_and_get(void **state)
{
	struct mock_req *p = mock_put(&a, 1, MOCK_MEM_KEY, 0, data, 8);
	struct mock_req *g = mock_get(&a, 1, MOCK_MEM_KEY, 0, 8);

	assert_int_equal(o2g_proto_cancel(&a.core, &p->core), -EBUSY);
	assert_int_equal(o2g_proto_cancel(&a.core, &g->core), -EBUSY);
	pump();
	ends(p, 0);
	ends(g, 0);
}

/* --- o2g_proto_bye --- */

static void o2g_proto_bye__closes_in_order(void **state)
{
	struct mock_req *r1, *r2, *rany, *s;

	ends(mock_send(&a, 1, 7, data, 100, 0), 0);
	r1 = mock_recv(&b, 0, 8, 0, 100);
	rany = mock_recv(&b, ANY, 8, 0, 100);
	s = mock_send(&b, 0, 9, data, 5000, 0);
	o2g_proto_bye(&a.core, &ab->peer);
	mock_lose(ab, -O2G_ERR_PEER);
	mock_deliver(ab, 1 << 16);
	assert_true(ba->got_bye && ba->lost);
	ends(r1, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	/* what it had sent is still there, and others may send */
	r2 = mock_recv(&b, 0, 7, 0, 100);
	got(r2, 100);
	assert_false(rany->done);
	cancel(rany);
}

/* --- o2g_proto_peer_down --- */

static void o2g_proto_peer_down__every_state(void **state)
{
	struct mock_req *posted, *any, *other, *claimed, *wait, *sync, *xmit;
	struct mock_req *incoming, *put, *get, *rts, *late;

	mock_join_test(&t, 2, 0);
	posted = mock_recv(&t, 1, 1, 0, 8);
	any = mock_recv(&t, ANY, 1, 0, 8);
	other = mock_recv(&t, 2, 1, 0, 8);
	/* in the middle of arriving: unexpected and claimed */
	rx_part(100, 20);
	claimed = mock_recv(&t, 1, 3, 0, 100);
	assert_false(claimed->done);
	wait = mock_send(&t, 1, 1, data, 5000, 0);
	sync = mock_send(&t, 1, 1, data, 8, O2G_REQF_SYNC);
	put = mock_put(&t, 1, 1, 0, data, 100);
	get = mock_get(&t, 1, 1, 0, 100);
	incoming = mock_recv(&t, 1, 4, 0, 5000);
	rts = mock_send(&t, 1, 1, data, 5000, 0);
	tc->hold = 1;
	xmit = mock_send(&t, 1, 1, data, 8, 0);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(posted, -O2G_ERR_PEER);
	ends(any, -O2G_ERR_PEER);
	ends(claimed, -O2G_ERR_PEER);
	ends(wait, -O2G_ERR_PEER);
	ends(sync, -O2G_ERR_PEER);
	ends(put, -O2G_ERR_PEER);
	ends(get, -O2G_ERR_PEER);
	ends(incoming, -O2G_ERR_PEER);
	ends(rts, -O2G_ERR_PEER);
	ends(xmit, -O2G_ERR_PEER);
	assert_false(other->done);
	cancel(other);
	assert_int_equal(t.unexp_count, 0);
	assert_int_equal(t.core.npeers_alive, 1);
	assert_int_equal(t.core.granted_total, O2G_CREDIT_INIT);
	/* twice is harmless, and so is asking for more */
	o2g_proto_peer_down(&t.core, &tc->peer, -O2G_ERR_PEER);
	assert_int_equal(t.core.npeers_alive, 1);
	late = mock_send(&t, 1, 1, data, 8, 0);
	ends(late, -O2G_ERR_PEER);
}

static void o2g_proto_peer_down__stalled(void **state)
{
	struct mock_req *s[400];
	int n = stall(s);

	mock_lose(tc, -O2G_ERR_PEER);
	for (int i = 0; i <= n; i++)
		ends(s[i], -O2G_ERR_PEER);
}

static void o2g_proto_peer_down__posted_and_arriving(void **state)
{
	struct mock_req *r = mock_recv(&t, 1, 3, 0, 100);

	rx_part(100, 20);
	assert_false(r->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
}

static void o2g_proto_peer_down__data_coming(void **state)
{
	struct mock_req *r = mock_recv(&t, 1, 3, 0, 5000);

	TO_T(.type = O2G_PKT_RTS, .length = 5000, .tag = 3, .cookie = 9);
	assert_int_equal(next_out(tc, O2G_PKT_CTS).length, 5000);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
}

static void o2g_proto_peer_down__keeps_whole_messages(void **state)
{
	TO_T(.type = O2G_PKT_EAGER, .length = 10, .tag = 3);
	TO_T(.type = O2G_PKT_RTS, .length = 10, .tag = 3);
	mock_lose(tc, -O2G_ERR_PEER);
	assert_int_equal(t.unexp_count, 1);
	got(mock_recv(&t, 1, 3, 0, 10), 10);
	ends(mock_recv(&t, 1, 3, 0, 10), -O2G_ERR_PEER);
}

static void o2g_proto_peer_down__forgets_that_it_stalled(void **state)
{
	TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_STALLED);
	while (mock_first(tc))
		mock_drop_first(tc);
	TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_STALLED);
	mock_lose(tc, -O2G_ERR_PEER);
	assert_true(o2g_list_empty(&t.core.stalled_peers));
	cancel(mock_recv(&t, ANY, 3, 0, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_reason_name__all),
		S(o2g_peer_init__grants),
		S(o2g_sink_advance__stops_at_room),
		S(o2g_proto_cancel__posted_receive),
		S(o2g_proto_cancel__receive_with_data_coming),
		S(o2g_proto_cancel__send_nobody_took),
		S(o2g_proto_cancel__send_that_is_taken),
		S(o2g_proto_cancel__send_taken_by_mprobe),
		S(o2g_proto_cancel__stalled_send),
		S(o2g_proto_cancel__send_under_way),
		S(o2g_proto_cancel__put_and_get),
		S(o2g_proto_bye__closes_in_order),
		S(o2g_proto_peer_down__every_state),
		S(o2g_proto_peer_down__stalled),
		S(o2g_proto_peer_down__posted_and_arriving),
		S(o2g_proto_peer_down__data_coming),
		S(o2g_proto_peer_down__keeps_whole_messages),
		S(o2g_proto_peer_down__forgets_that_it_stalled),
	};

	return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
