/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "proto_world.h"

/* --- after every step --- */

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

void check_end(struct mock *m)
{
	u64 total = 0, max = larger(m->core.budget_peer, world.credit);
	u64 served = 0,
	    operands = 0; /* which take memory that credit does not count */

	for (int i = 0; i < MOCK_ENDS; i++) {
		struct mock_conn *c = &m->conn[i];

		if (!c->me)
			continue;
		if (c->failed && !c->lost)
			mock_lose(c, -O2G_ERR_PEER);
		if (c->lost) {
			world.broken |= i != HOSTILE || !world.hostile;
			continue;
		}
		CHECK(c->peer.used <= c->peer.granted);
		if (!world.hostile ||
		    i != HOSTILE) /* that may overdraw a little */
			CHECK(c->peer.used + c->peer.owed <= c->peer.granted);
		CHECK(c->peer.extra_used <= c->peer.extra);
		CHECK(c->peer.granted <= max);
		CHECK(c->peer.served_used + c->peer.served_owed <=
		      m->core.served_grant);
		total += c->peer.granted;
		served += c->peer.served_used;
		operands += c->peer.replies * sizeof(m->cells);
		CHECK(c->peer.replies <= O2G_GETS_MAX + 1);
	}
	CHECK(total == m->core.granted_total);
	CHECK(total <= larger(m->core.budget_total, world.credit * MOCK_ENDS));
	if (!world.broken && !world.hostile)
		CHECK(m->unexp_body <= total + served + operands);
}

/* --- the end --- */

static void settle(void)
{
	for (unsigned i = 0; i < world.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&world.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		c->hold = 0;
		c->fail_xmit = 0;
		world.all[i / MOCK_ENDS]->fail_alloc = 0;
	}
	mock_pump(world.all, world.n);
	/* Both ends of a broken connection find out. */
	for (unsigned i = 0; i < world.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&world.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		if (c->me && c->lost && c->back && c->back->me)
			mock_lose(c->back, -O2G_ERR_PEER);
	}
	mock_pump(world.all, world.n);
}

NO_COVERAGE static bool sends_wait(u32 to)
{
	for (unsigned i = 0; i < world.nmsgs; i++)
		if (world.msgs[i].dst == to && world.msgs[i].req &&
		    !world.msgs[i].req->done)
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
		mock_pump(world.all, world.n);
		CHECK(r->done);
	}
}

/* The same from the last message backwards: what was sent first must wait. */
static void drain_backwards(void)
{
	for (unsigned i = world.nmsgs; i-- > 0;) {
		struct msg *x = &world.msgs[i];

		while (x->req && !x->req->done) {
			struct mock_req *r = mock_recv(&world.m[x->dst], x->src,
						       x->tag, 0, MAX_LEN);

			add_recv(r, 0);
			mock_pump(world.all, world.n);
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
	for (unsigned i = 0; i < world.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&world.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];
		struct mock_conn *b = c->back;

		if (!c->me || c->lost || !b || !b->me)
			continue;
		CHECK(c->peer.used == 0 && c->peer.extra_used == 0);
		CHECK(c->peer.credit + b->peer.owed == b->peer.granted);
		CHECK(c->peer.env_credit == b->peer.extra);
		CHECK(c->peer.served_used == 0);
		CHECK(c->peer.served_credit + b->peer.served_owed ==
		      c->me->core.served_grant);
		CHECK(o2g_list_empty(&c->peer.calls));
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
	while (*at < world.nmsgs) {
		struct msg *x = &world.msgs[(*at)++];

		if (x->src == src && x->dst == dst && x->tag == tag &&
		    !(x->req && x->req->status == -O2G_ERR_CANCELLED))
			return x;
	}
	return NULL;
}

NO_COVERAGE static void check_key(u32 src, u32 dst, u64 tag)
{
	bool whole = !world.m[src].conn[dst].lost &&
		     !world.m[dst].conn[src].lost;
	unsigned at = 0;
	struct msg *x;

	for (unsigned i = 0; i < world.nrecvs; i++) {
		struct mock_req *r = world.recvs[i];
		u64 n;

		if (r->me != &world.m[dst] || r->src != src || r->tag != tag)
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

NO_COVERAGE void check_rma(void)
{
	u64 sum = 0, cancelled = 0;

	for (unsigned i = 0; i < world.nrmas; i++) {
		struct mock_req *r = world.rmas[i];

		if (r->kind == O2G_REQ_SEND)
			cancelled += r->status == -O2G_ERR_CANCELLED;
		if (r->kind == O2G_REQ_RECV && !r->status)
			CHECK(r->got == r->tag &&
			      holds(r->buf, r->got, r->tag));
		for (u64 j = 0;
		     r->kind == O2G_REQ_GET && !r->status && j < r->len; j++)
			CHECK(world.hostile ||
			      r->buf[j] == first_byte(r->cookie >> 32,
						      (u32)r->cookie + j));
	}
	if (!world.broken && !world.hostile) {
		for (unsigned i = 0; i < world.n * MOCK_CELLS; i++)
			sum += world.m[i / MOCK_CELLS].cells[i % MOCK_CELLS];
		CHECK(sum == world.sum);
		CHECK(world.calls == world.answered + cancelled);
	}
	for (unsigned i = 0; i < world.n; i++)
		for (u64 j = 0; j < MOCK_MEM; j++)
			CHECK(world.m[i].mem[j] == first_byte(i, j) ||
			      world.m[i].mem[j] == put_byte(j));
}

void finish_world(void)
{
	if (world.hostile) {
		mock_deliver(&world.stranger, 1 << 20);
		mock_lose(&world.m[0].conn[HOSTILE], -O2G_ERR_PEER);
	}
	settle();
	while (world.nhandles)
		receive_handle(0, MAX_LEN);
	mock_pump(world.all, world.n);
	if (world.backwards)
		drain_backwards();
	for (unsigned i = 0; i < world.n; i++)
		drain(&world.m[i]);
	for (unsigned i = 0; i < world.n; i++)
		cancel_receives(&world.m[i]);
	for (unsigned i = 0; i < world.n; i++)
		check_end(&world.m[i]);
	for (unsigned i = 0; i < world.n; i++)
		CHECK(world.m[i].live == 0 && world.m[i].unexp_count == 0);
	check_credit();
	qsort(world.recvs, world.nrecvs, sizeof(world.recvs[0]), by_order);
	for (u32 src = 0; src < world.n; src++)
		for (u32 dst = 0; dst < world.n; dst++)
			for (u8 tag = 0; tag < 4; tag++)
				check_key(src, dst, tag_of(tag));
}
