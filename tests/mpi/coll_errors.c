/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Wrong arguments to collectives and datatype calls: the right class, words
 * that name the argument, and a communicator that still works afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

static int rank, size;

static void expect(int line, int code, int class, const char *word)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int got = -1, len;

	MPI_Error_class(code, &got);
	MPI_Error_string(code, text, &len);
	if (got == class && strstr(text, word))
		return;
	fprintf(stderr, "coll_errors:%d: rank %d: class %d, not %d: %s\n", line,
		rank, got, class, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}
#define EXPECT(call, class, word) expect(__LINE__, call, class, word)

/* Nonblocking and persistent ones: wrong arguments at the call, and what goes
 * wrong later when it is waited for. */
static void later(MPI_Comm world)
{
	MPI_Request q = MPI_REQUEST_NULL;
	int a[4] = { 1 }, b[4], err;

	EXPECT(MPI_Ibarrier(MPI_COMM_NULL, &q), MPI_ERR_COMM, "MPI_Ibarrier");
	EXPECT(MPI_Ibarrier(world, NULL), MPI_ERR_ARG, "request");
	EXPECT(MPI_Ibcast(a, -1, MPI_INT, 0, world, &q), MPI_ERR_COUNT,
	       "MPI_Ibcast");
	EXPECT(MPI_Bcast_init(a, 1, MPI_INT, size, world, MPI_INFO_NULL, &q),
	       MPI_ERR_ROOT, "MPI_Bcast_init");
	EXPECT(MPI_Allreduce_init(a, b, 1, MPI_INT, MPI_SUM, world, (MPI_Info)a,
				  &q),
	       MPI_ERR_INFO, "info");
	for (int i = 0; i < 2; i++) {
		MPI_Status st;

		if (MPI_Ibcast(a, rank ? 1 : 4, MPI_INT, 0, world, &q))
			MPI_Abort(world, 1);
		err = i ? MPI_Waitall(1, &q, &st) :
			  MPI_Wait(&q, MPI_STATUS_IGNORE);
		if (rank)
			EXPECT(err, i ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE,
			       "16 bytes from rank 0");
		if (rank && i)
			EXPECT(st.MPI_ERROR, MPI_ERR_TRUNCATE, "");
		if (!rank && err)
			MPI_Abort(world, 1);
	}
}

/* Roots of an intercommunicator are ranks of the other side, or say which part
 * a process has. */
static void inter(MPI_Comm world)
{
	int lower = rank < size / 2, a[4] = { 1 }, b[4];
	int others = lower ? size - size / 2 : size / 2;
	MPI_Comm half, both;
	MPI_Request q = MPI_REQUEST_NULL;

	MPI_Comm_split(world, lower, 0, &half);
	MPI_Intercomm_create(half, 0, world, lower ? size / 2 : 0, 1, &both);
	MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
	EXPECT(MPI_Bcast(a, 1, MPI_INT, others, both), MPI_ERR_ROOT, "root");
	EXPECT(MPI_Bcast(a, 1, MPI_INT, -77, both), MPI_ERR_ROOT, "-77");
	EXPECT(MPI_Ibcast(a, 1, MPI_INT, others, both, &q), MPI_ERR_ROOT,
	       "MPI_Ibcast");
	EXPECT(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, -77, both), MPI_ERR_ROOT,
	       "-77");
	EXPECT(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, others, both),
	       MPI_ERR_ROOT, "MPI_Gather");
	EXPECT(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, others, both),
	       MPI_ERR_ROOT, "MPI_Scatter");
	EXPECT(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, both),
	       MPI_ERR_BUFFER, "MPI_IN_PLACE");
	EXPECT(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM,
	       "intercommunicator");
	MPI_Barrier(both); /* which still works */
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

/*
 * A call that is refused has not happened: a rank that makes it again, and right,
 * is in step with the others, which made theirs once. The standard leaves open
 * what follows an error; the handler that returns is of use only so.
 */
static void again(MPI_Comm world)
{
	int a[64] = { 1, 2 }, b[64] = { 0 }, sum = 0;
	int counts[32] = { 0 }, displs[32] = { 0 };
	MPI_Request q;

	counts[0] = 1;
	if (rank == 0) {
		EXPECT(MPI_Gather(a, 1, MPI_INT, b, -1, MPI_INT, 0, world),
		       MPI_ERR_COUNT, "recvbuf");
		EXPECT(MPI_Scatter(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, 0,
				   world),
		       MPI_ERR_TYPE, "sendtype");
		EXPECT(MPI_Gatherv(a, 1, MPI_INT, a, counts, displs, MPI_INT, 0,
				   world),
		       MPI_ERR_BUFFER, "MPI_IN_PLACE");
		EXPECT(MPI_Igather(a, 1, MPI_INT, b, -1, MPI_INT, 0, world, &q),
		       MPI_ERR_COUNT, "recvbuf");
		EXPECT(MPI_Scatter_init(NULL, 1, MPI_INT, b, 1, MPI_INT, 0,
					world, MPI_INFO_NULL, &q),
		       MPI_ERR_BUFFER, "sendbuf");
		EXPECT(MPI_Ibarrier(world, NULL), MPI_ERR_ARG, "request");
		EXPECT(MPI_Barrier_init(world, (MPI_Info)a, &q), MPI_ERR_INFO,
		       "info");
	}
	if (MPI_Gather(&rank, 1, MPI_INT, b, 1, MPI_INT, 0, world) ||
	    MPI_Allreduce(a, &sum, 1, MPI_INT, MPI_SUM, world) || sum != size) {
		fprintf(stderr, "coll_errors: rank %d: out of step\n", rank);
		MPI_Abort(world, 1);
	}
	if (MPI_Barrier_init(world, MPI_INFO_NULL, &q) || MPI_Start(&q) ||
	    MPI_Wait(&q, MPI_STATUS_IGNORE) || MPI_Request_free(&q)) {
		fprintf(stderr, "coll_errors: rank %d: no barrier\n", rank);
		MPI_Abort(world, 1);
	}
}

