/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "proto_world.h"

/* --- operations --- */

static u64 length(struct input *in)
{
	u8 b = in_u8(in);

	switch (b >> 6) {
	case 0:
		return b & 63;
	case 1:
		return (b & 63) * 16;
	case 2:
		return (b & 63) * 100;
	default:
		return 4000 + (b & 63) * 20;
	}
}

static struct mock *end(struct input *in)
{
	return world.all[in_u8(in) % world.n];
}

static struct mock_conn *a_conn(struct input *in)
{
	u8 b = in_u8(in);
	struct mock *m = world.all[(b & 15) % world.n];
	struct mock_conn *c = &m->conn[(b >> 4) % MOCK_ENDS];

	return c->me && c->peer.rank != m->core.rank ? c : NULL;
}

static void do_send(struct mock *m, u32 to, u64 tag, u64 len, bool sync)
{
	struct msg *x;

	if (world.nmsgs == MAX_MSGS || !m->conn[to].me)
		return;
	x = &world.msgs[world.nmsgs++];
	x->number = mock_next_number + 1;
	x->tag = tag;
	x->len = len;
	x->src = m->core.rank;
	x->dst = to;
	x->req = NULL;
	if (!sync && !o2g_proto_inject(&m->core, &m->conn[to].peer, tag,
				       contents(x->number), len))
		mock_next_number++;
	else
		x->req = mock_send(
			m, to, tag, contents(x->number), len,
			(sync ? O2G_REQF_SYNC : 0) |
				(x->number % 3 ? 0 : O2G_REQF_REFERENCE));
}

static void op_send(struct input *in)
{
	struct mock *m = end(in);
	u8 b = in_u8(in);

	do_send(m, (b & 15) % MOCK_ENDS, tag_of(b >> 4), length(in), b & 0x80);
}

static void op_burst(struct input *in)
{
	struct mock *m = end(in);
	u8 b = in_u8(in);
	u64 len = length(in);

	for (int n = in_u8(in) % 64; n >= 0; n--)
		do_send(m, (b & 15) % MOCK_ENDS, tag_of(b >> 4), len, b & 0x80);
}

static void op_recv(struct input *in)
{
	struct mock *m = end(in);
	u8 b = in_u8(in);
	u32 src = (b & 15) % (MOCK_ENDS + 1);
	u64 ignore = b & 0x40 ? ~0ull : b & 0x80 ? 1ull << 32 : 0;

	if (world.nrecvs >= MAX_MSGS)
		return;
	if (src == MOCK_ENDS)
		src = O2G_MATCH_ANY;
	else if (!m->conn[src].me)
		return;
	add_recv(mock_recv(m, src, tag_of(b >> 4), ignore, length(in)), 0);
}

static void op_mprobe(struct input *in)
{
	struct mock *m = end(in);
	u8 b = in_u8(in);
	u32 src = (b & 15) % (MOCK_ENDS + 1);
	u64 ignore = b & 0x40 ? ~0ull : 0;
	struct o2g_unexp *u;

	if (src == MOCK_ENDS)
		src = O2G_MATCH_ANY;
	if (b & 0x80 || world.nhandles == MAX_HANDLES) {
		u = o2g_proto_probe(&m->core, src, tag_of(b >> 4), ignore);
		CHECK(!u || u->match.src == u->peer->rank);
		return;
	}
	u = o2g_proto_mprobe(&m->core, src, tag_of(b >> 4), ignore);
	if (u)
		world.handles[world.nhandles++] =
			(struct handle){ u, m, ++mock_next_number };
}

void receive_handle(unsigned i, u64 len)
{
	struct handle h = world.handles[i];

	world.handles[i] = world.handles[--world.nhandles];
	add_recv(mock_mrecv(h.at, h.u, len), h.number);
}

static void op_mrecv(struct input *in)
{
	unsigned i = in_u8(in);

	if (world.nhandles && world.nrecvs < MAX_MSGS)
		receive_handle(i % world.nhandles, length(in));
}

