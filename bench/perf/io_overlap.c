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
 *
 * "plain hidden%" is the same of a thread of each rank that copies as many blocks to
 * another buffer and writes that with pwrite, without any MPI: more than that can
 * hardly be hidden on as many processors.
 */
#include "io.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long block = 2048, computing = 1;

static volatile double sink;

/* A fixed amount of work, not of time: what is taken from it shows. */
static void compute(long work)
{
	for (long i = 0; i < work; i++)
		sink = sink * 0.999 + 1;
}

/* --- in the background: nothing, a collective write, or a thread --- */

enum way { NOTHING, COLLECTIVE, THREAD };

static struct {
	MPI_Request q;
	pthread_t thread;
	char *copy;
} back;

static void *write_plain(void *arg)
{
	struct io_file *x = arg;

	for (long at = 0; at < x->bytes; at += block)
		memcpy(back.copy + at, x->buf + at, block);
	io_fail_if(pwrite(fileno(x->plain), back.copy, x->bytes,
			  x->rank * x->bytes) != x->bytes,
		   "pwrite");
	return NULL;
}

static void begin(struct io_file *x, enum way way)
{
	if (way == COLLECTIVE)
		io_fail_if(MPI_File_iwrite_at_all(x->f, 0, x->buf,
						  (int)x->bytes, MPI_BYTE,
						  &back.q),
			   "MPI_File_iwrite_at_all");
	else if (way == THREAD)
		io_fail_if(pthread_create(&back.thread, NULL, write_plain, x),
			   "pthread_create");
}

static void end(enum way way)
{
	if (way == COLLECTIVE)
		MPI_Wait(&back.q, MPI_STATUS_IGNORE);
	else if (way == THREAD)
		pthread_join(back.thread, NULL);
}

static double run(struct io_file *x, enum way way, long work)
{
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = perf_now();
	begin(x, way);
	if (x->rank < computing)
		compute(work);
	end(way);
	return perf_max_over_ranks(perf_now() - t);
}

/* As much as lasts three times as long as the write, which alone has all processors. */
static long work_for(struct io_file *x, double seconds)
{
	const long work = 1000000;
	double best = run(x, NOTHING, work);

	for (int i = 0; i < 5; i++) {
		double t = run(x, NOTHING, work);

		best = t < best ? t : best;
	}
	return (long)(3 * seconds / best * (double)work);
}

/* Medians: the write alone, the computation alone, both. */
struct times {
	double write, compute, total;
};

static struct times measure_way(struct perf *p, struct io_file *x, enum way way)
{
	double alone[PERF_MAX_REPS], comp[PERF_MAX_REPS], total[PERF_MAX_REPS];
	long work;

	for (int i = 0; i < p->reps; i++)
		alone[i] = run(x, way, 0);
	work = work_for(x, perf_median(alone, p->reps));
	for (int i = 0; i < p->reps; i++) {
		alone[i] = run(x, way, 0);
		comp[i] = run(x, NOTHING, work);
		total[i] = run(x, way, work);
	}
	return (struct times){ perf_median(alone, p->reps),
			       perf_median(comp, p->reps),
			       perf_median(total, p->reps) };
}

static double hidden(struct times t)
{
	return (t.write + t.compute - t.total) / t.write * 100;
}

static void measure(struct perf *p, struct io_file *x)
{
	struct times t = measure_way(p, x, COLLECTIVE), plain;

	back.copy = perf_alloc(x->bytes);
	plain = measure_way(p, x, THREAD);
	free(back.copy);
	perf_cell(p, "size", x->bytes);
	perf_cell(p, "write ms", t.write * 1e3);
	perf_cell(p, "compute ms", t.compute * 1e3);
	perf_cell(p, "total ms", t.total * 1e3);
	perf_cell(p, "hidden%", hidden(t));
	perf_cell(p, "plain ms", plain.write * 1e3);
	perf_cell(p, "plain hidden%", hidden(plain));
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
