/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* Put and get by packets. */
#include "proto_fixture.h"

static void o2g_proto_put__in_pieces(void **state)
{
	struct mock_req *p;

	a.core.data_chunk = 100;
	p = mock_put(&a, 1, MOCK_MEM_KEY, 50, data, 1000);
	assert_false(p->done);
	pump();
	ends(p, 0);
	assert_memory_equal(b.mem + 50, data, 1000);
	assert_int_equal(b.mem[49], (u8)(49 * 7 + 1));
	assert_int_equal(b.mem[1050], (u8)(1050 * 7 + 1));
}

static void o2g_proto_put__held(void **state)
{
	struct mock_req *p;

	a.core.data_chunk = 100;
	ab->hold = 4;
	p = mock_put(&a, 1, MOCK_MEM_KEY, 0, data, 1000);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(mock_push(ab, 1), 1);
		mock_deliver(ab, 1 << 20);
		mock_deliver(ba, 1 << 20);
	}
	pump();
	ends(p, 0);
	assert_memory_equal(b.mem, data, 1000);
}

static void o2g_proto_put__nothing(void **state)
{
	ends(mock_put(&a, 1, MOCK_MEM_KEY, 0, data, 0), 0);
	ends(mock_get(&a, 1, MOCK_MEM_KEY, 0, 0), 0);
}

static void o2g_proto_put__to_oneself(void **state)
{
	a.core.data_chunk = 100;
	ends(mock_put(&a, 0, MOCK_MEM_KEY, 0, data, 1000), 0);
	assert_memory_equal(a.mem, data, 1000);
	got(mock_get(&a, 0, MOCK_MEM_KEY, 0, 1000), 1000);
	ends(mock_put(&a, 0, 1, 0, data, 1000), -EINVAL);
}

static void o2g_proto_put__refused(void **state)
{
	struct mock_req *p1, *p2, *p3;
	u8 before[MOCK_MEM];

	memcpy(before, b.mem, sizeof(before));
	a.core.data_chunk = 100;
	p1 = mock_put(&a, 1, 1, 0, data, 1000);
	p2 = mock_put(&a, 1, MOCK_MEM_RO, 0, data, 1000);
	p3 = mock_put(&a, 1, MOCK_MEM_KEY, ~0ull - 10, data, 90);
	pump();
	ends(p1, -EINVAL);
	ends(p2, -EPERM);
	ends(p3, -ERANGE);
	assert_memory_equal(before, b.mem, sizeof(before));
}

static void o2g_proto_put__end_is_outside(void **state)
{
	struct mock_req *p;

	a.core.data_chunk = 100;
	p = mock_put(&a, 1, MOCK_MEM_KEY, MOCK_MEM - 150, data, 400);
	pump();
	ends(p, -ERANGE);
}

static void o2g_proto_get__reads(void **state)
{
	struct mock_req *g;

	memcpy(b.mem, data, MOCK_MEM);
	b.core.data_chunk = 100;
	g = mock_get(&a, 1, MOCK_MEM_RO, 0, 1000);
	assert_false(g->done);
	pump();
	got(g, 1000);
	assert_int_equal(b.live, 0);
}

static void o2g_proto_get__refused(void **state)
{
	struct mock_req *g1 = mock_get(&a, 1, 1, 0, 100);
	struct mock_req *g2 = mock_get(&a, 1, MOCK_MEM_KEY, MOCK_MEM, 1);

	pump();
	ends(g1, -EINVAL);
	ends(g2, -ERANGE);
}

static void o2g_proto_get__odd_nak_is_an_error(void **state)
{
	struct mock_req *g = mock_get(&t, 1, 1, 0, 100);
	struct o2g_hdr h = next_out(tc, O2G_PKT_GET);

	assert_int_equal(TO_T(.type = O2G_PKT_NAK, .cookie = h.cookie,
			      .aux = ~0ull),
			 OK);
	ends(g, -EIO);
}

