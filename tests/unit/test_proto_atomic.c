/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* Atomic operations, gets of a few bytes and messages for handlers, by packets. */
#include "proto_fixture.h"

#define U64 O2G_AT_U64
#define SUM O2G_AOP_SUM

static const u64 ones[MOCK_CELLS] = { [0 ... MOCK_CELLS - 1] = 1 };

static struct mock_req *add(struct mock *m, u32 to, u64 cell, u64 n, bool fetch)
{
	return mock_atomic(m, to, SUM, U64, MOCK_CELLS_KEY, 8 * cell, ones,
			   8 * n, fetch);
}

/* It is done, and these were the values before; gone afterwards. */
static void fetched(struct mock_req *r, u64 n, u64 value)
{
	assert_true(r->done && !r->status);
	for (u64 i = 0; i < n; i++)
		assert_true(((u64 *)r->result)[i] == value);
	mock_req_free(r);
}

/* --- from end to end --- */

static void atomic__one_packet_each_way(void **state)
{
	struct mock_req *r = add(&t, 1, 3, 1, true);
	struct o2g_hdr h = next_out(tc, O2G_PKT_ATOMIC);

	nothing_out(tc);
	assert_int_equal(h.flags, O2G_PKTF_FETCH);
	assert_int_equal(h.length, 8);
	assert_int_equal(o2g_wire_atomic_offset(&h), 24);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie,
			      .length = 8, .aux = 4711),
			 OK);
	fetched(r, 1, 4711);
}

static void atomic__in_pieces(void **state)
{
	struct mock_req *r1, *r2, *r3;

	a.core.atomic_piece = a.core.fetch_piece = 32;
	r1 = add(&a, 1, 1, 50, false);
	r2 = add(&a, 1, 1, 50, true);
	r3 = mock_atomic(&a, 1, O2G_AOP_NO_OP, U64, MOCK_CELLS_KEY, 8, ones,
			 400, true);
	assert_int_equal(ab->peer.gets, 1);
	pump();
	ends(r1, 0);
	fetched(r2, 50, 1);
	fetched(r3, 50, 2);
	assert_true(b.cells[0] == 0 && b.cells[1] == 2);
	assert_true(b.cells[50] == 2 && b.cells[51] == 0);
	assert_int_equal(ab->peer.gets, 0);
	assert_int_equal(ab->peer.puts, 0);
	assert_int_equal(ba->peer.replies, 0);
	assert_int_equal(b.unexp_count, 0);
}

/* The last piece is so short that its values come in a FIN. */
static void atomic__short_last_piece(void **state)
{
	struct mock_req *r1, *r2;

	a.core.atomic_piece = a.core.fetch_piece = 32;
	r1 = add(&a, 1, 1, 33, true);
	r2 = add(&a, 1, 1, 33, true);
	pump();
	fetched(r1, 33, 0);
	fetched(r2, 33, 1);
	assert_int_equal(ab->peer.gets, 0);
	assert_int_equal(ba->peer.replies, 0);
}

static void atomic__compare_and_swap(void **state)
{
	u64 operands[2] = { 7, 9 };
	struct mock_req *r1, *r2, *r3;

	b.cells[5] = 7;
	r1 = mock_atomic(&a, 1, O2G_AOP_CAS, U64, MOCK_CELLS_KEY, 40, operands,
			 16, true);
	r2 = mock_atomic(&a, 1, O2G_AOP_CAS, U64, MOCK_CELLS_KEY, 40, operands,
			 16, true);
	r3 = mock_atomic(&a, 1, O2G_AOP_CAS, O2G_AT_U8, MOCK_CELLS_KEY, 41,
			 "\0\1", 2, false);
	pump();
	fetched(r1, 1, 7);
	fetched(r2, 1, 9);
	ends(r3, 0);
	assert_true(b.cells[5] == 0x109);
}

static void atomic__held(void **state)
{
	struct mock_req *r1, *r2;

	a.core.atomic_piece = a.core.fetch_piece = 16;
	ab->hold = 3;
	ba->hold = 2;
	r1 = add(&a, 1, 0, 20, false);
	r2 = add(&a, 1, 0, 20, true);
	for (int i = 0; i < 10; i++) {
		mock_push(ab, 1);
		mock_deliver(ab, 1 << 20);
		mock_push(ba, 1);
		mock_deliver(ba, 1 << 20);
	}
	pump();
	ends(r1, 0);
	fetched(r2, 20, 1);
}

