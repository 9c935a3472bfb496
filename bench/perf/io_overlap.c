// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How much of a collective write hides behind a computation that makes no MPI call.
 * Every rank has each Nth block of the file, so that all data goes through
 * aggregators. Times are those of the slowest rank:
 *
 *	write	iwrite_at_all and Wait
 *	compute	the computation alone
 *	total	iwrite_at_all, the computation, Wait
 *	hidden	(write + compute - total) / write
 *
 * The first ranks compute, as many as --computing; the others wait. What is written
 * has to be copied by somebody: with all processors computing nothing can hide.
 */
#include "io.h"

#include <stdlib.h>

static long block = 2048, computing = 1;

static volatile double sink;

/* A fixed amount of work, not of time: what is taken from it shows. */
static void compute(long work)
{
	for (long i = 0; i < work; i++)
		sink = sink * 0.999 + 1;
}

static double run(struct io_file *x, int with_write, long work)
{
	MPI_Request q = MPI_REQUEST_NULL;
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = perf_now();
	if (with_write)
		io_fail_if(MPI_File_iwrite_at_all(x->f, 0, x->buf,
						  (int)x->bytes, MPI_BYTE, &q),
			   "MPI_File_iwrite_at_all");
	if (x->rank < computing)
		compute(work);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	return perf_max_over_ranks(perf_now() - t);
}

/* As much as lasts three times as long as the write, which alone has all processors. */
static long work_for(struct io_file *x, double seconds)
{
	const long work = 1000000;
	double best = run(x, 0, work);

	for (int i = 0; i < 5; i++) {
		double t = run(x, 0, work);

		best = t < best ? t : best;
	}
	return (long)(3 * seconds / best * (double)work);
}

static void measure(struct perf *p, struct io_file *x)
{
	double alone[PERF_MAX_REPS], comp[PERF_MAX_REPS], total[PERF_MAX_REPS];
	double w, c, t;
	long work;

	for (int i = 0; i < p->reps; i++)
		alone[i] = run(x, 1, 0);
	work = work_for(x, perf_median(alone, p->reps));
	for (int i = 0; i < p->reps; i++) {
		alone[i] = run(x, 1, 0);
		comp[i] = run(x, 0, work);
		total[i] = run(x, 1, work);
	}
	w = perf_median(alone, p->reps);
	c = perf_median(comp, p->reps);
	t = perf_median(total, p->reps);
	perf_cell(p, "size", x->bytes);
	perf_cell(p, "write ms", w * 1e3);
	perf_cell(p, "compute ms", c * 1e3);
	perf_cell(p, "total ms", t * 1e3);
	perf_cell(p, "hidden%", (w + c - t) / w * 100);
	perf_row_end(p);
}

static void run_overlap(struct perf *p)
{
	for (int i = 0; i < p->n_sizes; i++) {
		struct io_file x;

		io_open_file(p, &x);
		x.bytes = p->sizes[i] / block * block;
		if (x.bytes == 0)
			x.bytes = block;
		io_view_in_turns(&x, block);
		x.buf = perf_alloc(x.bytes);
		perf_fill(x.buf, x.bytes, p->rank);
		measure(p, &x);
		io_close_file(&x);
	}
}

static const struct perf_option options[] = {
	{ "block", &block, "bytes of a block" },
	{ "computing", &computing, "ranks that compute; the others wait" },
	{ .name = NULL },
};

const struct perf_command perf_io_overlap = {
	.name = "io_overlap",
	.help = "a file: a collective write behind a computation",
	.run = run_overlap,
	.options = options,
	.sizes = "4M,16M",
	.min_ranks = 1,
};
