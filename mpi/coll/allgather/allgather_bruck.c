/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather after Bruck et al.: as recursive doubling, but the partners are
 * found by distance, so any number of ranks works. A rank keeps the blocks of
 * itself and those after it, packed and in that order, and rotates them into
 * place at the end.
 *
 * Cost: ceil(log2 n) * latency + (n - 1) blocks, and one more copy of all.
 */
#include "coll/algorithms.h"

static int exchange(const struct coll *k, char *packed, MPI_Count bytes)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;
	struct mpii_type *t = coll_bytes();

	for (int have = 1; have < n && !err; have *= 2) {
		int more = coll_min(have, n - have);

		err = coll_sendrecv(k, packed, more * bytes, t,
				    (rank - have + n) % n,
				    packed + have * bytes, more * bytes, t,
				    (rank + have) % n);
	}
	return err;
}

int mpii_allgather_bruck(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count bytes = r->count * r->t->size;
	struct coll_memory mem;
	char *packed = coll_memory_get(&mem, n * bytes);

	if (!packed)
		return MPI_ERR_NO_MEM;
	mpii_pack(r->t, coll_block(r, rank), r->count, 0, packed, bytes);
	err = exchange(k, packed, bytes);
	for (int i = 1; i < n && !err; i++)
		mpii_unpack(r->t, coll_block(r, (rank + i) % n), r->count, 0,
			    packed + i * bytes, bytes);
	coll_memory_put(&mem);
	return err;
}
