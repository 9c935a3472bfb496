/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/wire.c core/stream.c core/match.c core/proto.c core/send.c */
/* sources: core/recv.c core/rma.c core/credit.c channel/body.c */
/* sources: tests/mock/mock_engine.c */
/*
 * The protocols between two or three endpoints, driven by the input: sends,
 * receives, matched probes, cancels, puts, gets, connections that break or
 * close, packets that are held back and delivered in pieces, little credit.
 *
 * What must hold: every request completes exactly once; with an unbroken
 * connection every message is received, intact, once and in order; unexpected
 * memory stays within the budget; when all is quiet, all credit is accounted
 * for and nothing is left.
 *
 * The order: take all receives that got a message with one source and tag, in
 * posting order (a matched probe counts when it was made). They must have got
 * the messages with that source and tag in the order sent, whatever other
 * messages and wildcards were about.
 *
 * In hostile mode one more peer of endpoint 0 sends whatever the input says. It
 * may lose its own connection but must not disturb anything else.
 */
#include "fuzz.h"
#include "mock_engine.h"

#define MAX_MSGS 800
#define MAX_HANDLES 16
#define HOSTILE 2

struct msg {
	struct mock_req *req; /* NULL: it went without */
	u64 number, tag, len;
	u32 src, dst;
};

struct handle {
	struct o2g_unexp *u;
	struct mock *at;
	u64 number;
};

static struct world {
	struct mock m[MOCK_ENDS];
	struct mock *all[MOCK_ENDS];
	unsigned n;
	bool hostile, backwards;
	bool broken;		   /* some connection was lost */
	struct mock_conn stranger; /* the hostile end's packets */
	struct msg msgs[MAX_MSGS];
	struct mock_req *recvs[2 * MAX_MSGS];
	struct mock_req *rmas[MAX_MSGS];
	unsigned nmsgs, nrecvs, nrmas;
	struct handle handles[MAX_HANDLES];
	unsigned nhandles;
	u32 credit;
} w;

/* Loops over bytes teach the fuzzer nothing. */
#ifdef __clang__
#define NO_COVERAGE __attribute__((no_sanitize("coverage"), __noinline__))
#else
#define NO_COVERAGE
#endif

/* --- contents --- */

#define MAX_LEN 6300

/* The bytes of message @number: itself first, then a pattern that it shifts. */
static const u8 *contents(u64 number)
{
	static u8 pattern[MAX_LEN + 256];
	static u8 data[MAX_LEN];

	for (u32 i = 0; !pattern[1] && i < sizeof(pattern); i++)
		pattern[i] = (u8)(i * 7 + i / 256);
	memcpy(data, pattern + number % 256, sizeof(data));
	memcpy(data, &number, sizeof(number));
	return data;
}

static bool holds(const u8 *buf, u64 n, u64 number)
{
	return !n || !memcmp(buf, contents(number), n);
}

/* Puts go to the first half of the memory and write what belongs there. */
static u8 put_byte(u64 offset)
{
	return (u8)(offset * 13 + 5);
}

static u8 first_byte(u32 rank, u64 offset)
{
	return (u8)(offset * 7 + rank);
}

static void on_complete(struct mock *m, struct mock_req *r)
{
	if (!r->status && r->kind != O2G_REQ_SEND)
		CHECK(r->got <= r->len);
	if (r->kind == O2G_REQ_SEND || r->kind == O2G_REQ_PUT) {
		free(r->buf); /* the program may do that now */
		r->buf = NULL;
	}
}

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

static u64 tag_of(u8 b)
{
	return (u64)(b & 1) << 32 | (b >> 1 & 1);
}

static struct mock *end(struct input *in)
{
	return w.all[in_u8(in) % w.n];
}

static struct mock_conn *a_conn(struct input *in)
{
	u8 b = in_u8(in);
	struct mock *m = w.all[(b & 15) % w.n];
	struct mock_conn *c = &m->conn[(b >> 4) % MOCK_ENDS];

	return c->me && c->peer.rank != m->core.rank ? c : NULL;
}

