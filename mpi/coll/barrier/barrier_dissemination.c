/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Barrier by dissemination: in round i every rank tells the one 2^i further and
 * hears from the one 2^i before. After ceil(log2 n) rounds each has heard,
 * directly or not, from all. Any number of ranks.
 *
 * Cost: ceil(log2 n) messages after each other.
 */
#include "coll/algorithms.h"

int mpii_barrier_dissemination(const struct coll *k)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;
	struct mpii_type *t = coll_bytes();

	for (int d = 1; d < n && !err; d *= 2)
		err = coll_sendrecv(k, NULL, 0, t, (rank + d) % n, NULL, 0, t,
				    (rank - d + n) % n);
	return err;
}
