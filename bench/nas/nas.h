/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the five kernels share: the command line, the random numbers of the
 * specification, and the usual output.
 *
 * The kernels follow "The NAS Parallel Benchmarks" (RNR-94-007) and the classes
 * and verification values published with its later editions. They are ours, in
 * C, with the communication of the originals, and compile with any mpicc.
 */
#ifndef NAS_H
#define NAS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nas_class { NAS_S, NAS_W, NAS_A, NAS_B, NAS_CLASSES };

struct nas {
	const char *name;
	enum nas_class class;
	int rank, ranks;
	bool json;
};

struct nas_result {
	double size[3]; /* what was worked on; trailing zeroes are left out */
	int iterations;
	double seconds; /* of the slowest rank */
	double operations;
	const char *operation;
	bool verified;
};

/* Arguments are [S|W|A|B] [--json]; S when no class is named. */
void nas_start(struct nas *n, int *argc, char ***argv, const char *name);
/* Prints on rank 0, ends MPI, and returns the exit code of the program. */
int nas_finish(struct nas *n, const struct nas_result *result);
void nas_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* For kernels that cut their grid in halves. */
void nas_need_power_of_two(const struct nas *n, int most);
int nas_log2(long power_of_two);

/* Seconds between the two calls, of the slowest rank. */
double nas_clock_start(void);
double nas_clock_stop(double start);
/* Zeroed memory; nas_fail() where there is none. */
void *nas_alloc(size_t count, size_t size);

/*
 * x(k+1) = a * x(k) mod 2^46, and x / 2^46 is the number. A product of two
 * 64-bit words is right in its lowest 46 bits, so no arithmetic in halves.
 */
#define NAS_MULTIPLIER 1220703125ull
#define NAS_SEED 314159265ull

static inline uint64_t nas_times(uint64_t a, uint64_t x)
{
	return a * x & ((1ull << 46) - 1);
}

static inline double nas_random(uint64_t *x)
{
	*x = nas_times(NAS_MULTIPLIER, *x);
	return (double)(int64_t)*x * 0x1p-46;
}

/* The seed after this many numbers. */
uint64_t nas_skip(uint64_t seed, uint64_t numbers);

#endif
