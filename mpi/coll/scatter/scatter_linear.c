/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scatter where the root sends each rank its block. The same for blocks of any
 * size (scatterv) and for an intercommunicator, whose root (MPI_ROOT) sends to
 * the other group. With MPI_IN_PLACE the root leaves its own block where it is.
 *
 * Cost: n * latency + all bytes at the root, but one step only.
 */
#include "coll/algorithms.h"

static int send_all(const struct coll *k, const struct coll_side *s, void *out,
		    MPI_Count count, struct mpii_type *t, int self)
{
	int n = k->c->remote_size, err;
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, n);
	if (err)
		return err;
	for (int i = 1; i <= n; i++) {
		int to = (self + i + n) % n; /* the one after us first */

		if (to != self)
			coll_post_send(k, &reqs, coll_block(s, to),
				       coll_count(s, to), s->t, to);
	}
	if (self >= 0 && out != MPI_IN_PLACE)
		mpii_copy(coll_block(s, self), coll_count(s, self), s->t, out,
			  count, t);
	return coll_reqs_finish(&reqs);
}

int mpii_scatter_linear(const struct coll *k, const struct coll_side *s,
			void *out, MPI_Count count, struct mpii_type *t,
			int root)
{
	if (root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (root == MPI_ROOT)
		return send_all(k, s, out, count, t, -1);
	if (!k->c->inter && k->c->rank == root)
		return send_all(k, s, out, count, t, root);
	return coll_recv(k, out, count, t, root);
}
