/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a picky program tries: windows without memory, addresses from MPI_BOTTOM on,
 * counts beyond all memory, overlapping pieces, unusual communicators. */
#include <malloc.h>

#include "check.h"

static MPI_Win win;
static int other; /* whom we use */

static void no_memory(void)
{
	long v = 1, r = -1;

	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, WORLD, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(NULL, 0, MPI_LONG, other, 0, 0, MPI_LONG, win));
	OK(MPI_Get(NULL, 0, MPI_LONG, other, 7, 0, MPI_LONG, win));
	FAILS(MPI_Put(&v, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win),
	      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Fetch_and_op(&v, &r, MPI_LONG, other, 0, MPI_SUM, win),
	      MPI_ERR_RMA_RANGE);
	OK(MPI_Win_fence(0, win));
	OK(MPI_Win_free(&win));
}

/* Only some have memory, and each counts in units of its own. */
static void uneven(void)
{
	MPI_Aint bytes = rank % 2 ? 0 : 40 * (rank + 1);
	int *mem = NULL, v = rank, unit = 4 * (rank + 1);

	OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, WORLD, &mem, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_fence(0, win));
	if (other % 2 == 0)
		OK(MPI_Put(&v, 1, MPI_INT, other, 9, 1, MPI_INT, win));
	else
		FAILS(MPI_Put(&v, 1, MPI_INT, other, 0, 1, MPI_INT, win),
		      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, 1, MPI_INT, other, 10, 1, MPI_INT, win),
	      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, 1, MPI_INT, other, -1, 1, MPI_INT, win),
	      MPI_ERR_DISP);
	OK(MPI_Win_fence(0, win));
	if (rank % 2 == 0)
		EQUAL(mem[9 * unit / 4], (rank + size - 1) % size);
	OK(MPI_Win_free(&win));
}

/* Both sides from MPI_BOTTOM on: the origin's buffer, and a dynamic window. */
static void from_bottom(void)
{
	static int mem[4], v[2] = { 5, 6 }, got[2];
	MPI_Aint here, theirs, at[2];
	MPI_Datatype t;
	int one[2] = { 1, 1 };

	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win));
	OK(MPI_Win_attach(win, mem, sizeof(mem)));
	OK(MPI_Get_address(mem, &here));
	OK(MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 0,
			&theirs, 1, MPI_AINT, other, 0, WORLD, IGNORE));
	OK(MPI_Get_address(&v[1], &at[0]));
	OK(MPI_Get_address(&v[0], &at[1]));
	OK(MPI_Type_create_hindexed(2, one, at, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(MPI_BOTTOM, 1, t, other, theirs, 2, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	EQUAL(mem[0], 6);
	EQUAL(mem[1], 5);
	OK(MPI_Type_free(&t));
	/* the target's addresses in the datatype, and displacement 0 */
	at[0] = theirs;
	at[1] = theirs + (MPI_Aint)sizeof(int);
	OK(MPI_Type_create_hindexed(2, one, at, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Get(got, 2, MPI_INT, other, (MPI_Aint)MPI_BOTTOM, 1, t, win));
	OK(MPI_Win_fence(0, win));
	EQUAL(got[0], 6);
	EQUAL(got[1], 5);
	OK(MPI_Type_free(&t));
	OK(MPI_Win_detach(win, mem));
	OK(MPI_Win_free(&win));
}

/* A displacement beyond the window, from where a type leads back into it. */
static void from_beyond(void)
{
	int *mem, v = rank, got = -1;
	MPI_Aint back = -24 * (MPI_Aint)sizeof(int);
	MPI_Datatype t;
	const int one = 1;

	OK(MPI_Type_create_hindexed(1, &one, &back, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD,
			    &mem, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	mem[7] = mem[6] = 0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&v, 1, MPI_INT, other, 31, 1, t, win));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get(&got, 1, MPI_INT, other, 31, 1, t, win));
	OK(MPI_Accumulate(&v, 1, MPI_INT, other, 30, 1, t, MPI_SUM, win));
	FAILS(MPI_Put(&v, 1, MPI_INT, other, 32, 1, t, win), MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, 1, MPI_INT, other, 23, 1, t, win), MPI_ERR_RMA_RANGE);
	OK(MPI_Win_fence(0, win));
	EQUAL(got, rank);
	EQUAL(mem[7], (rank + size - 1) % size);
	EQUAL(mem[6], (rank + size - 1) % size);
	OK(MPI_Win_free(&win));
	OK(MPI_Type_free(&t));
}

static void huge_counts(void)
{
	const MPI_Count most = (MPI_Count)(~0ull >> 1);
	long v = 1, *mem;
	MPI_Datatype wide;

	OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, WORLD, &mem, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Type_create_resized(MPI_CHAR, 0, (MPI_Aint)1 << 40, &wide));
	OK(MPI_Type_commit(&wide));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
	/* the product is 8, if nobody looks */
	FAILS(MPI_Put_c(&v, 1, MPI_LONG, other, 0, most / 4 + 2, MPI_LONG, win),
	      MPI_ERR_COUNT);
	FAILS(MPI_Put_c(&v, most / 4 + 2, MPI_LONG, other, 0, 1, MPI_LONG, win),
	      MPI_ERR_COUNT);
	FAILS(MPI_Get_c(&v, 8, MPI_CHAR, other, 0, 1 << 24, wide, win),
	      MPI_ERR_COUNT);
	FAILS(MPI_Accumulate_c(&v, most, MPI_LONG, other, 0, most, MPI_LONG,
			       MPI_SUM, win),
	      MPI_ERR_COUNT);
	FAILS(MPI_Put(&v, 1, MPI_LONG, other, most, 1, MPI_LONG, win),
	      MPI_ERR_RMA_RANGE);
	FAILS(MPI_Get(&v, 2, MPI_CHAR, other, 0, 2, wide, win),
	      MPI_ERR_RMA_RANGE);
	OK(MPI_Win_unlock(other, win));
	OK(MPI_Type_free(&wide));
	OK(MPI_Win_free(&win));
}

