/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce over an intercommunicator: the group that has the data reduces it at
 * its rank 0, which sends the result to the root in the other group.
 *
 * Cost: that of a reduce, and one message.
 */
#include "coll/algorithms.h"

int mpii_reduce_inter(const struct coll *k, const void *in, void *out,
		      MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		      int root)
{
	struct coll_args a = { .s.buf = (char *)in, .op = op };
	struct coll_memory mem;
	struct coll local;
	int err;

	if (root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (root == MPI_ROOT)
		return coll_recv(k, out, count, t, 0);
	a.r = coll_side(coll_memory_typed(&mem, count, t), count, t);
	if (!a.r.buf)
		return MPI_ERR_NO_MEM;
	local = coll_local(k);
	err = coll_reduce(&local, &a);
	if (!err && k->c->rank == 0)
		err = coll_send(k, a.r.buf, count, t, root);
	coll_memory_put(&mem);
	return err;
}
