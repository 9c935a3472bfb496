/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Threads that run collectives at the same time, each on its own communicator,
 * while the main thread does so on MPI_COMM_WORLD.
 */
#include <pthread.h>

#include "coll_cases.h"

#define THREADS 3

static void *thread_main(void *arg)
{
	run_cases(arg, -1, 60);
	return NULL;
}

int main(int argc, char **argv)
{
	struct env e[THREADS + 1];
	pthread_t t[THREADS];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i <= THREADS; i++) {
		e[i] = (struct env){ .comm = MPI_COMM_WORLD,
				     .seed = 100 + i,
				     .max_ints = 6000 };
		if (i < THREADS)
			MPI_Comm_dup(MPI_COMM_WORLD, &e[i].comm);
		MPI_Comm_rank(e[i].comm, &e[i].rank);
		MPI_Comm_size(e[i].comm, &e[i].size);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread_main, &e[i]);
	run_cases(&e[THREADS], -1, 60);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		MPI_Comm_free(&e[i].comm);
	}
	MPI_Finalize();
	return 0;
}
