/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The page of state (base/rank_state.h), as the other chapters write to it. Without a
 * launcher that wants one it is a page that nobody sees.
 */
#ifndef MPII_TOOLS_STATE_H
#define MPII_TOOLS_STATE_H

#include "mpii.h"
#include "rank_state.h"

struct mpii_comm;
struct mpii_req;

/* The endpoint is open; it will be closed. */
void mpii_state_start(void);
void mpii_state_stop(void);
void mpii_state_phase(enum o2g_state_phase phase);

/* --- what a thread waits for --- */

/* Conditions that are waited for say what they are about. */
typedef void mpii_explain_fn(struct o2g_state_wait *w, void *arg);
void mpii_state_explain(int (*cond)(void *arg), mpii_explain_fn *explain);

/* A request that is not done; others are left out. */
void mpii_state_add_req(struct o2g_state_wait *w, const struct mpii_req *r);
void mpii_state_add(struct o2g_state_wait *w, const struct o2g_pending *p);
/* It is in the collective of @c that has this number. */
void mpii_state_in_coll(struct o2g_state_wait *w, const struct mpii_comm *c,
			unsigned seq);

/* Memory of a rank of @c in a window, or the lock of it. */
void mpii_state_add_target(struct o2g_state_wait *w, enum o2g_state_doing doing,
			   const struct mpii_comm *c, int rank);

/* A wait that libo2g does not see, from now until it goes on. */
void *mpii_state_blocks(enum o2g_state_doing doing);
void mpii_state_goes_on(void *wait);

/* --- what others may wait for --- */

/* This rank has locked, or unlocks, the memory of a rank of @c. */
void mpii_state_locked(const struct mpii_comm *c, int rank, bool exclusive);
void mpii_state_unlocked(const struct mpii_comm *c, int rank);

/* --- where in the program (state_where.c) --- */

void mpii_where_start(struct o2g_state *page);
/* The caller's place, and the name of the MPI function that it is in. */
void mpii_where(struct o2g_state *page, struct o2g_state_wait *w);
/* The place of one return address; false: it is nowhere. */
bool mpii_where_is(struct o2g_state *page, const void *address,
		   struct o2g_state_frame *frame);

/* --- calls that look and find nothing --- */

extern struct o2g_state_poll *mpii_poll;
void mpii_state_polled_often(const void *where);

#define MPII_POLL_OFTEN 1024

/* Only noted: @context and ranks as in struct o2g_state_poll. */
static inline void mpii_polled(enum o2g_state_poll_call call,
			       enum o2g_state_doing doing, uint32_t context,
			       int peer, int tag, unsigned n, const void *where)
{
	struct o2g_state_poll *p = mpii_poll;
	uint64_t times = __atomic_load_n(&p->times, __ATOMIC_RELAXED) + 1;

#define NOTE(field, value) __atomic_store_n(&p->field, value, __ATOMIC_RELAXED)
	NOTE(call, call);
	NOTE(doing, doing);
	NOTE(context, context);
	NOTE(peer, peer);
	NOTE(tag, tag == MPI_ANY_TAG ? O2G_STATE_ANY : tag);
	NOTE(n, n);
	NOTE(where, (uintptr_t)where);
	NOTE(times, times);
#undef NOTE
	if (mpii_unlikely(times % MPII_POLL_OFTEN == 0))
		mpii_state_polled_often(where);
}
/* The same for the first of n requests that is not done. */
void mpii_polled_requests(enum o2g_state_poll_call call,
			  const MPI_Request *reqs, int n, const void *where);

#endif
