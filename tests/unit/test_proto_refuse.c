/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* o2g_proto_rx_begin: what a peer must not send. */
#include "proto_fixture.h"

static void o2g_proto_rx_begin__wrong_endpoint(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 1, .dst = 5 };

	assert_int_equal(mock_inject(tc, h, NULL), O2G_PROTO_WRONG_ENDPOINT);
	h.dst = 0;
	h.src = 2;
	assert_int_equal(mock_inject(tc, h, NULL), O2G_PROTO_WRONG_ENDPOINT);
	assert_int_equal(t.core.stats.bad_packets, 2);
	assert_int_equal(t.unexp_count, 0);
}

/* A peer of another job: packets have its rank there, matching its number here. */
static void o2g_proto_rx_begin__other_job(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 1u << 30, .tag = 3 };
	struct mock_req *r = mock_req(&t, O2G_REQ_RECV, 8, 1);

	tc->peer.rank = 1u << 30;
	tc->peer.wire_rank = 7;
	r->core.peer = &tc->peer;
	r->core.match.src = tc->peer.rank;
	r->core.match.tag = 3;
	o2g_proto_recv(&t.core, &r->core);
	assert_int_equal(mock_inject(tc, h, NULL), O2G_PROTO_WRONG_ENDPOINT);
	h.src = 7;
	assert_int_equal(mock_inject(tc, h, NULL), OK);
	ends(r, 0);
	tc->peer.inject_max = 64;
	assert_int_equal(o2g_proto_inject(&t.core, &tc->peer, 1, data, 8), 0);
	assert_int_equal(next_out(tc, O2G_PKT_EAGER).dst, 7);
	o2g_proto_bye(&t.core, &tc->peer);
	assert_int_equal(next_out(tc, O2G_PKT_BYE).dst, 7);
}

static void o2g_proto_rx_begin__after_bye(void **state)
{
	assert_int_equal(TO_T(.type = O2G_PKT_BYE), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_EAGER), O2G_PROTO_AFTER_BYE);
}

static void o2g_proto_rx_begin__impossible_credit(void **state)
{
	assert_int_equal(TO_T(.type = O2G_PKT_CREDIT, .credit = ~0u),
			 O2G_PROTO_BAD_CREDIT);
	assert_int_equal(TO_T(.type = O2G_PKT_CREDIT, .credit = ~0u,
			      .flags = O2G_PKTF_ENVELOPE),
			 OK);
	assert_int_equal(TO_T(.type = O2G_PKT_CREDIT, .credit = 1,
			      .flags = O2G_PKTF_ENVELOPE),
			 O2G_PROTO_BAD_CREDIT);
}

static void o2g_proto_rx_begin__out_of_memory(void **state)
{
	t.fail_alloc = 1;
	assert_int_equal(TO_T(.type = O2G_PKT_EAGER, .length = 8),
			 O2G_PROTO_NO_MEMORY);
	t.fail_alloc = 1;
	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .length = 8),
			 O2G_PROTO_NO_MEMORY);
	t.fail_alloc = 1;
	assert_int_equal(TO_T(.type = O2G_PKT_GET, .length = 8,
			      .tag = MOCK_MEM_KEY),
			 O2G_PROTO_NO_MEMORY);
}

static void o2g_proto_rx_begin__answers_to_nothing(void **state)
{
	static const u8 types[] = { O2G_PKT_CTS, O2G_PKT_DATA, O2G_PKT_FIN,
				    O2G_PKT_NAK };
	static const u64 cookies[] = { 0, 1, 12345, ~0ull };

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			assert_int_equal(TO_T(.type = types[i], .length = 8,
					      .cookie = cookies[j]),
					 O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_CANCEL, .cookie = 99), OK);
	assert_int_equal(next_out(tc, O2G_PKT_CANCEL_ACK).aux, 0);
	assert_int_equal(TO_T(.type = O2G_PKT_CANCEL_ACK, .cookie = 99), OK);
}

