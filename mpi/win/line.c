/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Locks of targets whose lines we have: those of this host. A free one costs an
 * instruction or two, and so does giving it back. For ranks of other hosts the owner
 * waits; whoever gives a lock back while it does tells it (remote.h).
 */
#include "win/line.h"
#include "win/remote.h"

static int my_turn(void *arg)
{
	return win_line_enter(arg);
}

int win_line_whose(const struct mpii_win *w, int (*cond)(void *arg),
		   const void *arg)
{
	const struct win_turn *t = arg;

	for (int i = 0; cond == my_turn && i < w->comm->size; i++)
		if (w->peers[i].line == t->l)
			return i;
	return -1;
}

/* Somebody else may be next. */
static void tell(struct mpii_win *w, int rank, struct win_line *l)
{
	if (mpii_likely(!win_line_awaited(l)))
		return;
	win_wake(w);
	if (atomic_load(&l->waiting))
		win_poke(w, rank);
}

/* Those who join are counted before they look again. */
static int wait_for(struct mpii_win *w, struct win_turn *t)
{
	int err;

	if (t->kind == WIN_LOCK_JOIN)
		atomic_fetch_add(&t->l->joiners, 1);
	err = win_wait(w, my_turn, t);
	if (t->kind == WIN_LOCK_JOIN)
		atomic_fetch_sub(&t->l->joiners, 1);
	return err;
}

int win_line_lock(struct mpii_win *w, int rank, enum win_lock kind)
{
	struct win_line *l = w->peers[rank].line;
	struct win_turn t = win_turn(l, kind);
	int err = MPI_SUCCESS;

	if (mpii_unlikely(!win_line_enter(&t)))
		err = wait_for(w, &t);
	win_line_begins(l);
	if (!err && kind == WIN_LOCK_SHARED)
		tell(w, rank, l);
	return err;
}

void win_line_unlock(struct mpii_win *w, int rank, enum win_lock kind)
{
	struct win_line *l = w->peers[rank].line;

	win_line_ends(l);
	win_line_leave(l, kind);
	tell(w, rank, l);
}