/* Buffers of MPI_Alltoallv and MPI_Alltoallw must not be aliased either; parts of
 * one array that do not overlap are not. */
static void aliased(MPI_Comm world)
{
	int a[64] = { 0 }, ones[32], sdispls[32], rdispls[32], bytes[32];
	MPI_Datatype types[32];

	for (int i = 0; i < size; i++) {
		ones[i] = 1;
		sdispls[i] = i;
		rdispls[i] = size + i;
		bytes[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
		a[i] = 10 * rank + i;
	}
	EXPECT(MPI_Alltoallv(a, ones, sdispls, MPI_INT, a, ones, sdispls,
			     MPI_INT, world),
	       MPI_ERR_BUFFER, "MPI_IN_PLACE");
	EXPECT(MPI_Alltoallw(a, ones, bytes, types, a, ones, bytes, types,
			     world),
	       MPI_ERR_BUFFER, "MPI_IN_PLACE");
	if (MPI_Alltoallv(a, ones, sdispls, MPI_INT, a, ones, rdispls, MPI_INT,
			  world))
		MPI_Abort(world, 1);
	for (int i = 0; i < size; i++) {
		if (a[size + i] == 10 * i + rank)
			continue;
		fprintf(stderr, "coll_errors: rank %d: %d from %d\n", rank,
			a[size + i], i);
		MPI_Abort(world, 1);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm world = MPI_COMM_WORLD;
	int a[4] = { 1 }, b[4], *counts, *zeros, sum;
	MPI_Datatype t;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	counts = calloc(size, sizeof(int));
	zeros = calloc(size, sizeof(int));
	counts[0] = -3;

	EXPECT(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "comm");
	EXPECT(MPI_Bcast(a, -1, MPI_INT, 0, world), MPI_ERR_COUNT, "-1");
	EXPECT(MPI_Bcast(a, 1, MPI_INT, size, world), MPI_ERR_ROOT, "root");
	EXPECT(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE, "");
	EXPECT(MPI_Bcast(NULL, 1, MPI_INT, 0, world), MPI_ERR_BUFFER, "buffer");
	EXPECT(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER,
	       "MPI_IN_PLACE");
	EXPECT(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BOR, world), MPI_ERR_OP,
	       "MPI_BOR is not defined on MPI_FLOAT");
	EXPECT(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP,
	       "op");
	EXPECT(MPI_Reduce_local(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM),
	       MPI_ERR_BUFFER, "inbuf is MPI_IN_PLACE");
	EXPECT(MPI_Reduce_local(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM),
	       MPI_ERR_BUFFER, "inoutbuf is MPI_IN_PLACE");
	EXPECT(MPI_Reduce_local(a, a, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER,
	       "the same memory");
	EXPECT(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, -7, world), MPI_ERR_ROOT,
	       "-7");
	EXPECT(MPI_Alltoallv(a, zeros, zeros, MPI_INT, b, counts, zeros,
			     MPI_INT, world),
	       MPI_ERR_COUNT, "-3");
	EXPECT(MPI_Allgatherv(a, 0, MPI_INT, b, NULL, zeros, MPI_INT, world),
	       MPI_ERR_ARG, "recvcounts");
	EXPECT(MPI_Type_contiguous(-2, MPI_INT, &t), MPI_ERR_COUNT, "-2");
	EXPECT(MPI_Type_vector(1, 1, 1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE,
	       "oldtype");
	t = MPI_DOUBLE;
	EXPECT(MPI_Type_free(&t), MPI_ERR_TYPE, "MPI_DOUBLE");
	MPI_Type_contiguous(2, MPI_INT, &t);
	EXPECT(MPI_Bcast(a, 1, t, 0, world), MPI_ERR_TYPE, "MPI_Type_commit");
	MPI_Type_commit(&t);
	EXPECT(MPI_Allreduce(a, b, 1, t, MPI_SUM, world), MPI_ERR_OP,
	       "derived");
	MPI_Type_free(&t);

	if (size > 1)
		inter(world);
	if (size <= 3) /* then rank 0 sends to each of the others */
		later(world);
	again(world);
	aliased(world);
	/* nothing of the above has touched the communicator */
	if (MPI_Allreduce(a, &sum, 1, MPI_INT, MPI_SUM, world) || sum != size) {
		fprintf(stderr, "coll_errors: rank %d: sum %d\n", rank, sum);
		MPI_Abort(world, 1);
	}
	free(counts);
	free(zeros);
	MPI_Finalize();
	return 0;
}
