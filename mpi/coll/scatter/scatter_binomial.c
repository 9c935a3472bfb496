/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scatter down a binomial tree: a rank gets the packed blocks of itself and of
 * all ranks below it in one message, and passes on the upper half, quarter …
 * Blocks are numbered from the root on, so each message is one piece of memory.
 *
 * Cost: ceil(log2 n) * latency + all bytes at the root; inner ranks copy. For
 * short blocks of equal size and many ranks.
 */
#include "coll/algorithms.h"

static int pass_down(const struct coll *k, char *packed, MPI_Count bytes,
		     int root)
{
	int n = k->c->size, rel = (k->c->rank - root + n) % n, bit = 1;
	int err = MPI_SUCCESS;
	struct mpii_type *t = coll_bytes();

	while (bit < n && !(rel & bit))
		bit *= 2;
	if (rel)
		err = coll_recv(k, packed, coll_min(bit, n - rel) * bytes, t,
				(rel - bit + root) % n);
	for (bit /= 2; bit > 0 && !err; bit /= 2)
		if (rel + bit < n)
			err = coll_send(k, packed + bit * bytes,
					coll_min(bit, n - rel - bit) * bytes, t,
					(rel + bit + root) % n);
	return err;
}

int mpii_scatter_binomial(const struct coll *k, const struct coll_side *s,
			  void *out, MPI_Count count, struct mpii_type *t,
			  int root)
{
	int n = k->c->size, err;
	bool is_root = k->c->rank == root;
	MPI_Count bytes = is_root ? s->count * s->t->size : count * t->size;
	struct coll_memory mem;
	char *packed = coll_memory_get(&mem, n * bytes);

	if (!packed)
		return MPI_ERR_NO_MEM;
	for (int i = 0; is_root && i < n; i++)
		mpii_pack(s->t, coll_block(s, (root + i) % n), s->count, 0,
			  packed + i * bytes, bytes);
	err = pass_down(k, packed, bytes, root);
	if (!err && out != MPI_IN_PLACE)
		mpii_unpack(t, out, count, 0, packed, bytes);
	coll_memory_put(&mem);
	return err;
}