static void atomic__to_oneself(void **state)
{
	a.core.atomic_piece = a.core.fetch_piece = 32;
	ends(add(&a, 0, 0, 30, false), 0);
	fetched(add(&a, 0, 0, 30, true), 30, 1);
	fetched(add(&a, 0, 0, 1, true), 1, 2);
	fetched(add(&a, 0, 31, 33, true), 33, 0);
	ends(mock_atomic(&a, 0, SUM, U64, 1, 0, ones, 8, true), -EINVAL);
}

static void atomic__refused(void **state)
{
	struct mock_req *r1, *r2, *r3, *r4;

	a.core.atomic_piece = a.core.fetch_piece = 32;
	r1 = mock_atomic(&a, 1, SUM, U64, MOCK_MEM_RO, 0, ones, 400, true);
	r2 = mock_atomic(&a, 1, SUM, U64, MOCK_CELLS_KEY, 400, ones, 400, true);
	r3 = mock_atomic(&a, 1, SUM, O2G_AT_F64, MOCK_CELLS_KEY, 0, ones, 400,
			 false);
	r4 = mock_atomic(&a, 1, O2G_AOP_NO_OP, U64, MOCK_MEM_RO, 0, ones, 8,
			 true);
	pump();
	ends(r1, -EPERM);
	ends(r2, -ERANGE);
	ends(r3, -EOPNOTSUPP);
	ends(r4, 0);
	assert_int_equal(ab->peer.gets, 0);
	assert_int_equal(ab->peer.puts, 0);
	assert_int_equal(b.unexp_count, 0);
}

/* Puts and atomics are done in the order in which they were started. */
static void ops__in_order(void **state)
{
	u64 seven[2] = { 7, 7 };
	struct mock_req *p1, *r, *p2;

	a.core.data_chunk = 8;
	ab->hold = 100;
	p1 = mock_put(&a, 1, MOCK_CELLS_KEY, 0, seven, 16);
	r = add(&a, 1, 1, 1, true);
	p2 = mock_put(&a, 1, MOCK_CELLS_KEY, 8, ones, 8);
	for (int i = 0; i < 10; i++) {
		mock_push(ab, 1);
		mock_deliver(ab, 1 << 20);
		mock_deliver(ba, 1 << 20);
	}
	ends(p1, 0);
	fetched(r, 1, 7);
	ends(p2, 0);
	assert_true(b.cells[1] == 1);
}

static void atomic__many_are_held_back(void **state)
{
	enum { MANY = 2 * O2G_GETS_MAX };
	struct mock_req *r[MANY];

	ba->hold = MANY;
	for (int i = 0; i < MANY; i++)
		r[i] = add(&a, 1, 0, 2, true);
	assert_int_equal(ab->peer.gets, O2G_GETS_MAX);
	mock_deliver(ab, 1 << 20);
	assert_int_equal(ba->peer.replies, O2G_GETS_MAX);
	ba->hold = 0;
	pump();
	for (int i = 0; i < MANY; i++)
		fetched(r[i], 2, i);
}

static void atomic__peer_dies(void **state)
{
	struct mock_req *r1, *r2, *r3;

	a.core.atomic_piece = a.core.fetch_piece = 160;
	r1 = add(&a, 1, 0, 40, false);
	r2 = add(&a, 1, 0, 40, true);
	r3 = add(&a, 1, 0, 1, true);
	mock_deliver(ab, 100); /* in the middle of operands */
	assert_int_equal(b.unexp_count, 1);
	mock_lose(ba, -O2G_ERR_PEER);
	assert_int_equal(b.unexp_count, 0);
	assert_int_equal(b.live, 0);
	mock_lose(ab, -O2G_ERR_PEER);
	ends(r1, -O2G_ERR_PEER);
	ends(r2, -O2G_ERR_PEER);
	ends(r3, -O2G_ERR_PEER);
}

/* --- liars --- */

static enum o2g_proto_reason ask(u32 op, u32 type, u64 len, u8 flags)
{
	struct o2g_hdr h = { .type = O2G_PKT_ATOMIC,
			     .flags = flags,
			     .src = 1,
			     .tag = MOCK_CELLS_KEY,
			     .length = len,
			     .aux = o2g_wire_atomic(0, op, type) };
	struct o2g_rx rx;

