/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gather up a binomial tree: a rank collects the packed blocks of the ranks
 * below it, in order, and sends them up as one message. Blocks are numbered
 * from the root on, so each message is one piece of memory.
 *
 * Cost: ceil(log2 n) * latency + all bytes at the root; inner ranks copy. For
 * short blocks of equal size and many ranks.
 */
#include <string.h>

#include "coll/algorithms.h"

/* The packed blocks, from the root's on, to their places. */
static void place(const struct coll *k, const char *packed, MPI_Count bytes,
		  const struct coll_side *r, int root, bool in_place)
{
	int n = k->c->size;

	for (int i = in_place ? 1 : 0; i < n; i++)
		mpii_unpack(r->t, coll_block(r, (root + i) % n), r->count, 0,
			    packed + i * bytes, bytes);
}

static int collect(const struct coll *k, char *packed, MPI_Count bytes,
		   int root)
{
	int n = k->c->size, rel = (k->c->rank - root + n) % n, err = 0, have;

	for (int bit = 1; bit < n && !err; bit *= 2) {
		if (rel & bit) {
			have = coll_min(bit, n - rel);
			return coll_send(k, packed, have * bytes, coll_bytes(),
					 (rel - bit + root) % n);
		}
		if (rel + bit < n) {
			have = coll_min(bit, n - rel - bit);
			err = coll_recv(k, packed + bit * bytes, have * bytes,
					coll_bytes(), (rel + bit + root) % n);
		}
	}
	return err;
}

int mpii_gather_binomial(const struct coll *k, const void *in, MPI_Count count,
			 struct mpii_type *t, const struct coll_side *r,
			 int root)
{
	bool is_root = k->c->rank == root, in_place = in == MPI_IN_PLACE;
	MPI_Count bytes = is_root ? r->count * r->t->size : count * t->size;
	struct coll_memory mem;
	char *packed = coll_memory_get(&mem, k->c->size * bytes);
	int err;

	if (!packed)
		return MPI_ERR_NO_MEM;
	if (!in_place)
		mpii_pack(t, in, count, 0, packed, bytes);
	err = collect(k, packed, bytes, root);
	if (is_root && !err)
		place(k, packed, bytes, r, root, in_place);
	coll_memory_put(&mem);
	return err;
}
