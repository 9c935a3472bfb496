/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The target computes, and calls nothing of MPI: operations and locks on its memory
 * are done nevertheless, long before it is back.
 */
#include "check.h"

#define COMPUTE 4.0 /* seconds, unless it is told to stop */
#define TIMES 25

static MPI_Win win;
static long *mem, one = 1, zero, got;

/* Until rank 0 has written to our memory that it is done. */
static void compute(void)
{
	double end = MPI_Wtime() + COMPUTE;
	volatile long *stop = &mem[7];

	while (!*stop && MPI_Wtime() < end)
		got++;
	CHECK(*stop);
}

static void use(void)
{
	double begin = MPI_Wtime();

	for (int i = 0; i < TIMES; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
		OK(MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win));
		OK(MPI_Win_unlock(1, win));
		OK(MPI_Win_lock_all(0, win));
		OK(MPI_Get(&got, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win));
		OK(MPI_Win_flush(1, win));
		EQUAL(got, 1);
		OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 1, MPI_SUM, win));
		OK(MPI_Win_flush(1, win));
		EQUAL(got, i);
		OK(MPI_Compare_and_swap(&zero, &one, &got, MPI_LONG, 1, 0,
					win));
		OK(MPI_Win_flush(1, win));
		EQUAL(got, 1);
		OK(MPI_Win_unlock_all(win));
	}
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
	OK(MPI_Put(&one, 1, MPI_LONG, 1, 7, 1, MPI_LONG, win));
	OK(MPI_Win_unlock(1, win));
	CHECK(MPI_Wtime() - begin < COMPUTE);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	for (int kind = 0; kind < 2; kind++) {
		if (kind == 0) {
			OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, WORLD, &mem,
					    &win));
		} else {
			OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &mem));
			OK(MPI_Win_create(mem, 64, 8, MPI_INFO_NULL, WORLD,
					  &win));
		}
		memset(mem, 0, 64);
		OK(MPI_Barrier(WORLD));
		if (rank == 0)
			use();
		else if (rank == 1)
			compute();
		OK(MPI_Win_free(&win));
		if (kind == 1)
			OK(MPI_Free_mem(mem));
	}
	return finish();
}
