/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * killed SEED MICROSECONDS VICTIM MORE [CALLS]: collectives and new communicators of all
 * kinds, one after the other, until rank VICTIM is killed, after some time. The
 * others make MORE calls after their first error, which may succeed or fail but
 * have to return, and end in order. For tests/system/killed.sh. Not in testlist.
 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

#define MOST (1 << 18)

static char in[8 * MOST], out[8 * MOST];
static MPI_Comm comm = WORLD;

/* Lengths that go different ways. */
static int length(unsigned r)
{
	static const int lengths[] = { 1, 8, 40, 500, 4000, 30000, MOST };

	return lengths[r % 7];
}

static int wait_for(int err, MPI_Request *r)
{
	return err ? err : MPI_Wait(r, IGNORE);
}

static int new_comm(unsigned r)
{
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Request q;
	int err;

	switch (r % 4) {
	case 0:
		err = MPI_Comm_dup(comm, &c);
		break;
	case 1:
		err = MPI_Comm_split(comm, 0, rank, &c);
		break;
	case 2:
		err = wait_for(MPI_Comm_idup(comm, &c, &q), &q);
		break;
	default:
		err = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0,
					  MPI_INFO_NULL, &c);
		if (!err)
			MPI_Comm_free(&c);
		return err;
	}
	if (err)
		return err;
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	if (comm != WORLD)
		MPI_Comm_free(&comm);
	comm = c;
	return MPI_SUCCESS;
}

static int call(unsigned what, unsigned r)
{
	int n = length(r), root = (int)(r / 7 % (unsigned)size);
	MPI_Request q;

	switch (what % 16) {
	case 0:
		return MPI_Barrier(comm);
	case 1:
		return MPI_Bcast(in, n, MPI_CHAR, root, comm);
	case 2:
		return MPI_Allreduce(in, out, n, MPI_CHAR, MPI_BOR, comm);
	case 3:
		return MPI_Reduce(in, out, n, MPI_CHAR, MPI_BOR, root, comm);
	case 4:
		return MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
	case 5:
		return MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
	case 6:
		return MPI_Gather(in, n, MPI_CHAR, out, n, MPI_CHAR, root,
				  comm);
	case 7:
		return MPI_Scatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root,
				   comm);
	case 8:
		return MPI_Scan(in, out, n, MPI_CHAR, MPI_BOR, comm);
	case 9:
		return MPI_Reduce_scatter_block(in, out, n, MPI_CHAR, MPI_BOR,
						comm);
	case 10:
		return wait_for(MPI_Ibarrier(comm, &q), &q);
	case 11:
		return wait_for(MPI_Iallreduce(in, out, n, MPI_CHAR, MPI_BOR,
					       comm, &q),
				&q);
	case 12:
		return wait_for(MPI_Ialltoall(in, n, MPI_CHAR, out, n, MPI_CHAR,
					      comm, &q),
				&q);
	case 13:
		return MPI_Sendrecv(in, n, MPI_CHAR, (rank + 1) % size, 0, out,
				    n, MPI_CHAR, (rank + size - 1) % size, 0,
				    comm, IGNORE);
	default:
		return new_comm(r);
	}
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	int us = argc > 2 ? atoi(argv[2]) : 100000;
	int victim = argc > 3 ? atoi(argv[3]) : 0;
	int more = argc > 4 ? atoi(argv[4]) : 0;
	const char *name = getenv("PMI_RANK");
	struct itimerval when = { .it_value = { us / 1000000, us % 1000000 } };
	int calls = argc > 5 ? atoi(argv[5]) : 1 << 30, failures = 0;

	if (name && atoi(name) == victim && us)
		setitimer(ITIMER_REAL, &when, NULL);
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; failures <= more && i < calls; i++) {
		unsigned what = seed = seed * 1103515245 + 12345;

		seed = seed * 1103515245 + 12345;
		failures += call(what >> 16, seed >> 16) != MPI_SUCCESS;
	}
	MPI_Finalize();
	printf("rank %d goes\n", rank);
	return 0;
}
