/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce through shared memory: every rank writes its row and goes on, but the
 * root, which waits for the last of them, and combines the rows in the order of
 * ranks.
 *
 * Cost: one wait at the root, none elsewhere. For short messages of predefined
 * operations.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

static void combine(const struct coll_slot *o, void *out, MPI_Count count,
		    struct mpii_type *t, struct mpii_op *op)
{
	memcpy(out, coll_slot_row(o, o->n - 1), (size_t)(count * t->size));
	for (int i = o->n - 2; i >= 0; i--)
		mpii_op_apply(op, coll_slot_row(o, i), out, count, t);
}

int mpii_reduce_shared(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       int root)
{
	struct coll_slot o = coll_slot_take(k, count * t->size);
	int err = coll_slot_enter(k, &o);
	bool last;

	if (!err) {
		memcpy(coll_slot_row(&o, k->c->rank), in,
		       (size_t)(count * t->size));
		last = coll_slot_arrive(k, &o);
		if (last)
			coll_slot_release(&o);
		else if (k->c->rank == root)
			err = coll_slot_wait(k, &o);
	}
	if (!err && k->c->rank == root)
		combine(&o, out, count, t, op);
	coll_slot_leave(&o);
	return err;
}