/* Pieces that lie on each other at the target: each is added. */
static void overlapping(void)
{
	int *mem, v[4] = { 1, 10, 100, 1000 };
	int one[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 0, 0 };
	MPI_Datatype t;

	OK(MPI_Type_indexed(4, one, displs, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD,
			    &mem, &win));
	mem[0] = mem[1] = 0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(v, 4, MPI_INT, other, 0, 1, t, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	EQUAL(mem[0], 1101);
	EQUAL(mem[1], 10);
	OK(MPI_Win_free(&win));
	OK(MPI_Type_free(&t));
}

/* Attached pieces that touch each other, and one that lies over them. */
static void attached(void)
{
	static char mem[64];
	MPI_Aint at;
	char v[2] = { 1, 2 };

	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_attach(win, mem + 16, 16));
	OK(MPI_Win_attach(win, mem + 32, 16));
	FAILS(MPI_Win_attach(win, mem, 17), MPI_ERR_RMA_ATTACH);
	FAILS(MPI_Win_attach(win, mem, 64), MPI_ERR_RMA_ATTACH);
	OK(MPI_Win_attach(win, mem, 16));
	OK(MPI_Get_address(mem, &at));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	FAILS(MPI_Put(v, 2, MPI_CHAR, 0, at + 47, 2, MPI_CHAR, win),
	      MPI_ERR_RMA_RANGE);
	OK(MPI_Put(v, 1, MPI_CHAR, 0, at + 47, 1, MPI_CHAR, win));
	OK(MPI_Win_unlock(0, win));
	FAILS(MPI_Win_detach(win, mem + 17), MPI_ERR_BASE);
	OK(MPI_Win_detach(win, mem + 32));
	FAILS(MPI_Win_detach(win, mem + 32), MPI_ERR_BASE);
	OK(MPI_Win_free(&win)); /* the rest is detached by it */
}

/* Nobody is asked for anything, in an epoch or not. */
static void to_nobody(void)
{
	long v = 1, r = 3, *mem;
	MPI_Request q;

	OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, WORLD, &mem, &win));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win));
	OK(MPI_Rput(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &q));
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Rget_accumulate(&v, 1, MPI_LONG, &r, 1, MPI_LONG, MPI_PROC_NULL,
			       0, 1, MPI_LONG, MPI_SUM, win, &q));
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Fetch_and_op(&v, &r, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win));
	OK(MPI_Compare_and_swap(&v, &v, &r, MPI_LONG, MPI_PROC_NULL, 0, win));
	OK(MPI_Win_flush(MPI_PROC_NULL, win));
	OK(MPI_Win_flush_local(MPI_PROC_NULL, win));
	OK(MPI_Win_unlock(MPI_PROC_NULL, win));
	OK(MPI_Win_unlock(rank, win));
	EQUAL(r, 3);
	OK(MPI_Win_free(&win));
}

