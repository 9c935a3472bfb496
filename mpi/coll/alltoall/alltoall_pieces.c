/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall of blocks that do not fit into a row together, between ranks of one
 * host: as alltoallv does it, in n - 1 rounds, piece by piece.
 *
 * Cost: one wait, and two copies of each block, by both its ranks at the same time.
 */
#include "coll/algorithms.h"

int mpii_alltoall_pieces(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r)
{
	return mpii_alltoallv_shared(k, s, r);
}
