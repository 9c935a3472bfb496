/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce-scatter where every rank sends each other one its block, all messages
 * posted at once, and combines what it got. All operands are here then, so they
 * are combined in the order of ranks and the operation need not commute. `out` is
 * the place of this rank's block and must not be part of `in`.
 *
 * Cost: n - 1 messages per rank, its own block n times over in memory, one step
 * only.
 */
#include "coll/algorithms.h"

static int exchange(const struct coll *k, const void *in, void *out, void *got,
		    const MPI_Count *counts, struct mpii_type *t)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count at = 0, mine = counts[rank];
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, 2 * n);
	if (err)
		return err;
	for (int i = 0; i < n; i++)
		if (i != rank)
			coll_post_recv(k, &reqs,
				       i == n - 1 ? out :
						    coll_at(got, i * mine, t),
				       mine, t, i);
	for (int i = 0; i < n; at += counts[i++])
		if (i != rank)
			coll_post_send(k, &reqs, coll_at(in, at, t), counts[i],
				       t, i);
	return coll_reqs_finish(&reqs);
}

int mpii_reduce_scatter_direct(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count mine = counts[rank], at = 0;
	struct coll_memory mem;
	void *got = coll_memory_typed(&mem, mine * (n - 1), t), *own;

	if (!got)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < rank; i++)
		at += counts[i];
	own = coll_at(in, at, t);
	err = exchange(k, in, out, got, counts, t);
	if (!err && rank == n - 1)
		mpii_copy(own, mine, t, out, mine, t);
	for (int i = n - 2; i >= 0 && !err; i--)
		mpii_op_apply(op, i == rank ? own : coll_at(got, i * mine, t),
			      out, mine, t);
	coll_memory_put(&mem);
	return err;
}
