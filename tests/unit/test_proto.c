/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/wire.c core/stream.c core/match.c core/proto.c core/send.c */
/* sources: core/recv.c core/rma.c core/credit.c channel/body.c */
/* sources: tests/mock/mock_engine.c */
/*
 * The protocols, call by call. `a` and `b` are joined endpoints; `t` is one
 * whose peer (rank 1) is the test itself, which looks at its packets and makes
 * up the answers.
 */
#include "unit.h"

#include <stdlib.h>

#include "mock_engine.h"
#include "whole.h"

#define ANY O2G_MATCH_ANY

static struct mock a, b, t;
static struct mock *all[] = { &a, &b };
static struct mock_conn *ab, *ba, *tc;
static u8 data[1 << 17];

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (u8)(i * 7 + i / 256);
	mock_init(&a, 0);
	mock_init(&b, 1);
	mock_init(&t, 0);
	mock_join(&a, &b, 0);
	mock_join(&a, &a, 0);
	ab = &a.conn[1];
	ba = &b.conn[0];
	tc = mock_join_test(&t, 1, 0);
	return 0;
}

static int teardown(void **state)
{
	size_t left = mock_exit(&a) + mock_exit(&b) + mock_exit(&t);

	assert_int_equal(left, 0);
	return 0;
}

static void pump(void)
{
	mock_pump(all, 2);
}

/* It is done with this status; gone afterwards. */
static void ends(struct mock_req *r, int status)
{
	assert_true(r->done);
	assert_int_equal(r->status, status);
	mock_req_free(r);
}

/* It is done, with these bytes in its buffer. */
static void got(struct mock_req *r, u64 len)
{
	assert_true(r->done);
	assert_int_equal(r->status, 0);
	assert_int_equal(r->got, len);
	assert_memory_equal(r->buf, data, len);
	mock_req_free(r);
}

static void cancel(struct mock_req *r)
{
	assert_int_equal(o2g_proto_cancel(&r->me->core, &r->core), 0);
	ends(r, -O2G_ERR_CANCELLED);
}

/* The oldest packet that @c's endpoint has sent is of this type; take it. */
static struct o2g_hdr next_out(struct mock_conn *c, enum o2g_pkt type)
{
	struct mock_pkt *k = mock_first(c);
	struct o2g_hdr h;

	assert_non_null(k);
	h = k->h;
	assert_string_equal(o2g_wire_pkt_name(h.type), o2g_wire_pkt_name(type));
	mock_drop_first(c);
	return h;
}

static void nothing_out(struct mock_conn *c)
{
	assert_null(mock_first(c));
}

/* A packet from the test's end to `t`. */
static enum o2g_proto_reason to_t(struct o2g_hdr h)
{
	h.src = 1;
	return mock_inject(tc, h, data);
}

/* The first @part bytes of an eager message (tag 3) of @len. */
static void rx_part(u64 len, u64 part)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .tag = 3, .src = 1,
			     .length = len };

	assert_int_equal(o2g_proto_rx_begin(&t.core, &tc->peer, &h, &tc->rx),
			 O2G_PROTO_OK);
	chan_sink_write(&tc->rx.sink, data, part);
}

#define TO_T(...) to_t((struct o2g_hdr){ __VA_ARGS__ })
#define OK O2G_PROTO_OK

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
			      .length = 5000, .aux = 1234), OK);
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

/* Send large ones until one stalls; returns how many RTS went out. */
static int stall(struct mock_req **s)
{
	int n = 0;

	for (;; n++) {
		s[n] = mock_send(&t, 1, 5, data, 5000, 0);
		if (s[n]->core.state == O2G_ST_STALLED)
			return n;
		next_out(tc, O2G_PKT_RTS);
	}
}

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

static void finish_all(struct mock_req **s, int n)
{
	for (int i = 0; i < n; i++) {
		TO_T(.type = O2G_PKT_FIN, .cookie = s[i]->core.id);
		ends(s[i], 0);
	}
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

/* --- credit at the receiver --- */

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
				      .tag = 3), OK);
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
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .length = 1000, .tag = 3,
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

