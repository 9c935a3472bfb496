/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* LU factors of a matrix of n x n without pivoting, rows dealt out in turn. */
#include "dsm_bench.h"

#include <mpi.h>

static size_t bytes(long n)
{
	return (size_t)(n * n) * sizeof(double);
}

static void fill(struct run *run)
{
	double *a = (void *)run->memory;

	for (long i = 0; i < run->n * run->n; i++)
		a[i] = noise((uint64_t)i);
	for (long i = 0; i < run->n; i++)
		a[i * run->n + i] += (double)run->n;
}

static void eliminate(const double *pivot, double *row, long n, long k)
{
	double factor = row[k] / pivot[k];

	row[k] = factor;
	for (long j = k + 1; j < n; j++)
		row[j] -= factor * pivot[j];
}

static void work(struct run *run)
{
	double *a = (void *)run->memory;
	long n = run->n;

	for (long k = 0; k < n; k++) {
		for (long i = k + 1; i < n; i++)
			if (i % run->size == run->rank)
				eliminate(a + k * n, a + i * n, n, k);
		all_here(run);
	}
}

/* Rows of others come as pivots, and so all have all at the end. */
static void messages(struct run *run)
{
	double *a = (void *)run->memory;
	long n = run->n;

	MPI_Bcast(a, (int)(n * n), MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (long k = 0; k < n; k++) {
		MPI_Bcast(a + k * n, (int)n, MPI_DOUBLE, (int)(k % run->size),
			  MPI_COMM_WORLD);
		for (long i = k + 1; i < n; i++)
			if (i % run->size == run->rank)
				eliminate(a + k * n, a + i * n, n, k);
	}
}

static size_t result(long n, size_t *len)
{
	*len = bytes(n);
	return 0;
}

const struct program program = {
	"lu", 512, bytes, fill, work, messages, result
};
