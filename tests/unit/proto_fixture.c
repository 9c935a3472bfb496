/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/wire.c core/stream.c core/match.c core/wild.c core/proto.c core/send.c */
/* sources: core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c core/credit.c channel/body.c */
/* sources: tests/mock/mock_?*.c */
#include "proto_fixture.h"

struct mock a, b, t;
struct mock_conn *ab, *ba, *tc;
u8 data[1 << 17];

static struct mock *all[] = { &a, &b };

int setup(void **state)
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

int teardown(void **state)
{
	size_t left = mock_exit(&a) + mock_exit(&b) + mock_exit(&t);

	assert_int_equal(left, 0);
	return 0;
}

void pump(void)
{
	mock_pump(all, 2);
}

void ends(struct mock_req *r, int status)
{
	assert_true(r->done);
	assert_int_equal(r->status, status);
	mock_req_free(r);
}

void got(struct mock_req *r, u64 len)
{
	assert_true(r->done);
	assert_int_equal(r->status, 0);
	assert_int_equal(r->got, len);
	assert_memory_equal(r->buf, data, len);
	mock_req_free(r);
}

void cancel(struct mock_req *r)
{
	assert_int_equal(o2g_proto_cancel(&r->me->core, &r->core), 0);
	ends(r, -O2G_ERR_CANCELLED);
}

struct o2g_hdr next_out(struct mock_conn *c, enum o2g_pkt type)
{
	struct mock_pkt *k = mock_first(c);
	struct o2g_hdr h;

	assert_non_null(k);
	h = k->h;
	assert_string_equal(o2g_wire_pkt_name(h.type), o2g_wire_pkt_name(type));
	mock_drop_first(c);
	return h;
}

void nothing_out(struct mock_conn *c)
{
	assert_null(mock_first(c));
}

enum o2g_proto_reason to_t(struct o2g_hdr h)
{
	h.src = 1;
	return mock_inject(tc, h, data);
}

void rx_part(u64 len, u64 part)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .tag = 3,
			     .src = 1,
			     .length = len };

	assert_int_equal(o2g_proto_rx_begin(&t.core, &tc->peer, &h, &tc->rx),
			 O2G_PROTO_OK);
	chan_sink_write(&tc->rx.sink, data, part);
}

int stall(struct mock_req **s)
{
	int n = 0;

	for (;; n++) {
		s[n] = mock_send(&t, 1, 5, data, 5000, 0);
		if (s[n]->core.state == O2G_ST_STALLED)
			return n;
		next_out(tc, O2G_PKT_RTS);
	}
}

void finish_all(struct mock_req **s, int n)
{
	for (int i = 0; i < n; i++) {
		TO_T(.type = O2G_PKT_FIN, .cookie = s[i]->core.id);
		ends(s[i], 0);
	}
}
