/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan and exscan along a chain: a rank waits for the value of all ranks before
 * it, adds its own and passes it on.
 *
 * Cost: up to (n - 1) * (latency + bytes + combining) until the last rank is
 * done, but one message per rank, and ranks need not wait for each other: calls
 * that follow each other overlap. For few ranks.
 */
#include "coll/algorithms.h"

int mpii_scan_linear(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool exclusive)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;
	struct coll_memory m1, m2;
	void *before = coll_memory_typed(&m1, count, t);
	void *upto = coll_memory_typed(&m2, count, t);

	if (!before || !upto)
		err = MPI_ERR_NO_MEM;
	if (!err && rank)
		err = coll_recv(k, before, count, t, rank - 1);
	if (!err) {
		mpii_copy(in, count, t, upto, count, t);
		if (rank)
			mpii_op_apply(op, before, upto, count, t);
		if (rank + 1 < n)
			err = coll_send(k, upto, count, t, rank + 1);
	}
	if (!err && (rank || !exclusive))
		mpii_copy(exclusive ? before : upto, count, t, out, count, t);
	coll_memory_put(&m2);
	coll_memory_put(&m1);
	return err;
}
