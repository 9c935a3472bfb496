// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Two ways of timing the same thing. Repetitions of many operations, of which
 * the median counts, cost the clock nothing; single operations give the
 * percentiles, and each has the reading of the clock in it (some 25 ns).
 */
#include "perf.h"

#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

double perf_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double perf_cpu_process(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double perf_cpu_thread(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double perf_median(double *values, int n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double perf_percentile(const double *sorted, int n, double share)
{
	int at = share * n;

	return sorted[at < n ? at : n - 1];
}

double perf_max_over_ranks(double value)
{
	double max;

	MPI_Allreduce(&value, &max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return max;
}

static double time_step(perf_step *step, void *arg, long times)
{
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = perf_now();
	step(arg, times);
	return perf_now() - start;
}

/* The same number at all ranks: rank 0's. */
static double agreed_time(perf_step *step, void *arg, long times)
{
	double t = time_step(step, arg, times);

	MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	return t;
}

/* How often per repetition; all ranks get the same answer. */
static long calibrate(struct perf *p, perf_step *step, void *arg)
{
	long times = 1;
	double t;

	time_step(step, arg, 1); /* connections are made on first use */
	for (;;) {
		t = agreed_time(step, arg, times);
		/* What is done once, at some early call, does not count. */
		for (int i = 0; i < 2 && t >= p->rep_time / 2; i++) {
			double again = agreed_time(step, arg, times);

			t = again < t ? again : t;
		}
		if (t >= p->rep_time / 2 || times >= 1L << 28)
			break;
		/* The first calls are slow: grow step by step. */
		times *= t < p->rep_time / 16 ? 8 : 2;
	}
	times = times * (p->rep_time / t);
	return times > 0 ? times : 1;
}

/*
 * As many as were asked for, but in no more time than the repetitions take;
 * three at least, of something slow.
 */
static long samples_to_take(const struct perf *p, double usual)
{
	double most = p->reps * p->rep_time / (usual > 0 ? usual : 1e-9);
	long n = p->samples < most ? p->samples : most;

	if (n < 3 && p->samples >= 3)
		n = 3;
	MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return n;
}

static void take_samples(struct perf *p, perf_step *step, void *arg,
			 double *values, int n)
{
	for (int i = 0; i < n; i++) {
		double start;

		if (p->command->collective)
			MPI_Barrier(MPI_COMM_WORLD);
		start = perf_now();
		step(arg, 1);
		values[i] = perf_now() - start;
	}
}

static void sample(struct perf *p, perf_step *step, void *arg,
		   struct perf_time *t)
{
	long n = samples_to_take(p, t->usual);
	double *values, *slowest;

	if (n < 1)
		return;
	values = perf_alloc(2 * n * sizeof(*values));
	slowest = values + n;
	take_samples(p, step, arg, values, n);
	if (p->command->collective) {
		MPI_Allreduce(values, slowest, n, MPI_DOUBLE, MPI_MAX,
			      MPI_COMM_WORLD);
		t->p50 = perf_median(slowest, n);
	} else {
		slowest = values;
		t->p50 = perf_median(values, n);
	}
	t->min = slowest[0];
	t->p90 = perf_percentile(slowest, n, 0.9);
	t->p99 = perf_percentile(slowest, n, 0.99);
	t->max = slowest[n - 1];
	free(values);
}

struct perf_time perf_measure(struct perf *p, perf_step *step, void *arg)
{
	long times = calibrate(p, step, arg);
	struct perf_time t = { 0 };
	double values[PERF_MAX_REPS];

	for (int i = 0; i < p->reps; i++)
		values[i] = time_step(step, arg, times) / times;
	t.usual = perf_median(values, p->reps);
	if (p->best)
		t.usual = values[0];
	if (p->command->collective)
		t.usual = perf_max_over_ranks(t.usual);
	sample(p, step, arg, &t);
	return t;
}
