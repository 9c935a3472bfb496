/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collectives in which one rank gives another count than the others, which no
 * program may. Still every call ends, some rank is told, nothing is written
 * beyond a buffer, and the communicator works afterwards.
 */
#include "check.h"

#define MAX 40010 /* elements of a block */
#define RANKS_MAX 16
#define GUARD 0x5a5a5a5a

static int in[MAX * RANKS_MAX], out[MAX * RANKS_MAX + 1];
static int counts[RANKS_MAX], displs[RANKS_MAX];

enum {
	BCAST,
	REDUCE,
	ALLREDUCE,
	GATHER,
	SCATTER,
	ALLGATHER,
	ALLTOALL,
	SCAN,
	EXSCAN,
	REDUCE_SCATTER,
	GATHERV,
	SCATTERV,
	ALLTOALLV,
	KINDS,
	/* the two sides of one rank */
	OWN_ALLGATHER,
	OWN_ALLTOALL,
	OWN_GATHER
};
static int usual; /* count of the ranks that agree */

static int now(int kind, int n)
{
	switch (kind) {
	case BCAST:
		return MPI_Bcast(out, n, MPI_INT, 0, WORLD);
	case REDUCE:
		return MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, WORLD);
	case ALLREDUCE:
		return MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, WORLD);
	case GATHER:
		return MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, WORLD);
	case SCATTER:
		return MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 0, WORLD);
	case ALLGATHER:
		return MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, WORLD);
	case ALLTOALL:
		return MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, WORLD);
	case SCAN:
		return MPI_Scan(in, out, n, MPI_INT, MPI_SUM, WORLD);
	case EXSCAN:
		return MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, WORLD);
	case REDUCE_SCATTER:
		return MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM,
						WORLD);
	case GATHERV:
		return MPI_Gatherv(in, n, MPI_INT, out, counts, displs, MPI_INT,
				   0, WORLD);
	case SCATTERV:
		return MPI_Scatterv(in, counts, displs, MPI_INT, out, n,
				    MPI_INT, 0, WORLD);
	case OWN_ALLGATHER:
		return MPI_Allgather(in, n, MPI_INT, out, usual, MPI_INT,
				     WORLD);
	case OWN_ALLTOALL:
		return MPI_Alltoall(in, n, MPI_INT, out, usual, MPI_INT, WORLD);
	case OWN_GATHER:
		return MPI_Gather(in, n, MPI_INT, out, usual, MPI_INT, 0,
				  WORLD);
	default:
		return MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts,
				     displs, MPI_INT, WORLD);
	}
}

/* The same, nonblocking. */
static int later(int kind, int n)
{
	MPI_Request q = MPI_REQUEST_NULL;

	switch (kind) {
	case BCAST:
		OK(MPI_Ibcast(out, n, MPI_INT, 0, WORLD, &q));
		break;
	case ALLREDUCE:
		OK(MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, WORLD, &q));
		break;
	case GATHERV:
		OK(MPI_Igatherv(in, n, MPI_INT, out, counts, displs, MPI_INT, 0,
				WORLD, &q));
		break;
	default:
		OK(MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, WORLD, &q));
	}
	return MPI_Wait(&q, IGNORE);
}

static int told(int err)
{
	int class;

	MPI_Error_class(err, &class);
	CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE ||
	      class == MPI_ERR_COUNT);
	return class != MPI_SUCCESS;
}

static void one(int (*call)(int, int), int kind, int n, int odd, int by)
{
	int mine = rank == odd ? n + by : n, any = 0, here;
	int room = kind > KINDS ? n : mine;

	usual = n;
	for (int i = 0; i < size; i++) {
		counts[i] = mine;
		displs[i] = i * mine;
	}
	/* the end of what may be written here */
	out[room * size] = GUARD;
	here = told(call(kind, mine));
	EQUAL(out[room * size], GUARD);
	OK(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_SUM, WORLD));
	CHECK(any > 0);
	if (kind == BCAST && odd == 0) /* passed on to all */
		EQUAL(any, size - 1);
}

int main(int argc, char **argv)
{
	static const int sizes[] = { 5, 100, 301, 17000, 40000 };

	start(&argc, &argv);
	CHECK(size <= RANKS_MAX);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 8; i++) /* memory is shared after a few calls */
		OK(MPI_Barrier(WORLD));
	for (int i = 0; i < 5; i++)
		for (int odd = 0; odd < size; odd += size - 1)
			for (int by = -1; by <= 1; by += 2) {
				for (int kind = 0; kind < KINDS; kind++)
					one(now, kind, sizes[i], odd, by);
				one(now, OWN_ALLGATHER, sizes[i], odd, by);
				one(now, OWN_ALLTOALL, sizes[i], odd, by);
				one(now, OWN_GATHER, sizes[i], odd, by);
				one(later, BCAST, sizes[i], odd, by);
				one(later, ALLREDUCE, sizes[i], odd, by);
				one(later, GATHERV, sizes[i], odd, by);
				one(later, ALLTOALL, sizes[i], odd, by);
			}
	return finish();
}
