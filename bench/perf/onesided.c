// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * One-sided operations of 8 bytes, each completed by a flush: rank 0 on memory of
 * rank 1, which waits in MPI or, with --away, computes for a while and calls nothing.
 *
 *	usec	one operation and its flush, the median
 *	max	the longest: with --away, a library that makes no progress by
 *		itself takes until rank 1 comes back
 *	Mops/s	many operations before each flush
 */
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef PERF_NO_WINDOW

enum { SAMPLES_MAX = 100000 };
#define RATE_SECONDS \
	0.1 /* at least: a few rounds are over before all is warm */

struct onesided {
	int rank;
	MPI_Win win;
	int64_t *memory;
	int64_t operand, result, compare;
};

typedef void operation(struct onesided *o);

static void put(struct onesided *o)
{
	MPI_Put(&o->operand, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, o->win);
}

static void get(struct onesided *o)
{
	MPI_Get(&o->result, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, o->win);
}

static void fetch_and_op(struct onesided *o)
{
	MPI_Fetch_and_op(&o->operand, &o->result, MPI_INT64_T, 1, 0, MPI_SUM,
			 o->win);
}

static void compare_and_swap(struct onesided *o)
{
	MPI_Compare_and_swap(&o->operand, &o->compare, &o->result, MPI_INT64_T,
			     1, 0, o->win);
}

static void accumulate(struct onesided *o)
{
	MPI_Accumulate(&o->operand, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T,
		       MPI_SUM, o->win);
}

static const struct {
	const char *name;
	operation *fn;
} operations[] = {
	{ "put", put },
	{ "get", get },
	{ "fetch_and_op", fetch_and_op },
	{ "compare_and_swap", compare_and_swap },
	{ "accumulate", accumulate },
};

#define N_OPERATIONS ((long)(sizeof(operations) / sizeof(*operations)))

static long away, away_ms = 300, many = 1000, only = -1;

static const struct perf_option options[] = {
	{ "away", &away, "1: the target computes and calls no MPI" },
	{ "away-ms", &away_ms, "for so long, with each operation" },
	{ "only", &only, "this operation; -1: all" },
	{ "many", &many, "operations before each flush, for Mops/s" },
	{ 0 },
};

static void compute(double seconds)
{
	static volatile double sink;
	double end = perf_now() + seconds;

	while (perf_now() < end)
		for (int i = 0; i < 1000; i++)
			sink = sink * 0.999 + 1;
}

/* Operations one by one, for as long as the target is away. Their number. */
static int sample(struct onesided *o, operation *fn, double *t, double seconds)
{
	double begin = perf_now(), end = begin + seconds * 0.8, now = begin;
	int n = 0;

	while (now < end && n < SAMPLES_MAX) {
		fn(o);
		MPI_Win_flush(1, o->win);
		t[n] = perf_now() - now;
		now += t[n++];
	}
	return n;
}

static double rate(struct onesided *o, operation *fn)
{
	double begin = perf_now();

	for (long i = 0; i < many; i++)
		fn(o);
	MPI_Win_flush(1, o->win);
	return (double)many / (perf_now() - begin);
}

static void measure(struct perf *p, struct onesided *o, long which)
{
	operation *fn = operations[which].fn;
	double *t = perf_alloc(SAMPLES_MAX * sizeof(*t)), best = 0, now;
	double seconds = (double)away_ms * 1e-3;
	int n = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (o->rank == 0)
		n = sample(o, fn, t, seconds);
	else if (o->rank == 1 && away)
		compute(seconds);
	MPI_Barrier(MPI_COMM_WORLD);
	seconds = perf_now() + RATE_SECONDS;
	for (int i = 0; o->rank == 0 && (i < p->reps || perf_now() < seconds);
	     i++) {
		now = rate(o, fn);
		best = now > best ? now : best;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	perf_cell(p, "operation", (double)which);
	perf_cell(p, "usec", n ? perf_median(t, n) * 1e6 : 0);
	perf_cell(p, "max", n ? t[n - 1] * 1e6 : 0);
	perf_cell(p, "Mops/s", best * 1e-6);
	perf_row_end(p);
	free(t);
}

static void print_legend(const struct perf *p)
{
	if (p->rank || p->json)
		return;
	printf("# operation");
	for (long i = 0; i < N_OPERATIONS; i++)
		printf("%s %ld %s", i ? "," : "", i, operations[i].name);
	printf("\n");
}

static void run(struct perf *p)
{
	struct onesided o = { .rank = p->rank, .operand = 1 };

	/* A page: MPICH 4.0.2 mixes up the ranks' windows below that. */
	MPI_Win_allocate(1 << 16, sizeof(int64_t), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &o.memory, &o.win);
	o.memory[0] = 0;
	MPI_Win_lock_all(0, o.win);
	MPI_Win_sync(o.win);
	print_legend(p);
	for (long i = 0; i < N_OPERATIONS; i++)
		if (only < 0 || only == i)
			measure(p, &o, i);
	MPI_Win_unlock_all(o.win);
	MPI_Win_free(&o.win);
}

const struct perf_command perf_onesided = {
	.name = "onesided",
	.help = "8 B put, get and atomics on a target that waits or computes",
	.run = run,
	.options = options,
	.min_ranks = 2,
};

/* --- all ranks accumulate into memory of rank 0 --- */

static long one_cell, rounds = 20000;

static const struct perf_option crowd_options[] = {
	{ "one", &one_cell, "1: all into one cell, not each into its own" },
	{ "rounds", &rounds, "operations of each rank, in a repetition" },
	{ 0 },
};

static double accumulate_all(struct perf *p, MPI_Win win, int64_t one)
{
	MPI_Aint cell = one_cell ? 0 : 8 * p->rank; /* lines of their own */
	double begin;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = perf_now();
	for (long i = 0; i < rounds; i++)
		MPI_Accumulate(&one, 1, MPI_INT64_T, 0, cell, 1, MPI_INT64_T,
			       MPI_SUM, win);
	MPI_Win_flush(0, win);
	MPI_Barrier(MPI_COMM_WORLD); /* some may not have begun before */
	return perf_max_over_ranks(perf_now() - begin);
}

static void check_sum(struct perf *p, const int64_t *memory, long times)
{
	int64_t sum = 0;

	for (int i = 0; i < p->ranks; i++)
		sum += memory[8 * i];
	if (p->rank == 0 && sum != rounds * times * p->ranks)
		perf_fail("the sum is %ld, not %ld", (long)sum,
			  rounds * times * p->ranks);
}

static void run_crowd(struct perf *p)
{
	double t[PERF_MAX_REPS];
	int64_t *memory;
	MPI_Win win;

	MPI_Win_allocate(64 * p->ranks + (1 << 16), sizeof(int64_t),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (int i = 0; i < 8 * p->ranks; i++)
		memory[i] = 0;
	MPI_Win_lock_all(0, win);
	MPI_Win_sync(win);
	for (int i = 0; i < p->reps; i++)
		t[i] = accumulate_all(p, win, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	check_sum(p, memory, p->reps);
	perf_cell(p, "ranks", p->ranks);
	perf_cell(p, "Mops/s",
		  (double)rounds * p->ranks / perf_median(t, p->reps) * 1e-6);
	perf_row_end(p);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

const struct perf_command perf_accumulate = {
	.name = "accumulate",
	.help = "all ranks add to cells of rank 0",
	.run = run_crowd,
	.options = crowd_options,
	.min_ranks = 2,
};

#endif
