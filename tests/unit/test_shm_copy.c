/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: channel/body.c core/proto.c core/send.c core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c */
/* sources: core/credit.c core/match.c core/wild.c core/wire.c */
/* Short copies in moves that overlap. */
#include "shm/ring.h"

#include "unit.h"

static void copy_short__every_length(void **arg)
{
	char from[80], to[80];

	for (int i = 0; i < 80; i++)
		from[i] = i + 1;
	for (u32 n = 0; n <= 64; n++) {
		memset(to, 0, sizeof(to));
		shm_copy_short(to + 1, from, n);
		assert_memory_equal(to + 1, from, n);
		assert_int_equal(to[0], 0);
		assert_int_equal(to[n + 1], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(copy_short__every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
