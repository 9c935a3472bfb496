/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the ranks of the system tests do:
 *
 *	mpi_prog victim RANK [CALL]
 *	                         all wait for a message of RANK, which says its
 *	                         pid and waits to be killed; they print their
 *	                         error and exit with 0 if it was the right one.
 *	                         CALL is barrier, ibarrier, send or waitall,
 *	                         instead
 *	mpi_prog exchange MS     all to all, for so long
 *	mpi_prog flood N BYTES   0 sends N messages to 1, which sleeps first and
 *	                         then prints the growth of its memory
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void die(const char *what)
{
	fprintf(stderr, "mpi_prog: rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Two requests, of which one fails: what its status says. */
static int wait_for_all(int who)
{
	MPI_Request q[2];
	MPI_Status s[2];
	int in[2], out = 0;

	MPI_Irecv(&in[0], 1, MPI_INT, who, 2, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &q[1]);
	MPI_Send(&out, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
	if (MPI_Waitall(2, q, s) != MPI_ERR_IN_STATUS)
		die("MPI_Waitall does not point to the statuses");
	if (s[1].MPI_ERROR != MPI_SUCCESS)
		die("MPI_Waitall fails what was complete");
	return s[0].MPI_ERROR;
}

/* A call that needs rank who. */
static int wait_for(int who, const char *call)
{
	static char big[1 << 20];
	MPI_Request q;
	int x, rc;

	if (call && !strcmp(call, "barrier"))
		return MPI_Barrier(MPI_COMM_WORLD);
	if (call && !strcmp(call, "send"))
		return MPI_Send(big, sizeof(big), MPI_CHAR, who, 3,
				MPI_COMM_WORLD);
	if (call && !strcmp(call, "waitall"))
		return wait_for_all(who);
	if (!call)
		return MPI_Recv(&x, 1, MPI_INT, who, 2, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	rc = MPI_Ibarrier(MPI_COMM_WORLD, &q);
	return rc ? rc : MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static int victim(int who, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int rc, len, class, x = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	/* Everybody has talked to the victim: the connections stand. */
	if (rank == who) {
		for (int i = 0; i < size; i++)
			if (i != who)
				MPI_Send(&x, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&x, 1, MPI_INT, who, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 10; i++) /* the quick way is chosen by then */
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == who) {
		printf("victim %d\n", (int)getpid());
		fflush(stdout);
		sleep(60);
		return 1;
	}
	rc = wait_for(who, call);
	if (rc == MPI_SUCCESS)
		die("a call that needs a dead rank succeeded");
	MPI_Error_class(rc, &class);
	MPI_Error_string(rc, text, &len);
	printf("rank %d: class %d: %s\n", rank, class, text);
	fflush(stdout);
	_exit(0); /* MPI_Finalize has nobody to agree with */
}

static int exchange(int ms)
{
	double end = MPI_Wtime() + ms / 1000.0;
	int *in = malloc(sizeof(int) * size), *out = malloc(sizeof(int) * size);
	int go = 1;
	long rounds = 0;

	while (go) {
		for (int i = 0; i < size; i++)
			out[i] = rank * 1000 + i;
		MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
		for (int i = 0; i < size; i++)
			if (in[i] != i * 1000 + rank)
				die("wrong data");
		go = MPI_Wtime() < end;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
		rounds++;
	}
	if (rank == 0)
		printf("exchanged %ld times\n", rounds);
	free(in);
	free(out);
	return 0;
}

static long memory_kib(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static int flood(int n, int bytes)
{
	int *data = calloc(1, bytes);
	long before = memory_kib();
	double start = MPI_Wtime();

	if (rank == 1)
		sleep(1);
	for (int i = 0; i < n && rank < 2; i++) {
		if (rank == 0) {
			data[0] = i;
			MPI_Send(data, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
			continue;
		}
		MPI_Recv(data, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (data[0] != i)
			die("a message is out of order");
	}
	if (rank == 1)
		printf("memory grew by %ld KiB, %.2f s\n",
		       memory_kib() - before, MPI_Wtime() - start);
	free(data);
	return 0;
}

static int number(char **argv, int argc, int i)
{
	if (i >= argc)
		die("an argument is missing");
	return atoi(argv[i]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rc = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "victim"))
		rc = victim(number(argv, argc, 2), argc > 3 ? argv[3] : NULL);
	else if (!strcmp(what, "exchange"))
		rc = exchange(number(argv, argc, 2));
	else if (!strcmp(what, "flood"))
		rc = flood(number(argv, argc, 2), number(argv, argc, 3));
	else
		die("which test?");
	MPI_Finalize();
	return rc;
}
