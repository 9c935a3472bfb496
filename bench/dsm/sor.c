/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Red-black successive over-relaxation on a square of n x n, 20 steps. */
#include "dsm_bench.h"

#include <mpi.h>

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

/* The last rows of the one above, and the first of the one below. */
static void exchange(const struct run *run, double *a, long from, long to)
{
	int n = (int)run->n, up = run->rank - 1, down = run->rank + 1;

	if (up < 0)
		up = MPI_PROC_NULL;
	if (down == run->size)
		down = MPI_PROC_NULL;
	MPI_Sendrecv(a + (from + 1) * n, n, MPI_DOUBLE, up, 0, a + (to + 1) * n,
		     n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(a + to * n, n, MPI_DOUBLE, down, 0, a + from * n, n,
		     MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(struct run *run)
{
	double *a = (void *)run->memory, *last = a + (run->n - 1) * run->n;
	size_t row = (size_t)run->n * sizeof(double);
	long from, to;

	my_part(run, run->n - 2, &from, &to);
	deal(run, a + run->n, run->n - 2, row);
	MPI_Bcast(last, (int)run->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int step = 0; step < 2 * STEPS; step++) {
		exchange(run, a, from, to);
		sweep(a, run->n, from + 1, to + 1, step % 2);
	}
	collect(run, a + run->n, run->n - 2, row);
}

static size_t result(long n, size_t *len)
{
	*len = bytes(n);
	return 0;
}

const struct program program = { "sor", 2048,	  bytes, fill,
				 work,	messages, result };
