/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * crowd_contact SECONDS: after that time rank 0 talks to rank 1 for the first time, and
 * says how long that took. For tests/system/crowd.sh. Not in testlist.
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
	int x = 7;
	double began;

	start(&argc, &argv);
	if (rank == 0) {
		usleep((useconds_t)(atof(argv[1]) * 1e6));
		began = MPI_Wtime();
		MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
		MPI_Recv(&x, 1, MPI_INT, 1, 0, WORLD, IGNORE);
		printf("first contact took %.0f ms\n",
		       (MPI_Wtime() - began) * 1000);
	} else {
		MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, IGNORE);
		MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
	}
	return finish();
}
