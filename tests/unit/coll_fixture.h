/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of the collectives with threads for ranks and a queue for the
 * network, so that every algorithm runs with any number of ranks, also where the
 * library would choose another one. About half of the messages are synchronous: a
 * send that the algorithm expects to be buffered stops the test.
 */
#ifndef COLL_FIXTURE_H
#define COLL_FIXTURE_H

#include "unit.h"

#include "../../mpi/coll/algorithms.h"
#include "../mpi/coll_cases.h"

#define MAX_RANKS 40

struct rank {
	pthread_t thread;
	struct mpii_comm comm, local;
	void (*body)(struct rank *r);
	int arg;
	struct env env;
};

/* Runs body in n ranks; @arg is for it, @ints becomes env.max_ints. */
void run_ranks(int n, void (*body)(struct rank *r), int arg, long ints);

#endif
