/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A token goes round the ranks of an MPI job: mpicc ring.c -o ring */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 1000

int main(int argc, char **argv)
{
	int rank, size, token = 0;
	double start;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0) {
			token++;
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0,
				 MPI_COMM_WORLD);
		}
		MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 0,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 0) {
			token++;
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0,
				 MPI_COMM_WORLD);
		}
	}
	if (rank == 0)
		printf("%d ranks, %d rounds: the token counts %d, %.2f us a hop\n",
		       size, ROUNDS, token,
		       (MPI_Wtime() - start) * 1e6 / ROUNDS / size);
	MPI_Finalize();
	return rank == 0 && token != ROUNDS * size;
}
