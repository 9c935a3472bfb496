/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "proto_world.h"

struct world world;

/* --- contents --- */

const u8 *contents(u64 number)
{
	static u8 pattern[MAX_LEN + 256];
	static u8 data[MAX_LEN];

	for (u32 i = 0; !pattern[1] && i < sizeof(pattern); i++)
		pattern[i] = (u8)(i * 7 + i / 256);
	memcpy(data, pattern + number % 256, sizeof(data));
	memcpy(data, &number, sizeof(number));
	return data;
}

bool holds(const u8 *buf, u64 n, u64 number)
{
	return !n || !memcmp(buf, contents(number), n);
}

u8 put_byte(u64 offset)
{
	return (u8)(offset * 13 + 5);
}

u8 first_byte(u32 rank, u64 offset)
{
	return (u8)(offset * 7 + rank);
}

static void on_complete(struct mock *m, struct mock_req *r)
{
	if (!r->status && r->kind != O2G_REQ_SEND)
		CHECK(r->got <= r->len);
	if (r->kind == O2G_REQ_SEND || r->kind == O2G_REQ_PUT ||
	    r->kind == O2G_REQ_ATOMIC) {
		free(r->buf); /* the program may do that now */
		r->buf = NULL;
	}
}

/* A message for a handler: its tag is its length, and says what it holds. */
static void on_served(struct mock *m, struct mock_conn *c)
{
	struct o2g_unexp *u;

	while ((u = o2g_proto_served(&c->peer))) {
		bool hostile = world.hostile && c->peer.rank == HOSTILE;

		o2g_proto_take_served(u);
		world.answered += !hostile;
		if (u->type == O2G_PKT_RTS && !hostile && !c->lost) {
			world.rmas[world.nrmas++] = mock_mrecv(m, u, MAX_LEN);
			continue;
		}
		if (!hostile && u->type == O2G_PKT_EAGER)
			CHECK(u->len == u->match.tag &&
			      holds(u->body.base, u->len, u->len));
		o2g_proto_drop(&m->core, u);
	}
}

u64 tag_of(u8 b)
{
	return (u64)(b & 1) << 32 | (b >> 1 & 1);
}

struct mock_req *add_recv(struct mock_req *r, u64 number)
{
	r->cookie = number ? number : r->number;
	CHECK(world.nrecvs < 2 * MAX_MSGS);
	return world.recvs[world.nrecvs++] = r;
}

/* --- beginning and end --- */

void start_world(struct input *in)
{
	static const u32 credits[4] = { 0, 300, 4500, 8000 };
	static const u32 eager[4] = { 0, 64, 1024, 6000 };
	static const u32 chunks[4] = { 64, 300, 1024, 1 << 20 };
	static const u32 budgets[4] = { 0, 8 << 10, 64 << 10, 1 << 20 };
	u8 a = in_u8(in), b = in_u8(in);

	memset(&world, 0, sizeof(world));
	world.hostile = a & 1;
	world.backwards = a & 0x40;
	world.n = !world.hostile && a & 2 ? 3 : 2;
	world.credit = credits[a >> 2 & 3];
	for (unsigned i = 0; i < world.n; i++) {
		world.all[i] = &world.m[i];
		mock_init(&world.m[i], i);
		world.m[i].on_complete = on_complete;
		world.m[i].on_served = on_served;
		world.m[i].peeks = a & 0x10;
		world.m[i].exposes = a & 0x10;
		world.m[i].core.data_chunk = chunks[b & 3];
		world.m[i].core.atomic_piece =
			(b & 3) == 3 ? O2G_ATOMIC_PIECE : chunks[b & 3] & ~15u;
		world.m[i].core.fetch_piece = world.m[i].core.atomic_piece;
		if (a & 0x40)
			world.m[i].core.served_grant = 1024;
		world.m[i].core.budget_peer = budgets[b >> 2 & 3];
		world.m[i].core.budget_total = budgets[b >> 4 & 3];
		for (unsigned j = 0; j <= i; j++)
			mock_join(&world.m[i], &world.m[j], world.credit);
	}
	world.credit = world.credit ? world.credit : O2G_CREDIT_INIT;
	if (world.hostile) {
		mock_join_test(&world.m[0], HOSTILE, world.credit);
		o2g_list_init(&world.stranger.out);
		world.stranger.back = &world.m[0].conn[HOSTILE];
		world.m[0].conn[HOSTILE].back = NULL;
	}
	for (unsigned i = 0; i < world.n * MOCK_ENDS; i++) {
		struct mock_conn *c =
			&world.all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

		c->peer.eager_max = eager[b >> 6];
		c->peer.can_get = a & 0x20;
		if (!(b & 4) && i / MOCK_ENDS != i % MOCK_ENDS)
			c->lend_min = 0;
		/* To oneself there is no quick way. */
		if (a & 0x80 && i / MOCK_ENDS != i % MOCK_ENDS)
			c->peer.inject_max = c->peer.eager_max + 1;
		c->whole = a & 0x80 ? ~0ull : 0;
	}
}

void end_world(void)
{
	for (unsigned i = 0; i < world.nmsgs; i++)
		if (world.msgs[i].req)
			mock_req_free(world.msgs[i].req);
	for (unsigned i = 0; i < world.nrecvs; i++)
		mock_req_free(world.recvs[i]);
	for (unsigned i = 0; i < world.nrmas; i++)
		mock_req_free(world.rmas[i]);
	for (unsigned i = 0; i < world.n; i++)
		CHECK(!mock_exit(&world.m[i]));
	while (world.hostile && mock_first(&world.stranger))
		mock_drop_first(&world.stranger);
}
