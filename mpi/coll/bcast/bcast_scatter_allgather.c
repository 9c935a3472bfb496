/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast of a long message: the root gives every rank one share of it, then
 * all ranks exchange their shares. Works on packed bytes, so that shares can be
 * cut anywhere.
 *
 * Cost: about 2 * bytes per rank whatever n is, and few messages after each
 * other (see allgather).
 */
#include "coll/algorithms.h"

static int spread(const struct coll *k, const struct coll_side *s, int root,
		  MPI_Count bytes)
{
	int rank = k->c->rank;
	/* the root keeps all of it: nothing to copy to itself */
	int err = mpii_scatter_linear(
		k, s, rank == root ? MPI_IN_PLACE : coll_block(s, rank),
		s->counts[rank], s->t, root);

	return err ? err : mpii_allgather_blocks(k, s, bytes);
}

int mpii_bcast_scatter_allgather(const struct coll *k, void *buf,
				 MPI_Count count, struct mpii_type *t, int root)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count bytes = count * t->size;
	struct coll_memory mem = { .heap = NULL };
	struct coll_side s = { .buf = buf, .unit = 1, .t = coll_bytes() };
	struct coll_arrays a;

	if (!t->contiguous) {
		s.buf = coll_memory_get(&mem, bytes);
		if (!s.buf)
			return MPI_ERR_NO_MEM;
		if (rank == root)
			mpii_pack(t, buf, count, 0, s.buf, bytes);
	}
	err = coll_arrays_init(&a, n);
	if (!err) {
		coll_shares(&a, bytes, n, &s);
		err = spread(k, &s, root, bytes);
		coll_arrays_free(&a);
	}
	if (!err && !t->contiguous && rank != root)
		mpii_unpack(t, buf, count, 0, s.buf, bytes);
	coll_memory_put(&mem);
	return err;
}
