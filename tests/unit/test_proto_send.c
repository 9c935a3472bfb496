/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/proto_fixture.c */
/* The protocols at the sender, call by call. */
#include "proto_fixture.h"

/* --- o2g_proto_send --- */

static void o2g_proto_send__eager(void **state)
{
	struct mock_req *s = mock_send(&t, 1, 42, data, 100, 0);
	struct mock_pkt *k = mock_first(tc);
	struct o2g_hdr h;

	assert_non_null(k);
	assert_memory_equal(k->bytes + O2G_HDR_SIZE, data, 100);
	h = next_out(tc, O2G_PKT_EAGER);
	assert_int_equal(h.tag, 42);
	assert_int_equal(h.length, 100);
	assert_int_equal(h.src, 0);
	assert_int_equal(h.dst, 1);
	assert_int_equal(h.flags, 0);
	assert_int_equal(tc->peer.credit, O2G_CREDIT_INIT - 100 - O2G_COST);
	ends(s, 0);
}

static void o2g_proto_send__eager_held_by_the_channel(void **state)
{
	struct mock_req *s;

	tc->hold = 1;
	s = mock_send(&t, 1, 42, data, 100, 0);
	assert_false(s->done);
	assert_int_equal(o2g_proto_cancel(&t.core, &s->core), -EBUSY);
	mock_push(tc, 1);
	next_out(tc, O2G_PKT_EAGER);
	ends(s, 0);
}

static void o2g_proto_send__sync_waits_for_fin(void **state)
{
	struct mock_req *s = mock_send(&t, 1, 1, data, 8, O2G_REQF_SYNC);
	struct o2g_hdr h = next_out(tc, O2G_PKT_EAGER);

	assert_int_equal(h.flags, O2G_PKTF_SYNC);
	assert_false(s->done);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie), OK);
	ends(s, 0);
}

static void o2g_proto_send__sync_held_then_fin(void **state)
{
	struct mock_req *s;
	struct o2g_hdr h;

	tc->hold = 1;
	s = mock_send(&t, 1, 1, data, 8, O2G_REQF_SYNC);
	mock_push(tc, 1);
	assert_false(s->done);
	h = next_out(tc, O2G_PKT_EAGER);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie), OK);
	ends(s, 0);
}

static void o2g_proto_send__rendezvous(void **state)
{
	struct mock_req *s;
	struct o2g_hdr h;

	t.core.data_chunk = 2000;
	s = mock_send(&t, 1, 9, data, 5000, 0);
	h = next_out(tc, O2G_PKT_RTS);
	assert_int_equal(h.length, 5000);
	assert_int_equal(h.flags, 0);
	assert_int_equal(tc->peer.credit, O2G_CREDIT_INIT - O2G_COST);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie,
			      .length = 5000, .aux = 1234),
			 OK);
	for (u64 off = 0; off < 5000; off += 2000) {
		u64 n = off == 4000 ? 1000 : 2000;

		assert_memory_equal(mock_first(tc)->bytes + O2G_HDR_SIZE,
				    data + off, n);
		h = next_out(tc, O2G_PKT_DATA);
		assert_int_equal(h.cookie, 1234);
		assert_int_equal(h.aux, off);
		assert_int_equal(h.length, n);
	}
	nothing_out(tc);
	ends(s, 0);
}

static void o2g_proto_send__rendezvous_held_piece_by_piece(void **state)
{
	struct mock_req *s;
	struct o2g_hdr h;

	t.core.data_chunk = 2000;
	s = mock_send(&t, 1, 9, data, 5000, 0);
	h = next_out(tc, O2G_PKT_RTS);
	tc->hold = 3;
	TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie, .length = 5000);
	nothing_out(tc);
	for (int i = 0; i < 3; i++) {
		assert_false(s->done);
		assert_int_equal(mock_push(tc, 1), 1);
		next_out(tc, O2G_PKT_DATA);
	}
	ends(s, 0);
}

