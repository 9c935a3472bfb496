/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Programs for shared memory. Each is written once, for any number of processes, and also
 * runs sequentially, as one process on ordinary memory; and there is one with messages. All
 * must leave the same result. Started by mpiexec: PROGRAM [size [repetitions]].
 */
#ifndef DSM_BENCH_H
#define DSM_BENCH_H

#include <o2g_dsm.h>
#include <stddef.h>
#include <stdint.h>

/* One run: sequential if there is no region. */
struct run {
	long n;
	int rank, size;
	char *memory; /* zeroed */
	struct o2g_dsm *region;
};

struct program {
	const char *name;
	long n;			 /* if none is given */
	size_t (*bytes)(long n); /* of shared memory */
	void (*fill)(
		struct run *run); /* by the first, before the clock starts */
	void (*work)(struct run *run); /* by all */
	/* The same with MPI: the first has what was filled in, and then the result. */
	void (*messages)(struct run *run);
	/* where the result is in the memory */
	size_t (*result)(long n, size_t *bytes);
};
extern const struct program program;

/* Nothing when the run is sequential. */
void all_here(struct run *run);
void take_lock(struct run *run, uint64_t name);
void give_lock(struct run *run, uint64_t name);
/* A counter of the run's, from 0. */
long next_number(struct run *run, uint64_t counter);

/* The part [*from, *to) of n things that this process has. */
void my_part(const struct run *run, long n, long *from, long *to);
/* Those parts of what the first has, in pieces of so many bytes, go to everybody, or
 * come back; all lie at the same place. */
void deal(const struct run *run, void *at, long n, size_t each);
void collect(const struct run *run, void *at, long n, size_t each);
/* Numbers in [0, 1) that are the same everywhere. */
double noise(uint64_t i);

#endif
