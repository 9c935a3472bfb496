/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What an origin has for one target: the batch that is being made, and those that
 * were not answered. */
#ifndef WIN_OUT_H
#define WIN_OUT_H

#include "datatype/datatype.h"
#include "win/wire.h"
#include "win/win.h"

/* Where a part of what comes back goes. */
struct win_result {
	void *buf;
	MPI_Count count;
	struct mpii_type *t; /* held */
	MPI_Count off, bytes;
};

/* A batch that is to be answered. */
struct win_asked {
	struct win_asked *next;
	uint32_t seq;
	unsigned n;
	atomic_int *
		request; /* of the one that it is sent for: its error; or NULL */
	bool alone;	 /* nothing else is answered with it */
	struct win_result results[];
};

#define WIN_OUT_FULL (16u << 10) /* a batch of so many bytes leaves */

struct win_out {
	struct win_out *next; /* of the window */
	atomic_uint refs;     /* the window's, and those of requests */
	int rank;
	pthread_mutex_t lock; /* of all below */
	char *batch;
	size_t used, room;
	unsigned nops;
	struct win_result *results; /* of the batch */
	unsigned nresults, results_room;
	uint64_t fetched; /* bytes that they will be */
	uint32_t seq;	  /* of the last batch that was sent */
	uint32_t locked;  /* and of the last one that asked for a lock */
	bool unanswered;  /* since the last that asked, others were sent */
	size_t flying;	  /* bytes since the last that was waited for */
	struct win_asked *first, **last;
	atomic_uint pending;  /* batches to be answered */
	atomic_uint answered; /* number of the last that was */
	atomic_int error;     /* class that the target has answered with */
	struct mpii_type *layouts[WIN_LAYOUTS]; /* held; the target has them */
	unsigned next_layout;
	struct o2g_counter counter; /* of o2g_rma_put and o2g_rma_get */
};

/* The one of a target, made if there is none. NULL: out of memory. */
struct win_out *win_out_get(struct mpii_win *w, int rank);

/* A request may outlive its window, if not what it asks for. */
static inline void win_out_hold(struct win_out *o)
{
	atomic_fetch_add(&o->refs, 1);
}
void win_out_put(struct win_out *o);

/* Has a lock been asked for that may not have been given? For tools: a guess. */
static inline bool win_out_wants_lock(const struct win_out *o)
{
	return (int)(atomic_load(&o->answered) - o->locked) < 0;
}

/* --- with out->lock --- */

/* Room for one more operation with so many bytes of data behind it; what is
 * there may be sent first. NULL: out of memory. The data follows the operation. */
struct win_wire_op *win_out_add(struct mpii_win *w, struct win_out *o,
				uint64_t data);
/* The same for an operation of so many bytes, of whatever form. */
char *win_out_room(struct mpii_win *w, struct win_out *o, uint64_t bytes);
/* Of the operation that was added last. */
bool win_out_add_result(struct win_out *o, const struct win_result *r);
/* The batch that was sent last answers a request, from now on or no more. */
void win_out_answers(struct win_out *o, atomic_int *error, bool alone);
void win_out_forget(struct win_out *o, const atomic_int *error);
/* Sends the batch, also an empty one. MPI code. Flags are those of the batch, and
 * WIN_OUT_LOCK: it asks for the lock although it has no operations. */
#define WIN_OUT_LOCK 128u
int win_out_send(struct mpii_win *w, struct win_out *o, unsigned flags);
/* The number of a layout that the target has, or gets with this batch; 0: out of
 * memory. */
uint32_t win_out_layout(struct mpii_win *w, struct win_out *o,
			struct mpii_type *t);

/*
 * Room for one more operation in the batch as it is, or NULL. Without out->lock, which
 * other threads of the program are kept away by: handlers do not touch the batch.
 */
static inline char *win_out_quick(struct win_out *o, size_t bytes)
{
	size_t end;
	char *at;

	if (mpii_unlikely(mpii.multiple))
		return NULL;
	end = o->used + bytes;
	at = o->batch + o->used;
	if (mpii_unlikely(end > o->room || end > WIN_OUT_FULL))
		return NULL;
	o->used = end;
	o->nops++;
	return at;
}

/* Is there room for one more result, so that win_out_add_result() does not fail? */
static inline bool win_out_takes_result(const struct win_out *o)
{
	return o->nresults < o->results_room && o->fetched <= WIN_OUT_FULL;
}

/* A reply has come. */
void win_out_reply(struct mpii_win *w, int rank, const void *data, size_t len);

/* layout.c: a datatype for the wire, and from there; NULL: nonsense, or out of
 * memory. */
size_t win_layout_bytes(const struct mpii_type *t);
void win_layout_write(const struct mpii_type *t, char *to);
struct mpii_type *win_layout_read(const char *from, size_t len);

#endif
