/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every kind of window under every kind of synchronization: what is put, got and
 * accumulated within an epoch is there when it has ended.
 */
#include "check.h"

#define CELLS 64

enum kind { CREATE, ALLOCATE, SHARED, DYNAMIC, KINDS };

static long *cells;	   /* of this rank's window */
static MPI_Aint where[64]; /* of each rank's, in dynamic windows */
static enum kind kind;
static MPI_Win win;

static MPI_Comm comm_for(enum kind k)
{
	MPI_Comm c;

	if (k == SHARED)
		OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0,
				       MPI_INFO_NULL, &c));
	else
		OK(MPI_Comm_dup(WORLD, &c));
	return c;
}

static void make_window(enum kind k, MPI_Comm c)
{
	MPI_Aint bytes = CELLS * sizeof(long), mine;

	kind = k;
	switch (k) {
	case CREATE:
		cells = malloc(bytes);
		OK(MPI_Win_create(cells, bytes, sizeof(long), MPI_INFO_NULL, c,
				  &win));
		break;
	case ALLOCATE:
		OK(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, c,
				    &cells, &win));
		break;
	case SHARED:
		OK(MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL,
					   c, &cells, &win));
		break;
	default:
		cells = malloc(bytes);
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, c, &win));
		OK(MPI_Win_attach(win, cells, bytes));
		OK(MPI_Get_address(cells, &mine));
		OK(MPI_Allgather(&mine, 1, MPI_AINT, where, 1, MPI_AINT, c));
	}
	for (int i = 0; i < CELLS; i++)
		cells[i] = 0;
	OK(MPI_Barrier(c));
}

static void free_window(MPI_Comm c)
{
	if (kind == DYNAMIC) {
		OK(MPI_Barrier(c));
		OK(MPI_Win_detach(win, cells));
	}
	OK(MPI_Win_free(&win));
	EQUAL(win == MPI_WIN_NULL, 1);
	if (kind == DYNAMIC || kind == CREATE)
		free(cells);
}

static MPI_Aint disp(int target, int cell)
{
	return kind == DYNAMIC ? MPI_Aint_add(where[target],
					      cell * (MPI_Aint)sizeof(long)) :
				 cell;
}

/* --- what is done within an epoch --- */

static int me, n; /* in the window */
static long fetched, got;

/* On one target: cells 0 to n-1 belong to the origins, cell n to all. */
static void access_one(int target, long round)
{
	long mine = 1000 * round + me, one = 1;

	OK(MPI_Put(&mine, 1, MPI_LONG, target, disp(target, me), 1, MPI_LONG,
		   win));
	OK(MPI_Accumulate(&one, 1, MPI_LONG, target, disp(target, n), 1,
			  MPI_LONG, MPI_SUM, win));
}

/* Ours, after @rounds from @origins origins each. */
static void check_own(long round, int origins, long rounds)
{
	for (int i = 0; i < n; i++)
		if (origins == n || i == (me + n - 1) % n)
			EQUAL(cells[i], 1000 * round + i);
	EQUAL(cells[n], origins * rounds);
}

/* --- the synchronizations --- */

static void by_fence(MPI_Comm c)
{
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	for (long round = 1; round <= 3; round++) {
		for (int t = 0; t < n; t++)
			access_one(t, round);
		OK(MPI_Win_fence(round == 2 ? MPI_MODE_NOSTORE : 0, win));
		check_own(round, n, round);
		OK(MPI_Win_fence(0, win));
	}
	for (int t = 0; t < n; t++) {
		OK(MPI_Get(&got, 1, MPI_LONG, t, disp(t, n), 1, MPI_LONG, win));
		OK(MPI_Win_fence(t == n - 1 ? MPI_MODE_NOSUCCEED : 0, win));
		EQUAL(got, 3 * n);
	}
}

static void by_pscw(MPI_Comm c)
{
	int right = (me + 1) % n, left = (me + n - 1) % n;
	MPI_Group all, to, from;
	int flag = 0;

	OK(MPI_Win_get_group(win, &all));
	OK(MPI_Group_incl(all, 1, &right, &to));
	OK(MPI_Group_incl(all, 1, &left, &from));
	for (long round = 1; round <= 20; round++) {
		OK(MPI_Win_post(from, 0, win));
		OK(MPI_Win_start(to, 0, win));
		access_one(right, round);
		OK(MPI_Win_complete(win));
		if (round % 2)
			OK(MPI_Win_wait(win));
		else
			for (flag = 0; !flag;)
				OK(MPI_Win_test(win, &flag));
		check_own(round, 1, round);
	}
	/* Start before post, and an epoch without any access. */
	OK(MPI_Win_start(to, 0, win));
	OK(MPI_Win_post(from, 0, win));
	OK(MPI_Win_complete(win));
	OK(MPI_Win_wait(win));
	/* All with all. */
	OK(MPI_Win_post(all, 0, win));
	OK(MPI_Win_start(all, 0, win));
	for (int t = 0; t < n; t++)
		OK(MPI_Get(&got, 1, MPI_LONG, t, disp(t, n), 1, MPI_LONG, win));
	OK(MPI_Win_complete(win));
	EQUAL(got, 20);
	OK(MPI_Win_wait(win));
	OK(MPI_Group_free(&all));
	OK(MPI_Group_free(&to));
	OK(MPI_Group_free(&from));
}

