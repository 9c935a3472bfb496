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
	struct mpii_comm *local = k->c->local;
	struct coll_memory mem;
	void *ours = coll_memory_typed(&mem, count, t);
	int err;

	if (!ours)
		return MPI_ERR_NO_MEM;
	err = mpii_reduce(in, ours, count, t, op, 0, local);
	if (!err && k->c->rank == 0)
		err = coll_sendrecv(k, ours, count, t, 0, out, count, t, 0);
	coll_memory_put(&mem);
	return err ? err : mpii_bcast(out, count, t, 0, local);
}
