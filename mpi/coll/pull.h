/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long blocks of ranks that can read each other's memory: every rank says in
 * shared memory where its own are, and when all have, reads what is for it.
 *
 * Cost: two waits, the second because others read what the program is about to
 * have back; each block is copied once. By messages a block has three packets
 * besides, and its rank waits for most of them. Where memory cannot be read after
 * all, packets carry it.
 */
#ifndef COLL_PULL_H
#define COLL_PULL_H

#include "coll/coll.h"

/* What a rank offers: the same block to all, or one to each. */
enum coll_offered { COLL_ONE_FOR_ALL, COLL_ONE_EACH };

/*
 * Offer @count of @t at @buf, and fill the blocks of @r, but our own, from what
 * the others offer. coll_shared_use() has said yes.
 */
int coll_pull(const struct coll *k, enum coll_offered what, const void *buf,
	      MPI_Count count, const struct mpii_type *t,
	      const struct coll_side *r);

#endif
