/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the benchmarks share: options, repetition, statistics and output.
 * They are plain MPI programs, so that any mpicc can compile them and
 * implementations can be compared with the very same code.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BENCH_MAX_SIZES = 32,
	BENCH_MAX_REPS = 1001,
};

/* An option of one benchmark: --name VALUE, a whole number (1k, 4M, ...). */
struct bench_opt {
	const char *name;
	long *value;
	const char *help;
};

struct bench {
	const char *name;
	int rank;
	int ranks;
	bool json;
	bool titled; /* the column titles have been printed */
	bool pin; /* rank N's main thread stays on core N modulo cores */
	bool best; /* the best repetition counts: for a busy machine */
	int reps;
	double rep_time; /* seconds one repetition should take */
	int n_sizes;
	size_t sizes[BENCH_MAX_SIZES];
};

/* Does the measured thing this often; called by every rank alike. */
typedef void bench_step(void *arg, long times);

/*
 * MPI_Init, options, and the line of parameters. sizes: the default of
 * --sizes, "" for a benchmark that has none. opts: ended by a NULL name; may
 * be NULL. A wrong option or too few ranks ends the job with a message.
 */
void bench_start(struct bench *b, int *argc, char ***argv, const char *name,
		 int min_ranks, const char *sizes,
		 const struct bench_opt *opts);
int bench_stop(struct bench *b);

/*
 * Seconds per call of the step as rank 0 sees it: finds out how many calls
 * fill one repetition (which warms up as well), then takes the median.
 */
double bench_measure(struct bench *b, bench_step *step, void *arg);

/* One row, printed by rank 0: pairs of const char * and double, then NULL. */
void bench_row(struct bench *b, ...);

/* Prints why and ends the job. */
void bench_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

double bench_now(void);
double bench_cpu_process(void);
double bench_cpu_thread(void);
double bench_median(double *values, int n);
double bench_max_over_ranks(double value);

/* Page-aligned memory, every page touched. */
void *bench_alloc(size_t size);
void bench_fill(void *buf, size_t size, uint64_t seed);
/* Ends the job when buf is not what bench_fill() makes of the same seed. */
void bench_check(const void *buf, size_t size, uint64_t seed);
uint64_t bench_hash(uint64_t x);

#endif
