/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * win_killed WHAT [SEED MICROSECONDS]: rank 1 is killed, with a lock that others
 * wait for (holder), as a target that computes (target), between two fences
 * (origin), between post and complete (starter), or in random epochs after some time
 * (random). All others get an error, in time, and end in order. For
 * tests/system/win_killed.sh. Not in testlist.
 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static MPI_Win win;
static MPI_Group all;
static long *cells, v = 1, got;

static void die(void)
{
	kill(getpid(), SIGKILL);
	pause();
}

static int lock_and_put(int target, int type)
{
	int err = MPI_Win_lock(type, target, 0, win), last;

	if (err)
		return err;
	err = MPI_Put(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
	if (!err)
		err = MPI_Get(&got, 1, MPI_LONG, target, 1, 1, MPI_LONG, win);
	last = MPI_Win_unlock(target, win);
	return err ? err : last;
}

/* Until the one who has the lock is found dead. */
static int holder(void)
{
	int err = MPI_SUCCESS;

	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
		MPI_Win_flush(0, win);
	}
	MPI_Barrier(WORLD);
	if (rank == 1) {
		usleep(200000); /* others are waiting by then */
		die();
	}
	while (!err)
		err = lock_and_put(0, MPI_LOCK_EXCLUSIVE);
	return err;
}

static int target(void)
{
	int err = MPI_SUCCESS;

	if (rank == 1) {
		double end = MPI_Wtime() + 0.3;

		while (MPI_Wtime() < end)
			v++;
		die();
	}
	/* Memory that is mapped stays; so does the lock. Ask for what needs the
	 * owner as well. */
	while (!err) {
		err = lock_and_put(1, MPI_LOCK_SHARED);
		if (!err)
			err = MPI_Win_fence(0, win);
	}
	return err;
}

static int origin(void)
{
	int err = MPI_SUCCESS;

	for (int i = 0; !err; i++) {
		err = MPI_Win_fence(0, win);
		for (int t = 0; t < size && !err; t++)
			err = MPI_Accumulate(&v, 1, MPI_LONG, t, 0, 1, MPI_LONG,
					     MPI_SUM, win);
		if (rank == 1 && i == 10)
			die();
	}
	return err;
}

static int starter(void)
{
	int err = MPI_SUCCESS;

	for (int i = 0; !err; i++) {
		err = MPI_Win_post(all, 0, win);
		if (!err)
			err = MPI_Win_start(all, 0, win);
		for (int t = 0; t < size && !err; t++)
			err = MPI_Put(&v, 1, MPI_LONG, t, rank, 1, MPI_LONG,
				      win);
		if (rank == 1 && i == 10)
			die();
		if (!err)
			err = MPI_Win_complete(win);
		if (!err)
			err = MPI_Win_wait(win);
	}
	return err;
}

static unsigned seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static int lock_all(int t)
{
	int err = MPI_Win_lock_all(0, win), last;

	if (err)
		return err;
	err = MPI_Fetch_and_op(&v, &got, MPI_LONG, t, 2, MPI_SUM, win);
	if (!err)
		err = MPI_Win_flush(t, win);
	last = MPI_Win_unlock_all(win);
	return err ? err : last;
}

static int fence(int t)
{
	int err = MPI_Win_fence(0, win), last;

	if (err)
		return err;
	err = MPI_Put(&v, 1, MPI_LONG, t, rank, 1, MPI_LONG, win);
	last = MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	return err ? err : last;
}

/* The same kinds in the same order at all; targets are each one's own. */
static int random_epochs(void)
{
	unsigned common = seed;
	int err = MPI_SUCCESS;

	while (!err) {
		int t, kind;

		seed = common;
		kind = (int)rnd(4);
		common = seed;
		seed += (unsigned)rank;
		t = (int)rnd((unsigned)size);
		if (kind == 0)
			err = fence(t);
		else if (kind == 1)
			err = lock_all(t);
		else
			err = lock_and_put(t, kind == 2 ? MPI_LOCK_SHARED :
							  MPI_LOCK_EXCLUSIVE);
	}
	return err;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "holder";
	int us = argc > 3 ? atoi(argv[3]) : 0, err;
	struct itimerval when = { .it_value = { us / 1000000, us % 1000000 } };

	seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	start(&argc, &argv);
	OK(MPI_Win_allocate(8 * (size + 4), 8, MPI_INFO_NULL, WORLD, &cells,
			    &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	OK(MPI_Win_get_group(win, &all));
	OK(MPI_Barrier(WORLD));
	if (rank == 1 && us)
		setitimer(ITIMER_REAL, &when, NULL);
	if (!strcmp(what, "holder"))
		err = holder();
	else if (!strcmp(what, "target"))
		err = target();
	else if (!strcmp(what, "origin"))
		err = origin();
	else if (!strcmp(what, "starter"))
		err = starter();
	else
		err = random_epochs();
	CHECK(rank != 1);
	FAILS(err, MPI_ERR_PROC_ABORTED);
	MPI_Finalize();
	printf("rank %d goes\n", rank);
	return 0;
}
