/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Persistent requests of every kind, started again and again. */
#include "check.h"

#define TURNS 20
static char in[100000], out[100000];
/* The next rank may be late by all turns. */
static char space[2 * TURNS * (100000 + MPI_BSEND_OVERHEAD)];

typedef int init_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm,
		    MPI_Request *);
typedef int init_fn_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm,
		      MPI_Request *);

static void inactive(MPI_Request *q)
{
	MPI_Status s;
	int flag = 0, index;

	OK(MPI_Wait(q, &s));
	CHECK(is_empty(&s));
	OK(MPI_Test(q, &flag, &s));
	CHECK(flag && is_empty(&s));
	OK(MPI_Waitany(1, q, &index, &s));
	EQUAL(index, MPI_UNDEFINED);
	OK(MPI_Request_get_status(*q, &flag, &s));
	CHECK(flag && is_empty(&s));
	CHECK(*q != MPI_REQUEST_NULL);
	FAILS(MPI_Cancel(q), MPI_ERR_REQUEST);
}

static void turns(MPI_Request *q, int len)
{
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Status s[2];

	inactive(&q[0]);
	for (int t = 0; t < TURNS; t++) {
		fill(out, len, t + rank);
		memset(in, 0, len);
		if (t % 2) {
			OK(MPI_Startall(2, q));
		} else {
			OK(MPI_Start(&q[1]));
			FAILS(MPI_Start(&q[1]), MPI_ERR_REQUEST);
			OK(MPI_Start(&q[0]));
		}
		OK(MPI_Waitall(2, q, s));
		EQUAL(s[1].MPI_SOURCE, prev);
		EQUAL(count_of(&s[1], MPI_BYTE), len);
		CHECK(filled(in, len, t + prev));
		CHECK(q[0] != MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
	}
	inactive(&q[1]);
	(void)next;
	OK(MPI_Request_free(&q[0]));
	OK(MPI_Request_free(&q[1]));
	CHECK(q[0] == MPI_REQUEST_NULL);
}

static void ring(init_fn *fn, init_fn_c *fn_c, int len)
{
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Request q[2];

	OK(fn(out, len, MPI_BYTE, next, 4, WORLD, &q[0]));
	OK(MPI_Recv_init(in, len, MPI_BYTE, prev, 4, WORLD, &q[1]));
	turns(q, len);
	OK(fn_c(out, len, MPI_BYTE, next, 4, WORLD, &q[0]));
	OK(MPI_Recv_init_c(in, len, MPI_BYTE, prev, 4, WORLD, &q[1]));
	turns(q, len);
}

/* A strided type that is freed while the request lives. */
static void strided(void)
{
	int a[30], b[30];
	MPI_Datatype v;
	MPI_Request q[2];

	OK(MPI_Type_vector(10, 1, 3, MPI_INT, &v));
	OK(MPI_Type_commit(&v));
	OK(MPI_Send_init(a, 1, v, rank, 1, WORLD, &q[0]));
	OK(MPI_Recv_init(b, 1, v, rank, 1, WORLD, &q[1]));
	OK(MPI_Type_free(&v));
	for (int t = 0; t < 3; t++) {
		for (int i = 0; i < 30; i++) {
			a[i] = 100 * t + i;
			b[i] = -1;
		}
		OK(MPI_Startall(2, q));
		OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
		for (int i = 0; i < 30; i++)
			EQUAL(b[i], i % 3 ? -1 : 100 * t + i);
	}
	OK(MPI_Request_free(&q[0]));
	OK(MPI_Request_free(&q[1]));
}

static void nobody(void)
{
	MPI_Request q[2];
	MPI_Status s;
	int x = 1;

	OK(MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &q[0]));
	OK(MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &q[1]));
	for (int t = 0; t < 3; t++) {
		OK(MPI_Startall(2, q));
		OK(MPI_Wait(&q[0], IGNORE));
		OK(MPI_Wait(&q[1], &s));
		EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
		EQUAL(s.MPI_TAG, MPI_ANY_TAG);
	}
	OK(MPI_Request_free(&q[0]));
	OK(MPI_Request_free(&q[1]));
}

/* Freed while active: the message still arrives, also after the last of the
 * communicator's handles is gone. */
