/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Many collectives in a row in which some ranks need not wait for others, and so
 * run ahead of them until there is no more room: nobody may sleep on then.
 */
#include <sched.h>

#include "check.h"

#define CALLS 300000

static unsigned random_state;

/* Be late now and then, so that another rank is the last. */
static void dawdle(void)
{
	random_state = random_state * 1103515245 + 12345;
	if ((random_state >> 16) % 50 == 0)
		sched_yield();
}

int main(int argc, char **argv)
{
	int one = 1, sum, root, value;

	start(&argc, &argv);
	random_state = (unsigned)rank + 1;
	for (int i = 0; i < CALLS; i++) {
		sum = 0;
		MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(sum == rank);
		dawdle();
	}
	for (int i = 0; i < CALLS; i++) {
		root = i / 100 % size;
		value = rank == root ? i : -1;
		MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
		CHECK(value == i);
		dawdle();
	}
	return finish();
}
