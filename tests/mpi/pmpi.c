/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The profiling interface: our MPI_Send stands in front of the library's, and
 * the library itself does not go through it.
 */
#include "check.h"

static int sends, dups;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
	     int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	dups++;
	return PMPI_Comm_dup(comm, newcomm);
}

int main(int argc, char **argv)
{
	int x = -1, next, prev;
	MPI_Request q;
	MPI_Comm d;

	PMPI_Init(&argc, &argv);
	PMPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	next = (rank + 1) % size;
	prev = (rank + size - 1) % size;
	for (int i = 0; i < 5; i++) {
		OK(PMPI_Irecv(&x, 1, MPI_INT, prev, 1, WORLD, &q));
		OK(MPI_Send(&rank, 1, MPI_INT, next, 1, WORLD));
		OK(PMPI_Wait(&q, IGNORE));
		EQUAL(x, prev);
	}
	EQUAL(sends, 5);
	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Barrier(d));
	OK(MPI_Comm_free(&d));
	EQUAL(dups, 1);
	EQUAL(sends, 5);
	OK(PMPI_Finalize());
	return 0;
}
