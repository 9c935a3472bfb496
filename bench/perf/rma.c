// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Rank 0 writes into rank 1's memory, or reads from it, while rank 1 waits: one transfer completed at a time, and many before each completion.
 */
#include "rma_window.h"

#ifndef PERF_NO_WINDOW

/* MPICH 4.0.2 mixes up the ranks' windows when they are below a page. */
static const size_t smallest_window = 1 << 16;

static long window = 64;

static const struct perf_option options[] = {
	{ "window", &window, "transfers before each completion" },
	{ 0 },
};

struct rma {
	bool get;
	int rank;
	size_t size;
	long many; /* transfers that are completed together */
	void *local;
	struct perf_window *window; /* rank 1's memory, for rank 0 */
};

static void step(void *arg, long times)
{
	struct rma *r = arg;

	if (r->rank == 1)
		perf_window_attend(r->window);
	if (r->rank != 0)
		return;
	for (long i = 0; i < times; i++) {
		for (long k = 0; k < r->many; k++)
			perf_window_transfer(r->window, r->local, r->size,
					     r->get);
		perf_window_flush(r->window);
	}
	perf_window_release(r->window);
}

/* Rank 0 has seed 1, rank 1 has seed 2, until one gets the other's. */
static void check_once(struct rma *r)
{
	MPI_Barrier(MPI_COMM_WORLD);
	perf_fill(r->local, r->size, 1);
	if (r->rank == 1)
		perf_fill(perf_window_memory(r->window), r->size, 2);
	perf_window_sync(r->window);
	MPI_Barrier(MPI_COMM_WORLD);
	step(r, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	perf_window_sync(r->window);
	if (r->get && r->rank == 0)
		perf_check(r->local, r->size, 2);
	if (!r->get && r->rank == 1)
		perf_check(perf_window_memory(r->window), r->size, 1);
}

static void measure(struct perf *p, struct rma *r)
{
	struct perf_time one, many;
	long samples = p->samples;

	r->many = 1;
	if (p->check)
		check_once(r);
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
	struct rma r = { .get = get, .rank = p->rank };

	if (window < 1)
		perf_fail("--window is 1 or more");
	for (int i = 0; i < p->n_sizes; i++) {
		size_t room = p->sizes[i];

		if (room < smallest_window)
			room = smallest_window;
		r.size = p->sizes[i];
		MPI_Alloc_mem(room, MPI_INFO_NULL, &r.local);
		r.window = perf_window_open(room);
		measure(p, &r);
		perf_window_close(r.window);
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
	.help = "rank 0 writes into memory of rank 1",
	.run = run_put,
	.options = options,
	.sizes = "8,64,1k,16k,256k,4M",
	.min_ranks = 2,
};

const struct perf_command perf_get = {
	.name = "get",
	.help = "rank 0 reads memory of rank 1",
	.run = run_get,
	.options = options,
	.sizes = "8,64,1k,16k,256k,4M",
	.min_ranks = 2,
};

#endif
