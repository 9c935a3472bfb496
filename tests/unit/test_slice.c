/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/slice.c */
/* A thread that asks for short turns gets them, where the kernel has them, and nothing else changes. */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "slice.h"

/* The runtime that sched_getattr() tells. */
static uint64_t slice(void)
{
	uint64_t words[6] = { 0 };

	assert_int_equal(syscall(SYS_sched_getattr, 0, words, sizeof(words), 0),
			 0);
	return words[3];
}

/* Since 6.12 the slice of an ordinary thread can be set; tests may run with another
 * policy. */
static int can_be_set(void)
{
	int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	return sched_getscheduler(0) == SCHED_OTHER &&
	       (major > 6 || (major == 6 && minor >= 12));
}

static void asked__short(void **state)
{
	eng_short_slice();
	if (can_be_set())
		assert_int_equal(slice(), 100000);
}

static void asked__stays_nice(void **state)
{
	setpriority(PRIO_PROCESS, 0, 7);
	eng_short_slice();
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 7);
}

/* Whoever has chosen a policy for the process keeps it. */
static void asked__other_policy(void **state)
{
	const struct sched_param none = { 0 };

	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	eng_short_slice();
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked__short),
		cmocka_unit_test(asked__stays_nice),
		cmocka_unit_test(asked__other_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
