/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce over an intercommunicator: each group reduces at its rank 0, the
 * two exchange the results, and each group is told the other's.
 *
 * Cost: that of a reduce, a message and a broadcast.
 */
#include "coll/algorithms.h"

int mpii_allreduce_inter(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op)
{
	struct coll local = coll_local(k);
	struct coll_memory mem;
	void *ours = coll_memory_typed(&mem, count, t);
	struct coll_args a = { .s.buf = (char *)in,
			       .r = coll_side(ours, count, t),
			       .op = op };
	int err;

	if (!ours)
		return MPI_ERR_NO_MEM;
	err = coll_reduce(&local, &a);
	if (!err && k->c->rank == 0)
		err = coll_sendrecv(k, ours, count, t, 0, out, count, t, 0);
	coll_memory_put(&mem);
	a.r.buf = out;
	return err ? err : coll_bcast(&local, &a);
}
