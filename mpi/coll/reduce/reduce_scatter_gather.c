/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce of a long message: every rank reduces one share of it, then the root
 * gathers the shares.
 *
 * Cost: about 2 * bytes and one combining of all bytes per rank, whatever n is.
 */
#include "coll/algorithms.h"

int mpii_reduce_scatter_gather(const struct coll *k, const void *in, void *out,
			       MPI_Count count, struct mpii_type *t,
			       struct mpii_op *op, int root)
{
	int n = k->c->size, rank = k->c->rank, err;
	struct coll_side r = { .buf = out, .unit = t->extent, .t = t };
	struct coll_memory mem;
	struct coll_arrays a;
	void *mine;

	err = coll_arrays_init(&a, n);
	if (err)
		return err;
	coll_shares(&a, count, n, &r);
	mine = coll_memory_typed(&mem, a.counts[rank], t);
	err = mine ? mpii_reduce_scatter_direct(k, in, mine, a.counts, t, op) :
		     MPI_ERR_NO_MEM;
	if (!err)
		err = mpii_gather_linear(k, mine, a.counts[rank], t, &r, root);
	coll_memory_put(&mem);
	coll_arrays_free(&a);
	return err;
}
