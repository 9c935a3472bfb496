/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the ranks of a window that are on one host share: a line for each of them,
 * who has posted for whom, and the memory of the window if we allocate it.
 */
#ifndef WIN_HOST_H
#define WIN_HOST_H

#include "win/win.h"

/* The words of one target. line.h has the rules of its lock. */
struct win_line {
	_Alignas(64) atomic_uint users;
	atomic_uint read, write, gate;
	atomic_uint joiners;   /* that wait for a writer to leave */
	atomic_uint waiting;   /* of other hosts, for whom the owner waits */
	atomic_uint completed; /* calls of MPI_Win_complete, of all times */
};

struct win_host {
	int n, me; /* ranks of the window on this host, and which we are */
	int first, step; /* ranks in the window: first, first + step, ... */
	int *ranks;	 /* or these, if they are not as regular */
	bool mapped;	 /* others have the same memory */
	bool reached;	 /* ... and can be woken */
	char *memory;
	size_t bytes, align;
	unsigned *asleep;
	struct win_line *lines;
	atomic_uint *posts; /* [origin * n + target]: posts of all times */
	char *data;	    /* of the window, where it is allocated here */
};

/* What all members tell each other when a window is made. */
struct win_card {
	uint64_t host;
	int32_t node;
	int32_t align; /* of allocated memory */
	int64_t size, disp_unit;
	uint64_t base;
	uint8_t contiguous, no_locks, flavor;
};

/*
 * Collective: fills w->host, and lines and direct memory of w->peers; where memory
 * is to be allocated, also w->base. Words recorded.
 */
int win_host_make(struct mpii_win *w, const struct win_card *cards);
void win_host_free(struct mpii_win *w);

/* In the window, of the one with this index here. */
static inline int win_host_rank(const struct win_host *h, int i)
{
	return h->ranks ? h->ranks[i] : h->first + i * h->step;
}

/* Wakes all others here; the first few of them if @few. 0 or a negative errno. */
int win_host_nudge(const struct mpii_win *w, bool few);

/* Among the ranks of this host, or -1. */
int win_host_index(const struct win_host *h, int rank);

#endif
