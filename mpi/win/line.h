/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The lock of a line.
 *
 * It is fair: everybody draws a number of `users`. A writer's turn is when `write`
 * has come to its number, a reader's when `read` has. A reader lets the next
 * reader in at once, and counts in `write` when it leaves; a writer counts in both.
 *
 * Whoever holds another lock already must not wait behind a writer that waits:
 * that one may wait, over others, for the lock that we hold. So a reader with a lock,
 * and lock_all, draws no number: it joins, unless a writer is inside. `gate` counts
 * those, or says that a writer is inside.
 */
#ifndef WIN_LINE_H
#define WIN_LINE_H

#include "win/host.h"

#define WIN_GATE_WRITER 0x80000000u

/*
 * Whoever holds a lock sees what those have written who held it before. Some of them
 * are other processes, of which ThreadSanitizer knows nothing: so it is told.
 */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
static inline void win_line_begins(struct win_line *l)
{
	__tsan_acquire(l);
}

static inline void win_line_ends(struct win_line *l)
{
	__tsan_release(l);
}
#else
static inline void win_line_begins(struct win_line *l)
{
}

static inline void win_line_ends(struct win_line *l)
{
}
#endif

/* For its turn. */
struct win_turn {
	struct win_line *l;
	enum win_lock kind;
	unsigned number;
	bool entered;
};

static inline struct win_turn win_turn(struct win_line *l, enum win_lock kind)
{
	return (struct win_turn){
		.l = l,
		.kind = kind,
		.number = kind == WIN_LOCK_JOIN ? 0 :
						  atomic_fetch_add(&l->users, 1)
	};
}

static inline bool win_line_join(struct win_line *l)
{
	unsigned now = atomic_load(&l->gate);

	while (!(now & WIN_GATE_WRITER))
		if (atomic_compare_exchange_weak(&l->gate, &now, now + 1))
			return true;
	return false;
}

/* Has it come? */
static inline bool win_line_enter(struct win_turn *t)
{
	struct win_line *l = t->l;
	unsigned nobody = 0;

	if (t->entered)
		return true;
	if (t->kind == WIN_LOCK_JOIN) {
		t->entered = win_line_join(l);
	} else if (t->kind == WIN_LOCK_SHARED) {
		t->entered = atomic_load(&l->read) == t->number;
		if (t->entered)
			atomic_store(&l->read, t->number + 1);
	} else {
		t->entered = atomic_load(&l->write) == t->number &&
			     atomic_compare_exchange_strong(&l->gate, &nobody,
							    WIN_GATE_WRITER);
	}
	return t->entered;
}

static inline void win_line_leave(struct win_line *l, enum win_lock kind)
{
	unsigned number;

	if (kind == WIN_LOCK_JOIN) {
		atomic_fetch_sub(&l->gate, 1);
	} else if (kind == WIN_LOCK_SHARED) {
		atomic_fetch_add(&l->write, 1);
	} else {
		number = atomic_load_explicit(&l->write, memory_order_relaxed);
		atomic_store(&l->gate, 0);
		atomic_store(&l->read, number + 1);
		atomic_store(&l->write, number + 1);
	}
}

/* Does somebody wait? */
static inline bool win_line_awaited(struct win_line *l)
{
	return atomic_load(&l->users) != atomic_load(&l->read) ||
	       atomic_load(&l->joiners);
}

/* line.c: the lock of a target whose line we have. MPI code, words recorded. */
int win_line_lock(struct mpii_win *w, int rank, enum win_lock kind);
/* The rank whose lock is waited for by this condition; -1: it is another one. */
int win_line_whose(const struct mpii_win *w, int (*cond)(void *arg),
		   const void *arg);
void win_line_unlock(struct mpii_win *w, int rank, enum win_lock kind);

#endif