static void o2g_proto_rx_begin__answers_out_of_turn(void **state)
{
	struct mock_req *r = mock_recv(&t, 1, 1, 0, 100);
	struct mock_req *s = mock_send(&t, 1, 1, data, 5000, 0);
	struct mock_req *p, *g;
	u64 rid = r->core.id, sid = s->core.id;

	p = mock_put(&t, 1, 1, 0, data, 100);
	g = mock_get(&t, 1, 1, 0, 100);
	/* a receive is not a send, not matched yet */
	assert_int_not_equal(
		TO_T(.type = O2G_PKT_CTS, .cookie = rid, .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .cookie = rid), OK);
	assert_int_not_equal(
		TO_T(.type = O2G_PKT_DATA, .cookie = rid, .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_NAK, .cookie = rid), OK);
	/* a send that waits for CTS gets no data, no NAK, no odd CTS */
	assert_int_not_equal(
		TO_T(.type = O2G_PKT_DATA, .cookie = sid, .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_NAK, .cookie = sid), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = sid,
			      .length = 5001),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = sid),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_CANCEL_ACK, .cookie = sid,
			      .aux = 1),
			 O2G_PROTO_BAD_STATE);
	/* more answered than was put; data beyond or beside what was asked */
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = p->core.id,
			      .length = 101),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 101),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 10, .aux = 1),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id),
			 O2G_PROTO_BAD_RANGE);
	/* nor can a get of so much be answered without data */
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = g->core.id),
			 O2G_PROTO_BAD_RANGE);
	assert_false(r->done || s->done || p->done || g->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	ends(p, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

static void o2g_proto_rx_begin__second_cts(void **state)
{
	struct mock_req *s = mock_send(&t, 1, 1, data, 5000, 0);
	u64 id = s->core.id;

	tc->hold = 1;
	assert_int_equal(
		TO_T(.type = O2G_PKT_CTS, .cookie = id, .length = 5000), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = id,
			      .length = 5000),
			 O2G_PROTO_BAD_STATE);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = id),
			 O2G_PROTO_BAD_STATE);
	mock_push(tc, 1);
	ends(s, 0);
}

/* The request of one peer is none of another peer's business. */
static void o2g_proto_rx_begin__of_another_peer(void **state)
{
	struct mock_conn *other = mock_join_test(&t, 2, 0);
	struct mock_req *s = mock_send(&t, 2, 1, data, 5000, 0);
	struct mock_req *g = mock_get(&t, 2, 1, 0, 100);

	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = s->core.id,
			      .length = 1),
			 O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = s->core.id),
			 O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 1),
			 O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_NAK, .cookie = g->core.id),
			 O2G_PROTO_NO_REQUEST);
	mock_lose(other, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

/* Two packets for one request: a peer may have two ways to send them. */
static void o2g_proto_rx_begin__while_it_is_filled(void **state)
{
	struct mock_req *g = mock_get(&t, 1, 1, 0, 100);
	struct o2g_hdr h = { .type = O2G_PKT_DATA,
			     .src = 1,
			     .cookie = g->core.id,
			     .length = 100 };

	assert_int_equal(o2g_proto_rx_begin(&t.core, &tc->peer, &h, &tc->rx),
			 OK);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 100),
			 O2G_PROTO_BAD_STATE);
	assert_int_equal(TO_T(.type = O2G_PKT_NAK, .cookie = g->core.id),
			 O2G_PROTO_BAD_STATE);
	assert_false(g->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_rx_begin__wrong_endpoint),
		S(o2g_proto_rx_begin__other_job),
		S(o2g_proto_rx_begin__after_bye),
		S(o2g_proto_rx_begin__impossible_credit),
		S(o2g_proto_rx_begin__out_of_memory),
		S(o2g_proto_rx_begin__answers_to_nothing),
		S(o2g_proto_rx_begin__answers_out_of_turn),
		S(o2g_proto_rx_begin__second_cts),
		S(o2g_proto_rx_begin__of_another_peer),
		S(o2g_proto_rx_begin__while_it_is_filled),
	};

	return cmocka_run_group_tests_name("proto_refuse", tests, NULL, NULL);
}
