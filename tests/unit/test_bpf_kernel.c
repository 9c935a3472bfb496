/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tools/bpf_kernel.c */
#include "unit.h"

#include "../../tools/bpf.h"

static bool sound(const char *release, const char *version)
{
	char why[200] = "";
	bool yes = bpf_kernel_sound(release, version, why, sizeof(why));

	assert_true(yes || why[0]);
	return yes;
}

static void bpf_kernel_sound__plain(void **state)
{
	assert_true(sound("6.18.44", "#1 SMP"));
	assert_true(sound("7.2.13-local", "#1 SMP"));
	assert_true(sound("6.12.94", "#1"));
	assert_false(sound("6.12.93", "#1"));
	assert_true(sound("6.1.170", "#1"));
	assert_false(sound("6.1.169", "#1"));
	assert_false(sound("6.6.100", "#1"));
	assert_false(sound("5.15.190", "#1"));
	assert_false(sound("strange", "#1"));
}

static void bpf_kernel_sound__debian(void **state)
{
	assert_true(
		sound("6.1.0-43-amd64",
		      "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-10-01)"));
	assert_false(
		sound("6.1.0-21-amd64",
		      "#1 SMP PREEMPT_DYNAMIC Debian 6.1.90-1 (2024-05-03)"));
	assert_true(
		sound("6.12.115+deb13-cloud-amd64",
		      "#1 SMP PREEMPT_DYNAMIC Debian 6.12.115-1 (2026-10-01)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bpf_kernel_sound__plain),
		cmocka_unit_test(bpf_kernel_sound__debian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
