/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce at rank 0: it gets all operands, combines them in the order of
 * ranks, and sends everyone the result.
 *
 * Cost: two messages after each other and n - 1 of each kind at rank 0, but
 * every other rank waits only once. With more ranks than cores each wait is a
 * context switch, so this is the best for few ranks and short messages.
 */
#include "coll/algorithms.h"

/* All operands but ours, one after the other. */
static int receive(const struct coll *k, void *got, MPI_Count count,
		   struct mpii_type *t)
{
	int n = k->c->size, err;
	struct coll_reqs r;

	err = coll_reqs_init(&r, n);
	if (err)
		return err;
	for (int i = 1; i < n; i++)
		coll_post_recv(k, &r, coll_at(got, (i - 1) * count, t), count,
			       t, i);
	return coll_reqs_finish(&r);
}

static int combine(const struct coll *k, const void *in, void *out,
		   MPI_Count count, struct mpii_type *t, struct mpii_op *op)
{
	int n = k->c->size, err;
	struct coll_memory mem;
	void *got = coll_memory_typed(&mem, (n - 1) * count, t), *sum;

	if (!got)
		return MPI_ERR_NO_MEM;
	err = receive(k, got, count, t);
	if (!err) {
		sum = coll_at(got, (n - 2) * count, t);
		for (int i = n - 3; i >= 0; i--)
			mpii_op_apply(op, coll_at(got, i * count, t), sum,
				      count, t);
		mpii_op_apply(op, in, sum, count, t);
		mpii_copy(sum, count, t, out, count, t);
	}
	coll_memory_put(&mem);
	for (int i = 1; i < n && !err; i++)
		err = coll_send(k, out, count, t, i);
	return err;
}

int mpii_allreduce_central(const struct coll *k, const void *in, void *out,
			   MPI_Count count, struct mpii_type *t,
			   struct mpii_op *op)
{
	int err;

	if (k->c->rank == 0)
		return combine(k, in, out, count, t, op);
	err = coll_send(k, in, count, t, 0);
	return err ? err : coll_recv(k, out, count, t, 0);
}
