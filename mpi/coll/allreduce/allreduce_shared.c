/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce through shared memory: the last to come combines all rows, in the
 * order of ranks, and releases the others, who read the result.
 *
 * Cost: one wait, n - 1 combinings by one rank. For short messages of predefined
 * operations.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

/* Row i becomes the value of rows i to n - 1; whoever is last has the core already. */
static void combine(const struct coll_slot *o, MPI_Count count,
		    struct mpii_type *t, struct mpii_op *op)
{
	char *sum = coll_slot_row(o, o->n - 1);

	for (int i = o->n - 2; i >= 0; i--)
		mpii_op_apply(op, coll_slot_row(o, i), sum, count, t);
}

int mpii_allreduce_shared(const struct coll *k, const void *in, void *out,
			  MPI_Count count, struct mpii_type *t,
			  struct mpii_op *op)
{
	struct coll_slot o = coll_slot_take(k, count * t->size);
	int err = coll_slot_enter(k, &o);

	if (!err) {
		memcpy(coll_slot_row(&o, k->c->rank), in,
		       (size_t)(count * t->size));
		if (coll_slot_arrive(k, &o)) {
			combine(&o, count, t, op);
			coll_slot_release(&o);
		} else {
			err = coll_slot_wait(k, &o);
		}
	}
	if (!err)
		memcpy(out, coll_slot_row(&o, o.n - 1),
		       (size_t)(count * t->size));
	coll_slot_leave(&o);
	return err;
}
