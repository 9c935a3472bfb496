// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The smallest MPI program that cannot be right by accident; for any MPI, and
 * also for a C++ compiler. "die": the last rank is killed while the others wait
 * for a message of it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, sum = 0, token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (argc > 1 && !strcmp(argv[1], "abort") && rank == size - 1)
		MPI_Abort(MPI_COMM_WORLD, 42);
	if (argc > 1 && !strcmp(argv[1], "die")) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == size - 1)
			kill(getpid(), SIGKILL);
		MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	printf("rank %d of %d sum %d\n", rank, size, sum);
	MPI_Finalize();
	return 0;
}
