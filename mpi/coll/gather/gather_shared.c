/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gather through shared memory: every rank writes its block and goes on, but the
 * root, which waits for the last of them and reads all.
 *
 * Cost: one wait at the root, none elsewhere. For short blocks.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_gather_shared(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r, int root)
{
	int n = k->c->size, rank = k->c->rank;
	struct coll_slot o = coll_slot_take(
		k, rank == root ? r->count * r->t->size : count * t->size);
	int err = coll_slot_enter(k, &o);

	if (!err) {
		if (rank != root)
			mpii_pack(t, in, count, 0, coll_slot_row(&o, rank),
				  (size_t)(count * t->size));
		else if (in != MPI_IN_PLACE)
			mpii_copy(in, count, t, coll_block(r, root), r->count,
				  r->t);
		if (coll_slot_arrive(k, &o))
			coll_slot_release(&o);
		else if (rank == root)
			err = coll_slot_wait(k, &o);
	}
	for (int i = 0; i < n && !err && rank == root; i++)
		if (i != root)
			mpii_unpack(r->t, coll_block(r, i), r->count, 0,
				    coll_slot_row(&o, i),
				    (size_t)(r->count * r->t->size));
	coll_slot_leave(&o);
	return err;
}
