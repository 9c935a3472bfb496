/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long data through shared memory (shared.h): one slot after the other, a piece in
 * a row of each. The rows of a few slots stay in the caches, and a rank that is
 * ahead by all of them waits. So data is copied twice, but quickly, while ranks
 * that read each other's memory have the kernel look up every page of it.
 *
 * Ranks may disagree about the length, and must take the same number of slots all
 * the same: a row says how much is left, and those who read it go by that.
 */
#ifndef COLL_PIECES_H
#define COLL_PIECES_H

#include "coll/shared.h"

/* What a row has before its data. */
struct coll_piece {
	_Alignas(64) uint64_t left; /* bytes, with those of this piece */
	bool wrong;		    /* its writer knows that ranks disagree */
};
#define COLL_PIECE_HEAD 64
#define COLL_PIECE (COLL_SHARED_LONG - COLL_PIECE_HEAD)

static inline struct coll_slot coll_piece_take(const struct coll *k)
{
	struct coll_slot o = coll_slot_take(k, COLL_SHARED_LONG);

	o.length = COLL_SHARED_LONG; /* rows tell who disagrees */
	return o;
}

static inline struct coll_piece *coll_piece_row(const struct coll_slot *o,
						int rank)
{
	return (struct coll_piece *)coll_slot_row(o, rank);
}
static inline void *coll_piece_data(const struct coll_piece *p)
{
	return (char *)p + COLL_PIECE_HEAD;
}

static inline void coll_piece_say(const struct coll *k, struct coll_piece *p,
				  MPI_Count left)
{
	p->left = (uint64_t)left;
	p->wrong = coll_is_wrong(k);
}

/* How much of @left bytes, and not less than none, is in a piece of so many. */
static inline size_t coll_piece_bytes(MPI_Count left, MPI_Count piece)
{
	return left <= 0 ? 0 : (size_t)(left < piece ? left : piece);
}

/* What rank @from has left, and what we have. */
static inline int coll_piece_check(const struct coll *k, int from,
				   const struct coll_piece *p, MPI_Count left)
{
	MPI_Count theirs = (MPI_Count)p->left;

	if (mpii_likely(theirs == left && !p->wrong) || coll_is_wrong(k))
		return MPI_SUCCESS;
	if (theirs != left)
		return coll_received(k, mpii_check_length(from, theirs, left));
	return coll_mismatch(k, mpii_fail(MPI_ERR_COUNT,
					  "rank %d has got another number of "
					  "bytes than it wants",
					  from));
}

#endif
