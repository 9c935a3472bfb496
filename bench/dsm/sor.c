/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Red-black successive over-relaxation on a square of n x n, 20 steps. */
#include "dsm_bench.h"

#define STEPS 20

static size_t bytes(long n)
{
	return (size_t)(n * n) * sizeof(double);
}

static void fill(struct run *run)
{
	double *a = (void *)run->memory;

	for (long i = 0; i < run->n * run->n; i++)
		a[i] = noise((uint64_t)i);
}

static void sweep(double *a, long n, long from, long to, long colour)
{
	for (long i = from; i < to; i++)
		for (long j = 1 + (i + colour) % 2; j < n - 1; j += 2) {
			double *p = a + i * n + j;

			*p += 1.5 * (0.25 * (p[-n] + p[n] + p[-1] + p[1]) - *p);
		}
}

static void work(struct run *run)
{
	double *a = (void *)run->memory;
	long from, to;

	my_part(run, run->n - 2, &from, &to);
	if (run->region)
		o2g_dsm_home_here(run->region, a + (from + 1) * run->n,
				  (size_t)((to - from) * run->n) *
					  sizeof(double));
	for (int step = 0; step < STEPS; step++)
		for (long colour = 0; colour < 2; colour++) {
			sweep(a, run->n, from + 1, to + 1, colour);
			all_here(run);
		}
}

static size_t result(long n, size_t *len)
{
	*len = bytes(n);
	return 0;
}

const struct program program = { "sor", 2048, bytes, fill, work, result };
