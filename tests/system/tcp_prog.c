/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ranks 0 and 1 exchange a small and a large message, and say so. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char out[1 << 20], in[1 << 20];

int main(int argc, char **argv)
{
	static const int sizes[] = { 8, sizeof(out) };
	int rank, bad = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; rank < 2 && i < 2; i++) {
		memset(out, 'a' + rank, sizeof(out));
		MPI_Sendrecv(out, sizes[i], MPI_CHAR, !rank, i, in, sizes[i],
			     MPI_CHAR, !rank, i, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		for (int j = 0; j < sizes[i]; j++)
			bad |= in[j] != 'a' + !rank;
	}
	printf("rank %d %s\n", rank, bad ? "wrong" : "right");
	MPI_Finalize();
	return bad;
}