/* The send is over when the receiver has it, and not when it has left. */
static void by_reference(bool held, u64 want)
{
	struct mock_req *s;
	struct o2g_hdr h;
	u64 id;

	t.core.data_chunk = 2000;
	s = mock_send(&t, 1, 9, data, 5000, O2G_REQF_REFERENCE);
	id = s->core.id;
	h = next_out(tc, O2G_PKT_RTS);
	tc->hold = held ? 3 : 0;
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie,
			      .length = want, .aux = 1234),
			 OK);
	for (u64 off = 0; off < want; off += 2000) {
		bool last = off + 2000 >= want;

		if (held) { /* it cannot have all of it yet */
			assert_int_not_equal(
				TO_T(.type = O2G_PKT_FIN, .cookie = id), OK);
			assert_int_equal(mock_push(tc, 1), 1);
		}
		h = next_out(tc, O2G_PKT_DATA);
		assert_int_equal(h.flags, last ? O2G_PKTF_REFERENCE : 0);
		assert_int_equal(h.tag, last ? id : 0);
		assert_false(s->done);
	}
	assert_int_equal(o2g_proto_cancel(&t.core, &s->core), -EBUSY);
	assert_int_not_equal(TO_T(.type = O2G_PKT_CTS, .cookie = id,
				  .length = 1, .aux = 1234),
			     OK);
	assert_false(s->done);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = id), OK);
	ends(s, 0);
}

static void o2g_proto_send__by_reference(void **state)
{
	by_reference(false, 5000);
}

static void o2g_proto_send__by_reference_held(void **state)
{
	by_reference(true, 5000);
}

static void o2g_proto_send__by_reference_in_part(void **state)
{
	by_reference(false, 10);
}

/* After CTS nobody can say that it was cancelled; and it ends with its peer. */
static void o2g_proto_send__by_reference_refused(void **state)
{
	struct mock_req *s =
		mock_send(&t, 1, 9, data, 5000, O2G_REQF_REFERENCE);
	struct o2g_hdr h = next_out(tc, O2G_PKT_RTS);

	assert_int_equal(o2g_proto_cancel(&t.core, &s->core), -EINPROGRESS);
	next_out(tc, O2G_PKT_CANCEL);
	TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie, .length = 5000);
	assert_int_equal(TO_T(.type = O2G_PKT_CANCEL_ACK, .cookie = h.cookie,
			      .aux = 1),
			 O2G_PROTO_BAD_STATE);
	assert_false(s->done);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
}

/* The engine decides when it knows how much is wanted. */
static void o2g_proto_send__lent_when_asked_for(void **state)
{
	static const u64 wanted[] = { 4000, 3999 };

	tc->lend_min = 4000;
	for (int i = 0; i < 2; i++) {
		struct mock_req *s = mock_send(&t, 1, 9, data, 5000, 0);
		struct o2g_hdr h = next_out(tc, O2G_PKT_RTS);
		bool lent = wanted[i] >= 4000;

		TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie,
		     .length = wanted[i]);
		assert_int_equal(next_out(tc, O2G_PKT_DATA).flags,
				 lent ? O2G_PKTF_REFERENCE : 0);
		assert_int_equal(s->done, !lent);
		if (lent)
			TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie);
		ends(s, 0);
	}
}

static void o2g_proto_send__peer_wants_less(void **state)
{
	struct mock_req *s = mock_send(&t, 1, 9, data, 5000, 0);
	struct o2g_hdr h = next_out(tc, O2G_PKT_RTS);

	TO_T(.type = O2G_PKT_CTS, .cookie = h.cookie, .length = 10);
	assert_int_equal(next_out(tc, O2G_PKT_DATA).length, 10);
	ends(s, 0);
}

static void o2g_proto_send__exposes(void **state)
{
	struct mock_req *s;
	struct o2g_hdr h;

	t.exposes = true;
	s = mock_send(&t, 1, 9, data, 5000, 0);
	h = next_out(tc, O2G_PKT_RTS);
	assert_int_equal(h.flags, O2G_PKTF_GETTABLE);
	assert_int_equal(h.aux, s->core.id);
	TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie);
	ends(s, 0);
}

static void o2g_proto_send__peer_is_down(void **state)
{
	mock_lose(tc, -O2G_ERR_PEER);
	ends(mock_send(&t, 1, 9, data, 8, 0), -O2G_ERR_PEER);
	ends(mock_put(&t, 1, MOCK_MEM_KEY, 0, data, 8), -O2G_ERR_PEER);
	ends(mock_get(&t, 1, MOCK_MEM_KEY, 0, 8), -O2G_ERR_PEER);
	ends(mock_recv(&t, 1, 0, 0, 8), -O2G_ERR_PEER);
}

