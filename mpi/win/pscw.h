/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Epochs of post, start, complete and wait. */
#ifndef WIN_PSCW_H
#define WIN_PSCW_H

#include "win/win.h"

struct win_pscw {
	/* exposure: MPI_Win_post */
	bool exposed;
	unsigned expected; /* what w's line has to count of completions */
	int only_origin;   /* who has to complete, if it is one; or -1 */
	/* access: MPI_Win_start */
	int n;		/* targets */
	int *targets;	/* their ranks */
	unsigned *seen; /* [rank]: posts that were answered by a start */
};

void win_pscw_free(struct mpii_win *w);
/* Is neither MPI_Win_start nor MPI_Win_post still open? A code, words recorded. */
int win_check_pscw_ended(const struct mpii_win *w);
/* Waits for the post of a target that MPI_Win_start has named. */
int win_await_post(struct mpii_win *w, int rank);
/* What o2g why is told of these waits; false: it is none of them. */
struct o2g_state_wait;
bool win_pscw_explain(struct o2g_state_wait *to, const struct mpii_win *w,
		      int (*cond)(void *arg), const void *arg);

#endif
