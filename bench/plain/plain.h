/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Plain programs do what a benchmark does with system calls and shared memory
 * alone. What they take, no MPI can be much faster than; bench/run shows it
 * beside the targets.
 */
#ifndef O2G_BENCH_PLAIN_H
#define O2G_BENCH_PLAIN_H

#include <stddef.h>

/* Ends the program and says why, unless good. */
void plain_check(int good, const char *what);

double plain_now(void); /* s */
double plain_median(double *values, int count);

/* "8,64k,1M" into numbers; returns how many. */
int plain_sizes(const char *list, size_t *sizes, int room);

/* One row of results, as bench/perf --json prints them. */
void plain_row(size_t size, const char *column, double value);

/*
 * Makes two processes with a connection between them, each on a core of its
 * own and in a network namespace of its own; NULL: over loopback. The second
 * one ends when the first does.
 */
struct plain_pair {
	int side; /* 0, or 1 */
	int fd;
	int out;  /* where to send: the same one, or a second */
	int meet; /* a socket of their own, which is not measured */
};

struct plain_pair plain_pair(char *const *namespaces);
/* The same with a second connection: each is for one direction only. */
struct plain_pair plain_two_ways(char *const *namespaces);

/* Waits for the other one; returns the larger of both values. */
double plain_meet(const struct plain_pair *p, double value);

/* All of it, or the program ends. */
void plain_send(int fd, const void *data, size_t len);
void plain_recv(int fd, void *data, size_t len);

/*
 * Half a round trip of a header's length and so many bytes, us: the median of
 * many. take() waits, without sleeping, until len bytes have come.
 */
enum { PLAIN_HEADER = 48, PLAIN_MOST = 1 << 20 };

double plain_half_trip(const struct plain_pair *p, size_t size,
		       void (*take)(int fd, size_t len));

#endif