static void o2g_proto_get__dies_while_served(void **state)
{
	struct mock_req *g;

	b.core.data_chunk = 100;
	ba->hold = 2;
	g = mock_get(&a, 1, MOCK_MEM_KEY, 0, 1000);
	mock_deliver(ab, 1 << 16);
	assert_int_equal(b.live, 1); /* the reply */
	mock_lose(ba, -O2G_ERR_PEER);
	assert_int_equal(b.live, 0);
	mock_lose(ab, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

static void o2g_proto_get__many_are_held_back(void **state)
{
	enum { MANY = 2 * O2G_GETS_MAX + 10 };
	struct mock_req *g[MANY];

	memcpy(b.mem, data, MOCK_MEM);
	ba->hold = MANY; /* nothing is answered yet */
	for (int i = 0; i < MANY; i++)
		g[i] = mock_get(&a, 1, MOCK_MEM_RO, 0, 8);
	assert_int_equal(ab->peer.gets, O2G_GETS_MAX);
	mock_deliver(ab, 1 << 20);
	assert_int_equal(b.live, O2G_GETS_MAX);
	assert_int_equal(ba->peer.replies, O2G_GETS_MAX);
	ba->hold = 0;
	pump();
	for (int i = 0; i < MANY; i++)
		got(g[i], 8);
	assert_int_equal(ab->peer.gets, 0);
	assert_int_equal(ba->peer.replies, 0);
}

static void o2g_proto_get__held_back_and_lost(void **state)
{
	enum { MANY = O2G_GETS_MAX + 2 };
	struct mock_req *g[MANY];

	for (int i = 0; i < MANY; i++)
		g[i] = mock_get(&a, 1, MOCK_MEM_RO, 0, 8);
	mock_lose(ab, -O2G_ERR_PEER);
	for (int i = 0; i < MANY; i++)
		ends(g[i], -O2G_ERR_PEER);
}

static void o2g_proto_put__many_are_held_back(void **state)
{
	enum { MANY = 2 * O2G_PUTS_MAX + 10 };
	struct mock_req *p[MANY];

	for (int i = 0; i < MANY; i++)
		p[i] = mock_put(&a, 1, MOCK_MEM_KEY, 0, data, 8);
	assert_int_equal(ab->peer.puts, O2G_PUTS_MAX);
	pump();
	for (int i = 0; i < MANY; i++)
		ends(p[i], 0);
	assert_int_equal(ab->peer.puts, 0);
}

static void o2g_proto_put__held_back_and_lost(void **state)
{
	enum { MANY = O2G_PUTS_MAX + 2 };
	struct mock_req *p[MANY];

	for (int i = 0; i < MANY; i++)
		p[i] = mock_put(&a, 1, MOCK_MEM_KEY, 0, data, 8);
	mock_lose(ab, -O2G_ERR_PEER);
	for (int i = 0; i < MANY; i++)
		ends(p[i], -O2G_ERR_PEER);
}

static void o2g_proto_get__too_many_are_refused(void **state)
{
	tc->hold = O2G_GETS_MAX + 1;
	for (int i = 0; i < O2G_GETS_MAX; i++)
		assert_int_equal(TO_T(.type = O2G_PKT_GET, .tag = MOCK_MEM_RO,
				      .length = 8, .cookie = 9),
				 OK);
	assert_int_equal(TO_T(.type = O2G_PKT_GET, .tag = MOCK_MEM_RO,
			      .length = 8, .cookie = 9),
			 O2G_PROTO_BAD_STATE);
	mock_lose(tc, -O2G_ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_put__in_pieces),
		S(o2g_proto_put__held),
		S(o2g_proto_put__nothing),
		S(o2g_proto_put__to_oneself),
		S(o2g_proto_put__refused),
		S(o2g_proto_put__end_is_outside),
		S(o2g_proto_put__many_are_held_back),
		S(o2g_proto_put__held_back_and_lost),
		S(o2g_proto_get__reads),
		S(o2g_proto_get__refused),
		S(o2g_proto_get__odd_nak_is_an_error),
		S(o2g_proto_get__dies_while_served),
		S(o2g_proto_get__many_are_held_back),
		S(o2g_proto_get__held_back_and_lost),
		S(o2g_proto_get__too_many_are_refused),
	};

	return cmocka_run_group_tests_name("proto_rma", tests, NULL, NULL);
}