static void o2g_proto_send__xmit_finds_peer_gone(void **state)
{
	struct mock_req *e, *s, *r;

	tc->fail_xmit = 1;
	e = mock_send(&t, 1, 9, data, 8, 0);
	s = mock_send(&t, 1, 9, data, 8, O2G_REQF_SYNC);
	r = mock_send(&t, 1, 9, data, 5000, 0);
	ends(e, -O2G_ERR_PEER);
	mock_lose(tc, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	ends(r, -O2G_ERR_PEER);
}

/* --- o2g_proto_inject --- */

static void o2g_proto_inject__sends(void **state)
{
	struct o2g_hdr h;

	tc->peer.inject_max = 101;
	tc->peer.owed = 17;
	assert_int_equal(o2g_proto_inject(&t.core, &tc->peer, 42, data, 100),
			 0);
	assert_memory_equal(mock_first(tc)->bytes + O2G_HDR_SIZE, data, 100);
	h = next_out(tc, O2G_PKT_EAGER);
	assert_int_equal(h.tag, 42);
	assert_int_equal(h.length, 100);
	assert_int_equal(h.credit, 17);
	assert_int_equal(h.src, 0);
	assert_int_equal(h.dst, 1);
	assert_int_equal(tc->peer.owed, 0);
	assert_int_equal(tc->peer.credit, O2G_CREDIT_INIT - 100 - O2G_COST);
	assert_int_equal(o2g_proto_inject(&t.core, &tc->peer, 42, NULL, 0), 0);
	assert_int_equal(next_out(tc, O2G_PKT_EAGER).credit, 0);
}

static void inject_refused(u64 len)
{
	u32 credit = tc->peer.credit;

	tc->peer.owed = 17;
	assert_int_equal(o2g_proto_inject(&t.core, &tc->peer, 42, data, len),
			 -EAGAIN);
	assert_int_equal(tc->peer.credit, credit);
	assert_int_equal(tc->peer.owed, 17);
	nothing_out(tc);
	tc->peer.owed = 0;
}

static void o2g_proto_inject__refuses(void **state)
{
	struct mock_req *s[400];
	int n;

	inject_refused(0); /* the channel does not offer it */
	tc->peer.inject_max = 1001;
	inject_refused(1001);
	tc->hold = 1; /* the channel cannot now */
	inject_refused(8);
	tc->hold = 0;
	tc->peer.credit = O2G_CREDIT_RESERVE + O2G_COST + 8;
	inject_refused(9);
	assert_int_equal(o2g_proto_inject(&t.core, &tc->peer, 42, data, 8), 0);
	next_out(tc, O2G_PKT_EAGER);
	/* not past what is stalled */
	n = stall(s);
	next_out(tc, O2G_PKT_CREDIT);
	tc->peer.credit = 100000;
	inject_refused(8);
	mock_lose(tc, -O2G_ERR_PEER);
	inject_refused(8);
	for (int i = 0; i <= n; i++)
		ends(s[i], -O2G_ERR_PEER);
}

/* --- o2g_proto_send without credit --- */

static void fill_credit(struct mock_req **s, int *n)
{
	/* eager while there is credit, then it asks for more */
	for (*n = 0;; (*n)++) {
		s[*n] = mock_send(&t, 1, 5, data, 1000, 0);
		if (mock_first(tc)->h.type == O2G_PKT_CREDIT)
			break;
		next_out(tc, O2G_PKT_EAGER);
		ends(s[*n], 0);
	}
	assert_int_equal(next_out(tc, O2G_PKT_CREDIT).flags, O2G_PKTF_STALLED);
	assert_int_equal(*n, (O2G_CREDIT_INIT - O2G_CREDIT_RESERVE) /
				     (1000 + O2G_COST));
}

static void o2g_proto_send__no_credit_asks_for_more(void **state)
{
	struct mock_req *s[64];
	int n;

	fill_credit(s, &n);
	TO_T(.type = O2G_PKT_CREDIT, .credit = 1000 + O2G_COST);
	next_out(tc, O2G_PKT_EAGER);
	ends(s[n], 0);
}

static void o2g_proto_send__no_room_makes_rts(void **state)
{
	struct mock_req *s[64];
	struct o2g_hdr h;
	int n;

	fill_credit(s, &n);
	TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_ENVELOPE,
	     .credit = O2G_COST);
	h = next_out(tc, O2G_PKT_RTS);
	assert_int_equal(t.core.stats.rts_no_credit, 1);
	TO_T(.type = O2G_PKT_FIN, .cookie = h.cookie);
	ends(s[n], 0);
}