/* --- o2g_proto_put, o2g_proto_get --- */

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
			      .aux = ~0ull), OK);
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

static void o2g_proto_get__too_many_are_refused(void **state)
{
	tc->hold = O2G_GETS_MAX + 1;
	for (int i = 0; i < O2G_GETS_MAX; i++)
		assert_int_equal(TO_T(.type = O2G_PKT_GET, .tag = MOCK_MEM_RO,
				      .length = 8, .cookie = 9), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_GET, .tag = MOCK_MEM_RO,
			      .length = 8, .cookie = 9), O2G_PROTO_BAD_STATE);
	mock_lose(tc, -O2G_ERR_PEER);
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

/* --- o2g_proto_rx_whole --- */

static enum o2g_proto_reason whole(u64 tag, u32 credit, u64 len)
{
	return o2g_proto_rx_whole(&t.core, &tc->peer, tag, credit, data, len);
}

static void o2g_proto_rx_whole__posted(void **state)
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

static void o2g_proto_rx_whole__unexpected(void **state)
{
	assert_int_equal(whole(3, 0, 100), OK);
	assert_int_equal(whole(3, 0, 0), OK);
	assert_int_equal(t.unexp_count, 2);
	assert_int_equal(tc->peer.used, 100 + 2 * O2G_COST);
	got(mock_recv(&t, ANY, 3, 0, 100), 100);
	got(mock_recv(&t, ANY, 3, 0, 100), 0);
	assert_int_equal(tc->peer.used, 0);
}

static void o2g_proto_rx_whole__truncated(void **state)
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

static void o2g_proto_rx_whole__credit(void **state)
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
			 tc->peer.granted - O2G_CREDIT_INIT);
}

static void o2g_proto_rx_whole__refuses(void **state)
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
				    &reason), used);
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

/* --- o2g_proto_rx_begin: what a peer must not send --- */

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
			      .flags = O2G_PKTF_ENVELOPE), OK);
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
			      .tag = MOCK_MEM_KEY), O2G_PROTO_NO_MEMORY);
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
	assert_int_not_equal(TO_T(.type = O2G_PKT_CTS, .cookie = rid,
				  .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_FIN, .cookie = rid), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_DATA, .cookie = rid,
				  .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_NAK, .cookie = rid), OK);
	/* a send that waits for CTS gets no data, no NAK, no odd CTS */
	assert_int_not_equal(TO_T(.type = O2G_PKT_DATA, .cookie = sid,
				  .length = 1), OK);
	assert_int_not_equal(TO_T(.type = O2G_PKT_NAK, .cookie = sid), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = sid,
			      .length = 5001), O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = sid),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_CANCEL_ACK, .cookie = sid,
			      .aux = 1), O2G_PROTO_BAD_STATE);
	/* more answered than was put; data beyond or beside what was asked */
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = p->core.id,
			      .length = 101), O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 101), O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 10, .aux = 1), O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id),
			 O2G_PROTO_BAD_RANGE);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = g->core.id),
			 O2G_PROTO_BAD_STATE);
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
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = id,
			      .length = 5000), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_CTS, .cookie = id,
			      .length = 5000), O2G_PROTO_BAD_STATE);
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
			      .length = 1), O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_FIN, .cookie = s->core.id),
			 O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_DATA, .cookie = g->core.id,
			      .length = 1), O2G_PROTO_NO_REQUEST);
	assert_int_equal(TO_T(.type = O2G_PKT_NAK, .cookie = g->core.id),
			 O2G_PROTO_NO_REQUEST);
	mock_lose(other, -O2G_ERR_PEER);
	ends(s, -O2G_ERR_PEER);
	ends(g, -O2G_ERR_PEER);
}

