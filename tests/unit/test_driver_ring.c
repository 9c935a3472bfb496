/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* driver/ring.c: what user space can write is not believed. */
#include "unit.h"

#include "dev.h"
#include "o2gk.h"
#include "world.h"

#define BLOCKS ((256 << 10) / O2GD_BLOCK)

static struct o2gk_ep *ep_of(struct end *e)
{
	return e->file.private_data;
}

/* --- the dump area --- */

static void fills_up(void)
{
	struct o2gk_ep *ep;
	u32 at[BLOCKS], n = 0;

	assert_int_equal(end_open(&a, 0, 16), 0);
	ep = ep_of(&a);
	assert_int_equal(o2gk_dump_alloc(ep, 0), 0);
	assert_int_equal(o2gk_dump_alloc(ep, (256 << 10) + 1), 0);
	while ((at[n] = o2gk_dump_alloc(ep, 3 * O2GD_BLOCK - 1)))
		n++;
	assert_int_equal(n, BLOCKS / 3);
	assert_int_equal(ep->stats.dump_full, 1);
	/* The rest of the area is one block. */
	assert_int_equal(o2gk_dump_alloc(ep, O2GD_BLOCK + 1), 0);
	at[n] = o2gk_dump_alloc(ep, O2GD_BLOCK);
	assert_int_equal(at[n], BLOCKS);
	o2gk_dump_free(ep, at[n]);
	/* A hole is found again, wherever the search begins. */
	o2gk_dump_free(ep, at[5]);
	assert_int_equal(o2gk_dump_alloc(ep, 3 * O2GD_BLOCK), at[5]);
	for (u32 i = 0; i < n; i++)
		o2gk_dump_free(ep, at[i]);
	o2gk_dump_free(ep, 0);
	assert_int_equal(o2gk_dump_alloc(ep, 256 << 10), 1);
	o2gk_dump_free(ep, 1);
}

static void o2gk_dump_alloc__fills_up(void **state)
{
	world_run(fills_up);
}

/* A full area costs a copy, not a message. */
static void without_room(void)
{
	struct o2gk_ep *ep;
	u32 all;

	assert_int_equal(world_open(), 0);
	ep = ep_of(&b);
	all = o2gk_dump_alloc(ep, 256 << 10);
	assert_int_not_equal(all, 0);
	assert_int_equal(end_recv(&b, 1, 1, 3000), 0);
	assert_int_equal(end_inject(&a, 1, data, 3000), 0);
	assert_int_equal(end_got(&b, 1, 1, 3000), 0); /* by O2GD_FETCH */
	assert_int_equal(end_inject(&a, 2, data, 2000), 0);
	assert_int_equal(end_recv(&b, 2, 2, 3000), 0);
	assert_int_equal(end_got(&b, 2, 2, 2000), 0);
	/* One that is never fetched goes with the next use of its slot. */
	assert_int_equal(end_inject(&a, 3, data, 2000), 0);
	assert_int_equal(end_recv(&b, 3, 3, 3000), 0);
	mock_run();
	assert_int_equal(b.cq[b.cq_head++].where, O2GD_AT_DRIVER);
	assert_int_equal(end_recv(&b, 3, 4, 3000), 0);
	assert_int_equal(end_call(&b, O2GD_KICK, NULL), 0);
	o2gk_dump_free(ep, all);
}

static void o2gk_dump_alloc__full(void **state)
{
	world_run(without_room);
}

/* --- completions --- */

static void liar(void)
{
	struct o2gk_ep *ep;
	struct o2gd_info i;

	assert_int_equal(world_open(), 0);
	ep = ep_of(&b);
	/* A position that it cannot have reached is none. */
	assert_int_equal(end_submit(&b, O2GD_OP_RECV, 50, 50, NULL, 900), 0);
	assert_int_equal(end_inject(&a, 50, data, 900), 0);
	mock_run();
	WRITE_ONCE(b.shared->cq_head, 77777);
	assert_int_equal(end_call(&b, O2GD_KICK, NULL), 0);
	assert_int_equal(ep->file.cq_tail, 1);
	assert_int_equal(ep->file.cq_freed, 0);
	/* Behind, far ahead, and back and forth: blocks are freed once. */
	for (u32 n = 0; n < 40; n++) {
		static const u32 lies[] = { 0,		5, 77777,
					    0xffffffff, 3, 0x80000000 };

		assert_int_equal(end_submit(&b, O2GD_OP_RECV, n, n, NULL, 900),
				 0);
		assert_int_equal(end_inject(&a, n, data, 900), 0);
		mock_run();
		WRITE_ONCE(b.shared->cq_head, lies[n % ARRAY_SIZE(lies)]);
		assert_int_equal(end_call(&b, O2GD_KICK, NULL), 0);
	}
	assert_true(ep->file.cq_freed <= ep->file.cq_tail);
	assert_true(ep->file.cq_tail - ep->file.cq_freed <= 16);
	WRITE_ONCE(b.shared->sq_tail, 5000);
	assert_int_equal(end_call(&b, O2GD_KICK, NULL), 0);
	assert_int_equal(end_info(&b, &i), 0);
	assert_true(i.bad_posts > 0);
}

static void o2gk_cq_post__lies(void **state)
{
	world_run(liar);
}

static void in_order(void)
{
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	for (u32 n = 0; n < 40; n++) {
		assert_int_equal(end_submit(&b, O2GD_OP_RECV, n, n, NULL, 900),
				 0);
		assert_int_equal(end_inject(&a, n, data, 900), 0);
	}
	mock_run();
	assert_int_equal(b.shared->overflow, 40 - 16);
	/* Its slot is still in use. */
	assert_int_equal(end_submit(&b, O2GD_OP_RECV, 39, 1, NULL, 9), -EBUSY);
	for (u32 n = 0; n < 40; n++) {
		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.slot, n);
		assert_memory_equal(buf, data, 900);
	}
	assert_int_equal(b.shared->overflow, 0);
	assert_int_equal(end_next(&b, &c), -ETIME);
}

static void o2gk_cq_flush__in_order(void **state)
{
	world_run(in_order);
}

/* Only who sleeps is woken. */
static void sleepers(void)
{
	struct o2gk_ep *ep;
	poll_table t;

	assert_int_equal(world_open(), 0);
	ep = ep_of(&b);
	assert_int_equal(end_recv(&b, 1, 1, 8), 0);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	mock_run();
	assert_int_equal(ep->file.wait.wakes, 0);
	assert_int_equal(end_got(&b, 1, 1, 8), 0);
	assert_int_equal(o2gk_fops.poll(&b.file, &t), 0);
	assert_int_equal(end_recv(&b, 1, 1, 8), 0);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	mock_run();
	assert_int_equal(ep->file.wait.wakes, 1);
	assert_true(o2gk_fops.poll(&b.file, &t) & EPOLLIN);
	assert_int_equal(end_got(&b, 1, 1, 8), 0);
	/* A message that nobody asked for is news as well. */
	assert_int_equal(end_inject(&a, 2, data, 8), 0);
	mock_run();
	assert_true(o2gk_fops.poll(&b.file, &t) & EPOLLIN);
	b.shared->seen = b.shared->arrived;
	assert_int_equal(o2gk_fops.poll(&b.file, &t), 0);
}

static void wake__who_sleeps(void **state)
{
	world_run(sleepers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2gk_dump_alloc__fills_up), T(o2gk_dump_alloc__full),
		T(o2gk_cq_post__lies),	      T(o2gk_cq_flush__in_order),
		T(wake__who_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
