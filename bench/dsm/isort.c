/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Integer sort by counting: every process counts its keys, the counts are added up in
 * shared memory, and each process writes its range of values in order.
 */
#include "dsm_bench.h"

#include <mpi.h>
#include <stdlib.h>

#define VALUES 65536

/* keys, sorted keys, counts */
static size_t bytes(long n)
{
	return (2 * (size_t)n + VALUES) * sizeof(int);
}

static void fill(struct run *run)
{
	int *keys = (int *)run->memory;

	for (long i = 0; i < run->n; i++)
		keys[i] = (int)(noise((uint64_t)i) * VALUES);
}

static void count_mine(const struct run *run, int *counts)
{
	const int *keys = (const int *)run->memory;
	long from, to;

	my_part(run, run->n, &from, &to);
	for (long i = from; i < to; i++)
		counts[keys[i]]++;
}

static void count(struct run *run, int *counts)
{
	int *mine = calloc(VALUES, sizeof(int));

	if (!mine)
		abort();
	count_mine(run, mine);
	for (int part = 0; part < run->size; part++) {
		int at = (part + run->rank) % run->size;
		int first = (int)((long)VALUES * at / run->size);
		int last = (int)((long)VALUES * (at + 1) / run->size);

		take_lock(run, (uint64_t)(uintptr_t)(counts + first));
		for (int v = first; v < last; v++)
			counts[v] += mine[v];
		give_lock(run, (uint64_t)(uintptr_t)(counts + first));
	}
	free(mine);
}

/* Those of the values [from, to): where they begin, and how many. */
static long write_part(int *sorted, const int *counts, long from, long to,
		       long *start)
{
	long at = 0;

	for (long v = 0; v < from; v++)
		at += counts[v];
	*start = at;
	for (long v = from; v < to; v++)
		for (int i = 0; i < counts[v]; i++)
			sorted[at++] = (int)v;
	return at - *start;
}

static void work(struct run *run)
{
	int *sorted = (int *)run->memory + run->n, *counts = sorted + run->n;
	long from, to, start;

	count(run, counts);
	all_here(run);
	my_part(run, VALUES, &from, &to);
	write_part(sorted, counts, from, to, &start);
}

static void messages(struct run *run)
{
	int *sorted = (int *)run->memory + run->n, *counts = sorted + run->n;
	int lengths[O2G_DSM_NODES], starts[O2G_DSM_NODES], mine[2];
	long from, to, start;

	deal(run, run->memory, run->n, sizeof(int));
	count_mine(run, counts);
	MPI_Allreduce(MPI_IN_PLACE, counts, VALUES, MPI_INT, MPI_SUM,
		      MPI_COMM_WORLD);
	my_part(run, VALUES, &from, &to);
	mine[1] = (int)write_part(sorted, counts, from, to, &start);
	mine[0] = (int)start;
	MPI_Gather(&mine[0], 1, MPI_INT, starts, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gather(&mine[1], 1, MPI_INT, lengths, 1, MPI_INT, 0,
		   MPI_COMM_WORLD);
	MPI_Gatherv(run->rank ? sorted + start : MPI_IN_PLACE, mine[1], MPI_INT,
		    sorted, lengths, starts, MPI_INT, 0, MPI_COMM_WORLD);
}

static size_t result(long n, size_t *len)
{
	*len = (size_t)n * sizeof(int);
	return *len;
}

const struct program program = { "isort", 2000000,  bytes, fill,
				 work,	  messages, result };