static void freed_active(void)
{
	MPI_Request q;
	MPI_Comm d;
	int x = rank + 5, y = 0;

	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Recv_init(&y, 1, MPI_INT, rank, 2, d, &q));
	OK(MPI_Start(&q));
	OK(MPI_Request_free(&q));
	OK(MPI_Send(&x, 1, MPI_INT, rank, 2, d));
	EQUAL(y, x);
	OK(MPI_Comm_free(&d));
}

/*
 * MPI_Comm_disconnect waits for all pending communication to complete; a persistent
 * request that is not active is no pending communication. It can still be freed.
 */
static void disconnect(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, x = 0, y;
	MPI_Request q[6];
	MPI_Comm c;

	OK(MPI_Comm_dup(WORLD, &c));
	OK(MPI_Send_init(&rank, 1, MPI_INT, to, 1, c, &q[0]));
	OK(MPI_Recv_init(&x, 1, MPI_INT, from, 1, c, &q[1]));
	OK(MPI_Recv_init(&y, 1, MPI_INT, from, 2, c, &q[2])); /* never used */
	OK(MPI_Bcast_init(&y, 1, MPI_INT, 0, c, MPI_INFO_NULL, &q[3]));
	OK(MPI_Psend_init(&rank, 1, 1, MPI_INT, to, 3, c, MPI_INFO_NULL,
			  &q[4]));
	/* one whose sender never comes */
	OK(MPI_Precv_init(&y, 1, 1, MPI_INT, from, 4, c, MPI_INFO_NULL, &q[5]));
	for (int i = 0; i < 3; i++) {
		y = rank;
		OK(MPI_Startall(2, q));
		OK(MPI_Start(&q[3]));
		OK(MPI_Waitall(4, q, MPI_STATUSES_IGNORE));
		EQUAL(x, from);
		EQUAL(y, 0);
	}
	OK(MPI_Comm_disconnect(&c));
	for (int i = 0; i < 6; i++)
		OK(MPI_Request_free(&q[i]));
	/* but for one that is active it waits */
	x = -1;
	OK(MPI_Comm_dup(WORLD, &c));
	OK(MPI_Recv_init(&x, 1, MPI_INT, from, 1, c, &q[1]));
	OK(MPI_Start(&q[1]));
	OK(MPI_Request_free(&q[1]));
	OK(MPI_Send(&rank, 1, MPI_INT, to, 1, c));
	OK(MPI_Comm_disconnect(&c));
	EQUAL(x, from);
}

int main(int argc, char **argv)
{
	static const int lens[] = { 0, 8, 1000, 100000 };
	MPI_Request q;
	int n, x;
	void *p;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	OK(MPI_Buffer_attach(space, sizeof(space)));
	for (int i = 0; i < 4; i++) {
		ring(MPI_Send_init, MPI_Send_init_c, lens[i]);
		ring(MPI_Ssend_init, MPI_Ssend_init_c, lens[i]);
		ring(MPI_Bsend_init, MPI_Bsend_init_c, lens[i]);
	}
	OK(MPI_Buffer_detach(&p, &n));
	disconnect();
	/* ready: the receive is started before rank 0 is told */
	if (rank == 1) {
		OK(MPI_Recv_init(in, 8, MPI_BYTE, 0, 3, WORLD, &q));
		OK(MPI_Start(&q));
		OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 1, WORLD));
		OK(MPI_Wait(&q, IGNORE));
		CHECK(filled(in, 8, 33));
		OK(MPI_Request_free(&q));
	} else if (rank == 0 && size > 1) {
		fill(out, 8, 33);
		OK(MPI_Rsend_init(out, 8, MPI_BYTE, 1, 3, WORLD, &q));
		OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, WORLD, IGNORE));
		OK(MPI_Start(&q));
		OK(MPI_Wait(&q, IGNORE));
		OK(MPI_Request_free(&q));
	}
	strided();
	nobody();
	freed_active();
	/* not persistent, or null */
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 1, WORLD, &q));
	FAILS(MPI_Start(&q), MPI_ERR_REQUEST);
	OK(MPI_Cancel(&q));
	OK(MPI_Wait(&q, IGNORE));
	FAILS(MPI_Start(&q), MPI_ERR_REQUEST);
	FAILS(MPI_Request_free(&q), MPI_ERR_REQUEST);
	return finish();
}
