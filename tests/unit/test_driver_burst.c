/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* driver/inject.c, and driver/tx.c where packets leave together. */
#include "unit.h"

#include "dev.h"
#include "o2gk.h"
#include "world.h"

#define MANY 40

static char burst[O2GD_BURST_MAX + 64];
static u32 burst_len;

static void add(u32 peer, u64 tag, u32 len)
{
	struct o2gd_small m = { .peer = peer, .len = len, .tag = tag };

	memcpy(burst + burst_len, &m, sizeof(m));
	memcpy(burst + burst_len + sizeof(m), data, len);
	burst_len += sizeof(m) + ALIGN(len, O2GD_BURST_ALIGN);
}

static int leave(void)
{
	struct o2gd_burst args = { .addr = (uintptr_t)burst, .len = burst_len };

	return end_call(&a, O2GD_BURST, &args);
}

static const struct o2gk_ep *ep_of(const struct end *e)
{
	return e->file.private_data;
}

/* --- one by one --- */

static void lone(void)
{
	unsigned int live;

	assert_int_equal(world_open(), 0);
	for (u32 i = 1; i <= 2; i++) {
		assert_int_equal(end_recv(&b, 1, 1, 8), 0);
		live = mock.live;
		assert_int_equal(end_inject(&a, 1, data, 8), 0);
		if (i == 2) /* the first makes b put memory aside */
			assert_int_equal(mock.live, live);
		assert_int_equal(ep_of(&a)->stats.tx_caller, i);
		assert_int_equal(ep_of(&a)->stats.tx_calls, i);
		assert_int_equal(end_got(&b, 1, 1, 8), 0);
	}
}

static void o2gk_inject__leaves_at_once(void **state)
{
	world_run(lone);
}

/* What the socket does not take waits, and all that follows waits behind it. */
static void lone_in_pieces(void)
{
	static const size_t space[] = { 1, 47, 48, 49, 55, 100, 1000 };
	static const u32 len[] = { 8, 0, 192, 193, 8, 4096, 8, 8 };

	assert_int_equal(world_open(), 0);
	for (u32 k = 0; k < ARRAY_SIZE(space); k++) {
		u64 tag = 100 * k;

		mock.send_space = space[k];
		mock.later = true;
		for (u32 i = 0; i < ARRAY_SIZE(len); i++)
			assert_int_equal(end_inject(&a, tag, data, len[i]), 0);
		mock.later = false;
		for (u32 i = 0; i < ARRAY_SIZE(len); i++) {
			assert_int_equal(end_recv(&b, i, tag, 4096), 0);
			assert_int_equal(end_got(&b, i, tag, len[i]), 0);
		}
	}
	mock_run();
	assert_int_equal(ep_of(&a)->stats.tx_caller +
				 ep_of(&a)->stats.tx_worker +
				 ep_of(&a)->stats.tx_softirq,
			 ep_of(&a)->core.stats.eager_sent);
}

static void o2gk_inject__in_pieces(void **state)
{
	world_run(lone_in_pieces);
}

static void lone_and_full(void)
{
	TRY(world_open());
	mock.send_space = 20;
	TRY(end_inject(&a, 1, data, 8));
	TRY(end_inject(&a, 1, data, 16));
	TRY(end_recv(&b, 1, 1, 16));
	TRY(end_got(&b, 1, 1, 8));
	TRY(end_recv(&b, 1, 1, 16));
	TRY(end_got(&b, 1, 1, 16));
}

static void o2gk_inject__failures(void **state)
{
	world_with_failures(lone_and_full);
}

/* Whatever there is no memory for meanwhile, what the core has counted as sent is. */
static unsigned int failing;

static void lone_without_memory(void)
{
	int err;

	assert_int_equal(world_open(), 0);
	mock_run();
	mock.send_space = 20;
	mock.fail_at = mock.calls + failing;
	err = end_inject(&a, 1, data, 8);
	mock_run();
	if (mock.failed && strcmp(mock.failed, "allocation"))
		return; /* something else, which may end the connection */
	assert_true(!err || err == -ENOMEM);
	assert_int_equal(end_inject(&a, 1, data, 16), 0);
	for (u64 len = err ? 16 : 8; len <= 16; len += 8) {
		assert_int_equal(end_recv(&b, 1, 1, 16), 0);
		assert_int_equal(end_got(&b, 1, 1, len), 0);
	}
}

static void o2gk_inject__without_memory(void **state)
{
	for (failing = 1; failing <= 8; failing++)
		world_run(lone_without_memory);
}

/* --- bursts --- */

