/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Windows.
 *
 * Every rank knows of every other where its memory is and how it is reached: a
 * `struct win_peer`, 64 bytes for one that was never touched. If its memory is
 * mapped here (`direct`), put and get are copies and atomics are instructions of
 * the processor. Otherwise its owner is asked by messages (remote.h).
 *
 * Locks, posts and completions are words of the target, its line. Ranks of one
 * host share the lines of all of them; for others the owner acts on its line
 * when their messages come. docs/locking.md has the rules.
 */
#ifndef MPII_WIN_WIN_H
#define MPII_WIN_WIN_H

#include "comm/comm.h"
#include "process/process.h"

struct mpii_errh;
struct mpii_attr;
struct mpii_info;
struct win_line;
struct win_out;
struct win_served;

/* What this rank has opened: it decides which calls are in order. */
enum win_access {
	WIN_CLOSED,
	WIN_FENCE, /* by a fence; all targets may be accessed */
	WIN_START,
	WIN_LOCK_ALL /* single locks are counted in `locked` */
};

/* ... for one target, by start or lock. */
enum win_held {
	WIN_HELD_NOT,
	WIN_STARTING, /* it may not have called post yet */
	WIN_WANTED,   /* a lock that was not asked for yet */
	WIN_STARTED,  /* from here on operations may go out */
	WIN_LOCKED    /* p->lock says how */
};

/* Locks, also on the wire. */
enum win_lock {
	WIN_LOCK_NONE, /* it need not be taken: MPI_MODE_NOCHECK */
	WIN_LOCK_SHARED,
	WIN_LOCK_EXCLUSIVE,
	WIN_LOCK_JOIN /* shared, by one who holds another: line.h */
};

struct win_peer {
	char *direct; /* its memory, mapped here; NULL: it is asked */
	MPI_Aint size, disp_unit;
	struct win_line *line; /* NULL: it is asked */
	struct win_out *out;   /* what it is asked; NULL: nothing so far */
	uint64_t base, key;    /* its memory for o2g_put and o2g_get */
	atomic_uint posts; /* of its MPI_Win_post for us, that came by message */
	uint8_t held;	   /* enum win_held */
	uint8_t lock;	   /* enum win_lock */
	bool all;	   /* it is held by lock_all */
};

/* Another thread of the program may just have made it. */
static inline struct win_out *win_out_of(const struct win_peer *p)
{
	return __atomic_load_n(&p->out, __ATOMIC_ACQUIRE);
}

_Static_assert(sizeof(struct win_peer) == 64,
	       "what a window takes for a member that is never touched");

struct mpii_win {
	struct mpii_obj obj;
	MPI_Win handle;
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	char name[MPI_MAX_OBJECT_NAME];
	/* the predefined attributes */
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
	/* the members */
	struct mpii_comm *comm; /* the window's own */
	int n, rank;
	struct win_peer *peers;
	/* epochs of this rank */
	uint8_t access; /* enum win_access */
	bool open_all;	/* by fence or lock_all: every target may be accessed */
	bool fence_used;   /* something was done since the fence */
	bool unchecked;	   /* lock_all was told that it need not lock */
	atomic_int locked; /* targets that are locked one by one */
	struct win_pscw *pscw;
	/* what ranks of this host share */
	struct win_host *host;
	struct mpii_info *info;
	struct win_hints {
		bool no_locks;
		bool unordered; /* accumulates */
	} hints;
	/* the owner's side */
	struct o2g_mem *mem;	    /* the window's, registered */
	pthread_mutex_t owner;	    /* what only the owner may update */
	struct win_region *regions; /* attached, sorted; with `owner` */
	size_t nregions, region_room;
	pthread_mutex_t serving;   /* batches and who waits for the lock */
	struct win_served *served; /* of origins that send messages */
	struct win_out *outs;	   /* of all targets; grows with `owner` */
	unsigned losses;	   /* of libo2g, when all members were alive */
	struct mpii_win *next;	   /* serve.c */
};

/* The same: the first of all. */
static inline struct win_out *win_outs_of(const struct mpii_win *w)
{
	return __atomic_load_n(&w->outs, __ATOMIC_ACQUIRE);
}

/* NULL: not a window. */
static inline struct mpii_win *mpii_win_get(MPI_Win h)
{
	struct mpii_win *w = (struct mpii_win *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END &&
			       mpii_is_object(h, MPII_WIN) ?
		       w :
		       NULL;
}

/* Ranks of this host may have its memory mapped. */
static inline bool win_is_allocated(const struct mpii_win *w)
{
	return w->flavor == MPI_WIN_FLAVOR_ALLOCATE ||
	       w->flavor == MPI_WIN_FLAVOR_SHARED;
}

static inline bool win_is_locked(const struct mpii_win *w)
{
	return atomic_load_explicit(&w->locked, memory_order_relaxed) > 0;
}

/* Operations of this process, for tools: done on mapped memory, and asked for by
 * messages. */
extern struct win_counts {
	atomic_ullong direct, asked;
} win_counts;

static inline void win_count(atomic_ullong *n)
{
	if (mpii_unlikely(mpii.multiple))
		atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
	else
		atomic_store_explicit(
			n, atomic_load_explicit(n, memory_order_relaxed) + 1,
			memory_order_relaxed);
}

/* --- errors (check.c) --- */

/* As mpii_raise, on the window's handler. */
int win_raise(struct mpii_win *w, int err, const char *func);
int win_null_arg(struct mpii_win *w, const char *func, const char *arg);
/* Recorded, to be raised: the rank that @rank is not, the assertion that @assert
 * may not have. */
int win_check_rank(const struct mpii_win *w, int rank, const char *arg);
int win_check_assert(int assert, int allowed);

/* --- waiting (wait.c) --- */

/* Until cond(arg), which looks at memory that others write; an error when a
 * member of the window is lost before. MPI code, words recorded. */
int win_wait(struct mpii_win *w, int (*cond)(void *arg), void *arg);
/* What such waits are about (tools/state.h). */
void win_wait_explain(void);
/* The same error if one is lost already. */
int win_look_who_died(struct mpii_win *w);
/* Having written what ranks of this host may wait for. */
void win_wake(struct mpii_win *w);

#endif
