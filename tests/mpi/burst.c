/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Many small messages in a row, which a channel may put together. */
#include <unistd.h>

#include "check.h"

#define N 1000

static unsigned char in[N], out[N];
static MPI_Request r[20];

static int length_of(int i)
{
	return i * 37 % 900;
}

/* The sender does nothing of MPI for a second: they arrive all the same. */
static void sender_computes(void)
{
	static int numbers[20];
	double start;

	MPI_Barrier(WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < 20 && rank == 0; i++) {
		numbers[i] = i;
		OK(MPI_Isend(&numbers[i], 1, MPI_INT, 1, i, WORLD, &r[i]));
	}
	for (int i = 0, got = -1; i < 20 && rank == 1; i++) {
		OK(MPI_Recv(&got, 1, MPI_INT, 0, i, WORLD, MPI_STATUS_IGNORE));
		EQUAL(got, i);
	}
	if (rank == 1)
		CHECK(MPI_Wtime() - start < 1);
	if (rank == 0) {
		sleep(1);
		OK(MPI_Waitall(20, r, MPI_STATUSES_IGNORE));
	}
}

/* More than the receiver has room for, of all lengths, a long one among them. */
static void nobody_receives(void)
{
	static char large[100000];

	MPI_Barrier(WORLD);
	for (int i = 0; i < N && rank == 0; i++) {
		out[i] = (unsigned char)i;
		memset(large, i, length_of(i));
		OK(MPI_Send(large, length_of(i), MPI_BYTE, 1, 1, WORLD));
	}
	if (rank == 0)
		OK(MPI_Send(large, sizeof(large), MPI_BYTE, 1, 1, WORLD));
	if (rank == 0)
		return;
	usleep(100000);
	for (int i = 0; i < N; i++) {
		MPI_Status s;

		OK(MPI_Recv(large, sizeof(large), MPI_BYTE, 0, 1, WORLD, &s));
		EQUAL(count_of(&s, MPI_BYTE), length_of(i));
		for (int k = 0; k < length_of(i); k++)
			EQUAL(large[k], (char)i);
	}
	OK(MPI_Recv(large, sizeof(large), MPI_BYTE, 0, 1, WORLD,
		    MPI_STATUS_IGNORE));
}

/* Small ones and long ones keep their order, each way. */
static void mixed(void)
{
	static char long_in[20000], long_out[20000];
	MPI_Request both[2 * 100];

	for (int i = 0; i < 100; i++) {
		int n = i % 10 == 9 ? (int)sizeof(long_in) : 1;

		OK(MPI_Irecv(n == 1 ? (char *)&in[i] : long_in, n, MPI_BYTE,
			     1 - rank, 2, WORLD, &both[i]));
	}
	MPI_Barrier(WORLD);
	for (int i = 0; i < 100; i++) {
		int n = i % 10 == 9 ? (int)sizeof(long_out) : 1;

		out[i] = (unsigned char)(i + rank);
		OK(MPI_Isend(n == 1 ? (char *)&out[i] : long_out, n, MPI_BYTE,
			     1 - rank, 2, WORLD, &both[100 + i]));
	}
	OK(MPI_Waitall(200, both, MPI_STATUSES_IGNORE));
	for (int i = 0; i < 100; i++)
		if (i % 10 != 9)
			EQUAL(in[i], (unsigned char)(i + 1 - rank));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	sender_computes();
	nobody_receives();
	mixed();
	return finish();
}