static void op_cancel(struct input *in)
{
	struct mock *m = end(in);
	struct mock_req *r;
	int rc, state, kind;

	if (!m->nreqs)
		return;
	r = m->reqs[in_u16(in) % m->nreqs];
	if (!r)
		return;
	state = r->core.state;
	kind = r->core.kind;
	rc = o2g_proto_cancel(&m->core, &r->core);
	CHECK(rc == 0 || rc == -EINPROGRESS || rc == -EBUSY);
	CHECK((rc == 0) == r->done || rc == -EINPROGRESS);
	if (kind == O2G_REQ_RECV)
		CHECK((rc == 0) == (state == O2G_ST_POSTED));
	if (rc == 0)
		CHECK(r->status == -O2G_ERR_CANCELLED &&
		      r->flags & O2G_REQF_CANCELLED);
}

NO_COVERAGE static void fill_put(u8 *data, u64 offset, u64 len)
{
	for (u64 i = 0; i < len; i++)
		data[i] = put_byte(offset + i);
}

static void op_rma(struct input *in, bool put)
{
	struct mock *m = end(in);
	u8 b = in_u8(in), data[MOCK_MEM];
	u32 to = (b & 15) % MOCK_ENDS;
	u64 key = b >> 4 ? MOCK_MEM_KEY + (b >> 7) : 1;
	u64 offset = in_u8(in) * 4, len = in_u8(in) * 4;

	if (world.nrmas == MAX_MSGS || !m->conn[to].me)
		return;
	if (!put) {
		world.rmas[world.nrmas] =
			mock_get(m, to, key, offset + 1024, len);
		world.rmas[world.nrmas++]->cookie = (u64)to << 32 |
						    (offset + 1024);
		return;
	}
	if (offset + len > MOCK_MEM / 2)
		len = MOCK_MEM / 2 - offset;
	fill_put(data, offset, len);
	world.rmas[world.nrmas++] = mock_put(m, to, key, offset, data, len);
}

/* Adds to cells, so many to each of them. */
static void op_atomic(struct input *in, struct mock *m, bool fetch)
{
	u32 to = in_u8(in) % MOCK_ENDS;
	u64 first = in_u8(in) % MOCK_CELLS, n = in_u8(in) % MOCK_CELLS;
	u64 x[MOCK_CELLS];

	if (world.nrmas >= MAX_MSGS / 2 || !m->conn[to].me)
		return;
	if (n > MOCK_CELLS - first)
		n = MOCK_CELLS - first;
	for (u64 i = 0; i < MOCK_CELLS; i++)
		x[i] = i + 1;
	for (u64 i = 0; i < n; i++)
		world.sum += x[i];
	world.rmas[world.nrmas++] = mock_atomic(m, to, O2G_AOP_SUM, O2G_AT_U64,
						MOCK_CELLS_KEY, 8 * first, x,
						8 * n, fetch);
}

static void op_call(struct input *in, struct mock *m)
{
	u32 to = in_u8(in) % MOCK_ENDS;
	u64 len = length(in);

	if (world.nrmas >= MAX_MSGS / 4 || !m->conn[to].me)
		return;
	world.calls++;
	world.rmas[world.nrmas++] =
		mock_send(m, to, len, contents(len), len, O2G_REQF_SERVED);
}

static void op_lose(struct input *in)
{
	struct mock_conn *c = a_conn(in);
	u8 b = in_u8(in);

	if (!c || b % 4)
		return;
	world.broken = true;
	if (b & 0x80) /* in order */
		o2g_proto_bye(&c->me->core, &c->peer);
	mock_push(c, b & 0x80 ? ~0u : 0);
	mock_lose(c, -O2G_ERR_PEER);
	if (b & 0x40 && c->back)
		mock_lose(c->back, -O2G_ERR_PEER);
}

static void op_trouble(struct input *in)
{
	struct mock *m = end(in);
	struct mock_conn *c = a_conn(in);
	u8 b = in_u8(in);

	switch (b % 8) {
	case 0:
		m->get_error = -EPERM;
		break;
	case 1:
		m->get_error = -EFAULT;
		break;
	case 2:
		m->exposes = !m->exposes;
		break;
	case 3:
		if (c)
			c->peer.can_get = true;
		break;
	case 4:
		if (c && b & 0x80 && b & 0x40) {
			c->fail_xmit = 1 + (b >> 3 & 3);
			world.broken = true;
		}
		break;
	case 5:
		if (b > 0xf0) {
			m->fail_alloc = 1;
			world.broken = true;
		}
		break;
	case 6:
		op_atomic(in, m, b & 0x80);
		break;
	case 7:
		op_call(in, m);
		break;
	}
}

