/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather(v) over an intercommunicator: every rank sends its block to every
 * rank of the other group, all messages posted at once.
 *
 * Cost: n messages per rank, one step.
 */
#include "coll/algorithms.h"

int mpii_allgather_inter(const struct coll *k, const void *in, MPI_Count count,
			 struct mpii_type *t, const struct coll_side *r)
{
	int n = k->c->remote_size, err;
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, 2 * n);
	if (err)
		return err;
	for (int i = 0; i < n; i++)
		coll_post_recv(k, &reqs, coll_block(r, i), coll_count(r, i),
			       r->t, i);
	for (int i = 0; i < n; i++)
		coll_post_send(k, &reqs, in, count, t, i);
	return coll_reqs_finish(&reqs);
}
