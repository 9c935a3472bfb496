/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: dsm/proto/node.c dsm/proto/home.c dsm/proto/proto.c */
/*
 * Steps coded in bytes, in worlds that are too large to explore: four nodes, two pages,
 * homes that move, a death. And, in a world of its own, packets that nobody would send:
 * they are refused or do harm to contents, but never to memory.
 */
#include "fuzz.h"

/* After a death all ask again, and may be passed on along the same ways. */
#define W_QUEUE 64
#include "../mock/dsm_world.c"

static void play(struct input *in)
{
	u8 how = in_u8(in);
	struct w_rules rules = { .nodes = 2 + (how & 3) % 3,
				 .pages = 1 + (how >> 2 & 1),
				 .move_after = how >> 3 & 3,
				 .homes = how >> 5 & 1,
				 .kill = how >> 6 & 1,
				 .impatient = how >> 7 };
	struct w_step steps[W_STEPS];
	struct world w;

	w_begin(&w, &rules);
	while (in->left) {
		unsigned n = w_steps(&w, &rules, steps);

		CHECK(!w_take(&w, &rules, steps[in_u8(in) % n]));
	}
}

/* --- garbage --- */

struct garbage {
	struct dsm_proto proto;
	struct dsm_page page[2];
	u8 content[2], taken;
	u8 held;
};

static void any_send(void *ctx, unsigned to, const struct dsm_msg *msg,
		     const void *data)
{
	CHECK(to < DSM_NODES && msg->page < 2);
	CHECK(!data == !(msg->flags & DSM_DATA));
}

static void any_install(void *ctx, u32 page, enum dsm_access access,
			unsigned flags, const void *data)
{
	struct garbage *g = ctx;

	CHECK(page < 2 && access != DSM_NONE);
	if (flags & DSM_DATA)
		g->content[page] = *(const u8 *)data;
}

static void any_protect(void *ctx, u32 page)
{
	CHECK(page < 2);
}

static const void *any_take(void *ctx, u32 page, bool wanted)
{
	struct garbage *g = ctx;

	g->taken = g->content[page];
	return wanted ? &g->taken : NULL;
}

static const void *any_data(void *ctx, u32 page)
{
	return &((struct garbage *)ctx)->content[page];
}

static bool any_held(void *ctx, u32 page)
{
	return ((struct garbage *)ctx)->held++ & 1;
}

static void any_fail(void *ctx, u32 page)
{
	CHECK(page < 2);
}

static const struct dsm_ops any_ops = { any_send, any_install, any_protect,
					any_take, any_data,    any_held,
					any_fail };

static void receive_anything(struct input *in)
{
	struct garbage g = { .proto = { .ops = &any_ops,
					.ctx = &g,
					.pages = g.page,
					.npages = 2,
					.founders = 7,
					.move_after = 2 } };
	static const u8 data = 1;

	while (in->left) {
		struct dsm_msg m = { in_u8(in) & 7, in_u8(in) & 3, in_u8(in),
				     in_u8(in), 0 };
		u8 from = in_u8(in), rank = 1 + (from & 7);

		m.page = from >> 6;
		if (dsm_has(g.proto.dead, rank))
			continue;
		switch (from >> 4 & 3) {
		case 0:
			dsm_want(&g.proto, m.page & 1, 1 + (m.access & 1),
				 m.flags & 1);
			break;
		case 1:
			if (m.type)
				dsm_resume(&g.proto, m.page & 1);
			else
				dsm_lost(&g.proto, rank, 0, 2);
			break;
		default:
			dsm_receive(&g.proto, rank, &m,
				    from & 8 ? &data : NULL);
		}
	}
	dsm_lost(&g.proto, 1, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (size > 2000)
		return 0;
	if (in_u8(&in) & 1)
		play(&in);
	else
		receive_anything(&in);
	return 0;
}
