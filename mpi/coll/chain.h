/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long operands along a chain of ranks that share memory: each takes the value of
 * those before it out of its neighbour's row, adds its own and leaves it in its own
 * row for the next, piece by piece (pieces.h), so that all are at work at the same
 * time and what they hand on stays in the caches.
 *
 * Cost: what a rank does with a piece, for all pieces, and n - 1 pieces until the
 * last rank can begin.
 */
#ifndef COLL_CHAIN_H
#define COLL_CHAIN_H

#include <string.h>

#include "coll/coll.h"

/* The operands of one piece, all in one place. */
struct coll_link {
	const void *in;
	const void *before; /* the value up to here; NULL: at the first */
	void *next;	    /* where our value goes; NULL: at the last */
	void *out;
	MPI_Count count;
	struct mpii_type *t;
	struct mpii_op *op;
};
typedef void coll_link_fn(const struct coll_link *l);

/* Along the ranks, beginning with @first; all of @in, a piece at a time. */
int coll_chain(const struct coll *k, int first, const void *in, void *out,
	       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
	       coll_link_fn *combine);

/* Our operand and what was before, to where it goes. */
void coll_link_value(const struct coll_link *l, void *to);

#endif
