/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall of long blocks between ranks of one host: everybody reads what is for
 * it out of the others' memory.
 *
 * Cost: two waits, n - 1 block copies per rank.
 */
#include "coll/algorithms.h"
#include "coll/pull.h"

int mpii_alltoall_pull(const struct coll *k, const struct coll_side *s,
		       const struct coll_side *r)
{
	int rank = k->c->rank;

	mpii_copy(coll_block(s, rank), s->count, s->t, coll_block(r, rank),
		  r->count, r->t);
	return coll_pull(k, COLL_ONE_EACH, s->buf, s->count * k->c->size, s->t,
			 r);
}
