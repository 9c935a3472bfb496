/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce-scatter in n - 1 rounds, for operations that commute: in round i a
 * rank gets its block from the rank i before, combines it, and sends the rank i
 * further that one's.
 *
 * Cost: (n - 1) * latency + all bytes; memory for one block. For many ranks.
 */
#include "coll/algorithms.h"

static MPI_Count start_of(const MPI_Count *counts, int i)
{
	MPI_Count at = 0;

	while (i > 0)
		at += counts[--i];
	return at;
}

int mpii_reduce_scatter_pairwise(const struct coll *k, const void *in,
				 void *out, const MPI_Count *counts,
				 struct mpii_type *t, struct mpii_op *op)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;
	MPI_Count mine = counts[rank];
	struct coll_memory mem;
	void *got = coll_memory_typed(&mem, mine, t);

	if (!got)
		return MPI_ERR_NO_MEM;
	mpii_copy(coll_at(in, start_of(counts, rank), t), mine, t, out, mine,
		  t);
	for (int i = 1; i < n && !err; i++) {
		int to = (rank + i) % n, from = (rank - i + n) % n;

		err = coll_sendrecv(k, coll_at(in, start_of(counts, to), t),
				    counts[to], t, to, got, mine, t, from);
		if (!err)
			mpii_op_apply(op, got, out, mine, t);
	}
	coll_memory_put(&mem);
	return err;
}
