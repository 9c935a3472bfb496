/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall(v, w) in n rounds: in round i a rank sends to the one i further and
 * receives from the one i before.
 *
 * Cost: (n - 1) * latency + all bytes; one block at a time comes to a rank. For
 * long blocks and many ranks.
 */
#include "coll/algorithms.h"

int mpii_alltoall_pairwise(const struct coll *k, const struct coll_side *s,
			   const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;

	mpii_copy(coll_block(s, rank), coll_count(s, rank), coll_type(s, rank),
		  coll_block(r, rank), coll_count(r, rank), coll_type(r, rank));
	for (int i = 1; i < n && !err; i++) {
		int to = (rank + i) % n, from = (rank - i + n) % n;

		err = coll_sendrecv(k, coll_block(s, to), coll_count(s, to),
				    coll_type(s, to), to, coll_block(r, from),
				    coll_count(r, from), coll_type(r, from),
				    from);
	}
	return err;
}
