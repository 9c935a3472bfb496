/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall through shared memory: every rank writes all its blocks as one row
 * and, when all have, picks its column.
 *
 * Cost: one wait, 2 n block copies per rank. For short blocks.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_alltoall_shared(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank;
	size_t bytes = (size_t)(r->count * r->t->size);
	struct coll_slot o = coll_slot_take(k, (MPI_Count)(n * bytes));
	int err = coll_slot_enter(k, &o);

	for (int i = 0; i < n && !err; i++)
		mpii_pack(s->t, coll_block(s, i), s->count, 0,
			  coll_slot_row(&o, rank) + i * bytes, bytes);
	if (!err)
		err = coll_slot_meet(k, &o);
	for (int i = 0; i < n && !err; i++)
		mpii_unpack(r->t, coll_block(r, i), r->count, 0,
			    coll_slot_row(&o, i) + rank * bytes, bytes);
	coll_slot_leave(&o);
	return err;
}