static void do_send(struct mock *m, u32 to, u64 tag, u64 len, bool sync)
{
	struct msg *x;

	if (w.nmsgs == MAX_MSGS || !m->conn[to].me)
		return;
	x = &w.msgs[w.nmsgs++];
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
		x->req = mock_send(m, to, tag, contents(x->number), len,
				   sync ? O2G_REQF_SYNC : 0);
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

static struct mock_req *add_recv(struct mock_req *r, u64 number)
{
	r->cookie = number ? number : r->number;
	CHECK(w.nrecvs < 2 * MAX_MSGS);
	return w.recvs[w.nrecvs++] = r;
}

static void op_recv(struct input *in)
{
	struct mock *m = end(in);
	u8 b = in_u8(in);
	u32 src = (b & 15) % (MOCK_ENDS + 1);
	u64 ignore = b & 0x40 ? ~0ull : b & 0x80 ? 1ull << 32 : 0;

	if (w.nrecvs >= MAX_MSGS)
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
	if (b & 0x80 || w.nhandles == MAX_HANDLES) {
		u = o2g_proto_probe(&m->core, src, tag_of(b >> 4), ignore);
		CHECK(!u || u->match.src == u->peer->rank);
		return;
	}
	u = o2g_proto_mprobe(&m->core, src, tag_of(b >> 4), ignore);
	if (u)
		w.handles[w.nhandles++] =
			(struct handle){ u, m, ++mock_next_number };
}

static void mrecv(unsigned i, u64 len)
{
	struct handle h = w.handles[i];

	w.handles[i] = w.handles[--w.nhandles];
	add_recv(mock_mrecv(h.at, h.u, len), h.number);
}

static void op_mrecv(struct input *in)
{
	unsigned i = in_u8(in);

	if (w.nhandles && w.nrecvs < MAX_MSGS)
		mrecv(i % w.nhandles, length(in));
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

	if (w.nrmas == MAX_MSGS || !m->conn[to].me)
		return;
	if (!put) {
		w.rmas[w.nrmas] = mock_get(m, to, key, offset + 1024, len);
		w.rmas[w.nrmas++]->cookie = (u64)to << 32 | (offset + 1024);
		return;
	}
	if (offset + len > MOCK_MEM / 2)
		len = MOCK_MEM / 2 - offset;
	fill_put(data, offset, len);
	w.rmas[w.nrmas++] = mock_put(m, to, key, offset, data, len);
}

static void op_lose(struct input *in)
{
	struct mock_conn *c = a_conn(in);
	u8 b = in_u8(in);

	if (!c || b % 4)
		return;
	w.broken = true;
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
			w.broken = true;
		}
		break;
	case 5:
		if (b > 0xf0) {
			m->fail_alloc = 1;
			w.broken = true;
		}
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

	if (h.type == O2G_PKT_PUT || h.type == O2G_PKT_GET)
		h.tag = MOCK_MEM_KEY + (h.tag & 1);
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
	o2g_list_add_tail(&k->link, &w.stranger.out);
}

/* --- after every step --- */

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void check_end(struct mock *m)
{
	u64 total = 0, max = larger(m->core.budget_peer, w.credit);

	for (int i = 0; i < MOCK_ENDS; i++) {
		struct mock_conn *c = &m->conn[i];

		if (!c->me)
			continue;
		if (c->failed && !c->lost)
			mock_lose(c, -O2G_ERR_PEER);
		if (c->lost) {
			w.broken |= i != HOSTILE || !w.hostile;
			continue;
		}
		CHECK(c->peer.used <= c->peer.granted);
		if (!w.hostile || i != HOSTILE) /* that may overdraw a little */
			CHECK(c->peer.used + c->peer.owed <= c->peer.granted);
		CHECK(c->peer.extra_used <= c->peer.extra);
		CHECK(c->peer.granted <= max);
		total += c->peer.granted;
	}
	CHECK(total == m->core.granted_total);
	CHECK(total <= larger(m->core.budget_total, w.credit * MOCK_ENDS));
	if (!w.broken && !w.hostile)
		CHECK(m->unexp_body <= total);
}

static void one_op(struct input *in)
{
	u8 op = in_u8(in) % 32;
	struct mock_conn *c;

	if (op < 4) {
		op_send(in);
	} else if (op < 8) {
		op_recv(in);
	} else if (op < 14) {
		c = w.hostile && op == 9 ? &w.stranger : a_conn(in);
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
	} else if (op < 22 && w.hostile) {
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
			mock_pump(w.all, w.n);
			break;
		default:
			op_burst(in);
		}
	}
}

/* --- the end --- */

static void settle(void)
{
	for (unsigned i = 0; i < w.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&w.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		c->hold = 0;
		c->fail_xmit = 0;
		w.all[i / MOCK_ENDS]->fail_alloc = 0;
	}
	mock_pump(w.all, w.n);
	/* Both ends of a broken connection find out. */
	for (unsigned i = 0; i < w.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&w.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		if (c->me && c->lost && c->back && c->back->me)
			mock_lose(c->back, -O2G_ERR_PEER);
	}
	mock_pump(w.all, w.n);
}

