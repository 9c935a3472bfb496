/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every way to send, in lengths around the borders between protocols, blocking
 * and not; to oneself, to nobody, and nothing at all.
 */
#include "check.h"

static const int lengths[] = { 0,     1,     7,	    8,	   63,	   64,
			       65,    1000,  4096,  8191,  8192,   8193,
			       16384, 65535, 65536, 65537, 262144, 1048577 };
#define NLENGTHS ((int)(sizeof(lengths) / sizeof(lengths[0])))
#define MAX 1048577

static char out[MAX], in[MAX + 1];

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int send_fn_c(const void *, MPI_Count, MPI_Datatype, int, int,
		      MPI_Comm);
typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm,
		     MPI_Request *);
typedef int isend_fn_c(const void *, MPI_Count, MPI_Datatype, int, int,
		       MPI_Comm, MPI_Request *);

static send_fn *const sends[] = { MPI_Send, MPI_Ssend, MPI_Bsend };
static send_fn_c *const sends_c[] = { MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c };
static isend_fn *const isends[] = { MPI_Isend, MPI_Issend, MPI_Ibsend };
static isend_fn_c *const isends_c[] = { MPI_Isend_c, MPI_Issend_c,
					MPI_Ibsend_c };

static void check_message(const MPI_Status *s, int source, int tag, int len)
{
	EQUAL(s->MPI_SOURCE, source);
	EQUAL(s->MPI_TAG, tag);
	EQUAL(s->MPI_ERROR, 4711); /* left alone */
	EQUAL(count_of(s, MPI_BYTE), len);
	CHECK(filled(in, len, tag));
}

/* Even ranks send to the next, which answers with another call. */
static void pair(int form, int mode, int len, int tag)
{
	MPI_Status s = { .MPI_ERROR = 4711 };
	MPI_Request r;
	int peer = rank ^ 1;

	if (peer >= size)
		return;
	if (rank & 1) {
		OK(MPI_Recv(in, MAX, MPI_BYTE, peer, tag, WORLD, &s));
		check_message(&s, peer, tag, len);
		return;
	}
	fill(out, len, tag);
	if (form == 0) {
		OK(sends[mode](out, len, MPI_BYTE, peer, tag, WORLD));
		return;
	}
	if (form == 1) {
		OK(sends_c[mode](out, len, MPI_BYTE, peer, tag, WORLD));
		return;
	}
	if (form == 2)
		OK(isends[mode](out, len, MPI_BYTE, peer, tag, WORLD, &r));
	else
		OK(isends_c[mode](out, len, MPI_BYTE, peer, tag, WORLD, &r));
	OK(MPI_Wait(&r, IGNORE));
	CHECK(r == MPI_REQUEST_NULL);
}

/* The receive is posted first, so that a ready send is right. */
static void ready(int len, int tag, int form)
{
	MPI_Status s = { .MPI_ERROR = 4711 };
	MPI_Request r, r2;
	int peer = rank ^ 1;

	if (peer >= size)
		return;
	if (rank & 1) {
		if (form & 1)
			OK(MPI_Irecv_c(in, MAX, MPI_BYTE, peer, tag, WORLD,
				       &r));
		else
			OK(MPI_Irecv(in, MAX, MPI_BYTE, peer, tag, WORLD, &r));
		OK(MPI_Send(NULL, 0, MPI_BYTE, peer, 1, WORLD));
		OK(MPI_Wait(&r, &s));
		check_message(&s, peer, tag, len);
		return;
	}
	fill(out, len, tag);
	OK(MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, WORLD, IGNORE));
	switch (form) {
	case 0:
		OK(MPI_Rsend(out, len, MPI_BYTE, peer, tag, WORLD));
		break;
	case 1:
		OK(MPI_Rsend_c(out, len, MPI_BYTE, peer, tag, WORLD));
		break;
	case 2:
		OK(MPI_Irsend(out, len, MPI_BYTE, peer, tag, WORLD, &r2));
		OK(MPI_Wait(&r2, IGNORE));
		break;
	default:
		OK(MPI_Irsend_c(out, len, MPI_BYTE, peer, tag, WORLD, &r2));
		OK(MPI_Wait(&r2, IGNORE));
	}
}

