/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Many small standard sends complete although no receive is posted yet, to
 * another rank and to oneself. The standard does not promise it, but programs
 * count on it; a receiver grants more room while its budget allows.
 */
#include "check.h"

#define MANY 10000
#define SELF 1000

static void drain(int source, int n)
{
	int x;

	for (int i = 0; i < n; i++) {
		MPI_Recv(&x, 1, MPI_INT, source, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		CHECK(x == i);
	}
}

int main(int argc, char **argv)
{

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; rank == 0 && i < MANY; i++)
		MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		drain(0, MANY);
	for (int i = 0; i < SELF; i++)
		MPI_Send(&i, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	drain(rank, SELF);
	MPI_Finalize();
	return 0;
}