	return o2g_proto_rx_begin(&t.core, &tc->peer, &h, &rx);
}

static void atomic__nonsense_is_refused(void **state)
{
	const enum o2g_proto_reason bad = O2G_PROTO_BAD_RANGE;

	assert_int_equal(ask(O2G_AOP_MAX_OP, U64, 8, 0), bad);
	assert_int_equal(ask(SUM, O2G_AT_MAX, 8, 0), bad);
	assert_int_equal(ask(255, 255, 8, 0), bad);
	assert_int_equal(ask(O2G_AOP_BAND, O2G_AT_F32, 8, 0), bad);
	assert_int_equal(ask(SUM, U64, 0, 0), bad);
	assert_int_equal(ask(SUM, U64, 12, 0), bad);
	assert_int_equal(ask(SUM, U64, O2G_ATOMIC_PIECE + 8, 0), bad);
	assert_int_equal(ask(O2G_AOP_CAS, U64, 8, 0), bad);
	assert_int_equal(ask(O2G_AOP_CAS, U64, 32, 0), bad);
	assert_int_equal(ask(O2G_AOP_NO_OP, U64, 8, 0), bad);
	assert_int_equal(ask(O2G_AOP_NO_OP, U64, O2G_ATOMIC_PIECE * 2,
			     O2G_PKTF_FETCH),
			 bad);
	for (int i = 0; i < MOCK_CELLS; i++)
		assert_true(t.cells[i] == 0);
}

static void atomic__false_answers(void **state)
{
	struct mock_req *small = add(&t, 1, 0, 1, true);
	struct mock_req *big = add(&t, 1, 0, 10, true);
	struct mock_req *plain = add(&t, 1, 0, 1, false);
	struct o2g_hdr values = { .type = O2G_PKT_DATA,
				  .src = 1,
				  .cookie = big->core.id,
				  .length = 80 };
	struct o2g_rx rx, again;

	assert_int_not_equal(TO_T(.type = O2G_PKT_DATA, .length = 8,
				  .cookie = small->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 4,
				  .cookie = small->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 0,
				  .cookie = small->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 16,
				  .cookie = plain->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 80,
				  .cookie = big->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_DATA, .length = 72,
				  .cookie = big->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_DATA, .length = 80, .aux = 8,
				  .cookie = big->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_CTS, .length = 8,
				  .cookie = big->core.id),
			     OK);
	/* while data comes in, nothing else may end it */
	assert_int_equal(o2g_proto_rx_begin(&t.core, &tc->peer, &values, &rx),
			 OK);
	assert_int_not_equal(
		o2g_proto_rx_begin(&t.core, &tc->peer, &values, &again), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_NAK, .length = 80, .aux = 5,
				  .cookie = big->core.id),
			     OK);
	assert_false(small->done || big->done || plain->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(small, -O2G_ERR_PEER);
	ends(big, -O2G_ERR_PEER);
	ends(plain, -O2G_ERR_PEER);
}

static void atomic__too_many_are_refused(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_ATOMIC,
			     .flags = O2G_PKTF_FETCH,
			     .src = 1,
			     .tag = MOCK_CELLS_KEY,
			     .length = 16,
			     .cookie = 9,
			     .aux = o2g_wire_atomic(0, O2G_AOP_NO_OP, U64) };
	int n = 0;

	tc->hold = 10 * O2G_GETS_MAX;
	while (n < 10 * O2G_GETS_MAX && to_t(h) == OK)
		n++;
	assert_int_equal(n, O2G_GETS_MAX + 1);
	mock_lose(tc, -O2G_ERR_PEER);
}

/* --- gets of a few bytes --- */

static void get__briefly(void **state)
{
	struct mock_req *g[9];

	memcpy(b.mem, data, MOCK_MEM);
	b.peeks = true;
	for (u64 n = 1; n <= 8; n++)
		g[n] = mock_get(&a, 1, MOCK_MEM_RO, 0, n);
	mock_deliver(ab, 1 << 16);
	assert_int_equal(b.live, 0); /* no reply is kept */
	pump();
	for (u64 n = 1; n <= 8; n++)
		got(g[n], n);
	assert_int_equal(ab->peer.gets, 0);
}

