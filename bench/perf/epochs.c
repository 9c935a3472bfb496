// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What it takes to synchronize on a window, around one put of 8 bytes: a fence of all;
 * post, start, complete and wait with the neighbours of a ring, two on either side; a
 * lock of the next rank. And what a window takes of a rank's memory.
 */
#include "perf.h"

#ifndef PERF_NO_WINDOW

enum { NEIGHBOURS = 4, WINDOWS = 32 };

struct epochs {
	int rank, ranks;
	MPI_Win win;
	MPI_Group neighbours;
	int to[NEIGHBOURS], n;
	int64_t *memory, value;
};

static void put(struct epochs *e, int to)
{
	MPI_Put(&e->value, 1, MPI_INT64_T, to, e->rank % 64, 1, MPI_INT64_T,
		e->win);
}

static void fence(void *arg, long times)
{
	struct epochs *e = arg;

	for (long i = 0; i < times; i++) {
		put(e, (e->rank + 1) % e->ranks);
		MPI_Win_fence(0, e->win);
	}
}

static void pscw(void *arg, long times)
{
	struct epochs *e = arg;

	for (long i = 0; i < times; i++) {
		MPI_Win_post(e->neighbours, 0, e->win);
		MPI_Win_start(e->neighbours, 0, e->win);
		for (int k = 0; k < e->n; k++)
			put(e, e->to[k]);
		MPI_Win_complete(e->win);
		MPI_Win_wait(e->win);
	}
}

static void lock_put_unlock(void *arg, long times)
{
	struct epochs *e = arg;
	int to = (e->rank + 1) % e->ranks;

	for (long i = 0; i < times && e->rank == 0; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, e->win);
		put(e, to);
		MPI_Win_unlock(to, e->win);
	}
}

static void add_neighbour(struct epochs *e, int rank)
{
	for (int i = 0; i < e->n; i++)
		if (e->to[i] == rank)
			return;
	if (rank != e->rank)
		e->to[e->n++] = rank;
}

static void find_neighbours(struct epochs *e)
{
	MPI_Group world;

	for (int d = 1; d <= 2; d++) {
		add_neighbour(e, (e->rank + d) % e->ranks);
		add_neighbour(e,
			      (e->rank + e->ranks - d % e->ranks) % e->ranks);
	}
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, e->n, e->to, &e->neighbours);
	MPI_Group_free(&world);
}

/* Bytes of a rank for each window, beyond the memory that was asked for. */
static double window_memory(void)
{
	double before = perf_memory("VmRSS:");
	MPI_Win win[WINDOWS];
	void *memory;

	for (int i = 0; i < WINDOWS; i++)
		MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
				 &win[i]);
	before = perf_max_over_ranks(perf_memory("VmRSS:") - before);
	for (int i = 0; i < WINDOWS; i++)
		MPI_Win_free(&win[i]);
	return before / WINDOWS;
}

static void run(struct perf *p)
{
	struct epochs e = { .rank = p->rank, .ranks = p->ranks };
	double t;

	find_neighbours(&e);
	MPI_Win_allocate(1 << 16, sizeof(int64_t), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &e.memory, &e.win);
	MPI_Win_fence(0, e.win);
	t = perf_measure(p, fence, &e).usual;
	MPI_Win_fence(MPI_MODE_NOSUCCEED, e.win);
	perf_cell(p, "ranks", p->ranks);
	perf_cell(p, "fence us", t * 1e6);
	perf_cell(p, "pscw us", perf_measure(p, pscw, &e).usual * 1e6);
	perf_cell(p, "lock us",
		  perf_measure(p, lock_put_unlock, &e).usual * 1e6);
	MPI_Win_free(&e.win);
	MPI_Group_free(&e.neighbours);
	perf_cell(p, "window B", window_memory());
	perf_row_end(p);
}

const struct perf_command perf_epochs = {
	.name = "epochs",
	.help = "fence, post/start/complete/wait, lock; memory of a window",
	.run = run,
	.min_ranks = 2,
};

#endif