NO_COVERAGE static bool sends_wait(u32 to)
{
	for (unsigned i = 0; i < w.nmsgs; i++)
		if (w.msgs[i].dst == to && w.msgs[i].req &&
		    !w.msgs[i].req->done)
			return true;
	return false;
}

/* Receive all there is; each receive must get something. */
static void drain(struct mock *m)
{
	while (sends_wait(m->core.rank) || m->core.match.nunexp) {
		struct mock_req *r =
			mock_recv(m, O2G_MATCH_ANY, 0, ~0ull, MAX_LEN);

		add_recv(r, 0);
		mock_pump(w.all, w.n);
		CHECK(r->done);
	}
}

/* The same from the last message backwards: what was sent first must wait. */
static void drain_backwards(void)
{
	for (unsigned i = w.nmsgs; i-- > 0;) {
		struct msg *x = &w.msgs[i];

		while (x->req && !x->req->done) {
			struct mock_req *r = mock_recv(&w.m[x->dst], x->src,
						       x->tag, 0, MAX_LEN);

			add_recv(r, 0);
			mock_pump(w.all, w.n);
			CHECK(r->done);
		}
	}
}

static void cancel_receives(struct mock *m)
{
	for (size_t i = 0; i < m->nreqs; i++) {
		struct mock_req *r = m->reqs[i];

		if (r && r->core.kind == O2G_REQ_RECV)
			CHECK(!o2g_proto_cancel(&m->core, &r->core));
	}
}

static void check_credit(void)
{
	for (unsigned i = 0; i < w.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&w.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];
		struct mock_conn *b = c->back;

		if (!c->me || c->lost || !b || !b->me)
			continue;
		CHECK(c->peer.used == 0 && c->peer.extra_used == 0);
		CHECK(c->peer.credit + b->peer.owed == b->peer.granted);
		CHECK(c->peer.env_credit == b->peer.extra);
		CHECK(c->peer.posted == 0);
		CHECK(o2g_list_empty(&c->peer.stalled));
		CHECK(o2g_list_empty(&c->peer.waiting));
		CHECK(o2g_list_empty(&c->peer.incoming));
		CHECK(o2g_list_empty(&c->peer.arriving));
	}
}

