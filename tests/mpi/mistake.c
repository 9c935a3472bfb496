/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * mistake WHAT: one mistake each, for tests/system/mpi_errors.sh, which looks
 * at what is said and how the job ends. Not in testlist.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A child of rank 0 calls what only its parent may; the job goes on. */
static void in_child(const char *what)
{
	int x = 0, status = 0;
	MPI_Request q;
	pid_t child;

	for (int i = 0; i < 20; i++)
		MPI_Barrier(WORLD);
	MPI_Irecv(&x, 1, MPI_INT, rank, 9, WORLD, &q);
	child = rank ? 0 : fork();
	if (!rank && !child) {
		alarm(10);
		if (!strcmp(what, "child_send"))
			MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
		if (!strcmp(what, "child_recv"))
			MPI_Recv(&x, 1, MPI_INT, 1, 0, WORLD, IGNORE);
		if (!strcmp(what, "child_barrier"))
			MPI_Barrier(WORLD);
		if (!strcmp(what, "child_wait"))
			MPI_Wait(&q, IGNORE);
		_exit(0);
	}
	if (!rank)
		waitpid(child, &status, 0);
	MPI_Send(&x, 1, MPI_INT, rank, 9, WORLD);
	MPI_Wait(&q, IGNORE);
	MPI_Barrier(WORLD);
	MPI_Finalize();
	exit(WIFEXITED(status) && !WEXITSTATUS(status) ? 0 :
	     WIFEXITED(status)			       ? 42 :
							 43);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int x[2] = { 0, 0 };
	MPI_Comm d;

	if (!strcmp(what, "before"))
		MPI_Comm_rank(WORLD, &rank);
	start(&argc, &argv);
	if (!strncmp(what, "child_", 6))
		in_child(what);
	if (!strcmp(what, "rank"))
		MPI_Send(x, 1, MPI_INT, 7, 0, WORLD);
	if (!strcmp(what, "named")) {
		MPI_Comm_dup(WORLD, &d);
		MPI_Comm_set_name(d, "my rows");
		MPI_Recv(x, 1, MPI_INT, 9, 0, d, IGNORE);
	}
	if (!strcmp(what, "truncate")) {
		MPI_Request q;

		MPI_Isend(x, 2, MPI_INT, rank, 5, WORLD, &q);
		MPI_Recv(x, 1, MPI_INT, rank, 5, WORLD, IGNORE);
	}
	if (!strcmp(what, "waitall")) {
		MPI_Request q[2];

		MPI_Isend(x, 2, MPI_INT, rank, 5, WORLD, &q[0]);
		MPI_Irecv(x, 1, MPI_INT, rank, 5, WORLD, &q[1]);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	}
	if (!strcmp(what, "twice"))
		MPI_Init(NULL, NULL);
	if (!strcmp(what, "abort")) {
		printf("said before");
		MPI_Abort(WORLD, 42);
	}
	if (!strcmp(what, "abort256"))
		MPI_Abort(WORLD, 256);
	if (!strcmp(what, "talk")) {
		for (int i = 0; i < 10; i++)
			MPI_Sendrecv(x, 2, MPI_INT, (rank + 1) % size, 1, x, 2,
				     MPI_INT, (rank + size - 1) % size, 1,
				     WORLD, IGNORE);
	}
	for (int i = 0; !strcmp(what, "reduce") && i < 20; i++)
		MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INT, MPI_SUM, WORLD);
	MPI_Finalize();
	if (!strcmp(what, "after"))
		MPI_Barrier(WORLD);
	return 0;
}