static void self(int len)
{
	MPI_Status s = { .MPI_ERROR = 4711 };
	MPI_Request r[2];

	fill(out, len, 5);
	OK(MPI_Irecv(in, MAX, MPI_BYTE, rank, 5, WORLD, &r[0]));
	OK(MPI_Send(out, len, MPI_BYTE, rank, 5, WORLD));
	OK(MPI_Wait(&r[0], &s));
	check_message(&s, rank, 5, len);

	memset(in, 0, len);
	OK(MPI_Isend(out, len, MPI_BYTE, 0, 5, MPI_COMM_SELF, &r[0]));
	OK(MPI_Issend(out, len, MPI_BYTE, 0, 5, MPI_COMM_SELF, &r[1]));
	OK(MPI_Recv(in, MAX, MPI_BYTE, 0, 5, MPI_COMM_SELF, &s));
	check_message(&s, 0, 5, len);
	memset(in, 0, len);
	OK(MPI_Recv(in, MAX, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
		    MPI_COMM_SELF, &s));
	check_message(&s, 0, 5, len);
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

static void check_null(const MPI_Status *s)
{
	EQUAL(s->MPI_SOURCE, MPI_PROC_NULL);
	EQUAL(s->MPI_TAG, MPI_ANY_TAG);
	EQUAL(count_of(s, MPI_INT), 0);
}

static void nobody(void)
{
	MPI_Status s;
	MPI_Request r;
	int x = 42, y = 43;

	OK(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD));
	OK(MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD));
	OK(MPI_Rsend(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD));
	OK(MPI_Bsend(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD));
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD, &s));
	check_null(&s);
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, WORLD, &r));
	OK(MPI_Wait(&r, &s));
	check_null(&s);
	OK(MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 3, WORLD, &r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, &y, 1, MPI_INT,
			MPI_PROC_NULL, 3, WORLD, &s));
	check_null(&s);
	OK(MPI_Sendrecv_replace(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_PROC_NULL,
				3, WORLD, &s));
	check_null(&s);
	EQUAL(x, 42);
	EQUAL(y, 43);
}

static void around(void)
{
	MPI_Request r;
	MPI_Status s;
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	int x = rank, y = -1, a[3] = { rank, rank + 1, rank + 2 };

	OK(MPI_Sendrecv(&x, 1, MPI_INT, next, 7, &y, 1, MPI_INT, prev, 7, WORLD,
			&s));
	EQUAL(y, prev);
	EQUAL(s.MPI_SOURCE, prev);
	OK(MPI_Sendrecv_c(&x, 1, MPI_INT, prev, 7, &y, 1, MPI_INT, next, 7,
			  WORLD, IGNORE));
	EQUAL(y, next);
	OK(MPI_Sendrecv_replace(a, 3, MPI_INT, next, 1, prev, 1, WORLD, &s));
	EQUAL(a[2], prev + 2);
	EQUAL(count_of(&s, MPI_INT), 3);
	OK(MPI_Sendrecv_replace_c(a, 3, MPI_INT, prev, 1, next, 1, WORLD,
				  IGNORE));
	EQUAL(a[0], rank);
	OK(MPI_Isendrecv(&x, 1, MPI_INT, next, 7, &y, 1, MPI_INT, prev, 7,
			 WORLD, &r));
	OK(MPI_Wait(&r, &s));
	EQUAL(y, prev);
	EQUAL(s.MPI_SOURCE, prev);
	EQUAL(count_of(&s, MPI_INT), 1);
	OK(MPI_Isendrecv_replace(a, 3, MPI_INT, next, 1, prev, 1, WORLD, &r));
	a[1] = a[1]; /* may not be touched, but may be read */
	OK(MPI_Wait(&r, IGNORE));
	EQUAL(a[1], prev + 1);
}

int main(int argc, char **argv)
{
	int tag = 2;

	start(&argc, &argv);
	OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
	for (int i = 0; i < NLENGTHS; i++) {
		for (int form = 0; form < 4; form++) {
			for (int mode = 0; mode < 3; mode++)
				pair(form, mode, lengths[i], ++tag);
			ready(lengths[i], ++tag, form);
		}
		self(lengths[i]);
		around();
	}
	nobody();
	return finish();
}
