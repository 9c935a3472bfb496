/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: base/lazy.c */
/* Memory that comes when it is touched. */
#include "unit.h"
#include "lazy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static void touch__what_is_lazy(void **state)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char here[4];

	assert_true(p != MAP_FAILED);
	assert_false(o2g_lazy_touch(p, 4 * PAGE, true));
	assert_int_equal(o2g_lazy_add(p + PAGE, 2 * PAGE), 0);
	assert_true(o2g_lazy_any());
	/* Beside it: nothing. */
	assert_false(o2g_lazy_touch(p, PAGE, true));
	assert_false(o2g_lazy_touch(p + 3 * PAGE, PAGE, true));
	/* Across: that part of it, and no more. */
	assert_true(o2g_lazy_touch(p + 10, 3 * PAGE + 100, true));
	assert_int_equal(mincore(p, 4 * PAGE, here), 0);
	assert_false(here[0] & 1);
	assert_true(here[1] & 1);
	assert_true(here[2] & 1);
	assert_false(here[3] & 1);
	/* Content stays. */
	memset(p + PAGE, 7, PAGE);
	assert_true(o2g_lazy_touch(p + PAGE + 5, 1, true));
	assert_true(o2g_lazy_touch(p + PAGE + 5, 1, false));
	assert_int_equal(p[PAGE + 5], 7);
	o2g_lazy_remove(p + PAGE);
	assert_false(o2g_lazy_touch(p + PAGE, PAGE, true));
	munmap(p, 4 * PAGE);
}

static void add__until_full(void **state)
{
	char *at = (char *)(1ul << 40);
	int n = 0;

	while (!o2g_lazy_add(at + n * 2 * PAGE, PAGE))
		n++;
	assert_int_equal(o2g_lazy_add(at, PAGE), -ENOSPC);
	assert_true(n >= 16);
	o2g_lazy_remove(at + 2 * PAGE);
	assert_int_equal(o2g_lazy_add(at - PAGE, PAGE), 0);
	assert_int_equal(o2g_lazy_add(at, PAGE), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(touch__what_is_lazy),
		T(add__until_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
