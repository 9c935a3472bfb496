/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Completing operations within an epoch of locks, and MPI_Win_sync. What was
 * done by instructions on mapped memory is done; a fence orders it before what
 * follows. For the rest the targets are asked (remote.h).
 */
#include "env/errors.h"
#include "win/remote.h"

static int check_epoch(const struct mpii_win *w, int rank)
{
	if (w->access == WIN_LOCK_ALL ||
	    (win_is_locked(w) && (rank < 0 || w->peers[rank].held)))
		return MPI_SUCCESS;
	if (rank >= 0)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "rank %d was not locked by this rank", rank);
	return mpii_fail(MPI_ERR_RMA_SYNC,
			 "there is no epoch of MPI_Win_lock or "
			 "MPI_Win_lock_all");
}

static inline int flush(MPI_Win win, int rank, bool local, const char *func)
{
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (mpii_unlikely(!w))
		return mpii_bad_win(win, func);
	if (mpii_unlikely(rank == MPI_PROC_NULL))
		return MPI_SUCCESS;
	err = win_check_rank(w, rank, "rank");
	if (mpii_likely(!err))
		err = check_epoch(w, rank);
	if (mpii_unlikely(err))
		return win_raise(w, err, func);
	if (!local)
		atomic_thread_fence(memory_order_seq_cst);
	if (mpii_likely(!win_out_of(&w->peers[rank])))
		return MPI_SUCCESS;
	return win_raise(w, win_remote_flush(w, rank, local), func);
}

static int flush_all(MPI_Win win, bool local, const char *func)
{
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (mpii_unlikely(!w))
		return mpii_bad_win(win, func);
	err = check_epoch(w, -1);
	if (!local)
		atomic_thread_fence(memory_order_seq_cst);
	if (mpii_likely(!err))
		err = win_remote_flush_all(w, local);
	return win_raise(w, err, func);
}

int PMPI_Win_flush(int rank, MPI_Win win)
{
	return flush(win, rank, false, "MPI_Win_flush");
}
MPII_ALIAS(Win_flush);

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
	return flush(win, rank, true, "MPI_Win_flush_local");
}
MPII_ALIAS(Win_flush_local);

int PMPI_Win_flush_all(MPI_Win win)
{
	return flush_all(win, false, "MPI_Win_flush_all");
}
MPII_ALIAS(Win_flush_all);

int PMPI_Win_flush_local_all(MPI_Win win)
{
	return flush_all(win, true, "MPI_Win_flush_local_all");
}
MPII_ALIAS(Win_flush_local_all);

int PMPI_Win_sync(MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_sync");
	atomic_thread_fence(memory_order_seq_cst);
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_sync);
