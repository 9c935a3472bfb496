/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast by the root to each rank. On an intercommunicator the root is in
 * one group (MPI_ROOT) and the receivers are the other; the rest of the root's
 * group (MPI_PROC_NULL) does nothing.
 *
 * Cost: n * (latency + bytes) at the root.
 */
#include "coll/algorithms.h"

static int send_all(const struct coll *k, void *buf, MPI_Count count,
		    struct mpii_type *t, int self)
{
	struct coll_reqs r;
	int err = coll_reqs_init(&r, k->c->remote_size);

	if (err)
		return err;
	for (int i = 0; i < k->c->remote_size; i++)
		if (i != self)
			coll_post_send(k, &r, buf, count, t, i);
	return coll_reqs_finish(&r);
}

int mpii_bcast_linear(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root)
{
	if (root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (root == MPI_ROOT)
		return send_all(k, buf, count, t, -1);
	if (!k->c->inter && k->c->rank == root)
		return send_all(k, buf, count, t, root);
	return coll_recv(k, buf, count, t, root);
}
