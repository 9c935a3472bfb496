/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: base/log.c */
/* When small messages are kept back, and what their timer does. */
#include "unit.h"

#include "burst.h"

#define LONG_AGO (10 * O2G_BURST_NS)

static void burst__within_a_turn(void **state)
{
	struct o2g_burst b = { 0 };

	o2g_burst_left(&b, 1);
	b.last_ns = o2g_now_ns() - LONG_AGO;
	assert_false(o2g_burst_goes_on(&b, 1));
	for (int i = 0; i < 1000; i++)
		if (o2g_burst_goes_on(&b, 1))
			return; /* a slow machine may take longer once */
	fail();
}

static void burst__another_turn(void **state)
{
	struct o2g_burst b = { 0 };

	for (int i = 0; i < 1000; i++) {
		o2g_burst_left(&b, 1);
		assert_false(o2g_burst_goes_on(&b, 2));
	}
}

/* Nobody asked the clock: the second cannot know how soon it comes. */
static void burst__first_without_a_clock(void **state)
{
	struct o2g_burst b = { 0 };

	o2g_burst_first(&b, 1);
	assert_false(o2g_burst_goes_on(&b, 1));
	b.last_ns = 1;
	o2g_burst_returned(&b);
	assert_true(b.last_ns > 1);
	o2g_burst_first(&b, 2);
	o2g_burst_returned(&b);
	assert_int_equal(b.last_ns, 0);
}

static void batch__one_timer_for_many(void **state)
{
	struct o2g_batch b;

	o2g_batch_init(&b);
	assert_int_equal(o2g_batch_begin(&b, 1000), O2G_BATCH_US);
	assert_int_equal(o2g_batch_begin(&b, 2000), 0);
	assert_int_equal(b.since_ns, 2000);
}

/* It doubles while it finds nothing, to an end. */
static void batch__timer_in_vain(void **state)
{
	struct o2g_batch b;
	uint32_t want = O2G_BATCH_US;

	o2g_batch_init(&b);
	for (int i = 0; i < 12; i++) {
		assert_int_equal(o2g_batch_begin(&b, 0), want);
		assert_int_equal(o2g_batch_timer(&b, false, 1), O2G_BATCH_GONE);
		if (want < O2G_BATCH_MAX_US)
			want *= 2;
	}
	assert_int_equal(want, O2G_BATCH_MAX_US);
}

static void batch__timer_in_time(void **state)
{
	uint64_t enough = O2G_BATCH_US * 1000 / 2;
	struct o2g_batch b;

	o2g_batch_init(&b);
	b.wait_us = O2G_BATCH_MAX_US;
	o2g_batch_begin(&b, 7);
	assert_int_equal(o2g_batch_timer(&b, true, 7 + enough - 1),
			 O2G_BATCH_YOUNG);
	assert_int_equal(o2g_batch_again(&b), O2G_BATCH_US);
	assert_int_equal(o2g_batch_begin(&b, 7), 0);
	assert_int_equal(o2g_batch_timer(&b, true, 7 + enough), O2G_BATCH_DUE);
	assert_int_equal(o2g_batch_begin(&b, 7), O2G_BATCH_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(burst__within_a_turn),
		cmocka_unit_test(burst__another_turn),
		cmocka_unit_test(burst__first_without_a_clock),
		cmocka_unit_test(batch__one_timer_for_many),
		cmocka_unit_test(batch__timer_in_vain),
		cmocka_unit_test(batch__timer_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
