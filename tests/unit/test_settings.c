/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: base/settings.c base/log.c base/nearest.c */
/* Settings are read once; whether the user has given one is known afterwards. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "settings.h"

static size_t index_of(const char *name)
{
	struct o2g_setting s;

	for (size_t i = 0; o2g_setting(i, &s); i++)
		if (!strcmp(s.name, name))
			return i;
	fail_msg("no setting %s", name);
	return 0;
}

static void values_come_from_the_environment(void **state)
{
	assert_int_equal(o2g_settings()->shm_eager, 4096);
	assert_int_equal(o2g_settings()->tcp_eager, 64 << 10);
}

static void numbers_are_kept_in_range(void **state)
{
	assert_int_equal(o2g_settings()->tcp_chunk, 4096);
	assert_int_equal(o2g_settings()->tcp_sndbuf, 0);
	assert_int_equal(o2g_settings()->tcp_rcvbuf, 16384);
	assert_int_equal(o2g_settings()->tcp_silence, 3600);
	assert_true(o2g_settings()->unexpected == UINT64_MAX);
}

static void only_what_was_taken_is_given(void **state)
{
	const struct o2g_settings *set = o2g_settings();

	assert_true(o2g_setting_given(&set->shm_eager));
	assert_true(o2g_setting_given(&set->tcp_chunk));
	assert_false(o2g_setting_given(&set->tcp_eager));
	assert_false(o2g_setting_given(&set->spin_us));
	assert_int_equal(set->spin_us, -1);
}

static void a_setting_can_be_set_later(void **state)
{
	const struct o2g_settings *set = o2g_settings();

	assert_false(o2g_setting_given(&set->channels));
	assert_int_equal(o2g_setting_set(index_of("CHANNELS"), "tcp"), 0);
	assert_true(o2g_setting_given(&set->channels));
	assert_string_equal(set->channels, "tcp");
	assert_string_equal(getenv("O2G_CHANNELS"), "tcp");
	assert_int_equal(o2g_setting_set(index_of("TCP_TIMEOUT"), "x"),
			 -EINVAL);
	assert_false(o2g_setting_given(&set->tcp_timeout));
}

static int set_environment(void **state)
{
	setenv("O2G_SHM_EAGER", "4k", 1);
	setenv("O2G_TCP_CHUNK", "1", 1);
	setenv("O2G_TCP_SNDBUF", "0", 1);
	setenv("O2G_TCP_RCVBUF", "1", 1);
	setenv("O2G_TCP_SILENCE", "5000", 1);
	setenv("O2G_UNEXPECTED", "18446744073709551615", 1);
	setenv("O2G_SPIN", "soon", 1);
	unsetenv("O2G_CHANNELS");
	unsetenv("O2G_TCP_EAGER");
	unsetenv("O2G_TCP_TIMEOUT");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_from_the_environment),
		cmocka_unit_test(numbers_are_kept_in_range),
		cmocka_unit_test(only_what_was_taken_is_given),
		cmocka_unit_test(a_setting_can_be_set_later),
	};

	return cmocka_run_group_tests(tests, set_environment, NULL);
}
