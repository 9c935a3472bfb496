/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Buffered sends: local completion, room, detach and flush. */
#include "check.h"

#define N 20
#define LEN 5000
static char space[N * (LEN + MPI_BSEND_OVERHEAD)];
static char out[LEN], in[LEN];

/* Nobody receives yet, and all return. */
static void local(MPI_Comm c)
{
	MPI_Request q;

	for (int i = 0; i < N; i++) {
		fill(out, LEN, i);
		if (i % 2) {
			OK(MPI_Ibsend(out, LEN, MPI_BYTE, rank ^ 1, i, c, &q));
			memset(out, 0, LEN); /* ours again at once */
			OK(MPI_Wait(&q, IGNORE));
		} else {
			OK(MPI_Bsend(out, LEN, MPI_BYTE, rank ^ 1, i, c));
		}
	}
}

static void take(MPI_Comm c)
{
	for (int i = 0; i < N; i++) {
		OK(MPI_Recv(in, LEN, MPI_BYTE, rank ^ 1, i, c, IGNORE));
		CHECK(filled(in, LEN, i));
	}
}

static void attached(void)
{
	char *p = NULL;
	int n = 0;

	FAILS(MPI_Bsend(out, 1, MPI_BYTE, rank, 1, WORLD), MPI_ERR_BUFFER);
	FAILS(MPI_Buffer_detach(&p, &n), MPI_ERR_BUFFER);
	FAILS(MPI_Buffer_attach(space, -1), MPI_ERR_ARG);
	OK(MPI_Buffer_attach(space, sizeof(space)));
	FAILS(MPI_Buffer_attach(space, sizeof(space)), MPI_ERR_BUFFER);
	for (int turn = 0; turn < 3; turn++) {
		local(WORLD);
		take(WORLD);
		OK(MPI_Buffer_flush());
	}
	local(WORLD);
	take(WORLD);
	OK(MPI_Buffer_detach(&p, &n));
	CHECK(p == space);
	EQUAL(n, sizeof(space));
}

/* Synchronised by hand, so that the buffer is full for sure: a rendezvous
 * message stays until it is received. */
static void full(void)
{
	static char big[400000], room[sizeof(big) + MPI_BSEND_OVERHEAD];
	MPI_Count n;
	void *p;

	OK(MPI_Buffer_attach_c(room, sizeof(room)));
	if (rank == 0) {
		OK(MPI_Bsend(big, sizeof(big), MPI_BYTE, 1, 1, WORLD));
		FAILS(MPI_Bsend(big, sizeof(big), MPI_BYTE, 1, 1, WORLD),
		      MPI_ERR_BUFFER);
		OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 2, WORLD));
		OK(MPI_Buffer_flush());
		OK(MPI_Bsend(big, sizeof(big), MPI_BYTE, 1, 1, WORLD));
	} else if (rank == 1) {
		OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, WORLD, IGNORE));
		OK(MPI_Recv(big, sizeof(big), MPI_BYTE, 0, 1, WORLD, IGNORE));
		OK(MPI_Recv(big, sizeof(big), MPI_BYTE, 0, 1, WORLD, IGNORE));
	}
	OK(MPI_Buffer_detach_c(&p, &n));
	CHECK(p == room);
	EQUAL(n, sizeof(room));
}

static void automatic(void)
{
	MPI_Request q;
	void *p;
	int n;

	OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
	local(WORLD);
	OK(MPI_Buffer_iflush(&q));
	take(WORLD);
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Buffer_detach(&p, &n));
	CHECK(p == MPI_BUFFER_AUTOMATIC);
}

/* A communicator's own buffer goes before the process's. */
static void of_comm(void)
{
	MPI_Comm d;
	MPI_Request q;
	void *p;
	int n;
	MPI_Count nc;

	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Comm_attach_buffer(d, space, sizeof(space)));
	FAILS(MPI_Bsend(out, 1, MPI_BYTE, rank, 1, WORLD), MPI_ERR_BUFFER);
	local(d);
	OK(MPI_Comm_iflush_buffer(d, &q));
	take(d);
	OK(MPI_Comm_flush_buffer(d));
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Comm_detach_buffer(d, &p, &n));
	CHECK(p == space && n == sizeof(space));
	OK(MPI_Comm_attach_buffer_c(d, space, sizeof(space)));
	OK(MPI_Comm_detach_buffer_c(d, &p, &nc));
	CHECK(p == space && nc == sizeof(space));
	OK(MPI_Comm_attach_buffer(d, space, sizeof(space)));
	local(d);
	take(d);
	OK(MPI_Comm_free(&d)); /* with its buffer */
}

/* As much as the standard promises fits. */
static void exact(void)
{
	static char room[3 * (10 + MPI_BSEND_OVERHEAD)];
	MPI_Datatype v;
	int size10, a[4] = { 1, 2, 3, 4 }, b[4], n;
	void *p;

	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v));
	OK(MPI_Type_commit(&v));
	OK(MPI_Pack_size(10, MPI_BYTE, WORLD, &size10));
	CHECK(size10 <= 10);
	OK(MPI_Buffer_attach(room, sizeof(room)));
	for (int i = 0; i < 3; i++)
		OK(MPI_Bsend(a, 1, v, rank, i, WORLD));
	for (int i = 2; i >= 0; i--) {
		OK(MPI_Recv(b, 2, MPI_INT, rank, i, WORLD, IGNORE));
		CHECK(b[0] == 1 && b[1] == 3);
	}
	OK(MPI_Buffer_detach(&p, &n));
	OK(MPI_Type_free(&v));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	attached();
	full();
	automatic();
	of_comm();
	exact();
	return finish();
}