static int by_order(const void *a, const void *b)
{
	const struct mock_req *x = *(struct mock_req *const *)a;
	const struct mock_req *y = *(struct mock_req *const *)b;

	return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

/* The next message after *at with this key that was not cancelled. */
NO_COVERAGE static struct msg *next_msg(unsigned *at, u32 src, u32 dst, u64 tag)
{
	while (*at < w.nmsgs) {
		struct msg *x = &w.msgs[(*at)++];

		if (x->src == src && x->dst == dst && x->tag == tag &&
		    !(x->req && x->req->status == -O2G_ERR_CANCELLED))
			return x;
	}
	return NULL;
}

NO_COVERAGE static void check_key(u32 src, u32 dst, u64 tag)
{
	bool whole = !w.m[src].conn[dst].lost && !w.m[dst].conn[src].lost;
	unsigned at = 0;
	struct msg *x;

	for (unsigned i = 0; i < w.nrecvs; i++) {
		struct mock_req *r = w.recvs[i];
		u64 n;

		if (r->me != &w.m[dst] || r->src != src || r->tag != tag)
			continue;
		if (r->status == -O2G_ERR_CANCELLED ||
		    r->status == -O2G_ERR_PEER ||
		    (r->status == -EFAULT && !whole))
			continue;
		/* A broken connection may have taken some with it. */
		do {
			x = next_msg(&at, src, dst, tag);
			CHECK(x);
			n = x->len < r->len ? x->len : r->len;
		} while (!whole && !(x->len == r->msg_len &&
				     holds(r->buf, n, x->number)));
		CHECK(r->msg_len == x->len);
		if (r->status == -EFAULT) /* reading the memory failed */
			continue;
		CHECK(r->got == n && holds(r->buf, n, x->number));
		CHECK(r->status == (x->len > r->len ? -O2G_ERR_TRUNCATED : 0));
	}
	if (whole)
		CHECK(!next_msg(&at, src, dst, tag));
}

NO_COVERAGE static void check_rma(void)
{
	for (unsigned i = 0; i < w.nrmas; i++) {
		struct mock_req *r = w.rmas[i];

		for (u64 j = 0;
		     r->kind == O2G_REQ_GET && !r->status && j < r->len; j++)
			CHECK(w.hostile ||
			      r->buf[j] == first_byte(r->cookie >> 32,
						      (u32)r->cookie + j));
	}
	for (unsigned i = 0; i < w.n; i++)
		for (u64 j = 0; j < MOCK_MEM; j++)
			CHECK(w.m[i].mem[j] == first_byte(i, j) ||
			      w.m[i].mem[j] == put_byte(j));
}

static void finish_world(void)
{
	if (w.hostile) {
		mock_deliver(&w.stranger, 1 << 20);
		mock_lose(&w.m[0].conn[HOSTILE], -O2G_ERR_PEER);
	}
	settle();
	while (w.nhandles)
		mrecv(0, MAX_LEN);
	mock_pump(w.all, w.n);
	if (w.backwards)
		drain_backwards();
	for (unsigned i = 0; i < w.n; i++)
		drain(&w.m[i]);
	for (unsigned i = 0; i < w.n; i++)
		cancel_receives(&w.m[i]);
	for (unsigned i = 0; i < w.n; i++)
		check_end(&w.m[i]);
	for (unsigned i = 0; i < w.n; i++)
		CHECK(w.m[i].live == 0 && w.m[i].unexp_count == 0);
	check_credit();
	qsort(w.recvs, w.nrecvs, sizeof(w.recvs[0]), by_order);
	for (u32 src = 0; src < w.n; src++)
		for (u32 dst = 0; dst < w.n; dst++)
			for (u8 tag = 0; tag < 4; tag++)
				check_key(src, dst, tag_of(tag));
}

static void start_world(struct input *in)
{
	static const u32 credits[4] = { 0, 300, 4500, 8000 };
	static const u32 eager[4] = { 0, 64, 1024, 6000 };
	static const u32 chunks[4] = { 64, 300, 1024, 1 << 20 };
	static const u32 budgets[4] = { 0, 8 << 10, 64 << 10, 1 << 20 };
	u8 a = in_u8(in), b = in_u8(in);

	memset(&w, 0, sizeof(w));
	w.hostile = a & 1;
	w.backwards = a & 0x40;
	w.n = !w.hostile && a & 2 ? 3 : 2;
	w.credit = credits[a >> 2 & 3];
	for (unsigned i = 0; i < w.n; i++) {
		w.all[i] = &w.m[i];
		mock_init(&w.m[i], i);
		w.m[i].on_complete = on_complete;
		w.m[i].exposes = a & 0x10;
		w.m[i].core.data_chunk = chunks[b & 3];
		w.m[i].core.budget_peer = budgets[b >> 2 & 3];
		w.m[i].core.budget_total = budgets[b >> 4 & 3];
		for (unsigned j = 0; j <= i; j++)
			mock_join(&w.m[i], &w.m[j], w.credit);
	}
	w.credit = w.credit ? w.credit : O2G_CREDIT_INIT;
	if (w.hostile) {
		mock_join_test(&w.m[0], HOSTILE, w.credit);
		o2g_list_init(&w.stranger.out);
		w.stranger.back = &w.m[0].conn[HOSTILE];
		w.m[0].conn[HOSTILE].back = NULL;
	}
	for (unsigned i = 0; i < w.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&w.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		c->peer.eager_max = eager[b >> 6];
		c->peer.can_get = a & 0x20;
		/* To oneself there is no quick way. */
		if (a & 0x80 && i / MOCK_ENDS != i % MOCK_ENDS)
			c->peer.inject_max = c->peer.eager_max + 1;
		c->whole = a & 0x80 ? ~0ull : 0;
	}
}

static void end_world(void)
{
	for (unsigned i = 0; i < w.nmsgs; i++)
		if (w.msgs[i].req)
			mock_req_free(w.msgs[i].req);
	for (unsigned i = 0; i < w.nrecvs; i++)
		mock_req_free(w.recvs[i]);
	for (unsigned i = 0; i < w.nrmas; i++)
		mock_req_free(w.rmas[i]);
	for (unsigned i = 0; i < w.n; i++)
		CHECK(!mock_exit(&w.m[i]));
	while (w.hostile && mock_first(&w.stranger))
		mock_drop_first(&w.stranger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	mock_next_number = 0;
	start_world(&in);
	while (in.left) {
		one_op(&in);
		for (unsigned i = 0; i < w.n; i++)
			check_end(&w.m[i]);
	}
	finish_world();
	check_rma();
	end_world();
	return 0;
}
