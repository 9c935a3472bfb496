/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Packets on their way, and their arrival. */
#include "mock_impl.h"
#include "quick.h"

struct mock_pkt *mock_new_pkt(const struct o2g_hdr *h, u64 len)
{
	struct mock_pkt *k = mock_bytes(sizeof(*k) + O2G_HDR_SIZE + len);

	k->h = *h;
	k->req = NULL;
	k->len = len;
	k->n = O2G_HDR_SIZE + len;
	k->taken = 0;
	o2g_wire_encode(h, k->bytes);
	return k;
}

void mock_drop_pkts(struct o2g_list *l)
{
	while (!o2g_list_empty(l)) {
		struct mock_pkt *k = o2g_list_first(l, struct mock_pkt, link);

		o2g_list_del(&k->link);
		free(k);
	}
}

struct mock_pkt *mock_first(struct mock_conn *c)
{
	if (o2g_list_empty(&c->out))
		return NULL;
	return o2g_list_first(&c->out, struct mock_pkt, link);
}

void mock_drop_first(struct mock_conn *c)
{
	struct mock_pkt *k = mock_first(c);

	CHECK(k);
	o2g_list_del(&k->link);
	free(k);
}

unsigned mock_push(struct mock_conn *c, unsigned n)
{
	unsigned done = 0;

	while (done < n && !o2g_list_empty(&c->held)) {
		struct mock_pkt *k =
			o2g_list_first(&c->held, struct mock_pkt, link);
		struct o2g_req *req = k->req;

		/* The body is read now: it must still be there. */
		if (req) {
			chan_gather(k->bytes + O2G_HDR_SIZE, req->segs,
				    req->nsegs, k->off, k->len);
			req->tx.left = 0;
		}
		o2g_list_del(&k->link);
		o2g_list_add_tail(&k->link, &c->out);
		k->req = NULL;
		if (req)
			o2g_proto_sent(&c->me->core, req);
		done++;
	}
	return done;
}

/* --- arriving packets --- */

static int rx_begin(void *ctx, const struct o2g_hdr *h)
{
	struct mock_conn *c = ctx;

	/* What the core does not set must not matter. */
	memset(&c->rx, 0xcd, sizeof(c->rx));
	c->reason = o2g_proto_rx_begin(&c->me->core, &c->peer, h, &c->rx);
	return c->reason ? -EPROTO : 0;
}

static void rx_body(void *ctx, const void *data, size_t n)
{
	struct mock_conn *c = ctx;

	chan_sink_write(&c->rx.sink, data, n);
}

static int rx_end(void *ctx)
{
	struct mock_conn *c = ctx;

	o2g_proto_rx_end(&c->me->core, &c->peer, &c->rx);
	return 0;
}

static const struct o2g_stream_ops rx_ops = { rx_begin, rx_body, rx_end };

void mock_lose(struct mock_conn *c, int err)
{
	if (c->lost)
		return;
	c->lost = true;
	mock_drop_pkts(&c->held);
	o2g_stream_init(&c->in);
	o2g_proto_peer_down(&c->me->core, &c->peer, err);
}

/* Take whole plain messages at once, as channels do; the bytes of those. */
static size_t feed_whole(struct mock_conn *to, const u8 *bytes, size_t n)
{
	int packets = 0;

	if (!to->whole || !o2g_stream_between(&to->in))
		return 0;
	return whole_feed(&to->me->core, &to->peer, bytes, n, to->whole,
			  &packets, &to->reason);
}

/* The rest of what is being received, a header or a body. */
static size_t feed_part(struct mock_conn *to, const u8 *bytes, size_t n)
{
	u64 want = o2g_stream_left(&to->in);

	n = n < want ? n : want;
	if (o2g_stream_feed(&to->in, bytes, n, &rx_ops, to) < 0 && !to->reason)
		to->reason = O2G_PROTO_BAD_STATE;
	return n;
}

static void feed(struct mock_conn *to, const u8 *bytes, size_t n)
{
	while (n && to && !to->lost) {
		size_t used = feed_whole(to, bytes, n);

		if (!used && !to->reason)
			used = feed_part(to, bytes, n);
		if (to->reason || to->got_bye)
			mock_lose(to, -O2G_ERR_PEER);
		bytes += used;
		n -= used;
	}
}

static size_t bytes_out(struct mock_conn *c, size_t max)
{
	struct o2g_list *l;
	size_t n = 0;

	o2g_list_for_each(l, &c->out) {
		struct mock_pkt *k = container_of(l, struct mock_pkt, link);

		n += k->n - k->taken;
		if (n >= max)
			return max;
	}
	return n;
}

size_t mock_deliver(struct mock_conn *c, size_t n)
{
	size_t have = 0;
	u8 *piece;

	n = bytes_out(c, n);
	if (!n)
		return 0;
	piece = mock_bytes(n);
	while (have < n) {
		struct mock_pkt *k = mock_first(c);
		size_t m = k->n - k->taken;

		m = m < n - have ? m : n - have;
		memcpy(piece + have, k->bytes + k->taken, m);
		have += m;
		k->taken += m;
		if (k->taken == k->n)
			mock_drop_first(c);
	}
	feed(c->back, piece, n);
	free(piece);
	return n;
}

enum o2g_proto_reason mock_inject(struct mock_conn *c, struct o2g_hdr h,
				  const void *body)
{
	int rc = rx_begin(c, &h);

	if (rc)
		return c->reason;
	if (o2g_wire_body(&h))
		rx_body(c, body, o2g_wire_body(&h));
	rx_end(c);
	return c->reason;
}

void mock_pump(struct mock **all, unsigned n)
{
	bool moved;

	do {
		moved = false;
		for (unsigned i = 0; i < n * MOCK_ENDS; i++) {
			struct mock_conn *c =
				&all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

			if (!c->me)
				continue;
			moved |= mock_push(c, ~0u) > 0;
			while (c->back && mock_deliver(c, 1 << 16))
				moved = true;
		}
	} while (moved);
}
