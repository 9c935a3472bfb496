/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather(v) around a ring: in each of n - 1 rounds a rank passes the block
 * it got last to the next rank.
 *
 * Cost: (n - 1) * (latency + block). Every rank talks to its neighbours only,
 * and at no time is more than one block under way to a rank. For long blocks.
 */
#include "coll/algorithms.h"

int mpii_allgather_ring(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;

	for (int i = 0; i < n - 1 && !err; i++) {
		int out = (rank - i + n) % n, in = (rank - i - 1 + n) % n;

		err = coll_sendrecv(k, coll_block(r, out), coll_count(r, out),
				    r->t, (rank + 1) % n, coll_block(r, in),
				    coll_count(r, in), r->t,
				    (rank - 1 + n) % n);
	}
	return err;
}
