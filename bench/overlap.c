// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How much of a message's time hides behind a computation that makes no MPI
 * call. Rank 0 sends, rank 1 receives, both compute; each time is that of the
 * slower rank, from a barrier on:
 *
 *	comm	Isend or Irecv, Wait
 *	comp	the computation alone
 *	total	Isend or Irecv, the computation, Wait
 *	hidden	(comm + comp - total) / comm
 *
 * The computation is a fixed amount of work, not of time, so that what a
 * library's threads take from it shows. It is sized to last longer than comm.
 * thread% is the CPU time of the threads other than the main one during
 * total, idle% the same while there is no traffic: more than nothing there
 * means a thread that polls.
 */
#include "bench_common.h"

#include <stdlib.h>

struct overlap {
	int rank;
	int both; /* each rank sends and receives */
	int size;
	char *send;
	char *recv;
	long work;
};

struct sample {
	double time;
	double thread; /* CPU time of other threads, as a share of time */
};

static volatile double sink;

/* Opaque, so that the compiler moves it past no other call. */
static __attribute__((noipa)) double compute(long work)
{
	double x = 1;

	for (long i = 0; i < work; i++)
		x = x * 0.999 + 1;
	return x;
}

static struct sample run(struct overlap *o, int comm, long work)
{
	MPI_Request req[2];
	struct sample s;
	double cpu;
	int n = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	cpu = bench_cpu_process() - bench_cpu_thread();
	s.time = bench_now();
	if (comm && (o->both || o->rank == 1))
		MPI_Irecv(o->recv, o->size, MPI_BYTE, !o->rank, 1,
			  MPI_COMM_WORLD, &req[n++]);
	if (comm && (o->both || o->rank == 0))
		MPI_Isend(o->send, o->size, MPI_BYTE, !o->rank, 1,
			  MPI_COMM_WORLD, &req[n++]);
	sink = compute(work);
	MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
	s.time = bench_now() - s.time;
	cpu = bench_cpu_process() - bench_cpu_thread() - cpu;
	s.thread = bench_max_over_ranks(cpu / s.time);
	s.time = bench_max_over_ranks(s.time);
	return s;
}

/* Units of work per second with all ranks at it; the best of some tries. */
static double work_speed(struct overlap *o)
{
	const long work = 3000000;
	double best = 0, speed;

	for (int i = 0; i < 20; i++) {
		speed = work / run(o, 0, work).time;
		best = speed > best ? speed : best;
	}
	return best;
}

/* Sizes the work by the communication; says how often to repeat. */
static int prepare(struct bench *b, struct overlap *o, double speed,
		   double ratio)
{
	double t[BENCH_MAX_REPS], median, reps;

	for (int i = 0; i < b->reps; i++)
		t[i] = run(o, 1, 0).time;
	median = bench_median(t, b->reps);
	o->work = median * ratio * speed + 1;
	reps = b->reps * b->rep_time / (median * (2 + 2 * ratio));
	if (reps > BENCH_MAX_REPS)
		return BENCH_MAX_REPS;
	return reps > b->reps ? reps : b->reps;
}

static void measure(struct bench *b, struct overlap *o, int reps)
{
	double comm[BENCH_MAX_REPS], comp[BENCH_MAX_REPS];
	double total[BENCH_MAX_REPS], thread[BENCH_MAX_REPS];
	double idle[BENCH_MAX_REPS], c;
	struct sample s;

	for (int i = 0; i < reps; i++) {
		comm[i] = run(o, 1, 0).time;
		s = run(o, 0, o->work);
		comp[i] = s.time;
		idle[i] = s.thread;
		s = run(o, 1, o->work);
		total[i] = s.time;
		thread[i] = s.thread;
	}
	c = bench_median(comm, reps);
	comp[0] = bench_median(comp, reps);
	total[0] = bench_median(total, reps);
	bench_row(b, "size", (double)o->size, "comm us", c * 1e6, "comp us",
		  comp[0] * 1e6, "total us", total[0] * 1e6, "hidden%",
		  (c + comp[0] - total[0]) / c * 100, "thread%",
		  bench_median(thread, reps) * 100, "idle%",
		  bench_median(idle, reps) * 100, NULL);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct overlap o = {0};
	long both = 0, percent = 150;
	const struct bench_opt opts[] = {
		{"both", &both, "1: each rank sends and receives"},
		{"work", &percent, "computation, in percent of communication"},
		{0},
	};
	double speed;

	bench_start(&b, &argc, &argv, "overlap", 2, "64k,256k,1M,4M,16M", opts);
	if (b.ranks != 2)
		bench_fail("overlap takes 2 ranks");
	o.rank = b.rank;
	o.both = both;
	speed = work_speed(&o);
	for (int i = 0; i < b.n_sizes; i++) {
		o.size = b.sizes[i];
		o.send = bench_alloc(o.size);
		o.recv = bench_alloc(o.size);
		bench_fill(o.send, o.size, b.rank);
		measure(&b, &o, prepare(&b, &o, speed, percent * 0.01));
		if (both || b.rank == 1)
			bench_check(o.recv, o.size, !b.rank);
		free(o.send);
		free(o.recv);
	}
	return bench_stop(&b);
}