static void o2g_proto_rx_begin__raw_takes_eager_only(void **state)
{
	tc->peer.raw = true;
	assert_int_equal(TO_T(.type = O2G_PKT_EAGER, .length = 60000,
			      .tag = 3), OK);
	assert_int_equal(TO_T(.type = O2G_PKT_RTS, .length = 8),
			 O2G_PROTO_BAD_STATE);
	assert_int_equal(TO_T(.type = O2G_PKT_PUT, .length = 8),
			 O2G_PROTO_BAD_STATE);
	assert_int_equal(TO_T(.type = O2G_PKT_GET, .length = 8),
			 O2G_PROTO_BAD_STATE);
	got(mock_recv(&t, 1, 3, 0, 60000), 60000);
	nothing_out(tc); /* and no credit is sent */
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

#define S(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(o2g_proto_reason_name__all),
		S(o2g_peer_init__grants),
		S(o2g_sink_advance__stops_at_room),
		S(o2g_proto_send__eager),
		S(o2g_proto_send__eager_held_by_the_channel),
		S(o2g_proto_send__sync_waits_for_fin),
		S(o2g_proto_send__sync_held_then_fin),
		S(o2g_proto_send__rendezvous),
		S(o2g_proto_send__rendezvous_held_piece_by_piece),
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
		S(credit__returned_with_the_next_packet),
		S(credit__grows_with_use),
		S(credit__never_beyond_the_budget),
		S(credit__total_is_shared),
		S(credit__overdrawn_is_refused),
		S(credit__last_message_first),
		S(credit__last_message_probed_first),
		S(o2g_proto_put__in_pieces),
		S(o2g_proto_put__held),
		S(o2g_proto_put__nothing),
		S(o2g_proto_put__to_oneself),
		S(o2g_proto_put__refused),
		S(o2g_proto_put__end_is_outside),
		S(o2g_proto_get__reads),
		S(o2g_proto_get__refused),
		S(o2g_proto_get__odd_nak_is_an_error),
		S(o2g_proto_get__dies_while_served),
		S(o2g_proto_get__many_are_held_back),
		S(o2g_proto_get__held_back_and_lost),
		S(o2g_proto_get__too_many_are_refused),
		S(o2g_proto_cancel__posted_receive),
		S(o2g_proto_cancel__receive_with_data_coming),
		S(o2g_proto_cancel__send_nobody_took),
		S(o2g_proto_cancel__send_that_is_taken),
		S(o2g_proto_cancel__send_taken_by_mprobe),
		S(o2g_proto_cancel__stalled_send),
		S(o2g_proto_cancel__send_under_way),
		S(o2g_proto_cancel__put_and_get),
		S(o2g_proto_bye__closes_in_order),
		S(o2g_proto_rx_whole__posted),
		S(o2g_proto_rx_whole__unexpected),
		S(o2g_proto_rx_whole__truncated),
		S(o2g_proto_rx_whole__credit),
		S(o2g_proto_rx_whole__refuses),
		S(whole_feed__several),
		S(whole_feed__leaves),
		S(whole_feed__refuses),
		S(o2g_proto_rx_begin__wrong_endpoint),
		S(o2g_proto_rx_begin__after_bye),
		S(o2g_proto_rx_begin__impossible_credit),
		S(o2g_proto_rx_begin__out_of_memory),
		S(o2g_proto_rx_begin__answers_to_nothing),
		S(o2g_proto_rx_begin__answers_out_of_turn),
		S(o2g_proto_rx_begin__second_cts),
		S(o2g_proto_rx_begin__of_another_peer),
		S(o2g_proto_rx_begin__raw_takes_eager_only),
		S(o2g_proto_peer_down__every_state),
		S(o2g_proto_peer_down__stalled),
		S(o2g_proto_peer_down__posted_and_arriving),
		S(o2g_proto_peer_down__data_coming),
		S(o2g_proto_peer_down__keeps_whole_messages),
		S(o2g_proto_peer_down__forgets_that_it_stalled),
	};

	return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
