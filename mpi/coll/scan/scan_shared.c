/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan and exscan through shared memory: the last to come makes each row the
 * value of all rows up to it, and each rank reads its own or the one before.
 *
 * Cost: one wait, n - 1 combinings by one rank. For short messages of predefined
 * operations, all of which commute.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_scan_shared(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool exclusive)
{
	struct coll_slot o = coll_slot_take(k);
	size_t bytes = (size_t)(count * t->size);
	int rank = k->c->rank, err = coll_slot_enter(k, &o);
	int from = exclusive ? rank - 1 : rank;

	if (!err) {
		memcpy(coll_slot_row(&o, rank), in, bytes);
		if (coll_slot_arrive(&o)) {
			for (int i = 1; i < o.n; i++)
				mpii_op_apply(op, coll_slot_row(&o, i - 1),
					      coll_slot_row(&o, i), count, t);
			coll_slot_release(&o);
		} else {
			err = coll_slot_wait(k, &o);
		}
	}
	if (!err && from >= 0)
		memcpy(out, coll_slot_row(&o, from), bytes);
	coll_slot_leave(&o);
	return err;
}
