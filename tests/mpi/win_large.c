/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long operations: in one piece, with gaps, from and to types with very many blocks,
 * with large counts and with requests. More than is ever under way at a time.
 */
#include "check.h"

#define N (2 << 20) /* ints */
#define BLOCKS 70000

static MPI_Win win;
static int *mem, *buf, target;

static int value(int i, int seed)
{
	return i * 7 + seed;
}

static void clear_target(void)
{
	OK(MPI_Win_fence(0, win));
	memset(mem, 0, sizeof(int) * N);
	OK(MPI_Win_fence(0, win));
}

static void one_piece(void)
{
	MPI_Request r[2];

	clear_target();
	for (int i = 0; i < N; i++)
		buf[i] = value(i, rank);
	OK(MPI_Put_c(buf, N, MPI_INT, target, 0, N, MPI_INT, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (int i = 0; i < N; i++)
		EQUAL(mem[i], value(i, (rank + size - 1) % size));
	OK(MPI_Barrier(WORLD));
	memset(buf, 0, sizeof(int) * N);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	OK(MPI_Rget(buf, N / 2, MPI_INT, target, 0, N / 2, MPI_INT, win,
		    &r[0]));
	OK(MPI_Rget_c(buf + N / 2, N / 2, MPI_INT, target, N / 2, N / 2,
		      MPI_INT, win, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	for (int i = 0; i < N; i++)
		EQUAL(buf[i], value(i, rank));
	OK(MPI_Rput(buf, N, MPI_INT, target, 0, N, MPI_INT, win, &r[0]));
	OK(MPI_Wait(&r[0], IGNORE));
	OK(MPI_Win_unlock(target, win));
	OK(MPI_Barrier(WORLD));
}

static void with_gaps(void)
{
	MPI_Datatype v;

	OK(MPI_Type_vector(N / 2, 1, 2, MPI_INT, &v));
	OK(MPI_Type_commit(&v));
	clear_target();
	for (int i = 0; i < N; i++)
		buf[i] = value(i, rank);
	OK(MPI_Accumulate(buf, N / 2, MPI_INT, target, 0, 1, v, MPI_SUM, win));
	OK(MPI_Accumulate(buf, 1, v, target, 0, 1, v, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	for (int i = 0; i < N / 2; i++) {
		int left = (rank + size - 1) % size;

		EQUAL(mem[2 * i], value(i, left) + value(2 * i, left));
		EQUAL(mem[2 * i + 1], 0);
	}
	memset(buf, 0, sizeof(int) * N);
	OK(MPI_Get(buf, N / 2, MPI_INT, target, 0, 1, v, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (int i = 0; i < N / 2; i++)
		EQUAL(buf[i], value(i, rank) + value(2 * i, rank));
	OK(MPI_Type_free(&v));
	OK(MPI_Barrier(WORLD));
}

/* Places with no pattern: the type is as long as its data. */
static void many_blocks(void)
{
	static int displs[BLOCKS];
	MPI_Datatype t;

	for (int i = 0, at = 0; i < BLOCKS; i++) {
		displs[i] = at;
		at += 2 + (i * i) % 3;
	}
	OK(MPI_Type_create_indexed_block(BLOCKS, 1, displs, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	clear_target();
	for (int i = 0; i < BLOCKS; i++)
		buf[i] = value(i, rank);
	OK(MPI_Put(buf, BLOCKS, MPI_INT, target, 0, 1, t, win));
	OK(MPI_Win_fence(0, win));
	for (int i = 0; i < BLOCKS; i++)
		EQUAL(mem[displs[i]], value(i, (rank + size - 1) % size));
	memset(buf, 0, sizeof(int) * N);
	OK(MPI_Get_accumulate(NULL, 0, MPI_INT, buf, BLOCKS, MPI_INT, target, 0,
			      1, t, MPI_NO_OP, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (int i = 0; i < BLOCKS; i++)
		EQUAL(buf[i], value(i, rank));
	OK(MPI_Type_free(&t));
	OK(MPI_Barrier(WORLD));
}

/* More layouts than a target keeps. */
static void many_layouts(void)
{
	clear_target();
	for (int i = 0; i < 100; i++) {
		MPI_Datatype v;
		int two[2] = { i + 1, i + 2 };

		OK(MPI_Type_vector(2, 1, 2 + i % 50, MPI_INT, &v));
		OK(MPI_Type_commit(&v));
		OK(MPI_Put(two, 2, MPI_INT, target, 100 * i, 1, v, win));
		OK(MPI_Type_free(&v));
	}
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (int i = 0; i < 100; i++) {
		EQUAL(mem[100 * i], i + 1);
		EQUAL(mem[100 * i + 2 + i % 50], i + 2);
	}
	OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	target = (rank + 1) % size;
	buf = malloc(sizeof(int) * N);
	OK(MPI_Alloc_mem(sizeof(int) * N, MPI_INFO_NULL, &mem));
	OK(MPI_Win_create(mem, sizeof(int) * N, sizeof(int), MPI_INFO_NULL,
			  WORLD, &win));
	one_piece();
	with_gaps();
	many_blocks();
	many_layouts();
	OK(MPI_Win_free(&win));
	OK(MPI_Free_mem(mem));
	free(buf);
	return finish();
}
