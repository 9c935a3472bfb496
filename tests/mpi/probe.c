/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Probe and matched probe, blocking and not. */
#include "check.h"

static char buf[300000];

static void plain(int len)
{
	MPI_Status s, t;
	int flag;

	if (rank == 1) {
		fill(buf, len, 6);
		OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, WORLD, IGNORE));
		OK(MPI_Send(buf, len, MPI_BYTE, 0, 6, WORLD));
		return;
	}
	if (rank)
		return;
	OK(MPI_Iprobe(1, 6, WORLD, &flag, &s));
	CHECK(!flag);
	OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 1, WORLD));
	OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &s));
	EQUAL(s.MPI_SOURCE, 1);
	EQUAL(s.MPI_TAG, 6);
	EQUAL(count_of(&s, MPI_BYTE), len);
	OK(MPI_Iprobe(1, 7, WORLD, &flag, &t));
	CHECK(!flag);
	OK(MPI_Iprobe(1, 6, WORLD, &flag, &t));
	CHECK(flag && count_of(&t, MPI_BYTE) == len);
	OK(MPI_Probe(1, 6, WORLD, IGNORE));
	OK(MPI_Recv(buf, len, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, WORLD, &t));
	CHECK(filled(buf, len, 6));
	OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, IGNORE));
	CHECK(!flag);
}

/* A message that was taken is seen by nobody else. */
static void matched(int len, int form)
{
	MPI_Message m, none = MPI_MESSAGE_NULL;
	MPI_Request q;
	MPI_Status s;
	int flag = 0;

	if (rank == 1) {
		fill(buf, len, 1);
		OK(MPI_Send(buf, len, MPI_BYTE, 0, 6, WORLD));
		fill(buf, len, 2);
		OK(MPI_Send(buf, len, MPI_BYTE, 0, 6, WORLD));
		return;
	}
	if (rank)
		return;
	if (form & 1)
		OK(MPI_Mprobe(MPI_ANY_SOURCE, 6, WORLD, &m, &s));
	while (!(form & 1) && !flag)
		OK(MPI_Improbe(1, MPI_ANY_TAG, WORLD, &flag, &m, &s));
	EQUAL(s.MPI_SOURCE, 1);
	EQUAL(s.MPI_TAG, 6);
	EQUAL(count_of(&s, MPI_BYTE), len);
	OK(MPI_Recv(buf, len, MPI_BYTE, 1, 6, WORLD, &s));
	CHECK(filled(buf, len, 2)); /* the second: the first is taken */
	memset(buf, 0, len);
	if (form & 2) {
		OK(MPI_Imrecv(buf, len, MPI_BYTE, &m, &q));
		OK(MPI_Wait(&q, &s));
	} else {
		OK(MPI_Mrecv(buf, len, MPI_BYTE, &m, &s));
	}
	CHECK(m == MPI_MESSAGE_NULL);
	CHECK(filled(buf, len, 1));
	EQUAL(s.MPI_SOURCE, 1);
	EQUAL(s.MPI_TAG, 6);
	EQUAL(count_of(&s, MPI_BYTE), len);
	OK(MPI_Improbe(1, 6, WORLD, &flag, &m, &s));
	CHECK(!flag);
	FAILS(MPI_Mrecv(buf, len, MPI_BYTE, &none, &s), MPI_ERR_REQUEST);
}

static void strided(void)
{
	MPI_Message m;
	MPI_Datatype v;
	int a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 0 };

	OK(MPI_Type_vector(3, 1, 2, MPI_INT, &v));
	OK(MPI_Type_commit(&v));
	OK(MPI_Send(a, 3, MPI_INT, rank, 1, WORLD));
	OK(MPI_Mprobe(rank, 1, WORLD, &m, IGNORE));
	OK(MPI_Mrecv(b, 1, v, &m, IGNORE));
	CHECK(b[0] == 1 && b[1] == 0 && b[2] == 2 && b[3] == 0 && b[4] == 3);
	OK(MPI_Send(a, 3, MPI_INT, rank, 1, WORLD));
	OK(MPI_Mprobe(rank, 1, WORLD, &m, IGNORE));
	OK(MPI_Mrecv_c(b, 1, v, &m, IGNORE));
	OK(MPI_Type_free(&v));
}

static void nobody(void)
{
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Request q;
	MPI_Status s;
	int flag = 0;

	OK(MPI_Probe(MPI_PROC_NULL, 1, WORLD, &s));
	EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
	OK(MPI_Iprobe(MPI_PROC_NULL, 1, WORLD, &flag, &s));
	CHECK(flag && s.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &m, &s));
	CHECK(m == MPI_MESSAGE_NO_PROC);
	OK(MPI_Mrecv(NULL, 0, MPI_INT, &m, &s));
	CHECK(m == MPI_MESSAGE_NULL);
	EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
	flag = 0;
	OK(MPI_Improbe(MPI_PROC_NULL, 1, WORLD, &flag, &m, &s));
	CHECK(flag && m == MPI_MESSAGE_NO_PROC);
	OK(MPI_Imrecv(NULL, 0, MPI_INT, &m, &q));
	OK(MPI_Wait(&q, &s));
	EQUAL(s.MPI_SOURCE, MPI_PROC_NULL);
	EQUAL(count_of(&s, MPI_INT), 0);
}

int main(int argc, char **argv)
{
	static const int lens[] = { 0, 8, 5000, 300000 };

	start(&argc, &argv);
	CHECK(size >= 2);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < 4; i++) {
		plain(lens[i]);
		MPI_Barrier(WORLD);
		/* Two rendezvous sends in a row would wait for each other. */
		for (int form = 0; lens[i] < 100000 && form < 4; form++) {
			matched(lens[i], form);
			MPI_Barrier(WORLD);
		}
	}
	strided();
	nobody();
	return finish();
}
