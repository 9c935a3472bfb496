/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A histogram in memory that all processes share: each counts its part of the numbers
 * for itself, then adds what it has to the bins, a lock for each group of them.
 *
 *	mpicc dsm_histogram.c -lo2gdsm -lo2g && mpiexec -n 4 ./a.out
 */
#include <o2g.h>
#include <o2g_dsm.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 1000000
#define BINS 4096
#define GROUP 512 /* bins to a page */

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "dsm_histogram: %s\n", o2g_strerror(result));
	exit(1);
}

/* The same numbers, however many processes there are. */
static unsigned number(unsigned i)
{
	i = (i ^ i >> 16) * 0x45d9f3bu;
	i = (i ^ i >> 16) * 0x45d9f3bu;
	return (i ^ i >> 16) % BINS;
}

int main(void)
{
	static long mine[BINS];
	struct o2g_dsm *region;
	long *bins, total = 0, fullest = 0;
	int rank, size;

	check(o2g_dsm_init());
	rank = o2g_dsm_rank();
	size = o2g_dsm_size();
	check(o2g_dsm_create("histogram", BINS * sizeof(*bins), 0, &region));
	bins = o2g_dsm_base(region);

	for (unsigned i = (unsigned)rank; i < NUMBERS; i += (unsigned)size)
		mine[number(i)]++;
	for (int g = 0; g < BINS / GROUP; g++) {
		/* Each begins elsewhere, so that nobody waits for long. */
		long *group = bins + (g + rank) % (BINS / GROUP) * GROUP;

		check(o2g_dsm_lock(region, (uintptr_t)group));
		for (int i = 0; i < GROUP; i++)
			group[i] += mine[group + i - bins];
		check(o2g_dsm_unlock(region, (uintptr_t)group));
	}
	check(o2g_dsm_barrier(region, 0, 0));
	if (!rank) {
		for (int i = 0; i < BINS; i++) {
			total += bins[i];
			fullest = bins[i] > fullest ? bins[i] : fullest;
		}
		printf("%ld numbers in %d bins, %ld in the fullest\n", total,
		       BINS, fullest);
	}
	check(o2g_dsm_close(region));
	check(o2g_dsm_finalize());
	return !rank && total != NUMBERS;
}