static void get__false_answers(void **state)
{
	struct mock_req *g = mock_get(&t, 1, MOCK_MEM_RO, 0, 8);

	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 7,
				  .cookie = g->core.id),
			     OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .length = 16,
				  .cookie = g->core.id),
			     OK);
	assert_false(g->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

/* --- messages for handlers --- */

static void served__not_matched(void **state)
{
	struct mock_req *r = mock_recv(&b, ANY, 0, ~0ull, 100);
	struct mock_req *s1, *s2;

	s1 = mock_send(&a, 1, 5, data, 100, O2G_REQF_SERVED);
	s2 = mock_send(&a, 1, 6, data, 0, O2G_REQF_SERVED);
	pump();
	ends(s1, 0);
	ends(s2, 0);
	assert_false(r->done);
	assert_int_equal(b.handled, 2);
	assert_int_equal(b.handled_bytes, 100);
	assert_int_equal(b.handled_tag, 6);
	assert_int_equal(ba->peer.served_used, 0); /* credit comes back */
	cancel(r);
}

static struct mock_req *long_one;

static void receive_long(struct mock *m, struct mock_conn *c)
{
	struct o2g_unexp *u = o2g_proto_served(&c->peer);

	assert_int_equal(u->type, O2G_PKT_RTS);
	o2g_proto_take_served(u);
	long_one = mock_mrecv(m, u, u->len);
}

static void served__long(void **state)
{
	struct mock_req *s;

	ab->peer.eager_max = 1000;
	b.on_served = receive_long;
	s = mock_send(&a, 1, 5, data, 5000, O2G_REQF_SERVED);
	pump();
	ends(s, 0);
	got(long_one, 5000);
}

/* It could never be sent eagerly, and nobody will post a receive for it. */
static void served__more_than_all_credit(void **state)
{
	u64 len = ab->peer.served_credit;
	struct mock_req *s;

	ab->peer.eager_max = 2 * (u32)len;
	b.on_served = receive_long;
	s = mock_send(&a, 1, 5, data, len, O2G_REQF_SERVED);
	pump();
	ends(s, 0);
	got(long_one, len);
}

static void keep(struct mock *m, struct mock_conn *c)
{
}

enum { MANY = 100 };

/* All credit for messages is used up, by some that nobody receives. */
static void served__behind_a_flood(void **state)
{
	struct mock_req *flood[MANY], *s;

	b.core.budget_peer = ba->peer.granted;
	ab->peer.eager_max = 1024;
	for (int i = 0; i < MANY; i++)
		flood[i] = mock_send(&a, 1, 1, data, 1000, 0);
	pump();
	assert_false(o2g_list_empty(&ab->peer.stalled));
	s = mock_send(&a, 1, 5, data, 100, O2G_REQF_SERVED);
	pump();
	ends(s, 0);
	assert_int_equal(b.handled, 1);
	for (int i = 0; i < MANY; i++) {
		s = mock_recv(&b, 0, 1, 0, 1000);
		pump();
		got(s, 1000);
	}
	for (int i = 0; i < MANY; i++)
		ends(flood[i], 0);
}

static void handle_kept(struct mock *m, struct mock_conn *c)
{
	struct o2g_unexp *u;

	while ((u = o2g_proto_served(&c->peer))) {
		assert_int_equal(u->match.tag, m->handled++);
		o2g_proto_take_served(u);
		o2g_proto_drop(&m->core, u);
	}
}

/* Nobody handles them: they stay at home, in order, and hold up no message. */
static void served__wait_for_their_credit(void **state)
{
	struct mock_req *s[MANY], *m;

	b.on_served = keep;
	ab->peer.eager_max = 1024;
	for (u64 i = 0; i < MANY; i++)
		s[i] = mock_send(&a, 1, i, data, 1000, O2G_REQF_SERVED);
	pump();
	assert_true(s[50]->done);
	assert_false(s[MANY - 1]->done);
	assert_in_range(ba->peer.served_used, O2G_CREDIT_SERVED - 1192,
			O2G_CREDIT_SERVED);
	m = mock_send(&a, 1, 1, data, 1000, 0);
	assert_true(m->done);
	mock_req_free(m);
	handle_kept(&b, ba);
	b.on_served = handle_kept;
	pump();
	for (int i = 0; i < MANY; i++)
		ends(s[i], 0);
	assert_int_equal(b.handled, MANY);
	assert_int_equal(ab->peer.served_credit + ba->peer.served_owed,
			 O2G_CREDIT_SERVED);
	got(mock_recv(&b, 0, 1, 0, 1000), 1000);
}

/* Taken back, or given up with the peer. */
static void served__cancelled_at_home(void **state)
{
	struct mock_req *s[MANY];

	b.on_served = keep;
	ab->peer.eager_max = 1024;
	for (u64 i = 0; i < MANY; i++)
		s[i] = mock_send(&a, 1, i, data, 1000, O2G_REQF_SERVED);
	pump();
	assert_int_equal(o2g_proto_cancel(&a.core, &s[MANY - 1]->core), 0);
	ends(s[MANY - 1], -O2G_ERR_CANCELLED);
	mock_lose(ab, -O2G_ERR_PEER);
	ends(s[MANY - 2], -O2G_ERR_PEER);
	for (int i = 0; i < MANY - 2; i++)
		mock_req_free(s[i]);
	mock_lose(ba, -O2G_ERR_PEER);
	handle_kept(&b, ba);
}

static void served__beyond_credit_is_refused(void **state)
{
	t.on_served = keep;
	for (u32 i = 0; i < O2G_CREDIT_SERVED / O2G_COST; i++)
		assert_int_equal(TO_T(.type = O2G_PKT_EAGER,
				      .flags = O2G_PKTF_SERVED),
				 O2G_PROTO_OK);
	assert_int_equal(TO_T(.type = O2G_PKT_EAGER, .flags = O2G_PKTF_SERVED),
			 O2G_PROTO_TOO_LONG);
	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .flags = O2G_PKTF_SERVED,
			      .length = 5000),
			 O2G_PROTO_TOO_LONG);
	t.handled = 0;
	while (o2g_proto_served(&tc->peer)) {
		struct o2g_unexp *u = o2g_proto_served(&tc->peer);

		o2g_proto_take_served(u);
		o2g_proto_drop(&t.core, u);
	}
}

