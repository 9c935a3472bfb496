/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Molecules that attract and repel each other, all with all, four steps: each process
 * moves its part of them and reads where the others are. Forces on one molecule
 * are added up in the same order by whoever does it, so results are the same to the bit.
 */
#include "dsm_bench.h"

#include <mpi.h>
#include <stdlib.h>

#define STEPS 4

struct molecule {
	double at[3], speed[3], pad[2];
};

static size_t bytes(long n)
{
	return (size_t)n * sizeof(struct molecule);
}

static void fill(struct run *run)
{
	struct molecule *m = (struct molecule *)run->memory;

	for (long i = 0; i < run->n; i++)
		for (int d = 0; d < 3; d++)
			m[i].at[d] = 20 * noise((uint64_t)(3 * i + d));
}

static void pull(const struct molecule *on, const struct molecule *by,
		 double force[3])
{
	double way[3], far = 0.01;

	for (int d = 0; d < 3; d++) {
		way[d] = by->at[d] - on->at[d];
		far += way[d] * way[d];
	}
	double near = 1 / (far * far * far * far);

	for (int d = 0; d < 3; d++)
		force[d] += way[d] * near * (far - 1);
}

/* Forces are nobody else's business: they are not in shared memory. */
static void forces(const struct run *run, long from, long to, double (*f)[3])
{
	const struct molecule *m = (const struct molecule *)run->memory;

	for (long i = from; i < to; i++, f++) {
		(*f)[0] = (*f)[1] = (*f)[2] = 0;
		for (long j = 0; j < run->n; j++)
			if (i != j)
				pull(&m[i], &m[j], *f);
	}
}

static void move(struct molecule *m, long from, long to, double (*f)[3])
{
	for (long i = from; i < to; i++)
		for (int d = 0; d < 3; d++) {
			m[i].speed[d] += 1e-4 * f[i - from][d];
			m[i].at[d] += m[i].speed[d];
		}
}

static void work(struct run *run)
{
	struct molecule *m = (struct molecule *)run->memory;
	double(*f)[3];
	long from, to;

	my_part(run, run->n, &from, &to);
	f = calloc((size_t)(to - from), sizeof(*f));
	if (!f)
		abort();
	for (int step = 0; step < STEPS; step++) {
		forces(run, from, to, f);
		all_here(run);
		move(m, from, to, f);
		all_here(run);
	}
	free(f);
}

/* After each step everybody has all of them again. */
static void messages(struct run *run)
{
	struct molecule *m = (struct molecule *)run->memory;
	int all = (int)program.bytes(run->n);
	double(*f)[3];
	long from, to;

	my_part(run, run->n, &from, &to);
	f = calloc((size_t)(to - from), sizeof(*f));
	if (!f)
		abort();
	MPI_Bcast(m, all, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int step = 0; step < STEPS; step++) {
		forces(run, from, to, f);
		move(m, from, to, f);
		collect(run, m, run->n, sizeof(*m));
		MPI_Bcast(m, all, MPI_BYTE, 0, MPI_COMM_WORLD);
	}
	free(f);
}

static size_t result(long n, size_t *len)
{
	*len = bytes(n);
	return 0;
}

const struct program program = { "water", 3000,	    bytes, fill,
				 work,	  messages, result };
