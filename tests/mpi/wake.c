/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One thread sleeps in a receive while another polls all the time: whoever takes
 * the message off the wire, the sleeper wakes at once. Rank 0 answers slowly
 * enough for the sleeper to be asleep.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 300
#define LATE 1.0 /* seconds; a loaded machine needs some of them */

static atomic_bool stop;

static void *poller(void *arg)
{
	int flag;

	while (!stop) {
		MPI_Iprobe(0, 99, WORLD, &flag, IGNORE);
		if (flag)
			break;
	}
	return NULL;
}

static void answer(void)
{
	int x;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Recv(&x, 1, MPI_INT, 1, 1, WORLD, IGNORE);
		usleep(200 + i % 7 * 100);
		MPI_Send(&i, 1, MPI_INT, 1, 2, WORLD);
	}
}

static void ask(void)
{
	pthread_t thread;
	double worst = 0;
	int x;

	pthread_create(&thread, NULL, poller, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		double start = MPI_Wtime(), took;

		MPI_Send(&i, 1, MPI_INT, 0, 1, WORLD);
		MPI_Recv(&x, 1, MPI_INT, 0, 2, WORLD, IGNORE);
		CHECK(x == i);
		took = MPI_Wtime() - start;
		worst = took > worst ? took : worst;
	}
	stop = true;
	pthread_join(thread, NULL);
	CHECK(worst < LATE);
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	CHECK(level == MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK(size == 2);
	if (rank == 0)
		answer();
	else
		ask();
	MPI_Finalize();
	return 0;
}
