/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/copies.c */
/* One copy or two: whichever is quicker, and that may change. */
#include "copies.h"

#include "unit.h"

#define LEN (4u << 20)

/* @n messages, which take so long in either way. Returns how many were copied
 * twice. */
static int send(struct eng_copies *c, int n, u64 one, u64 both)
{
	int twice = 0;

	while (n--) {
		if (eng_copies_both(c)) {
			eng_copies_both_took(c, LEN, both);
			twice++;
		} else {
			eng_copies_one_took(c, LEN, one);
		}
	}
	return twice;
}

static void both_are_tried(void **arg)
{
	struct eng_copies c = { 0 };

	assert_true(eng_copies_both(&c));
	eng_copies_both_took(&c, LEN, 400000);
	assert_false(eng_copies_both(&c));
}

static void quicker_one_is_used(void **arg)
{
	struct eng_copies c = { 0 };

	assert_true(send(&c, 1000, 350000, 450000) <= 1000 / 16 + 2);
	memset(&c, 0, sizeof(c));
	assert_true(send(&c, 1000, 450000, 350000) >= 1000 - 1000 / 16 - 2);
}

static void far_slower_one_is_tried_seldom(void **arg)
{
	struct eng_copies c = { 0 };

	assert_true(send(&c, 1000, 300000, 3000000) <= 1000 / 128 + 2);
}

/* The program goes on with other buffers. */
static void change_is_noticed(void **arg)
{
	struct eng_copies c = { 0 };

	send(&c, 1000, 350000, 450000);
	send(&c, 300, 900000, 450000);
	assert_true(send(&c, 1000, 900000, 450000) >= 1000 - 1000 / 16 - 2);
}

/* A message during which the core was taken away. */
static void outlier_changes_nothing(void **arg)
{
	struct eng_copies c = { 0 };

	send(&c, 100, 350000, 450000);
	eng_copies_one_took(&c, LEN, 900000);
	assert_true(send(&c, 100, 350000, 450000) <= 100 / 16 + 10);
}

static void absurd_times_do_no_harm(void **arg)
{
	struct eng_copies c = { 0 };

	eng_copies_one_took(&c, LEN, UINT64_MAX);
	eng_copies_one_took(&c, LEN, UINT64_MAX);
	eng_copies_both_took(&c, 0, 0);
	assert_true(eng_copies_both(&c));
	assert_true(c.one && c.both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_tried),
		cmocka_unit_test(quicker_one_is_used),
		cmocka_unit_test(far_slower_one_is_tried_seldom),
		cmocka_unit_test(change_is_noticed),
		cmocka_unit_test(outlier_changes_nothing),
		cmocka_unit_test(absurd_times_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
