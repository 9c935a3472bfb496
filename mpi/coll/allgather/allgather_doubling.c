/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather by recursive doubling: in round i a rank exchanges all blocks it
 * has with the rank whose number differs in bit i. Equal blocks that follow
 * each other in memory, and a power of two of ranks.
 *
 * Cost: log2 n * latency + (n - 1) blocks.
 */
#include "coll/algorithms.h"

int mpii_allgather_doubling(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;

	for (int bit = 1; bit < n && !err; bit *= 2) {
		int peer = rank ^ bit;
		int mine = rank & ~(bit - 1), theirs = peer & ~(bit - 1);

		err = coll_sendrecv(k, coll_block(r, mine), r->count * bit,
				    r->t, peer, coll_block(r, theirs),
				    r->count * bit, r->t, peer);
	}
	return err;
}
