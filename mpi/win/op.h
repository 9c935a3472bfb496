/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* One operation on a window: its arguments, checked, and whoever does it. */
#ifndef WIN_OP_H
#define WIN_OP_H

#include <string.h>

#include "coll/op/op.h"
#include "datatype/datatype.h"
#include "pt2pt/request.h"
#include "win/out.h"
#include "win/win.h"

enum win_kind { WIN_PUT, WIN_GET, WIN_ACC, WIN_CAS };

/* A buffer of the origin. */
struct win_side {
	void *buf;
	MPI_Count count;
	struct mpii_type *t; /* NULL: there is none */
};

struct win_op {
	const char *func;
	struct mpii_win *w;
	enum win_kind kind;
	struct win_side from; /* what is put or accumulated */
	struct win_side to;   /* where what was there goes */
	int rank;
	MPI_Aint disp; /* as the program gave it, then in bytes */
	MPI_Count count;
	struct mpii_type *t; /* of the target */
	struct mpii_op *op;
	struct mpii_type *basic; /* of WIN_ACC and WIN_CAS */
	const void *compare;	 /* of WIN_CAS */
	MPI_Request *request;	 /* or NULL */
	MPI_Count bytes;	 /* that move, packed */
};

/* The arguments as they came in. */
struct win_call {
	const char *func;
	enum win_kind kind;
	MPI_Win win;
	void *origin;
	MPI_Count origin_count;
	MPI_Datatype origin_type;
	void *result;
	MPI_Count result_count;
	MPI_Datatype result_type;
	bool has_result, single;
	int rank;
	MPI_Aint disp;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	const void *compare;
	bool with_request;
	MPI_Request *request;
};

/* Checks all, does or starts it, and runs the error handler. */
int win_call(const struct win_call *c);

/* op_check.c: fills o. MPI code, words recorded; *nothing: there is nothing to
 * do. */
int win_check_op(const struct win_call *c, struct mpii_win *w, struct win_op *o,
		 bool *nothing);

/* May the target be accessed now, without waiting? */
static inline bool win_is_open(struct mpii_win *w, const struct win_peer *p)
{
	if (w->open_all) {
		__atomic_store_n(&w->fence_used, true, __ATOMIC_RELAXED);
		return true;
	}
	return p->held >= WIN_STARTED;
}

/* One piece from or to a window. What an instruction can move is moved by one, so
 * that nobody sees half of it. */
static inline void win_copy(void *to, const void *from, MPI_Count bytes)
{
	if (bytes == 8 && !(((uintptr_t)to | (uintptr_t)from) & 7))
		__atomic_store_n((uint64_t *)to,
				 __atomic_load_n((const uint64_t *)from,
						 __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	else if (bytes == 4 && !(((uintptr_t)to | (uintptr_t)from) & 3))
		__atomic_store_n((uint32_t *)to,
				 __atomic_load_n((const uint32_t *)from,
						 __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	else
		memmove(to, from, (size_t)bytes);
}

/* Does an accumulate have to wait for those of this rank that were sent? */
static inline bool win_waits_turn(const struct mpii_win *w, int rank)
{
	return mpii_unlikely((unsigned)rank < (unsigned)w->n &&
			     win_out_of(&w->peers[rank]) &&
			     !w->hints.unordered);
}

/*
 * The quick way to memory that is mapped: @bytes at displacement @disp. NULL: look
 * again, slowly.
 */
static inline char *win_quick(struct mpii_win *w, int rank, MPI_Aint disp,
			      MPI_Count bytes)
{
	struct win_peer *p;
	MPI_Aint at;

	if (mpii_unlikely((unsigned)rank >= (unsigned)w->n))
		return NULL;
	p = &w->peers[rank];
	if (mpii_unlikely(!p->direct || !win_is_open(w, p)))
		return NULL;
	if (mpii_unlikely(disp < 0 || bytes > p->size ||
			  __builtin_mul_overflow(disp, p->disp_unit, &at) ||
			  at > p->size - bytes))
		return NULL;
	win_count(&win_counts.direct);
	return p->direct + at;
}

/*
 * The quick way into the batch of a target that is asked: room behind the head of a brief
 * operation of this enum win_kind, perhaps with WIN_BRIEF_FETCH, for @more bytes. NULL:
 * look again, slowly.
 */
static inline char *win_quick_ask(struct mpii_win *w, int rank, MPI_Aint disp,
				  unsigned kind, MPI_Count bytes, size_t more)
{
	struct win_brief b;
	struct win_peer *p;
	MPI_Aint at;
	char *to;

	if (mpii_unlikely((unsigned)rank >= (unsigned)w->n ||
			  bytes > WIN_BRIEF_MAX))
		return NULL;
	p = &w->peers[rank];
	if (mpii_unlikely(p->direct || !win_out_of(p) || disp < 0 ||
			  bytes > p->size ||
			  __builtin_mul_overflow(disp, p->disp_unit, &at) ||
			  at > p->size - bytes || at >> WIN_BRIEF_AT))
		return NULL;
	if (mpii_unlikely(!win_is_open(w, p) && p->held != WIN_WANTED))
		return NULL;
	to = win_out_quick(win_out_of(p), sizeof(b) + more);
	if (mpii_unlikely(!to))
		return NULL;
	win_count(&win_counts.asked);
	b = win_brief(kind, (uint64_t)at, (uint64_t)bytes);
	memcpy(to, &b, sizeof(b));
	return to + sizeof(b);
}

/* A buffer of the origin that is one piece and not a null pointer. */
static inline bool win_plain(const struct mpii_type *t, const void *buf,
			     MPI_Count count)
{
	return mpii_likely(t && t->simple && count > 0 &&
			   (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE);
}

#endif
