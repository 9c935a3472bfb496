/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Win_fence: all operations of all ranks are done at their targets before any
 * rank goes on. Each completes its own, then all meet.
 */
#include "coll/calls.h"
#include "env/errors.h"
#include "win/pscw.h"
#include "win/create.h"
#include "win/remote.h"

#define ASSERTIONS                                                \
	(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | \
	 MPI_MODE_NOSUCCEED)

static int check(const struct mpii_win *w, int assert)
{
	int err;

	if (win_is_locked(w) || w->access == WIN_LOCK_ALL)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "this rank holds a lock of the window");
	err = win_check_pscw_ended(w);
	if (err)
		return err;
	if (assert & MPI_MODE_NOPRECEDE && w->fence_used)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_MODE_NOPRECEDE is given, but there were "
				 "operations since the last fence");
	return win_check_assert(assert, ASSERTIONS);
}

static int fence(struct mpii_win *w, int assert)
{
	int err = check(w, assert);

	if (err)
		return err;
	atomic_thread_fence(memory_order_seq_cst);
	if (w->fence_used)
		err = win_flush_all(w);
	/* Whoever failed takes part as well, or the others would wait. */
	if (!err || w->n > 1) {
		int met = mpii_barrier(w->comm);

		err = err ? err : met;
	}
	atomic_thread_fence(memory_order_seq_cst);
	w->fence_used = false;
	w->open_all = !(assert &MPI_MODE_NOSUCCEED);
	w->access = w->open_all ? WIN_FENCE : WIN_CLOSED;
	return err;
}

int PMPI_Win_fence(int assert, MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_fence");
	return win_raise(w, fence(w, assert), "MPI_Win_fence");
}
MPII_ALIAS(Win_fence);
