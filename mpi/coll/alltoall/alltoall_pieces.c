/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall of blocks that do not fit into a box, between ranks of one host: as
 * alltoallv does it, one box after the other.
 *
 * Cost: a wait for each box that a block fills, and two copies of it, by both its
 * ranks at the same time.
 */
#include "coll/algorithms.h"

int mpii_alltoall_pieces(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r)
{
	return mpii_alltoallv_shared(k, s, r);
}
