/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of a channel between two processes, under the real core. Every test
 * forks both ranks, so each reads its settings afresh and dies alone.
 */
#ifndef RANKS_FIXTURE_H
#define RANKS_FIXTURE_H

#include "host.h"
#include "clock.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

#define LIMIT_S 30

/* In a rank: cmocka's asserts would jump back into the parent's runner. */
#define CHECK(cond)                                                        \
	do {                                                               \
		if (!(cond)) {                                             \
			fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__,  \
				__LINE__, ep ? (int)ep->rank : -1, #cond); \
			_exit(1);                                          \
		}                                                          \
	} while (0)

extern struct host *ep; /* of this rank */

extern struct shared {
	char cards[2][O2G_ADDRESS_MAX];
	u64 words[8]; /* for whatever the ranks have to tell each other */
	int arrived[64];
} * shared;

typedef void rank_fn(void);

/* Which channel; shm unless told. */
extern const struct chan_ops *ranks_ops;
extern void (*ranks_prepare)(void); /* in each rank, before its channel opens */

/* Runs two ranks; the exit status of each, or minus the signal. */
void run(rank_fn *rank0, rank_fn *rank1, int status[2]);
void run_well(rank_fn *rank0, rank_fn *rank1);

/* An endpoint of @rank in this process; the test fails if it cannot be. */
struct host *rank_open(u32 rank);
/* Where the other rank is, and our connection to it. */
u32 other_rank(void);
struct host_peer *other_peer(void);

/* Both ranks pass the @n-th meeting together. */
void meet(int n);
/* The same, making progress until the other is there. */
void meet_at_work(int n);

void rnd_seed(u64 seed);
u32 rnd(u32 below);
u8 byte_of(u32 message, u64 i);

/*
 * Messages back and forth between ranks that sleep until one comes. A wake-up
 * that is missed costs 50 ms, the timeout of host_until's sleep.
 */
void sleepy(void);

#endif
