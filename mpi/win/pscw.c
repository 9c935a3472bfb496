/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Post, start, complete, wait.
 *
 * A post counts one up for each origin, in memory that both share or by a message;
 * the origin waits for that when it first accesses the target, at the latest in
 * MPI_Win_complete. A completion counts one up in the line of the target, after all
 * that the origin has done there. Both count forever: an epoch knows what the count
 * will be.
 */
#include <stdlib.h>

#include "env/errors.h"
#include "win/host.h"
#include "win/pscw.h"
#include "win/remote.h"
#include "tools/state.h"

static struct win_pscw *pscw_of(struct mpii_win *w)
{
	if (!w->pscw) {
		w->pscw = calloc(1, sizeof(*w->pscw));
		if (w->pscw)
			w->pscw->seen =
				calloc((size_t)w->n, sizeof(*w->pscw->seen));
		if (w->pscw && !w->pscw->seen) {
			free(w->pscw);
			w->pscw = NULL;
		}
	}
	return w->pscw;
}

void win_pscw_free(struct mpii_win *w)
{
	if (w->pscw) {
		free(w->pscw->seen);
		free(w->pscw->targets);
	}
	free(w->pscw);
}

/* The group's members as ranks of the window; *ranks is malloc'ed. */
static int ranks_of(struct mpii_win *w, MPI_Group group, int **ranks, int *n)
{
	struct mpii_group *g = mpii_group_get(group);

	if (!g)
		return mpii_fail(MPI_ERR_GROUP, "group is %s",
				 group == MPI_GROUP_NULL ?
					 "MPI_GROUP_NULL" :
					 "no group, or was freed");
	*n = g->size;
	*ranks = malloc(((size_t)g->size + 1) * sizeof(**ranks));
	if (!*ranks || !pscw_of(w)) {
		free(*ranks);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	for (int i = 0; i < g->size; i++) {
		(*ranks)[i] = mpii_comm_rank_of(w->comm, mpii_group_peer(g, i));
		if ((*ranks)[i] != MPI_UNDEFINED)
			continue;
		free(*ranks);
		return mpii_fail(MPI_ERR_GROUP,
				 "member %d of the group does not belong to "
				 "the window",
				 i);
	}
	return MPI_SUCCESS;
}

static int check_fence(const struct mpii_win *w)
{
	if (w->access == WIN_FENCE && w->fence_used)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "there were operations since MPI_Win_fence, "
				 "which another fence has to complete");
	return MPI_SUCCESS;
}

/* --- the target --- */

/* Where a post of @target for @origin is counted, if both are of this host. */
static atomic_uint *post_word(const struct mpii_win *w, int origin, int target)
{
	const struct win_host *h = w->host;

	if (!w->peers[origin].line || !w->peers[target].line)
		return NULL;
	return &h->posts[win_host_index(h, origin) * h->n +
			 win_host_index(h, target)];
}

static int notify(struct mpii_win *w, const int *origins, int n)
{
	bool here = false;
	int err = MPI_SUCCESS;

	atomic_thread_fence(memory_order_seq_cst);
	for (int i = 0; i < n; i++) {
		atomic_uint *word = post_word(w, origins[i], w->rank);

		if (word)
			atomic_fetch_add(word, 1);
		else if (!err)
			err = win_send_post(w, origins[i]);
		here |= word != NULL;
	}
	if (here)
		win_wake(w);
	return err;
}

static int check_post(const struct mpii_win *w, int assert)
{
	int err = win_check_assert(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE |
						   MPI_MODE_NOPUT);

	if (!err)
		err = check_fence(w);
	if (!err && w->pscw && w->pscw->exposed)
		err = mpii_fail(MPI_ERR_RMA_SYNC,
				"MPI_Win_post was called before, but not "
				"MPI_Win_wait");
	return err;
}

static int post(struct mpii_win *w, MPI_Group group, int assert)
{
	int *origins, n, err = check_post(w, assert);

	if (!err)
		err = ranks_of(w, group, &origins, &n);
	if (err)
		return err;
	w->pscw->exposed = true;
	w->pscw->only_origin = n == 1 ? origins[0] : -1;
	w->pscw->expected += (unsigned)n;
	if (!(assert &MPI_MODE_NOCHECK))
		err = notify(w, origins, n);
	free(origins);
	return err;
}

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_post");
	return win_raise(w, post(w, group, assert), "MPI_Win_post");
}
MPII_ALIAS(Win_post);

static int all_completed(void *arg)
{
	struct mpii_win *w = arg;
	struct win_line *l = w->peers[w->rank].line;

	return (int)(atomic_load(&l->completed) - w->pscw->expected) >= 0;
}

static int check_exposed(const struct mpii_win *w)
{
	if (w->pscw && w->pscw->exposed)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_RMA_SYNC, "MPI_Win_post was not called");
}

