/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One program for all measurements of messages: each sub-command is a file, or
 * a line of the table in coll.c. It is plain MPI, so that other MPIs run the
 * very same source: mpicc -O2 -o perf bench/perf/?*.c
 */
#ifndef PERF_H
#define PERF_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PERF_MAX_SIZES = 64,
	PERF_MAX_REPS = 1001,
	PERF_MAX_CELLS = 16,
};

struct perf;

/* An option of one sub-command: --name N. */
struct perf_option {
	const char *name;
	long *value;
	const char *help;
};

struct perf_command {
	const char *name, *help;
	void (*run)(struct perf *p);
	const struct perf_option *options; /* ends with a name of NULL */
	const char *sizes;		   /* usual ones; NULL: has none */
	int min_ranks;
	bool collective; /* samples start together and end with the last rank */
	const void *data; /* for run, where commands share it */
	/* instead of run, in a process that another one has spawned */
	void (*spawned)(MPI_Comm parent);
};

struct perf_cell {
	const char *title;
	double value;
};

struct perf {
	const struct perf_command *command;
	int rank, ranks;
	double init_time; /* seconds in MPI_Init */

	/* options */
	long sizes[PERF_MAX_SIZES];
	int n_sizes;
	int reps;	 /* timed repetitions; their median counts */
	double rep_time; /* seconds that one repetition takes */
	long samples;	 /* operations timed one by one, for percentiles */
	bool best;	 /* the best repetition counts, not the median */
	bool check, json, pin;

	/* the row that is being filled */
	struct perf_cell cells[PERF_MAX_CELLS];
	int n_cells;
	bool titled;
};

/* All collectives; ends with a name of NULL. */
extern const struct perf_command perf_collectives[];

void perf_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* options.c: everything of the command line but the sub-command's name */

void perf_options_parse(struct perf *p, int argc, char **argv);
void perf_options_print(const struct perf_command *c);

/* dynamic.c: ranks 0 and 1 meet at a port, each for itself; MPI_COMM_NULL at others.
 * All ranks call it. NULL where an MPI cannot do that. */
MPI_Comm perf_meet(int rank) __attribute__((weak));

/* measure.c */

/* Does the operation `times` times; ranks that take no part just return. */
typedef void perf_step(void *arg, long times);

struct perf_time {
	double usual; /* seconds: the median of the repetitions' means */
	/* of single operations; all zero where none were timed */
	double min, p50, p90, p99, max;
};

/* Warms up, finds how often fills a repetition, and measures. */
struct perf_time perf_measure(struct perf *p, perf_step *step, void *arg);

double perf_now(void);
double perf_cpu_process(void);
double perf_cpu_thread(void);
/* Sorts the values. */
double perf_median(double *values, int n);
double perf_percentile(const double *sorted, int n, double share);
double perf_max_over_ranks(double value);

/* output.c: rows of cells, printed by rank 0 */

void perf_print_parameters(struct perf *p);
void perf_cell(struct perf *p, const char *title, double value);
/* Columns for what was timed one by one, in microseconds, if anything was. */
void perf_cells_percentiles(struct perf *p, const struct perf_time *t,
			    double scale);
void perf_row_end(struct perf *p);

/* data.c */

/* Page-aligned memory, every page touched. */
void *perf_alloc(size_t size);
void perf_fill(void *buf, size_t size, uint64_t seed);
/* Ends the job when buf is not what perf_fill() makes of the same seed. */
void perf_check(const void *buf, size_t size, uint64_t seed);
uint64_t perf_hash(uint64_t x);
/* A line of /proc/self/status that counts kB, in bytes. */
double perf_memory(const char *name);

#endif