static void o2g_proto_send__stalls_in_order(void **state)
{
	struct mock_req *s[400], *next;
	struct o2g_hdr h;
	int n = stall(s);

	assert_int_equal(n, O2G_CREDIT_INIT / O2G_COST);
	assert_int_equal(next_out(tc, O2G_PKT_CREDIT).flags, O2G_PKTF_STALLED);
	/* a later, small one must wait behind it; said only once */
	next = mock_send(&t, 1, 6, data, 8, 0);
	nothing_out(tc);
	/* enough for one envelope: the first goes, and we stall again */
	TO_T(.type = O2G_PKT_CREDIT, .credit = O2G_COST);
	h = next_out(tc, O2G_PKT_RTS);
	assert_int_equal(h.cookie, s[n]->core.id);
	assert_int_equal(h.flags, 0);
	assert_int_equal(next_out(tc, O2G_PKT_CREDIT).flags, O2G_PKTF_STALLED);
	nothing_out(tc);
	TO_T(.type = O2G_PKT_CREDIT, .credit = O2G_CREDIT_INIT);
	assert_int_equal(next_out(tc, O2G_PKT_EAGER).tag, 6);
	nothing_out(tc);
	ends(next, 0);
	finish_all(s, n + 1);
}

static void o2g_proto_send__extra_credit_buys_envelopes(void **state)
{
	struct mock_req *s[400], *small;
	int n = stall(s);

	next_out(tc, O2G_PKT_CREDIT);
	small = mock_send(&t, 1, 6, data, 8, 0);
	TO_T(.type = O2G_PKT_CREDIT, .flags = O2G_PKTF_ENVELOPE,
	     .credit = 2 * O2G_COST);
	assert_int_equal(next_out(tc, O2G_PKT_RTS).flags, O2G_PKTF_ENVELOPE);
	/* no data for extra credit, however small */
	assert_int_equal(next_out(tc, O2G_PKT_RTS).flags, O2G_PKTF_ENVELOPE);
	assert_int_equal(tc->peer.env_credit, 0);
	TO_T(.type = O2G_PKT_FIN, .cookie = small->core.id);
	ends(small, 0);
	finish_all(s, n + 1);
}

static void o2g_proto_send__says_stalled_anew_after_cancel(void **state)
{
	struct mock_req *s[400], *again;
	int n = stall(s);

	next_out(tc, O2G_PKT_CREDIT);
	cancel(s[n]);
	/* the peer answers, so it thinks that we are no longer stalled */
	TO_T(.type = O2G_PKT_CREDIT, .credit = 8);
	nothing_out(tc);
	again = mock_send(&t, 1, 5, data, 5000, 0);
	assert_int_equal(next_out(tc, O2G_PKT_CREDIT).flags, O2G_PKTF_STALLED);
	cancel(again);
	finish_all(s, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_send__eager),
		S(o2g_proto_send__eager_held_by_the_channel),
		S(o2g_proto_send__sync_waits_for_fin),
		S(o2g_proto_send__sync_held_then_fin),
		S(o2g_proto_send__rendezvous),
		S(o2g_proto_send__rendezvous_held_piece_by_piece),
		S(o2g_proto_send__by_reference),
		S(o2g_proto_send__by_reference_held),
		S(o2g_proto_send__by_reference_in_part),
		S(o2g_proto_send__by_reference_refused),
		S(o2g_proto_send__lent_when_asked_for),
		S(o2g_proto_send__peer_wants_less),
		S(o2g_proto_send__exposes),
		S(o2g_proto_send__peer_is_down),
		S(o2g_proto_send__xmit_finds_peer_gone),
		S(o2g_proto_inject__sends),
		S(o2g_proto_inject__refuses),
		S(o2g_proto_send__no_credit_asks_for_more),
		S(o2g_proto_send__no_room_makes_rts),
		S(o2g_proto_send__stalls_in_order),
		S(o2g_proto_send__extra_credit_buys_envelopes),
		S(o2g_proto_send__says_stalled_anew_after_cancel),
	};

	return cmocka_run_group_tests_name("proto_send", tests, NULL, NULL);
}
