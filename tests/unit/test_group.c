/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/comm/group_index.c */
/*
 * Ranks by peer, in groups of every kind: without an array, small, large, and with
 * numbers as peers of other jobs may have them.
 */
#include "unit.h"

#include <malloc.h>
#include <stdlib.h>

#include "../../mpi/comm/group.h"
#include "../../mpi/process/others.h"

/* Of a job of ten. Others have even numbers, and odd ones when they are met again. */
struct mpii_process mpii = { .size = 10 };

struct o2g_identity mpii_identity(int peer)
{
	return (struct o2g_identity){ .job = 1, .rank = peer / 2 };
}

int mpii_identity_compare(struct o2g_identity a, struct o2g_identity b)
{
	return a.rank - b.rank;
}

static struct mpii_group *group_of(int n, int first, int stride)
{
	struct mpii_group *g = calloc(1, sizeof(*g));

	g->size = n;
	g->peers = malloc(n * sizeof(*g->peers));
	for (int i = 0; i < n; i++)
		g->peers[n - 1 - i] = first + i * stride;
	return g;
}

static void free_group(struct mpii_group *g)
{
	free(atomic_load(&g->index));
	free(g->peers);
	free(g);
}

/* Every member is found, and none of those between them. */
static void check(int n, int first, int stride)
{
	struct mpii_group *g = group_of(n, first, stride);

	for (int i = 0; i < n; i++) {
		assert_int_equal(mpii_group_rank_of(g, first + i * stride),
				 n - 1 - i);
		if (stride > 1)
			assert_int_equal(
				mpii_group_rank_of(g, first + i * stride + 1),
				MPI_UNDEFINED);
	}
	assert_int_equal(mpii_group_rank_of(g, -1), MPI_UNDEFINED);
	assert_int_equal(mpii_group_rank_of(g, first + n * stride),
			 MPI_UNDEFINED);
	free_group(g);
}

static void test_in_order(void **state)
{
	struct mpii_group g = { .size = 100 };

	assert_int_equal(mpii_group_rank_of(&g, 0), 0);
	assert_int_equal(mpii_group_rank_of(&g, 99), 99);
	assert_int_equal(mpii_group_rank_of(&g, 100), MPI_UNDEFINED);
	assert_int_equal(mpii_group_rank_of(&g, -1), MPI_UNDEFINED);
	assert_int_equal(mpii_group_peer(&g, 42), 42);
	assert_null(atomic_load(&g.index));
}

static void test_small(void **state)
{
	struct mpii_group *g = group_of(8, 3, 5);

	assert_int_equal(mpii_group_rank_of(g, 8), 6);
	assert_null(atomic_load(&g->index));
	free_group(g);
	check(1, 7, 1);
	check(8, 0, 2);
}

static void test_large(void **state)
{
	for (int n = 9; n < 300; n += 7)
		for (int stride = 1; stride < 2000; stride = stride * 3 + 1)
			check(n, n % 5, stride);
	check(100, 1 << 20, 1);
	check(100, 0, 1 << 24);
	check(5000, 1000000, 64);
}

/* What a group needs is for its members, whatever numbers they have. */
static void test_memory(void **state)
{
	struct mpii_group *g = group_of(16, 0, 1 << 26);
	struct mpii_group_index *x;

	assert_int_equal(mpii_group_rank_of(g, 1 << 26), 14);
	x = atomic_load(&g->index);
	assert_non_null(x);
	assert_true(malloc_usable_size(x) < 1024);
	free_group(g);
}

/* One that was disconnected and is there again has another number. */
static void test_met_again(void **state)
{
	struct mpii_group *g = group_of(16, 20, 2);

	assert_int_equal(mpii_group_rank_of(g, 23), MPI_UNDEFINED);
	g->others = true;
	assert_int_equal(mpii_group_rank_of(g, 22), 14);
	assert_int_equal(mpii_group_rank_of(g, 23), 14);
	assert_int_equal(mpii_group_rank_of(g, 53), MPI_UNDEFINED);
	assert_int_equal(mpii_group_rank_of(g, 9), MPI_UNDEFINED);
	free_group(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),  cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),	  cmocka_unit_test(test_memory),
		cmocka_unit_test(test_met_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
