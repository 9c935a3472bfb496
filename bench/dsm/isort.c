/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Integer sort by counting: every process counts its keys, the counts are added up in
 * shared memory, and each process writes its range of values in order.
 */
#include "dsm_bench.h"

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

static void count(struct run *run, int *counts)
{
	const int *keys = (const int *)run->memory;
	int *mine = calloc(VALUES, sizeof(int));
	long from, to;

	if (!mine)
		abort();
	my_part(run, run->n, &from, &to);
	for (long i = from; i < to; i++)
		mine[keys[i]]++;
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

static void work(struct run *run)
{
	int *sorted = (int *)run->memory + run->n, *counts = sorted + run->n;
	long from, to, at = 0;

	count(run, counts);
	all_here(run);
	my_part(run, VALUES, &from, &to);
	for (long v = 0; v < from; v++)
		at += counts[v];
	for (long v = from; v < to; v++)
		for (int i = 0; i < counts[v]; i++)
			sorted[at++] = (int)v;
}

static size_t result(long n, size_t *len)
{
	*len = (size_t)n * sizeof(int);
	return *len;
}

const struct program program = { "isort", 2000000, bytes, fill, work, result };