static void served__impossible_credit_is_refused(void **state)
{
	assert_int_equal(TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_SERVED,
			      .credit = 1),
			 O2G_PROTO_BAD_CREDIT);
	assert_int_equal(TO_T(.type = O2G_PKT_CREDIT,
			      .flags = O2G_PKTF_SERVED | O2G_PKTF_STALLED),
			 O2G_PROTO_BAD_STATE);
}

static void served__sender_dies(void **state)
{
	struct mock_req *s;

	b.on_served = keep;
	mock_req_free(mock_send(&a, 1, 5, data, 100, O2G_REQF_SERVED));
	ab->peer.eager_max = 50;
	s = mock_send(&a, 1, 6, data, 100, O2G_REQF_SERVED);
	ab->peer.eager_max = 1000;
	mock_req_free(mock_send(&a, 1, 7, data, 100, O2G_REQF_SERVED));
	mock_deliver(ab, 4 * O2G_HDR_SIZE + 150); /* half of the third */
	assert_int_equal(b.unexp_count, 3);
	mock_lose(ba, -O2G_ERR_PEER);
	assert_int_equal(b.unexp_count, 1); /* it is still to be handled */
	o2g_proto_take_served(o2g_proto_served(&ba->peer));
	assert_null(o2g_proto_served(&ba->peer));
	mock_lose(ab, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
}

static void served__too_long_is_refused(void **state)
{
	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .flags = O2G_PKTF_SERVED,
			      .length = O2G_SERVED_BODY_MAX + 1ull),
			 O2G_PROTO_TOO_LONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(atomic__one_packet_each_way),
		S(atomic__in_pieces),
		S(atomic__short_last_piece),
		S(atomic__compare_and_swap),
		S(atomic__held),
		S(atomic__to_oneself),
		S(atomic__refused),
		S(ops__in_order),
		S(atomic__many_are_held_back),
		S(atomic__peer_dies),
		S(atomic__nonsense_is_refused),
		S(atomic__false_answers),
		S(atomic__too_many_are_refused),
		S(get__briefly),
		S(get__false_answers),
		S(served__not_matched),
		S(served__long),
		S(served__more_than_all_credit),
		S(served__behind_a_flood),
		S(served__wait_for_their_credit),
		S(served__cancelled_at_home),
		S(served__beyond_credit_is_refused),
		S(served__impossible_credit_is_refused),
		S(served__sender_dies),
		S(served__too_long_is_refused),
	};

	return cmocka_run_group_tests_name("proto_atomic", tests, NULL, NULL);
}
