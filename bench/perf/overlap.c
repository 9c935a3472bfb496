// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How much of a message's time hides behind a computation that makes no MPI
 * call. Rank 0 sends, rank 1 receives, both compute; each time is that of the
 * slower rank, from a barrier on:
 *
 *	comm	Isend or Irecv, Wait (of as many messages as make up --least)
 *	comp	the computation alone
 *	total	Isend or Irecv, the computation, Wait
 *	hidden	(comm + comp - total) / comm
 *
 * The computation is a fixed amount of work, not of time, so that what a
 * library's threads take from it shows. It is sized to last longer than comm.
 * thread% is the CPU time of the threads other than the main one during
 * total, idle% the same while there is no traffic: more than nothing there
 * means a thread that polls.
 *
 * With --clock both compute by the clock, twice as long as a message takes alone:
 * a program that has no core to spare, and does not notice what it lost to others.
 * Each run counts for itself then; hidden% is their median, worst% the worst.
 */
#include "perf.h"

#include <stdlib.h>

struct overlap {
	int rank;
	int both; /* each rank sends and receives */
	int size;
	int messages; /* under way at once */
	char *send;
	char *recv;
	MPI_Request *req;
	long work;
};

struct sample {
	double time;
	double thread; /* CPU time of other threads, as a share of time */
};

static volatile double sink;

#ifdef __clang__
#define OPAQUE __attribute__((noinline))
#else
#define OPAQUE __attribute__((noipa))
#endif

/* Opaque, so that the compiler moves it past no other call. */
static OPAQUE double compute(long work)
{
	double x = 1;

	__asm__ volatile("" : "+r"(work));
	for (long i = 0; i < work; i++)
		x = x * 0.999 + 1;
	return x;
}

/* Start all messages; returns how many requests that made. */
static int start_messages(struct overlap *o)
{
	int n = 0;

	for (int i = 0; i < o->messages && (o->both || o->rank == 1); i++)
		MPI_Irecv(o->recv + (size_t)i * o->size, o->size, MPI_BYTE,
			  !o->rank, 1, MPI_COMM_WORLD, &o->req[n++]);
	for (int i = 0; i < o->messages && (o->both || o->rank == 0); i++)
		MPI_Isend(o->send + (size_t)i * o->size, o->size, MPI_BYTE,
			  !o->rank, 1, MPI_COMM_WORLD, &o->req[n++]);
	return n;
}

