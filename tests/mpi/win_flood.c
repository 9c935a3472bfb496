/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Rank 1 has sent rank 0 far more than that has room for, and nobody receives it.
 * Its locks and operations on rank 0 are not held up by that: rank 0 receives only
 * once a put of rank 1 has told it to.
 */
#include "check.h"

#define MESSAGES 2000
#define BYTES 1024
#define LIMIT 60.0 /* seconds that the put may take: a hang is seen */

static MPI_Win win;
static long *mem, one = 1;
static char out[BYTES], in[BYTES];
static MPI_Request reqs[MESSAGES];

static void flood(void)
{
	long got = -1;

	for (int i = 0; i < MESSAGES; i++)
		OK(MPI_Isend(out, BYTES, MPI_CHAR, 0, 0, WORLD, &reqs[i]));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 1, MPI_SUM, win));
	OK(MPI_Win_unlock(0, win));
	EQUAL(got, 0);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	OK(MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
	OK(MPI_Win_unlock(0, win));
	OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
}

static long look(void)
{
	long now;

	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	now = *(volatile long *)mem;
	OK(MPI_Win_unlock(0, win));
	return now;
}

static void drain(void)
{
	double end = MPI_Wtime() + LIMIT;

	while (!look())
		CHECK(MPI_Wtime() < end);
	for (int i = 0; i < MESSAGES; i++)
		OK(MPI_Recv(in, BYTES, MPI_CHAR, 1, 0, WORLD, IGNORE));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &mem));
	memset(mem, 0, 64);
	OK(MPI_Win_create(mem, 64, 8, MPI_INFO_NULL, WORLD, &win));
	if (rank == 0)
		drain();
	else if (rank == 1)
		flood();
	OK(MPI_Win_free(&win));
	OK(MPI_Free_mem(mem));
	return finish();
}
