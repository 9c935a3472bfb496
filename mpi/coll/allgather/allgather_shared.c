/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allgather(v) through shared memory: every rank writes its block and, when all
 * have, reads those of the others.
 *
 * Cost: one wait, n block copies per rank. For short blocks.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

static size_t bytes_of(const struct coll_side *r, int i)
{
	return (size_t)(coll_count(r, i) * r->t->size);
}

static MPI_Count largest(const struct coll_side *r, int n)
{
	size_t max = 0;

	for (int i = 0; i < n; i++)
		max = bytes_of(r, i) > max ? bytes_of(r, i) : max;
	return (MPI_Count)max;
}

int mpii_allgather_shared(const struct coll *k, const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank;
	struct coll_slot o = coll_slot_take(k, largest(r, n));
	int err = coll_slot_enter(k, &o);

	if (!err) {
		mpii_pack(r->t, coll_block(r, rank), coll_count(r, rank), 0,
			  coll_slot_row(&o, rank), bytes_of(r, rank));
		err = coll_slot_meet(k, &o);
	}
	for (int i = 0; i < n && !err; i++)
		if (i != rank)
			mpii_unpack(r->t, coll_block(r, i), coll_count(r, i), 0,
				    coll_slot_row(&o, i), bytes_of(r, i));
	coll_slot_leave(&o);
	return err;
}
