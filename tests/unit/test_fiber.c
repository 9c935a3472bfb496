/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/coll/fiber.c */
/* Functions that stop in the middle and go on in another thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../mpi/coll/fiber.h"

struct counter {
	struct mpii_fiber *f;
	int stops, done;
	double sum;
	pthread_t seen[8];
};

/* Deep enough to need a stack, with values that must survive in registers. */
static double add_up(struct counter *c, int depth, double x)
{
	char room[512];

	memset(room, depth, sizeof(room));
	if (depth == 0) {
		for (int i = 0; i < c->stops; i++) {
			c->seen[i] = pthread_self();
			mpii_fiber_stop(c->f);
			x += i;
		}
		return x + room[0];
	}
	x = add_up(c, depth - 1, x + 0.5);
	return x + (room[511] - depth);
}

static void body(void *arg)
{
	struct counter *c = arg;

	c->sum = add_up(c, 40, 1);
	c->done = 1;
}

static void resume__until_it_ends(void **state)
{
	struct counter c = { .stops = 5 };
	int n = 0;

	c.f = mpii_fiber_create(body, &c);
	assert_non_null(c.f);
	while (!mpii_fiber_resume(c.f)) {
		assert_false(c.done);
		n++;
	}
	assert_int_equal(n, 5);
	assert_true(c.done);
	assert_true(c.sum == 1 + 20 + 10);
	mpii_fiber_destroy(c.f);
}

static void *resume_once(void *arg)
{
	struct counter *c = arg;

	return (void *)(intptr_t)mpii_fiber_resume(c->f);
}

static void resume__by_other_threads(void **state)
{
	struct counter c = { .stops = 4 };

	c.f = mpii_fiber_create(body, &c);
	for (int i = 0; i <= 4; i++) {
		pthread_t t;
		void *ended;

		assert_int_equal(pthread_create(&t, NULL, resume_once, &c), 0);
		pthread_join(t, &ended);
		assert_int_equal((intptr_t)ended, i == 4);
	}
	assert_true(c.sum == 1 + 20 + 6);
	mpii_fiber_destroy(c.f);
}

/* More than are kept for reuse, begun and ended in different orders. */
static void create__many(void **state)
{
	static struct counter c[100];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			c[i] = (struct counter){ .stops = i % 3 };
			c[i].f = mpii_fiber_create(body, &c[i]);
			assert_non_null(c[i].f);
		}
		for (int left = 100, i = 0; left; i = (i + 37) % 100) {
			if (c[i].done || !mpii_fiber_resume(c[i].f))
				continue;
			assert_true(c[i].done);
			mpii_fiber_destroy(c[i].f);
			left--;
		}
	}
}

static void destroy__before_it_ran(void **state)
{
	struct counter c = { .stops = 0 };

	c.f = mpii_fiber_create(body, &c);
	mpii_fiber_destroy(c.f);
	assert_false(c.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resume__until_it_ends),
		cmocka_unit_test(resume__by_other_threads),
		cmocka_unit_test(create__many),
		cmocka_unit_test(destroy__before_it_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