int PMPI_Win_wait(MPI_Win win)
{
	static const char func[] = "MPI_Win_wait";
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (!w)
		return mpii_bad_win(win, func);
	err = check_exposed(w);
	if (err)
		return win_raise(w, err, func);
	err = win_wait(w, all_completed, w);
	w->pscw->exposed = false;
	return win_raise(w, err, func);
}
MPII_ALIAS(Win_wait);

int PMPI_Win_test(MPI_Win win, int *flag)
{
	static const char func[] = "MPI_Win_test";
	struct mpii_win *w = mpii_win_get(win);
	int err;

	if (!w)
		return mpii_bad_win(win, func);
	if (!flag)
		return win_null_arg(w, func, "flag");
	err = check_exposed(w);
	if (err)
		return win_raise(w, err, func);
	*flag = all_completed(w);
	if (!*flag) {
		o2g_progress(mpii.ep);
		*flag = all_completed(w);
	}
	if (*flag)
		w->pscw->exposed = false;
	else
		err = win_look_who_died(w);
	return win_raise(w, err, func);
}
MPII_ALIAS(Win_test);

/* --- the origin --- */

struct post_wait {
	atomic_uint *word;
	unsigned want;
	int rank;
};

static int posted(void *arg)
{
	const struct post_wait *p = arg;

	return (int)(atomic_load(p->word) - p->want) >= 0;
}

bool win_pscw_explain(struct o2g_state_wait *to, const struct mpii_win *w,
		      int (*cond)(void *arg), const void *arg)
{
	const struct post_wait *p = arg;

	if (cond == posted)
		mpii_state_add_target(to, O2G_PART_POST, w->comm, p->rank);
	else if (cond == all_completed && w->pscw->only_origin >= 0)
		mpii_state_add_target(to, O2G_PART_COMPLETE, w->comm,
				      w->pscw->only_origin);
	return cond == posted || cond == all_completed;
}

int win_await_post(struct mpii_win *w, int rank)
{
	atomic_uint *word = post_word(w, w->rank, rank);
	struct post_wait p = { word ? word : &w->peers[rank].posts,
			       w->pscw->seen[rank] + 1, rank };
	int err = win_wait(w, posted, &p);

	if (!err) {
		w->pscw->seen[rank]++;
		w->peers[rank].held = WIN_STARTED;
	}
	return err;
}

static int check_start(const struct mpii_win *w, int assert)
{
	int err = win_check_assert(assert, MPI_MODE_NOCHECK);

	if (!err)
		err = check_fence(w);
	if (err)
		return err;
	if (w->access == WIN_START)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_start was called before, but not "
				 "MPI_Win_complete");
	if (w->access == WIN_LOCK_ALL || win_is_locked(w))
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "this rank holds a lock of the window");
	return MPI_SUCCESS;
}

static int start(struct mpii_win *w, MPI_Group group, int assert)
{
	int *targets, n, err = check_start(w, assert);

	if (!err)
		err = ranks_of(w, group, &targets, &n);
	if (err)
		return err;
	for (int i = 0; i < n; i++)
		w->peers[targets[i]].held =
			assert &MPI_MODE_NOCHECK ? WIN_STARTED : WIN_STARTING;
	w->pscw->targets = targets;
	w->pscw->n = n;
	w->open_all = false;
	w->access = WIN_START;
	return MPI_SUCCESS;
}

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_start");
	return win_raise(w, start(w, group, assert), "MPI_Win_start");
}
MPII_ALIAS(Win_start);

/* All that was done on the target is done, and it may know. */
static int complete_one(struct mpii_win *w, int rank)
{
	struct win_peer *p = &w->peers[rank];
	int err = MPI_SUCCESS;

	if (p->held == WIN_STARTING)
		err = win_await_post(w, rank);
	if (!err && (win_out_of(p) || !p->line))
		err = win_remote_complete(w, rank);
	p->held = WIN_HELD_NOT;
	if (!err && p->line)
		atomic_fetch_add(&p->line->completed, 1);
	return err;
}

int win_check_pscw_ended(const struct mpii_win *w)
{
	if (w->access == WIN_START)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_start was called, but not "
				 "MPI_Win_complete");
	if (w->pscw && w->pscw->exposed)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_post was called, but not "
				 "MPI_Win_wait");
	return MPI_SUCCESS;
}

static int complete(struct mpii_win *w)
{
	struct win_pscw *s = w->pscw;
	int err = MPI_SUCCESS, one;

	if (w->access != WIN_START)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "MPI_Win_start was not called");
	atomic_thread_fence(memory_order_seq_cst);
	for (int i = 0; i < s->n; i++) {
		one = complete_one(w, s->targets[i]);
		err = err ? err : one;
	}
	win_wake(w);
	free(s->targets);
	s->targets = NULL;
	s->n = 0;
	w->access = WIN_CLOSED;
	return err;
}

int PMPI_Win_complete(MPI_Win win)
{
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, "MPI_Win_complete");
	return win_raise(w, complete(w), "MPI_Win_complete");
}
MPII_ALIAS(Win_complete);
