// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Rank 0 writes into rank 1's memory, or reads from it, while rank 1 waits in a
 * barrier: one transfer completed at a time, and many before each completion.
 */
#include "perf.h"

/* MPICH 4.0.2 mixes up the ranks' windows when they are below a page. */
static const int smallest_window = 1 << 16;

static long window = 64;

static const struct perf_option options[] = {
	{"window", &window, "transfers before each completion"},
	{0},
};

struct rma {
	bool get, origin;
	int size;
	long many; /* transfers that are completed together */
	void *local, *remote; /* remote: of this rank, for the other */
	MPI_Win win;
};

static void transfer(struct rma *r)
{
	if (r->get)
		MPI_Get(r->local, r->size, MPI_BYTE, 1, 0, r->size, MPI_BYTE,
			r->win);
	else
		MPI_Put(r->local, r->size, MPI_BYTE, 1, 0, r->size, MPI_BYTE,
			r->win);
}

static void step(void *arg, long times)
{
	struct rma *r = arg;

	for (long i = 0; r->origin && i < times; i++) {
		for (long k = 0; k < r->many; k++)
			transfer(r);
		MPI_Win_flush(1, r->win);
	}
}

/* Rank 0 has seed 1, rank 1 has seed 2, until one gets the other's. */
static void check_once(struct perf *p, struct rma *r)
{
	MPI_Barrier(MPI_COMM_WORLD);
	perf_fill(r->local, r->size, 1);
	if (!r->origin)
		perf_fill(r->remote, r->size, 2);
	MPI_Win_sync(r->win);
	MPI_Barrier(MPI_COMM_WORLD);
	step(r, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(r->win);
	if (r->get && r->origin)
		perf_check(r->local, r->size, 2);
	if (!r->get && p->rank == 1)
		perf_check(r->remote, r->size, 1);
}

static void measure(struct perf *p, struct rma *r)
{
	struct perf_time one, many;
	long samples = p->samples;

	r->many = 1;
	if (p->check)
		check_once(p, r);
	one = perf_measure(p, step, r);
	r->many = window;
	p->samples = 0;
	many = perf_measure(p, step, r);
	p->samples = samples;
	perf_cell(p, "size", r->size);
	perf_cell(p, "usec", one.usual * 1e6);
	perf_cell(p, "MB/s", r->size * window / many.usual * 1e-6);
	perf_cells_percentiles(p, &one, 1);
	perf_row_end(p);
}

static void run(struct perf *p, bool get)
{
	struct rma r = {.get = get, .origin = p->rank == 0};

	if (window < 1)
		perf_fail("--window is 1 or more");
	for (int i = 0; i < p->n_sizes; i++) {
		int room = p->sizes[i] > smallest_window ? p->sizes[i]
							  : smallest_window;

		r.size = p->sizes[i];
		MPI_Alloc_mem(room, MPI_INFO_NULL, &r.local);
		MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &r.remote, &r.win);
		MPI_Win_lock_all(0, r.win);
		measure(p, &r);
		MPI_Win_unlock_all(r.win);
		MPI_Win_free(&r.win);
		MPI_Free_mem(r.local);
	}
}

static void run_put(struct perf *p)
{
	run(p, false);
}

static void run_get(struct perf *p)
{
	run(p, true);
}

const struct perf_command perf_put = {
	.name = "put",
	.help = "MPI_Put from rank 0 to rank 1, with a flush",
	.run = run_put,
	.options = options,
	.sizes = "8,64,1k,16k,256k,4M",
	.min_ranks = 2,
};

const struct perf_command perf_get = {
	.name = "get",
	.help = "MPI_Get from rank 1 to rank 0, with a flush",
	.run = run_get,
	.options = options,
	.sizes = "8,64,1k,16k,256k,4M",
	.min_ranks = 2,
};