static void by_lock(MPI_Comm c)
{
	long one = 1, sum;

	for (long round = 1; round <= 10; round++) {
		for (int t = 0; t < n; t++) {
			OK(MPI_Win_lock(round % 2 ? MPI_LOCK_EXCLUSIVE :
						    MPI_LOCK_SHARED,
					t, 0, win));
			access_one(t, round);
			if (round % 3 == 0)
				OK(MPI_Win_flush(t, win));
			OK(MPI_Win_unlock(t, win));
		}
	}
	OK(MPI_Barrier(c));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
	check_own(10, n, 10);
	OK(MPI_Win_unlock(me, win));
	OK(MPI_Barrier(c));
	/* An exclusive lock makes read and write one step. */
	for (int i = 0; i < 20; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		OK(MPI_Get(&got, 1, MPI_LONG, 0, disp(0, n + 1), 1, MPI_LONG,
			   win));
		OK(MPI_Win_flush(0, win));
		sum = got + one;
		OK(MPI_Put(&sum, 1, MPI_LONG, 0, disp(0, n + 1), 1, MPI_LONG,
			   win));
		OK(MPI_Win_unlock(0, win));
	}
	OK(MPI_Barrier(c));
	if (me == 0) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		EQUAL(cells[n + 1], 20 * n);
		OK(MPI_Win_unlock(0, win));
	}
	/* Two at once, and none at all. */
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	if (n > 1)
		OK(MPI_Win_lock(MPI_LOCK_SHARED, n - 1, 0, win));
	OK(MPI_Win_flush_all(win));
	if (n > 1)
		OK(MPI_Win_unlock(n - 1, win));
	OK(MPI_Win_unlock(0, win));
}

static void by_lock_all(MPI_Comm c)
{
	long one = 1, expect = 0, mine;

	OK(MPI_Win_lock_all(0, win));
	for (long round = 1; round <= 5; round++) {
		for (int t = 0; t < n; t++)
			access_one(t, round);
		OK(MPI_Win_flush_all(win));
	}
	OK(MPI_Barrier(c));
	OK(MPI_Win_sync(win));
	check_own(5, n, 5);
	OK(MPI_Barrier(c));
	for (int i = 0; i < 10; i++) {
		OK(MPI_Fetch_and_op(&one, &fetched, MPI_LONG, 0, disp(0, n + 1),
				    MPI_SUM, win));
		OK(MPI_Win_flush(0, win));
		CHECK(fetched >= i && fetched < 10 * n);
	}
	/* A lock of the program's own. */
	mine = me + 1;
	do {
		OK(MPI_Compare_and_swap(&mine, &expect, &got, MPI_LONG, 0,
					disp(0, n + 2), win));
		OK(MPI_Win_flush(0, win));
	} while (got != 0);
	OK(MPI_Fetch_and_op(&expect, &fetched, MPI_LONG, 0, disp(0, n + 2),
			    MPI_REPLACE, win));
	OK(MPI_Win_flush_local(0, win));
	EQUAL(fetched, mine);
	OK(MPI_Win_flush_local_all(win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(c));
	if (me == 0)
		EQUAL(cells[n + 1], 10 * n);
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	OK(MPI_Get(&got, 1, MPI_LONG, 0, disp(0, n + 1), 1, MPI_LONG, win));
	OK(MPI_Win_unlock_all(win));
	EQUAL(got, 10 * n);
}

int main(int argc, char **argv)
{
	void (*const syncs[])(MPI_Comm) = { by_fence, by_pscw, by_lock,
					    by_lock_all };

	start(&argc, &argv);
	for (int k = 0; k < KINDS; k++) {
		for (int s = 0; s < 4; s++) {
			MPI_Comm c = comm_for(k);

			MPI_Comm_rank(c, &me);
			MPI_Comm_size(c, &n);
			make_window(k, c);
			syncs[s](c);
			free_window(c);
			OK(MPI_Comm_free(&c));
		}
	}
	return finish();
}
