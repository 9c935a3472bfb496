/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Cancelling: what was cancelled leaves no trace, what was not completes. */
#include "check.h"

static char big[300000];

static int cancelled(const MPI_Status *s)
{
	int flag;

	OK(MPI_Test_cancelled(s, &flag));
	return flag;
}

static void receive(void)
{
	MPI_Request q;
	MPI_Status s;
	int x = -1, y = 3, flag = 0;

	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, WORLD, &q));
	OK(MPI_Cancel(&q));
	OK(MPI_Wait(&q, &s));
	CHECK(cancelled(&s));
	CHECK(q == MPI_REQUEST_NULL);
	/* a message that comes later goes elsewhere */
	OK(MPI_Send(&y, 1, MPI_INT, rank, 1, WORLD));
	EQUAL(x, -1);
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &s));
	EQUAL(x, 3);
	CHECK(!cancelled(&s));

	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &q));
	OK(MPI_Cancel(&q));
	while (!flag)
		OK(MPI_Test(&q, &flag, &s));
	CHECK(cancelled(&s));

	/* too late: it has matched */
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, WORLD, &q));
	y = 4;
	OK(MPI_Send(&y, 1, MPI_INT, rank, 1, WORLD));
	OK(MPI_Cancel(&q));
	OK(MPI_Wait(&q, &s));
	CHECK(!cancelled(&s));
	EQUAL(x, 4);
	EQUAL(s.MPI_SOURCE, rank);

	/* cancel, then let go */
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, WORLD, &q));
	OK(MPI_Cancel(&q));
	OK(MPI_Request_free(&q));
	OK(MPI_Send(&y, 1, MPI_INT, rank, 1, WORLD));
	OK(MPI_Recv(&y, 1, MPI_INT, rank, 1, WORLD, IGNORE));
}

/* A large send that nobody has received: whichever way it ends, both sides
 * must agree. */
static void send_large(int sync)
{
	MPI_Request q;
	MPI_Status s;
	int gone = 0, flag;

	if (rank == 0) {
		fill(big, sizeof(big), 1);
		if (sync)
			OK(MPI_Issend(big, 8, MPI_BYTE, 1, 5, WORLD, &q));
		else
			OK(MPI_Isend(big, sizeof(big), MPI_BYTE, 1, 5, WORLD,
				     &q));
		OK(MPI_Cancel(&q));
		OK(MPI_Wait(&q, &s));
		gone = cancelled(&s);
		OK(MPI_Send(&gone, 1, MPI_INT, 1, 6, WORLD));
	} else if (rank == 1) {
		OK(MPI_Recv(&gone, 1, MPI_INT, 0, 6, WORLD, IGNORE));
		OK(MPI_Iprobe(0, 5, WORLD, &flag, IGNORE));
		EQUAL(flag, !gone);
		if (flag)
			OK(MPI_Recv(big, sizeof(big), MPI_BYTE, 0, 5, WORLD,
				    IGNORE));
	}
	MPI_Barrier(WORLD);
}

/* The same for a send that completes at once. */
static void send_small(void)
{
	MPI_Request q;
	MPI_Status s;
	int gone, flag, x = 9;

	OK(MPI_Isend(&x, 1, MPI_INT, rank, 7, WORLD, &q));
	OK(MPI_Cancel(&q));
	OK(MPI_Wait(&q, &s));
	gone = cancelled(&s);
	OK(MPI_Iprobe(rank, 7, WORLD, &flag, IGNORE));
	EQUAL(flag, !gone);
	if (flag)
		OK(MPI_Recv(&x, 1, MPI_INT, rank, 7, WORLD, IGNORE));
}

/* A persistent receive can be started again after it was cancelled. */
static void persistent(void)
{
	MPI_Request q;
	MPI_Status s;
	int x = 0, y = 8;

	OK(MPI_Recv_init(&x, 1, MPI_INT, rank, 1, WORLD, &q));
	OK(MPI_Start(&q));
	OK(MPI_Cancel(&q));
	OK(MPI_Wait(&q, &s));
	CHECK(cancelled(&s) && q != MPI_REQUEST_NULL);
	OK(MPI_Start(&q));
	OK(MPI_Send(&y, 1, MPI_INT, rank, 1, WORLD));
	OK(MPI_Wait(&q, &s));
	CHECK(!cancelled(&s));
	EQUAL(x, 8);
	OK(MPI_Request_free(&q));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	for (int i = 0; i < 20; i++) {
		receive();
		send_small();
		persistent();
		/* receive() has wildcards that must not see these */
		MPI_Barrier(WORLD);
		if (size > 1) {
			send_large(0);
			send_large(1);
		}
	}
	return finish();
}
