/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/cookies.c */
#include "unit.h"

#include <stdlib.h>

#include "cookies.h"
#include "rnd.h"

#define N 20000

static struct o2g_cookie node[N];
static bool in[N];
static struct o2g_cookie *root;

static void add(int i, u64 value)
{
	node[i].value = value;
	node[i].weight = rnd();
	o2g_cookies_add(&root, &node[i]);
	in[i] = true;
}

static void del(int i)
{
	o2g_cookies_del(&root, &node[i]);
	in[i] = false;
}

/* Its depth, and whether it is a tree and a heap; @n: how many there are. */
static int depth(const struct o2g_cookie *at, int *n)
{
	int l, r;

	if (!at)
		return 0;
	++*n;
	if (at->left)
		assert_true(at->left->value <= at->value &&
			    at->left->weight <= at->weight);
	if (at->right)
		assert_true(at->right->value >= at->value &&
			    at->right->weight <= at->weight);
	l = depth(at->left, n);
	r = depth(at->right, n);
	return 1 + (l > r ? l : r);
}

static int setup(void **unused)
{
	root = NULL;
	rng = 1;
	for (int i = 0; i < N; i++)
		in[i] = false;
	return 0;
}

static void check(int want)
{
	int n = 0, deep = depth(root, &n);

	assert_int_equal(n, want);
	assert_true(deep <= 64);
}

static void cookies__in_order(void **unused)
{
	for (int i = 0; i < N; i++)
		add(i, i);
	check(N);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(o2g_cookies_find(root, i), &node[i]);
	assert_null(o2g_cookies_find(root, N));
	for (int i = 0; i < N; i += 2)
		del(i);
	check(N / 2);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(o2g_cookies_find(root, i),
				 i % 2 ? &node[i] : NULL);
}

/* A peer that gives all its messages the same cookie. */
static void cookies__all_the_same(void **unused)
{
	for (int i = 0; i < N; i++)
		add(i, 7);
	check(N);
	assert_non_null(o2g_cookies_find(root, 7));
	assert_null(o2g_cookies_find(root, 6));
	for (int i = N - 1; i >= 0; i--)
		del(i);
	assert_null(root);
}

static void cookies__at_random(void **unused)
{
	int there = 0;

	for (int turn = 0; turn < 10 * N; turn++) {
		int i = rnd() % N;

		if (in[i])
			del(i);
		else
			add(i, rnd() % (N / 4));
		there += in[i] ? 1 : -1;
	}
	check(there);
	for (int i = 0; i < N; i++)
		if (in[i])
			assert_int_equal(
				o2g_cookies_find(root, node[i].value)->value,
				node[i].value);
	for (int i = 0; i < N; i++)
		if (in[i])
			del(i);
	assert_null(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cookies__in_order, setup),
		cmocka_unit_test_setup(cookies__all_the_same, setup),
		cmocka_unit_test_setup(cookies__at_random, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
