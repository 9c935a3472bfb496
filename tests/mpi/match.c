/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Matching: order between two ranks, wildcards, tags up to the largest, and
 * communicators that never see each other's messages.
 */
#include "check.h"

#define N 200

/* Messages of different lengths (so protocols differ) keep their order. */
static void order(int wild)
{
	static int out[N][1 << 14], in[1 << 14];
	MPI_Request r[N];
	MPI_Status s;
	int len, source = wild ? MPI_ANY_SOURCE : 0;

	if (rank == 0) {
		for (int i = 0; i < N; i++) {
			len = i % 5 == 4 ? 1 << 14 : 1 + i % 3;
			out[i][0] = i;
			OK(MPI_Isend(out[i], len, MPI_INT, 1, 3, WORLD, &r[i]));
		}
		OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
	} else if (rank == 1) {
		for (int i = 0; i < N; i++) {
			OK(MPI_Recv(in, 1 << 14, MPI_INT, source,
				    wild ? MPI_ANY_TAG : 3, WORLD, &s));
			EQUAL(in[0], i);
			EQUAL(count_of(&s, MPI_INT),
			      i % 5 == 4 ? 1 << 14 : 1 + i % 3);
		}
	}
	MPI_Barrier(WORLD);
}

/* Receives match in the order posted, wildcards among them. */
static void posted_order(void)
{
	int in[4] = { 0 }, x;
	MPI_Request r[4];
	MPI_Status s[4];

	if (rank == 1) {
		OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 5, WORLD, &r[0]));
		OK(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			     WORLD, &r[1]));
		OK(MPI_Irecv(&in[2], 1, MPI_INT, 0, 5, WORLD, &r[2]));
		OK(MPI_Irecv(&in[3], 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &r[3]));
		OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, WORLD));
		OK(MPI_Waitall(4, r, s));
		EQUAL(in[0], 100); /* first with tag 5 */
		EQUAL(in[1], 101); /* the next, whatever it is */
		EQUAL(in[2], 103); /* 102 has tag 6 */
		EQUAL(in[3], 102);
		EQUAL(s[1].MPI_TAG, 5);
		EQUAL(s[3].MPI_TAG, 6);
		EQUAL(s[1].MPI_SOURCE, 0);
	} else if (rank == 0) {
		OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, WORLD, IGNORE));
		for (int i = 0; i < 4; i++) {
			x = 100 + i;
			OK(MPI_Send(&x, 1, MPI_INT, 1, i == 2 ? 6 : 5, WORLD));
		}
	}
	MPI_Barrier(WORLD);
}

/* Everybody sends to rank 0, which takes what comes. */
static void any_source(void)
{
	int *seen = calloc(size, sizeof(int)), x[2];
	MPI_Status s;

	for (int i = 0; i < N; i++) {
		x[0] = rank;
		x[1] = i;
		if (rank)
			OK(MPI_Send(x, 2, MPI_INT, 0, i, WORLD));
	}
	for (int i = 0; rank == 0 && i < N * (size - 1); i++) {
		OK(MPI_Recv(x, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD,
			    &s));
		EQUAL(s.MPI_SOURCE, x[0]);
		EQUAL(s.MPI_TAG, x[1]);
		EQUAL(seen[x[0]], x[1]); /* in order from each */
		seen[x[0]]++;
	}
	free(seen);
	MPI_Barrier(WORLD);
}

/* In reverse order of tags, from unexpected messages. */
static void tags(void)
{
	static const int tag[] = { 0,	    1,		32767,	   32768,
				   1 << 20, 2147483646, 2147483647 };
	MPI_Status s;
	int x;

	if (rank == 0) {
		for (int i = 0; i < 7; i++)
			OK(MPI_Send(&tag[i], 1, MPI_INT, 1, tag[i], WORLD));
		OK(MPI_Send(NULL, 0, MPI_INT, 1, 77, WORLD));
	} else if (rank == 1) {
		OK(MPI_Recv(NULL, 0, MPI_INT, 0, 77, WORLD, IGNORE));
		for (int i = 6; i >= 0; i--) {
			OK(MPI_Recv(&x, 1, MPI_INT, 0, tag[i], WORLD, &s));
			EQUAL(x, tag[i]);
			EQUAL(s.MPI_TAG, tag[i]);
		}
	}
	MPI_Barrier(WORLD);
}

static void communicators(void)
{
	MPI_Comm d;
	int x = 1, y = 2;

	OK(MPI_Comm_dup(WORLD, &d));
	if (rank == 0) {
		OK(MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD));
		OK(MPI_Send(&y, 1, MPI_INT, 1, 0, d));
	} else if (rank == 1) {
		OK(MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, d,
			    IGNORE));
		OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD,
			    IGNORE));
		EQUAL(x, 1);
		EQUAL(y, 2);
	}
	OK(MPI_Comm_free(&d));
}

/* The rank in a status is that in the communicator, also for any source. */
static void reversed(void)
{
	MPI_Comm d;
	MPI_Status s;
	MPI_Request r;
	int me, x = -1;

	OK(MPI_Comm_split(WORLD, 0, -rank, &d));
	OK(MPI_Comm_rank(d, &me));
	EQUAL(me, size - 1 - rank);
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, d, &r));
	OK(MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 0, d));
	OK(MPI_Wait(&r, &s));
	EQUAL(s.MPI_SOURCE, (me + size - 1) % size);
	EQUAL(x, s.MPI_SOURCE);
	OK(MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 0, d));
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, d, &s));
	EQUAL(x, s.MPI_SOURCE);
	OK(MPI_Comm_free(&d));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	CHECK(size >= 2);
	order(0);
	order(1);
	posted_order();
	any_source();
	tags();
	communicators();
	reversed();
	return finish();
}
