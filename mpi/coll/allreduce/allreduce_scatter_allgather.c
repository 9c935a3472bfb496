/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce of a long message: every rank reduces one share of it, then all
 * exchange their shares.
 *
 * Cost: about 2 * bytes and one combining of all bytes per rank, whatever n is,
 * in two steps.
 */
#include "coll/algorithms.h"

int mpii_allreduce_scatter_allgather(const struct coll *k, const void *in,
				     void *out, MPI_Count count,
				     struct mpii_type *t, struct mpii_op *op)
{
	int n = k->c->size, rank = k->c->rank, err;
	struct coll_side r = { .buf = out, .unit = t->extent, .t = t };
	struct coll_memory mem = { .heap = NULL };
	struct coll_arrays a;
	void *mine;

	err = coll_arrays_init(&a, n);
	if (err)
		return err;
	coll_shares(&a, count, n, &r);
	mine = in == out ? coll_memory_typed(&mem, a.counts[rank], t) :
			   coll_block(&r, rank);
	err = mine ? mpii_reduce_scatter_direct(k, in, mine, a.counts, t, op) :
		     MPI_ERR_NO_MEM;
	if (!err && in == out)
		mpii_copy(mine, a.counts[rank], t, coll_block(&r, rank),
			  a.counts[rank], t);
	if (!err)
		err = mpii_allgather_blocks(k, &r, count * t->size);
	coll_memory_put(&mem);
	coll_arrays_free(&a);
	return err;
}