static void op_rehash(struct input *in)
{
	struct mock *m = end(in);
	u32 n = O2G_MATCH_MIN_BINS << in_u8(in) % 5;
	struct o2g_match_bin *bins = malloc(n * sizeof(*bins));

	CHECK(bins);
	free(o2g_match_rehash(&m->core.match, bins, n));
}

/* --- the hostile peer --- */

static u64 number(struct input *in)
{
	u8 b = in_u8(in);

	switch (b >> 6) {
	case 0:
	case 1:
		return b & 127;
	case 2:
		return in_u16(in);
	default:
		return ~0ull >> (b & 63);
	}
}

/* Mostly an operation that there is, on the cells; or on memory that is closed
 * to it. */
static void hostile_atomic(struct input *in, struct o2g_hdr *h)
{
	u8 b = in_u8(in);

	h->flags = b & 0x80 ? O2G_PKTF_FETCH : b & 7;
	if (h->tag == MOCK_MEM_KEY)
		h->tag = MOCK_CELLS_KEY;
	h->aux = o2g_wire_atomic(h->aux % (10 * MOCK_CELLS),
				 in_u8(in) % (O2G_AOP_MAX_OP + 1),
				 in_u8(in) % (O2G_AT_MAX + 1));
	if (b & 0x40)
		h->length = h->length % 64 * 8;
}

static void op_hostile(struct input *in)
{
	u8 b = in_u8(in);
	struct o2g_hdr h = {
		.type = b % O2G_PKT_MAX,
		.src = HOSTILE,
		.flags = b >> 4,
		.credit = (u32)number(in),
		.tag = tag_of(in_u8(in)),
		.length = number(in),
		.cookie = number(in),
		.aux = number(in),
	};
	struct mock_pkt *k;
	u64 body;

	if (h.type == O2G_PKT_PUT || h.type == O2G_PKT_GET ||
	    h.type == O2G_PKT_ATOMIC)
		h.tag = MOCK_MEM_KEY + (h.tag & 1);
	if (h.type == O2G_PKT_ATOMIC)
		hostile_atomic(in, &h);
	else if (h.type == O2G_PKT_EAGER || h.type == O2G_PKT_RTS)
		h.flags |= h.flags & 4 ? O2G_PKTF_SERVED : 0;
	else if (h.type == O2G_PKT_CREDIT)
		h.flags |= h.cookie & 1 ? O2G_PKTF_SERVED : 0;
	else if (h.type == O2G_PKT_DATA)
		h.flags = h.tag & 1 ? O2G_PKTF_REFERENCE : 0;
	if (in_u8(in) == 0xff)
		h.dst = in_u8(in);
	body = o2g_wire_body(&h);
	body = body < MAX_LEN ? body : MAX_LEN;
	k = calloc(1, sizeof(*k) + O2G_HDR_SIZE + body);
	CHECK(k);
	k->n = O2G_HDR_SIZE + body;
	o2g_wire_encode(&h, k->bytes);
	/* A put writes what belongs there: a stray byte shows. */
	if (h.type == O2G_PKT_PUT)
		fill_put(k->bytes + O2G_HDR_SIZE, h.aux, body);
	o2g_list_add_tail(&k->link, &world.stranger.out);
}

/* --- one of them --- */

void one_op(struct input *in)
{
	u8 op = in_u8(in) % 32;
	struct mock_conn *c;

	if (op < 4) {
		op_send(in);
	} else if (op < 8) {
		op_recv(in);
	} else if (op < 14) {
		c = world.hostile && op == 9 ? &world.stranger : a_conn(in);
		if (c)
			mock_deliver(c, op == 8 ? 1 << 16 : in_u8(in));
	} else if (op < 16) {
		c = a_conn(in);
		if (c)
			mock_push(c, 1 + in_u8(in) % 8);
	} else if (op < 18) {
		c = a_conn(in);
		if (c)
			c->hold = in_u8(in) % 8;
	} else if (op < 22 && world.hostile) {
		op_hostile(in);
	} else {
		switch (op) {
		case 22:
			op_mprobe(in);
			break;
		case 23:
			op_mrecv(in);
			break;
		case 24:
			op_cancel(in);
			break;
		case 25:
		case 26:
			op_rma(in, op == 25);
			break;
		case 27:
			op_lose(in);
			break;
		case 28:
			op_trouble(in);
			break;
		case 29:
			op_rehash(in);
			break;
		case 30:
			mock_pump(world.all, world.n);
			break;
		default:
			op_burst(in);
		}
	}
}
