/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce-scatter as a reduce at rank 0 and a scatter: for operations that do
 * not commute, and for short messages of many ranks.
 *
 * Cost: that of both.
 */
#include "coll/algorithms.h"

int mpii_reduce_scatter_reduce(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op)
{
	int n = k->c->size, rank = k->c->rank, err;
	struct coll_side s = { .unit = t->extent, .t = t };
	struct coll_memory mem;
	struct coll_arrays a;
	MPI_Count total;

	err = coll_arrays_init(&a, n);
	if (err)
		return err;
	total = coll_row(&a, counts, n, &s);
	s.buf = coll_memory_typed(&mem, rank == 0 ? total : 0, t);
	err = s.buf ? mpii_reduce_binomial(k, in, s.buf, total, t, op, 0) :
		      MPI_ERR_NO_MEM;
	if (!err)
		err = mpii_scatter_linear(k, &s, out, counts[rank], t, 0);
	coll_memory_put(&mem);
	coll_arrays_free(&a);
	return err;
}
