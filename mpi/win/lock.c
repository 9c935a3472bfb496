/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Passive target: lock, lock_all and their ends.
 *
 * A lock of this host is taken at once: the program may load and store. Others are
 * asked for together with the first operation (remote.h), by lock_all only for
 * those targets that are accessed.
 */
#include "env/errors.h"
#include "tools/state.h"
#include "win/line.h"
#include "win/remote.h"

/* May an epoch of locks begin? */
static int check_begin(const struct mpii_win *w, int assert)
{
	if (w->hints.no_locks)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "the window was made with no_locks");
	if (w->access == WIN_START)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_start was called, but not "
				 "MPI_Win_complete");
	if (w->access == WIN_LOCK_ALL)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_lock_all was called, but not "
				 "MPI_Win_unlock_all");
	if (w->access == WIN_FENCE && w->fence_used)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "there were operations since MPI_Win_fence, "
				 "which another fence has to complete");
	return win_check_assert(assert, MPI_MODE_NOCHECK);
}

/* Of this process, in whichever window. */
static atomic_int locks;

static enum win_lock kind_of(int type, int assert)
{
	if (assert & MPI_MODE_NOCHECK)
		return WIN_LOCK_NONE;
	if (type == MPI_LOCK_EXCLUSIVE)
		return WIN_LOCK_EXCLUSIVE;
	return atomic_load(&locks) ? WIN_LOCK_JOIN : WIN_LOCK_SHARED;
}

/* Of this host at once, and also where the program may load and store. */
static int take(struct mpii_win *w, int rank)
{
	struct win_peer *p = &w->peers[rank];
	int err = MPI_SUCCESS;

	p->held = WIN_LOCKED;
	if (p->lock == WIN_LOCK_NONE)
		return MPI_SUCCESS;
	if (p->line) {
		err = win_line_lock(w, rank, p->lock);
	} else {
		p->held = WIN_WANTED;
		if (p->direct)
			err = win_remote_lock(w, rank);
	}
	if (err)
		p->held = WIN_HELD_NOT;
	return err;
}

static int lock(struct mpii_win *w, int type, int rank, int assert)
{
	struct win_peer *p = &w->peers[rank];
	int err = check_begin(w, assert);

	if (err)
		return err;
	if (p->held)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "rank %d is locked already by this rank",
				 rank);
	p->lock = kind_of(type, assert);
	err = take(w, rank);
	if (err)
		return err;
	w->open_all = false;
	w->access = WIN_CLOSED;
	atomic_fetch_add(&w->locked, 1);
	atomic_fetch_add(&locks, 1);
	mpii_state_locked(w->comm, rank, type == MPI_LOCK_EXCLUSIVE);
	return MPI_SUCCESS;
}

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
	static const char func[] = "MPI_Win_lock";
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (!w)
		return mpii_bad_win(win, func);
	if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
		return win_raise(w,
				 mpii_fail(MPI_ERR_LOCKTYPE,
					   "lock_type is %d, but must be "
					   "MPI_LOCK_SHARED or "
					   "MPI_LOCK_EXCLUSIVE",
					   lock_type),
				 func);
	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	err = win_check_rank(w, rank, "rank");
	return win_raise(w, err ? err : lock(w, lock_type, rank, assert), func);
}
MPII_ALIAS(Win_lock);

/* All that was done on the target is done; then it is given back. */
static int let_go(struct mpii_win *w, int rank)
{
	struct win_peer *p = &w->peers[rank];
	int err = MPI_SUCCESS;

	if (win_out_of(p) || !p->line)
		err = win_remote_unlock(w, rank);
	if (p->line && p->lock)
		win_line_unlock(w, rank, p->lock);
	else
		atomic_thread_fence(memory_order_seq_cst);
	p->held = WIN_HELD_NOT;
	return err;
}

static int unlock(struct mpii_win *w, int rank)
{
	int err;

	if (!win_is_locked(w) || !w->peers[rank].held)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "rank %d was not locked by this rank", rank);
	mpii_state_unlocked(w->comm, rank);
	err = let_go(w, rank);
	atomic_fetch_sub(&w->locked, 1);
	atomic_fetch_sub(&locks, 1);
	return err;
}

int PMPI_Win_unlock(int rank, MPI_Win win)
{
	static const char func[] = "MPI_Win_unlock";
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (!w)
		return mpii_bad_win(win, func);
	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	err = win_check_rank(w, rank, "rank");
	return win_raise(w, err ? err : unlock(w, rank), func);
}
MPII_ALIAS(Win_unlock);

/* --- all targets --- */

static void unlock_lines(struct mpii_win *w, int n)
{
	for (int i = 0; i < n; i++) {
		int rank = win_host_rank(w->host, i);

		if (w->peers[rank].line)
			win_line_unlock(w, rank, WIN_LOCK_JOIN);
	}
}

/* Those of this host, in the order of ranks. */
static int lock_lines(struct mpii_win *w)
{
	const struct win_host *h = w->host;
	int err = MPI_SUCCESS;

	for (int i = 0; i < h->n && !err; i++) {
		int rank = win_host_rank(h, i);
		const struct win_peer *p = &w->peers[rank];

		if (p->line)
			err = win_line_lock(w, rank, WIN_LOCK_JOIN);
		else if (p->direct)
			err = win_remote_lock(w, rank);
		if (err)
			unlock_lines(w, i);
	}
	return err;
}

static int lock_all(struct mpii_win *w, int assert)
{
	int err = check_begin(w, assert);

	if (err)
		return err;
	if (win_is_locked(w))
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "this rank still holds a lock of the window");
	w->unchecked = assert &MPI_MODE_NOCHECK;
	w->access = WIN_LOCK_ALL;
	if (!w->unchecked)
		err = lock_lines(w);
	if (err) {
		w->access = WIN_CLOSED;
		return err;
	}
	w->open_all = true;
	atomic_fetch_add(&locks, 1);
	return MPI_SUCCESS;
}

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_lock_all");
	return win_raise(w, lock_all(w, assert), "MPI_Win_lock_all");
}
MPII_ALIAS(Win_lock_all);

static int unlock_all(struct mpii_win *w)
{
	int err;

	if (w->access != WIN_LOCK_ALL)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_lock_all was not called");
	err = win_remote_unlock_all(w);
	atomic_thread_fence(memory_order_seq_cst);
	if (!w->unchecked)
		unlock_lines(w, w->host->n);
	w->access = WIN_CLOSED;
	w->open_all = false;
	w->fence_used = false;
	atomic_fetch_sub(&locks, 1);
	return err;
}

int PMPI_Win_unlock_all(MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_unlock_all");
	return win_raise(w, unlock_all(w), "MPI_Win_unlock_all");
}
MPII_ALIAS(Win_unlock_all);
