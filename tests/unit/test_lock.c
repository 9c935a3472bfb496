/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/lock.c */
/* libs: -pthread */
/*
 * The endpoint's lock: one thread inside at a time, while its owner comes and goes,
 * the progress thread keeps it away for one turn or for many, and after another
 * thread has ended the bias.
 */
#include "unit.h"

#include <pthread.h>

#include "lock.h"

#define ROUNDS 20000

static struct eng_lock lock;
static unsigned long inside[2]; /* both the same, but within a turn */
static atomic_int running;

static void turn(void)
{
	assert_true(eng_lock_take(&lock));
	assert_true(eng_lock_take(&lock)); /* it is recursive */
	inside[0]++;
	atomic_signal_fence(memory_order_seq_cst);
	inside[1]++;
	assert_int_equal(inside[0], inside[1]);
	eng_lock_release(&lock);
	assert_true(eng_lock_mine(&lock));
	eng_lock_release(&lock);
	assert_false(eng_lock_mine(&lock));
}

/* Turns one after the other, and pauses of different lengths between. */
static void turns(unsigned every)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		turn();
		for (unsigned k = 0; i % every == 0 && k < i % 1000; k++)
			atomic_signal_fence(memory_order_seq_cst);
	}
	atomic_fetch_sub(&running, 1);
}

static void *be_helper(void *arg)
{
	lock.helper = __builtin_thread_pointer();
	turns(7);
	return arg;
}

static void *be_other(void *arg)
{
	turns(3);
	return arg;
}

static void begin(void)
{
	lock = (struct eng_lock){ 0 };
	inside[0] = inside[1] = 0;
	eng_lock_init(&lock);
}

/* The owner takes part until the others have ended. */
static void run_with(void *(*const fn[])(void *arg), int n)
{
	unsigned long mine = 0;
	pthread_t t[2];

	begin();
	atomic_store(&running, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&t[i], NULL, fn[i], NULL), 0);
	for (; atomic_load(&running); mine++)
		turn();
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(inside[0], mine + (unsigned long)n * ROUNDS);
	turn();
}

static void test_helper(void **state)
{
	void *(*const fn[])(void *) = { be_helper };

	run_with(fn, 1);
	/* The owner has come back, and has its own way again. */
	if (lock.bias)
		assert_int_equal(atomic_load(&lock.revoke), 0);
}

static void test_other(void **state)
{
	void *(*const fn[])(void *) = { be_helper, be_other };

	run_with(fn, 2);
	assert_null(lock.bias);
	assert_int_equal(atomic_load(&lock.revoke), 1);
}

/* While the owner is away it is kept out once, not with each turn. */
static void test_away(void **state)
{
	void *(*const fn[])(void *) = { be_helper };
	pthread_t t;

	begin();
	turn();
	atomic_store(&running, 1);
	assert_int_equal(pthread_create(&t, NULL, fn[0], NULL), 0);
	pthread_join(t, NULL);
	if (lock.bias)
		assert_int_equal(atomic_load(&lock.revoke), 1);
	turn();
	if (lock.bias)
		assert_int_equal(atomic_load(&lock.revoke), 0);
	assert_int_equal(inside[0], ROUNDS + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helper),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
