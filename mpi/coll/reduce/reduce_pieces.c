/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce of a long message along the ranks of one host, through shared memory
 * (chain.h), from the one after the root to the root.
 *
 * Cost: one combining and one copy per rank, all ranks at the same time but for the
 * first n - 1 pieces. Only the root waits for the end. For predefined operations.
 */
#include "coll/algorithms.h"
#include "coll/chain.h"

static void combine(const struct coll_link *l)
{
	coll_link_value(l, l->next ? l->next : l->out);
}

int mpii_reduce_pieces(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       int root)
{
	return coll_chain(k, (root + 1) % k->c->size, in, out, count, t, op,
			  combine);
}
