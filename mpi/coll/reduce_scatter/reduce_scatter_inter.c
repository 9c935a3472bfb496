/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce-scatter over an intercommunicator: each group reduces its data at its
 * rank 0, the two exchange the results, and each scatters what it got. Both
 * groups have the same total by the standard's rule.
 *
 * Cost: that of a reduce, a message and a scatter.
 */
#include "coll/algorithms.h"

static int swap_and_scatter(const struct coll *k, const void *ours,
			    struct coll_side *s, MPI_Count total, void *out,
			    struct mpii_type *t)
{
	struct coll local = coll_local(k);
	int rank = k->c->rank, err = MPI_SUCCESS;

	if (rank == 0)
		err = coll_sendrecv(k, ours, total, t, 0, s->buf, total, t, 0);
	return err ? err :
		     mpii_scatter_linear(&local, s, out, s->counts[rank], t, 0);
}

static int reduce_here(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op)
{
	struct coll local = coll_local(k);
	struct coll_args a = { .s.buf = (char *)in,
			       .r = coll_side(out, count, t),
			       .op = op };

	return coll_reduce(&local, &a);
}

int mpii_reduce_scatter_inter(const struct coll *k, const void *in, void *out,
			      const MPI_Count *counts, struct mpii_type *t,
			      struct mpii_op *op)
{
	int n = k->c->size, err;
	struct coll_side s = { .unit = t->extent, .t = t };
	struct coll_memory m1, m2;
	struct coll_arrays a;
	MPI_Count total;
	void *ours;

	err = coll_arrays_init(&a, n);
	if (err)
		return err;
	total = coll_row(&a, counts, n, &s);
	ours = coll_memory_typed(&m1, total, t);
	s.buf = coll_memory_typed(&m2, total, t);
	err = MPI_ERR_NO_MEM;
	if (ours && s.buf)
		err = reduce_here(k, in, ours, total, t, op);
	if (!err)
		err = swap_and_scatter(k, ours, &s, total, out, t);
	coll_memory_put(&m2);
	coll_memory_put(&m1);
	coll_arrays_free(&a);
	return err;
}
