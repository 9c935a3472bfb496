/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall after Bruck et al.: block i is for the rank i further. In round b
 * all blocks whose number has bit b go that far in one message; after all
 * rounds each block has gone its way, and what is at place i came from the rank
 * i before.
 *
 * Cost: ceil(log2 n) * latency, each message about half of all bytes. For tiny
 * blocks and many ranks.
 */
#include <string.h>

#include "coll/algorithms.h"

/* Copy the blocks with the bit between their places and one message. */
static MPI_Count move(char *blocks, char *message, MPI_Count bytes, int n,
		      int bit, bool out)
{
	MPI_Count used = 0;

	for (int i = bit; i < n; i++) {
		if (!(i & bit))
			continue;
		if (out)
			memcpy(message + used, blocks + i * bytes, bytes);
		else
			memcpy(blocks + i * bytes, message + used, bytes);
		used += bytes;
	}
	return used;
}

static int rounds(const struct coll *k, char *blocks, char *out, char *in,
		  MPI_Count bytes)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;
	struct mpii_type *t = coll_bytes();

	for (int bit = 1; bit < n && !err; bit *= 2) {
		MPI_Count used = move(blocks, out, bytes, n, bit, true);

		err = coll_sendrecv(k, out, used, t, (rank + bit) % n, in, used,
				    t, (rank - bit + n) % n);
		move(blocks, in, bytes, n, bit, false);
	}
	return err;
}

int mpii_alltoall_bruck(const struct coll *k, const struct coll_side *s,
			const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count bytes = s->count * s->t->size;
	struct coll_memory mem;
	char *blocks = coll_memory_get(&mem, 3 * n * bytes);

	if (!blocks)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++)
		mpii_pack(s->t, coll_block(s, (rank + i) % n), s->count, 0,
			  blocks + i * bytes, bytes);
	err = rounds(k, blocks, blocks + n * bytes, blocks + 2 * n * bytes,
		     bytes);
	for (int i = 0; i < n && !err; i++)
		mpii_unpack(r->t, coll_block(r, (rank - i + n) % n), r->count,
			    0, blocks + i * bytes, bytes);
	coll_memory_put(&mem);
	return err;
}