static struct sample run(struct overlap *o, int comm, long work)
{
	struct sample s;
	double cpu;
	int n = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	cpu = perf_cpu_process() - perf_cpu_thread();
	s.time = perf_now();
	if (comm)
		n = start_messages(o);
	sink = compute(work);
	MPI_Waitall(n, o->req, MPI_STATUSES_IGNORE);
	s.time = perf_now() - s.time;
	cpu = perf_cpu_process() - perf_cpu_thread() - cpu;
	s.thread = perf_max_over_ranks(cpu / s.time);
	s.time = perf_max_over_ranks(s.time);
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
static int prepare(struct perf *p, struct overlap *o, double speed,
		   double ratio)
{
	double t[PERF_MAX_REPS], median, reps;

	for (int i = 0; i < p->reps; i++)
		t[i] = run(o, 1, 0).time;
	median = perf_median(t, p->reps);
	o->work = median * ratio * speed + 1;
	reps = p->reps * p->rep_time / (median * (2 + 2 * ratio));
	if (reps > PERF_MAX_REPS)
		return PERF_MAX_REPS;
	return reps > p->reps ? reps : p->reps;
}

static void measure(struct perf *p, struct overlap *o, int reps)
{
	double comm[PERF_MAX_REPS], comp[PERF_MAX_REPS];
	double total[PERF_MAX_REPS], thread[PERF_MAX_REPS];
	double idle[PERF_MAX_REPS], c;
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
	c = perf_median(comm, reps);
	comp[0] = perf_median(comp, reps);
	total[0] = perf_median(total, reps);
	perf_cell(p, "size", o->size);
	perf_cell(p, "comm us", c * 1e6);
	perf_cell(p, "comp us", comp[0] * 1e6);
	perf_cell(p, "total us", total[0] * 1e6);
	perf_cell(p, "hidden%", (c + comp[0] - total[0]) / c * 100);
	perf_cell(p, "thread%", perf_median(thread, reps) * 100);
	perf_cell(p, "idle%", perf_median(idle, reps) * 100);
	perf_row_end(p);
}

/* --- by the clock --- */

static void spin(double seconds)
{
	double end = perf_now() + seconds;

	while (perf_now() < end)
		sink = compute(100);
}

/* The share of the message's time that is not seen after the computation. */
static double hidden_by_clock(struct overlap *o, double alone, double *thread)
{
	double begin, cpu, seen;
	int n;

	MPI_Barrier(MPI_COMM_WORLD);
	cpu = perf_cpu_process() - perf_cpu_thread();
	begin = perf_now();
	n = start_messages(o);
	spin(2 * alone);
	MPI_Waitall(n, o->req, MPI_STATUSES_IGNORE);
	seen = perf_now() - begin - 2 * alone;
	cpu = perf_cpu_process() - perf_cpu_thread() - cpu;
	*thread = perf_max_over_ranks(cpu / (2 * alone));
	return 1 - perf_max_over_ranks(seen) / alone;
}

static void measure_by_clock(struct perf *p, struct overlap *o)
{
	double t[PERF_MAX_REPS], thread[PERF_MAX_REPS], alone, worst = 1;

	for (int i = 0; i < p->reps; i++)
		t[i] = run(o, 1, 0).time;
	alone = perf_median(t, p->reps);
	for (int i = 0; i < p->reps; i++) {
		t[i] = hidden_by_clock(o, alone, &thread[i]);
		worst = t[i] < worst ? t[i] : worst;
	}
	perf_cell(p, "size", o->size);
	perf_cell(p, "comm us", alone * 1e6);
	perf_cell(p, "hidden%", perf_median(t, p->reps) * 100);
	perf_cell(p, "worst%", worst * 100);
	perf_cell(p, "thread%", perf_median(thread, p->reps) * 100);
	perf_row_end(p);
}

static long both, percent = 150, least, by_clock;

static const struct perf_option options[] = {
	{ "both", &both, "1: each rank sends and receives" },
	{ "clock", &by_clock, "1: compute by the clock, twice as long" },
	{ "least", &least, "bytes under way, in several messages if need be" },
	{ "work", &percent, "computation, in percent of communication" },
	{ 0 },
};

static void open_size(struct overlap *o, int size)
{
	size_t room;

	o->size = size;
	o->messages = size && size < least ? (int)(least / size) : 1;
	room = (size_t)o->messages * size;
	o->send = perf_alloc(room);
	o->recv = perf_alloc(room);
	o->req = perf_alloc(2 * o->messages * sizeof(*o->req));
	perf_fill(o->send, room, o->rank);
}

static void close_size(struct overlap *o)
{
	free(o->send);
	free(o->recv);
	free(o->req);
}

static void run_sizes(struct perf *p)
{
	struct overlap o = { .rank = p->rank, .both = both };
	double speed = 0;

	if (p->ranks != 2)
		perf_fail("overlap takes 2 ranks");
	if (!by_clock)
		speed = work_speed(&o);
	for (int i = 0; i < p->n_sizes; i++) {
		open_size(&o, p->sizes[i]);
		if (by_clock)
			measure_by_clock(p, &o);
		else
			measure(p, &o, prepare(p, &o, speed, percent * 0.01));
		if (p->check && (both || p->rank == 1))
			perf_check(o.recv, (size_t)o.messages * o.size,
				   !p->rank);
		close_size(&o);
	}
}

const struct perf_command perf_overlap = {
	.name = "overlap",
	.help = "how much of a message hides behind computing",
	.run = run_sizes,
	.options = options,
	.sizes = "64k,256k,1M,4M,16M",
	.min_ranks = 2,
};