/* Two halves that were merged, the upper one first. */
static void merged(void)
{
	MPI_Comm half, inter, both;
	int upper = rank >= size / 2, me, n, *mem;
	MPI_Group group;

	if (size < 2)
		return;
	OK(MPI_Comm_split(WORLD, upper, 0, &half));
	OK(MPI_Intercomm_create(half, 0, WORLD, upper ? 0 : size / 2, 1,
				&inter));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	FAILS(MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
	OK(MPI_Intercomm_merge(inter, !upper, &both));
	OK(MPI_Comm_rank(both, &me));
	OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, both, &mem, &win));
	OK(MPI_Comm_free(&both)); /* the window needs it no more */
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_free(&half));
	OK(MPI_Win_get_group(win, &group));
	OK(MPI_Group_size(group, &n));
	OK(MPI_Group_free(&group));
	*mem = -1;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&rank, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	CHECK(*mem >= 0 && *mem < size);
	CHECK(*mem != rank || size == 1);
	OK(MPI_Win_free(&win));
}

/* What a request has asked for is done with the epoch; it may be waited for when its
 * window is gone. */
static void outlived(void)
{
	int got[20] = { 0 }, *mem = malloc(20 * sizeof(int)), flag;
	MPI_Request q[20];

	for (int i = 0; i < 20; i++)
		mem[i] = 100 * rank + i;
	OK(MPI_Win_create(mem, 20 * sizeof(int), sizeof(int), MPI_INFO_NULL,
			  WORLD, &win));
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < 20; i++)
		OK(MPI_Rget(&got[i], 1, MPI_INT, other, i, 1, MPI_INT, win,
			    &q[i]));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
	memset(mem, 0xff, 20 * sizeof(int));
	free(mem);
	/* in the place of whatever was freed with it */
	for (int i = 0; i < 64; i++) {
		mem = malloc(100 + 100 * (size_t)i);
		memset(mem, 0xff, 100 + 100 * (size_t)i);
		free(mem);
	}
	OK(MPI_Testall(20, q, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag);
	for (int i = 0; i < 20; i++)
		EQUAL(got[i], 100 * other + i);
}

/* --- memory of a window, for members that were never touched --- */

#define WINDOWS 20

static long heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return (long)(m.uordblks + m.hblkhd);
}

static long window_bytes(MPI_Comm comm)
{
	MPI_Win w[WINDOWS];
	long bytes;
	void *mem;

	bytes = heap();
	for (int i = 0; i < WINDOWS; i++)
		OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, comm, &mem, &w[i]));
	bytes = heap() - bytes;
	for (int i = 0; i < WINDOWS; i++)
		OK(MPI_Win_free(&w[i]));
	return bytes / WINDOWS;
}

/* Connections that are made meanwhile, and messages that are early, take memory as
 * well: the least of some turns is the window's. */
static long least_bytes(MPI_Comm comm)
{
	long least = window_bytes(comm);

	for (int i = 0; i < 4; i++) {
		long bytes = window_bytes(comm);

		least = bytes < least ? bytes : least;
	}
	return least;
}

/* 64 bytes for each, and 8 for one of this host: docs/win.md. A little for what
 * malloc adds. */
static void memory(void)
{
	MPI_Comm two, host;
	int here;

	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &host));
	OK(MPI_Comm_size(host, &here));
	OK(MPI_Comm_split(WORLD, rank / 2, 0, &two));
	if (here == size && size >= 16) {
		long all = least_bytes(WORLD), few = least_bytes(two);

		CHECK(all - few <= (size - 2) * (64 + 8) + 128);
	}
	OK(MPI_Comm_free(&two));
	OK(MPI_Comm_free(&host));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	other = (rank + 1) % size;
	no_memory();
	uneven();
	from_bottom();
	from_beyond();
	huge_counts();
	overlapping();
	attached();
	to_nobody();
	merged();
	outlived();
	memory();
	return finish();
}
