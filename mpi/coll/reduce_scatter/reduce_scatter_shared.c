/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce-scatter through shared memory: every rank writes its row and, when all
 * have, combines its own block of all rows.
 *
 * Cost: one wait, n - 1 combinings of a block. For short messages of predefined
 * operations.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_reduce_scatter_shared(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count at = 0, total = 0, mine = counts[rank];
	struct coll_slot o;

	for (int i = 0; i < n; i++) {
		at += i < rank ? counts[i] : 0;
		total += counts[i];
	}
	o = coll_slot_take(k, total * t->size);
	err = coll_slot_enter(k, &o);
	if (!err) {
		memcpy(coll_slot_row(&o, rank), in, (size_t)(total * t->size));
		err = coll_slot_meet(k, &o);
	}
	if (!err)
		memcpy(out, coll_slot_row(&o, n - 1) + at * t->size,
		       (size_t)(mine * t->size));
	for (int i = n - 2; i >= 0 && !err; i--)
		mpii_op_apply(op, coll_slot_row(&o, i) + at * t->size, out,
			      mine, t);
	coll_slot_leave(&o);
	return err;
}
