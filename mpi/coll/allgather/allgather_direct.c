/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather(v) where every rank sends its block to every other one, all
 * messages posted at once.
 *
 * Cost: n - 1 messages and (n - 1) blocks per rank, but one step only: a rank
 * waits once, where the other algorithms wait once per round. With more ranks
 * than cores each wait is a context switch, so this is the best for few ranks.
 */
#include "coll/algorithms.h"

int mpii_allgather_direct(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err;
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, 2 * n);
	if (err)
		return err;
	for (int i = 1; i < n; i++) {
		int from = (rank - i + n) % n;

		coll_post_recv(k, &reqs, coll_block(r, from),
			       coll_count(r, from), r->t, from);
	}
	for (int i = 1; i < n; i++)
		coll_post_send(k, &reqs, coll_block(r, rank),
			       coll_count(r, rank), r->t, (rank + i) % n);
	return coll_reqs_finish(&reqs);
}
