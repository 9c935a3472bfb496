/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* What a receiver grants to those who send. */
#include "proto_fixture.h"

static void credit__returned_with_the_next_packet(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .length = 100, .tag = 3 };

	assert_int_equal(to_t(h), OK);
	assert_int_equal(tc->peer.used, 100 + O2G_COST);
	got(mock_recv(&t, 1, 3, 0, 100), 100);
	nothing_out(tc);
	assert_int_equal(tc->peer.owed, 100 + O2G_COST);
	ends(mock_send(&t, 1, 1, data, 1, 0), 0);
	assert_int_equal(next_out(tc, O2G_PKT_EAGER).credit, 100 + O2G_COST);
	assert_int_equal(tc->peer.owed, 0);
}

static void credit__grows_with_use(void **state)
{
	u32 before = tc->peer.granted;
	u64 given = 0;

	for (int i = 0; i < 10; i++) {
		assert_int_equal(TO_T(.type = O2G_PKT_EAGER, .length = 1000,
				      .tag = 3),
				 OK);
		got(mock_recv(&t, 1, 3, 0, 1000), 1000);
	}
	given = next_out(tc, O2G_PKT_CREDIT).credit;
	assert_int_equal(tc->peer.granted, 2 * before);
	assert_true(given >= before + before / 4);
}

static void credit__never_beyond_the_budget(void **state)
{
	t.core.budget_peer = 40 << 10;
	for (int i = 0; i < 1000; i++) {
		TO_T(.type = O2G_PKT_EAGER, .length = 1000, .tag = 3);
		got(mock_recv(&t, 1, 3, 0, 1000), 1000);
	}
	assert_int_equal(tc->peer.granted, 40 << 10);
	t.core.budget_peer = 1 << 20;
	t.core.budget_total = t.core.granted_total + 1000;
	for (int i = 0; i < 1000; i++) {
		TO_T(.type = O2G_PKT_EAGER, .length = 1000, .tag = 3);
		got(mock_recv(&t, 1, 3, 0, 1000), 1000);
	}
	assert_int_equal(tc->peer.granted, (40 << 10) + 1000);
	assert_int_equal(t.core.granted_total, t.core.budget_total);
}

static void talk(struct mock_conn *c, int n)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .length = 1000,
			     .tag = 3,
			     .src = c->peer.rank };

	while (n--) {
		assert_int_equal(mock_inject(c, h, data), OK);
		got(mock_recv(&t, c->peer.rank, 3, 0, 1000), 1000);
	}
}

/* One peer had all of it before another came. */
static void credit__total_is_shared(void **state)
{
	struct mock_conn *late;

	t.core.budget_total = 100 << 10;
	talk(tc, 1000);
	assert_int_equal(tc->peer.granted, 100 << 10);
	late = mock_join_test(&t, 2, 0);
	talk(late, 1000);
	assert_int_equal(late->peer.granted, O2G_CREDIT_INIT);
	mock_lose(tc, -O2G_ERR_PEER);
	talk(late, 1000);
	assert_int_equal(late->peer.granted, 100 << 10);
}

static void credit__overdrawn_is_refused(void **state)
{
	int n = 0;

	while (TO_T(.type = O2G_PKT_EAGER, .length = 1000, .tag = 3) == OK)
		n++;
	assert_int_equal(n, O2G_CREDIT_INIT / (1000 + O2G_COST));
	assert_int_equal(tc->reason, O2G_PROTO_TOO_LONG);
	assert_true(t.unexp_body + t.unexp_count * O2G_COST <= O2G_CREDIT_INIT);
	assert_int_equal(TO_T(.type = O2G_PKT_EAGER, .length = 1ull << 40),
			 O2G_PROTO_TOO_LONG);
	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .length = 1,
			      .flags = O2G_PKTF_ENVELOPE),
			 O2G_PROTO_TOO_LONG);
}

/* Its budget is full of what nobody wants; the message wanted comes last. */
static void credit__last_message_first(void **state)
{
	struct mock_req *s[1200], *r;
	int n = 1200;

	a.core.budget_peer = b.core.budget_peer = O2G_CREDIT_INIT;
	for (int i = 0; i < n; i++)
		s[i] = mock_send(&a, 1, i < n - 1 ? 1 : 2, data, 1000, 0);
	pump();
	assert_true(a.core.stats.stalls > 0);
	/* a few envelopes, to fall back to rendezvous */
	assert_int_equal(b.core.stats.extra_grants, 1);
	assert_int_equal(ba->peer.extra, O2G_CREDIT_RESERVE);
	r = mock_recv(&b, 0, 2, 0, 1000);
	pump();
	assert_true(b.core.stats.extra_grants > 1);
	assert_true(b.unexp_body <= O2G_CREDIT_INIT);
	got(r, 1000);
	for (int i = 0; i < n - 1; i++) {
		r = mock_recv(&b, ANY, 1, 0, 1000);
		pump();
		got(r, 1000);
	}
	for (int i = 0; i < n; i++)
		ends(s[i], 0);
	assert_int_equal(ab->peer.credit + ba->peer.owed, ba->peer.granted);
	assert_int_equal(ba->peer.extra_used, 0);
	assert_int_equal(ba->peer.extra, ab->peer.env_credit);
}

/* Who only says that it is stalled gets no more; nor is there more than so much. */
static void credit__bounded(void **state)
{
	struct mock_req *r = mock_recv(&t, 1, 99, 0, 10);
	u32 extra;

	t.core.budget_peer = O2G_CREDIT_INIT;
	for (int i = 0; i < 100; i++)
		TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_STALLED);
	assert_int_equal(tc->peer.extra, O2G_CREDIT_EXTRA);
	t.core.extra_max = 1 << 20;
	t.core.extra_total = t.core.extra_max - O2G_COST;
	extra = tc->peer.extra;
	while (TO_T(.type = O2G_PKT_RTS, .length = 1, .tag = 1,
		    .flags = O2G_PKTF_ENVELOPE) == OK)
		;
	TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_STALLED);
	assert_int_equal(tc->peer.extra, extra);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
}

/* A probe that waits for such a message is as good as a receive. */
static void credit__last_message_probed_first(void **state)
{
	struct mock_req *s[600], *r;
	struct o2g_unexp *u;
	int n = 600;

	a.core.budget_peer = b.core.budget_peer = O2G_CREDIT_INIT;
	for (int i = 0; i < n; i++)
		s[i] = mock_send(&a, 1, i < n - 1 ? 1 : 2, data, 1000, 0);
	pump();
	assert_null(o2g_proto_probe(&b.core, 0, 2, 0));
	pump();
	u = o2g_proto_mprobe(&b.core, 0, 2, 0);
	assert_non_null(u);
	r = mock_mrecv(&b, u, 1000);
	pump();
	got(r, 1000);
	for (int i = 0; i < n - 1; i++) {
		r = mock_recv(&b, 0, 1, 0, 1000);
		pump();
		got(r, 1000);
	}
	for (int i = 0; i < n; i++)
		ends(s[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(credit__returned_with_the_next_packet),
		S(credit__grows_with_use),
		S(credit__never_beyond_the_budget),
		S(credit__total_is_shared),
		S(credit__overdrawn_is_refused),
		S(credit__bounded),
		S(credit__last_message_first),
		S(credit__last_message_probed_first),
	};

	return cmocka_run_group_tests_name("proto_credit", tests, NULL, NULL);
}
