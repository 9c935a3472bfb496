/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The product of two matrices of n x n, by rows, in blocks that stay in the cache. */
#include "dsm_bench.h"

#include <mpi.h>

#define BLOCK 64

static size_t bytes(long n)
{
	return 3 * (size_t)(n * n) * sizeof(double);
}

static void fill(struct run *run)
{
	double *a = (void *)run->memory;

	for (long i = 0; i < 2 * run->n * run->n; i++)
		a[i] = noise((uint64_t)i);
}

/* Row i of c += a[i][k0 ... k1) times those rows of b. */
static void row(const double *a, const double *b, double *c, long n, long k0,
		long k1)
{
	for (long k = k0; k < k1; k++)
		for (long j = 0; j < n; j++)
			c[j] += a[k] * b[k * n + j];
}

static void rows(const double *a, const double *b, double *c, long n, long from,
		 long to)
{
	for (long k = 0; k < n; k += BLOCK)
		for (long i = from; i < to; i++)
			row(a + i * n, b, c + i * n, n, k,
			    k + BLOCK < n ? k + BLOCK : n);
}

static void work(struct run *run)
{
	long n = run->n, from, to;
	const double *a = (const void *)run->memory, *b = a + n * n;
	double *c = (double *)(void *)run->memory + 2 * n * n;

	my_part(run, n, &from, &to);
	if (run->region) {
		o2g_dsm_prefetch(run->region, a + from * n,
				 (size_t)((to - from) * n) * sizeof(*a));
		o2g_dsm_prefetch(run->region, b, (size_t)(n * n) * sizeof(*b));
		o2g_dsm_will_write(run->region, c + from * n,
				   (size_t)((to - from) * n) * sizeof(*c));
	}
	rows(a, b, c, n, from, to);
}

static void messages(struct run *run)
{
	long n = run->n, from, to;
	double *a = (void *)run->memory, *b = a + n * n, *c = b + n * n;

	my_part(run, n, &from, &to);
	deal(run, a, n, (size_t)n * sizeof(*a));
	MPI_Bcast(b, (int)(n * n), MPI_DOUBLE, 0, MPI_COMM_WORLD);
	rows(a, b, c, n, from, to);
	collect(run, c, n, (size_t)n * sizeof(*c));
}

static size_t result(long n, size_t *len)
{
	*len = bytes(n) / 3;
	return 2 * *len;
}

const struct program program = { "matmul", 768,	     bytes, fill,
				 work,	   messages, result };
