/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * unreachable sendrecv|waitall|wait|test|free|end|drop: each rank sends to the next one and receives from
 * the one before, and none can reach another. For tests/system/unreachable.sh. Not
 * in testlist.
 */
#include "check.h"

static void await(MPI_Request r[2], const char *how)
{
	int done = 0;

	if (!strcmp(how, "waitall")) {
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	} else if (!strcmp(how, "wait")) {
		MPI_Wait(&r[0], IGNORE);
		MPI_Wait(&r[1], IGNORE);
	} else if (!strcmp(how, "test")) {
		while (!done)
			MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
	} else {
		MPI_Request_free(&r[1]);
		MPI_Wait(&r[0], IGNORE);
	}
}

int main(int argc, char **argv)
{
	char out[8] = "", in[8];
	MPI_Request r[2];
	int to, from;

	start(&argc, &argv);
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	if (!strcmp(argv[1], "sendrecv")) {
		MPI_Sendrecv(out, 8, MPI_CHAR, to, 0, in, 8, MPI_CHAR, from, 0,
			     WORLD, IGNORE);
	} else if (!strcmp(argv[1], "end")) {
		return MPI_Finalize();
	} else if (!strcmp(argv[1], "drop")) {
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		MPI_Isend(out, 8, MPI_CHAR, to, 0, WORLD, &r[0]);
		MPI_Request_free(&r[0]);
		return MPI_Finalize();
	} else {
		MPI_Irecv(in, 8, MPI_CHAR, from, 0, WORLD, &r[0]);
		MPI_Isend(out, 8, MPI_CHAR, to, 0, WORLD, &r[1]);
		await(r, argv[1]);
	}
	printf("rank %d has had an answer\n", rank);
	return finish();
}
