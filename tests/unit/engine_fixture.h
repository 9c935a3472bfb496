/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of libo2g end to end, over every channel: each forks a small job
 * whose endpoints find each other through a shared page, and runs one function
 * in every rank.
 */
#ifndef ENGINE_FIXTURE_H
#define ENGINE_FIXTURE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "o2g.h"

#define MAX_RANKS 4
#define LIMIT_S 40

extern struct shared {
	char address[MAX_RANKS][O2G_ADDRESS_MAX];
	atomic_int ready, round;
	atomic_int word[8]; /* for the tests */
} * shared;

/* In a rank. */
extern struct o2g_ep *ep;
extern int me, nranks;

#define CHECK(cond)                                                           \
	do {                                                                  \
		if (!(cond)) {                                                \
			fprintf(stderr, "rank %d: %s:%d: %s\n", me, __FILE__, \
				__LINE__, #cond);                             \
			_exit(1);                                             \
		}                                                             \
	} while (0)

/* Everybody has come here n times. */
void meet(atomic_int *counter);
void fill(unsigned char *b, size_t n, unsigned seed);
void check_bytes(const unsigned char *b, size_t n, unsigned seed);

/* Runs fn in n ranks; may_die names a rank whose end does not matter. */
void job(const char *channels, int n, void (*fn)(void), int may_die);

/* The same over each channel, as two tests. */
#define OVER(name, ranks, fn, may_die)          \
	static void name##__shm(void **state)   \
	{                                       \
		job("shm", ranks, fn, may_die); \
	}                                       \
	static void name##__tcp(void **state)   \
	{                                       \
		job("tcp", ranks, fn, may_die); \
	}

#define BOTH(name) cmocka_unit_test(name##__shm), cmocka_unit_test(name##__tcp)

#endif
