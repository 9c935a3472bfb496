/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * errors_abort WHAT: the last rank, or two, make a mistake on an object whose error
 * handler is MPI_ERRORS_ABORT; those who do not share the object go on. For
 * tests/system/mpi_errors.sh, which looks at who does. Not in testlist.
 */
#include <unistd.h>

#include "check.h"

static void mistake(const char *what, MPI_Comm pair)
{
	MPI_Comm c = MPI_COMM_SELF;
	MPI_Session s;
	int n;

	if (!strcmp(what, "session")) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &s);
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 99, &n, NULL);
	}
	if (!strcmp(what, "pair"))
		c = pair;
	if (!strcmp(what, "world"))
		c = WORLD;
	MPI_Comm_set_errhandler(c, strcmp(what, "fatal") ?
					   MPI_ERRORS_ABORT :
					   MPI_ERRORS_ARE_FATAL);
	MPI_Send(&n, 1, MPI_INT, 99, 0, c);
}

/* The words of an error, whatever came after it, name one rank or both. */
static void names(int code, int two, int three)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;

	OK(MPI_Error_string(code, text, &n));
	EQUAL(!!strstr(text, "lost rank 2 on "), two);
	EQUAL(!!strstr(text, "lost rank 3 on "), three);
}

/* Each of those who have gone has its own code, and keeps it. */
static void lose_two(int code[2])
{
	MPI_Request q[2];
	MPI_Status s[2];
	int x[2];

	for (int i = 0; i < 2; i++)
		OK(MPI_Irecv(&x[i], 1, MPI_INT, size - 2 + i, 3, WORLD, &q[i]));
	FAILS(MPI_Waitall(2, q, s), MPI_ERR_IN_STATUS);
	names(MPI_ERR_IN_STATUS, 1, 1);
	for (int i = 0; i < 2; i++) {
		code[i] = s[i].MPI_ERROR;
		FAILS(code[i], MPI_ERR_PROC_ABORTED);
		names(code[i], !i, i);
	}
	CHECK(code[0] != code[1] && code[1] <= MPI_ERR_LASTCODE);
	for (int i = 0; i < 4; i++) {
		EQUAL(MPI_Recv(x, 1, MPI_INT, size - 2 + i % 2, 3, WORLD,
			       IGNORE),
		      code[i % 2]);
		names(code[0], 1, 0);
		names(code[1], 0, 1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int x = 0, code[2];
	MPI_Comm pair;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_split(WORLD, rank / 2, 0, &pair);
	if (rank == size - 1 || (rank == size - 2 && !strcmp(what, "two")))
		mistake(what, pair);
	if (!strcmp(what, "two"))
		lose_two(code);
	if (rank == size - 2 && !strcmp(what, "pair"))
		sleep(10); /* is ended by another */
	FAILS(MPI_Recv(&x, 1, MPI_INT, size - 1, 1, WORLD, IGNORE),
	      MPI_ERR_PROC_ABORTED);
	if (rank < 2) {
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &x, 1, MPI_INT,
				1 - rank, 2, WORLD, IGNORE));
		EQUAL(x, 1 - rank);
	}
	if (!strcmp(what, "world") || !strcmp(what, "fatal"))
		sleep(10);
	MPI_Finalize();
	for (int i = 0; i < 2 && !strcmp(what, "two"); i++)
		names(code[i], !i, i);
	printf("rank %d goes on\n", rank);
	return 0;
}
