/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather(v) of long blocks between ranks of one host: everybody reads the
 * others' out of their memory.
 *
 * Cost: two waits, n - 1 block copies per rank.
 */
#include "coll/algorithms.h"
#include "coll/pull.h"

int mpii_allgather_pull(const struct coll *k, const struct coll_side *r)
{
	int rank = k->c->rank;

	return coll_pull(k, COLL_ONE_FOR_ALL, coll_block(r, rank),
			 coll_count(r, rank), r->t, r);
}
