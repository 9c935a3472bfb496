/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gather where every rank sends to the root, which has all receives posted. The
 * same for blocks of any size (gatherv) and for an intercommunicator, whose
 * root (MPI_ROOT) hears from the other group.
 *
 * Cost: n * latency + all bytes at the root, but one step only.
 */
#include "coll/algorithms.h"

static int receive(const struct coll *k, const void *in, MPI_Count count,
		   struct mpii_type *t, const struct coll_side *r, int self)
{
	int n = k->c->remote_size, err;
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, n);
	if (err)
		return err;
	for (int i = 0; i < n; i++)
		if (i != self)
			coll_post_recv(k, &reqs, coll_block(r, i),
				       coll_count(r, i), r->t, i);
	if (self >= 0 && in != MPI_IN_PLACE)
		mpii_copy(in, count, t, coll_block(r, self),
			  coll_count(r, self), r->t);
	return coll_reqs_finish(&reqs);
}

int mpii_gather_linear(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r, int root)
{
	if (root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (root == MPI_ROOT)
		return receive(k, in, count, t, r, -1);
	if (!k->c->inter && k->c->rank == root)
		return receive(k, in, count, t, r, root);
	return coll_send(k, in, count, t, root);
}