/* Messages of all sizes, in order, in a few calls to TCP. */
static void few_calls(void)
{
	burst_len = 0;
	assert_int_equal(world_open(), 0);
	for (u32 i = 0; i < MANY; i++)
		add(1, i, i * 7);
	assert_int_equal(leave(), MANY);
	assert_int_equal(ep_of(&a)->stats.tx_calls,
			 DIV_ROUND_UP_ULL(MANY, O2GK_TX_GATHER));
	for (u32 i = 0; i < MANY; i++) {
		assert_int_equal(end_recv(&b, i % 16, i, 300), 0);
		assert_int_equal(end_got(&b, i % 16, i, i * 7), 0);
	}
}

static void o2gk_burst__few_calls(void **state)
{
	world_run(few_calls);
}

/* The socket takes it a few bytes at a time, or nothing for a while. */
static void in_pieces(void)
{
	static const size_t space[] = { 1, 47, 48, 49, 100, 1000 };

	for (u32 k = 0; k < ARRAY_SIZE(space); k++) {
		burst_len = 0;
		for (u32 i = 0; i < 9; i++)
			add(1, 100 * k + i, i * 7);
		mock.send_space = space[k];
		assert_int_equal(leave(), 9);
		for (u32 i = 0; i < 9; i++) {
			assert_int_equal(end_recv(&b, i, 100 * k + i, 300), 0);
			assert_int_equal(end_got(&b, i, 100 * k + i, i * 7), 0);
		}
	}
}

static void all_pieces(void)
{
	assert_int_equal(world_open(), 0);
	in_pieces();
}

static void o2gk_tx_push__in_pieces(void **state)
{
	world_run(all_pieces);
}

/* Without credit the first that finds none stops it; it and the rest are left. */
static void no_credit(void)
{
	int n, all = 0;

	assert_int_equal(world_open(), 0);
	do {
		burst_len = 0;
		for (u32 i = 0; i < 3; i++)
			add(1, all + i, 4000);
		n = leave();
		assert_true(n >= 0 && n <= 3);
		all += n;
	} while (n == 3);
	assert_true(all * (4000 + O2G_COST) <= O2G_CREDIT_INIT);
	for (int i = 0; i < all; i++) {
		assert_int_equal(end_recv(&b, 1, i, 4000), 0);
		assert_int_equal(end_got(&b, 1, i, 4000), 0);
	}
	mock_run();
	burst_len = 0;
	add(1, all, 4000);
	assert_int_equal(leave(), 1);
	assert_int_equal(end_recv(&b, 1, all, 4000), 0);
	assert_int_equal(end_got(&b, 1, all, 4000), 0);
}

static void o2gk_burst__no_credit(void **state)
{
	world_run(no_credit);
}

/* What is wrong is not sent; what came before it is. */
static void refused(void)
{
	struct o2gd_burst args = { .addr = (uintptr_t)burst };

	assert_int_equal(world_open(), 0);
	assert_int_equal(end_call(&a, O2GD_BURST, &args), 0);
	args.len = sizeof(struct o2gd_small) - 1;
	assert_int_equal(end_call(&a, O2GD_BURST, &args), -EINVAL);
	args.len = O2GD_BURST_MAX + 8;
	assert_int_equal(end_call(&a, O2GD_BURST, &args), -EINVAL);
	args.len = 64;
	args.addr = ~0ull - 8;
	assert_int_equal(end_call(&a, O2GD_BURST, &args), -EINVAL);
	burst_len = 0;
	add(2, 1, 8); /* there is no such rank */
	assert_int_equal(leave(), -EINVAL);
	burst_len = 0;
	add(1, 1, O2GD_SMALL + 1);
	assert_int_equal(leave(), -EINVAL);
	burst_len = 0;
	add(1, 1, 64);
	burst_len -= 8; /* its end is not in it */
	assert_int_equal(leave(), -EINVAL);
	burst_len = 0;
	add(1, 7, 8);
	add(3, 7, 8);
	assert_int_equal(leave(), 1);
	assert_int_equal(end_recv(&b, 1, 7, 8), 0);
	assert_int_equal(end_got(&b, 1, 7, 8), 0);
}

static void o2gk_burst__refuses(void **state)
{
	world_run(refused);
}

static void sent(void)
{
	burst_len = 0;
	TRY(world_open());
	for (u32 i = 0; i < MANY; i++)
		add(1, i, i * 7);
	TRY(leave());
}

static void o2gk_burst__failures(void **state)
{
	world_with_failures(sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(o2gk_inject__leaves_at_once),
		cmocka_unit_test(o2gk_inject__in_pieces),
		cmocka_unit_test(o2gk_inject__failures),
		cmocka_unit_test(o2gk_inject__without_memory),
		cmocka_unit_test(o2gk_burst__few_calls),
		cmocka_unit_test(o2gk_tx_push__in_pieces),
		cmocka_unit_test(o2gk_burst__no_credit),
		cmocka_unit_test(o2gk_burst__refuses),
		cmocka_unit_test(o2gk_burst__failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
