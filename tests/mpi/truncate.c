/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A message longer than the buffer: MPI_ERR_TRUNCATE, the first bytes are
 * there, nothing behind them is touched, and the next message is not harmed.
 */
#include "check.h"

#define BIG (1 << 20)
static char out[BIG], in[BIG];

static void one(int len, int room, int how)
{
	MPI_Request r;
	MPI_Status s;
	int peer = rank ^ 1, x = 0, got = 0;

	if (rank == 0) {
		fill(out, len, 9);
		if (how == 1)
			OK(MPI_Recv(NULL, 0, MPI_INT, peer, 1, WORLD, IGNORE));
		OK(MPI_Send(out, len, MPI_BYTE, peer, 9, WORLD));
		x = 12345;
		OK(MPI_Send(&x, 1, MPI_INT, peer, 9, WORLD));
	} else if (rank == 1) {
		memset(in, 0x55, BIG);
		if (how == 1) { /* posted before it comes */
			OK(MPI_Irecv(in, room, MPI_BYTE, peer, 9, WORLD, &r));
			OK(MPI_Send(NULL, 0, MPI_INT, peer, 1, WORLD));
			FAILS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
			CHECK(r == MPI_REQUEST_NULL);
		} else if (how == 2) {
			MPI_Message m;

			OK(MPI_Mprobe(0, 9, WORLD, &m, &s));
			EQUAL(count_of(&s, MPI_BYTE), len);
			FAILS(MPI_Mrecv(in, room, MPI_BYTE, &m, &s),
			      MPI_ERR_TRUNCATE);
			CHECK(m == MPI_MESSAGE_NULL);
		} else {
			FAILS(MPI_Recv(in, room, MPI_BYTE, peer, 9, WORLD, &s),
			      MPI_ERR_TRUNCATE);
		}
		EQUAL(s.MPI_SOURCE, 0);
		EQUAL(s.MPI_TAG, 9);
		CHECK(filled(in, room, 9));
		for (int i = room; i < BIG; i++)
			got += in[i] != 0x55;
		EQUAL(got, 0);
		OK(MPI_Recv(&x, 1, MPI_INT, peer, 9, WORLD, &s));
		EQUAL(x, 12345);
	}
}

/* Of several requests one fails: the statuses tell which. */
static void several(void)
{
	MPI_Request r[3];
	MPI_Status s[3];
	int a = 0, b = 0, c = 0, d[2] = { 7, 8 }, n, idx[3];

	if (rank == 1) {
		for (int k = 0; k < 3; k++)
			for (int i = 0; i < 3; i++)
				OK(MPI_Send(d, i == 1 ? 2 : 1, MPI_INT, 0, i,
					    WORLD));
		return;
	}
	if (rank > 1)
		return;
	for (int k = 0; k < 3; k++) {
		OK(MPI_Irecv(&a, 1, MPI_INT, 1, 0, WORLD, &r[0]));
		OK(MPI_Irecv(&b, 1, MPI_INT, 1, 1, WORLD, &r[1]));
		OK(MPI_Irecv(&c, 1, MPI_INT, 1, 2, WORLD, &r[2]));
		s[0].MPI_ERROR = s[2].MPI_ERROR = 99;
		if (k == 0) {
			FAILS(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS);
			EQUAL(s[0].MPI_ERROR, MPI_SUCCESS);
			EQUAL(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
			EQUAL(s[2].MPI_ERROR, MPI_SUCCESS);
		} else if (k == 1) {
			FAILS(MPI_Waitall(3, r, MPI_STATUSES_IGNORE),
			      MPI_ERR_IN_STATUS);
		} else {
			while (r[0] != MPI_REQUEST_NULL ||
			       r[2] != MPI_REQUEST_NULL) {
				int e = MPI_Waitsome(3, r, &n, idx, s);

				CHECK(n != MPI_UNDEFINED);
				for (int i = 0; i < n; i++)
					if (idx[i] == 1)
						EQUAL(s[i].MPI_ERROR,
						      MPI_ERR_TRUNCATE);
					else if (e)
						EQUAL(s[i].MPI_ERROR, 0);
			}
			if (r[1] != MPI_REQUEST_NULL)
				FAILS(MPI_Wait(&r[1], IGNORE),
				      MPI_ERR_TRUNCATE);
		}
		for (int i = 0; i < 3; i++)
			CHECK(r[i] == MPI_REQUEST_NULL);
		EQUAL(a, 7);
		EQUAL(b, 7);
		EQUAL(c, 7);
	}
}

int main(int argc, char **argv)
{
	static const int lens[] = { 1, 8, 100, 5000, 70000, BIG };

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 6; i++)
		for (int how = 0; how < 3; how++) {
			one(lens[i], 0, how);
			one(lens[i], lens[i] / 2, how);
			one(lens[i], lens[i] - 1, how);
		}
	several();
	return finish();
}
