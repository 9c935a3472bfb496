/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan and exscan through shared memory, along the ranks: each waits for the row
 * of the one before, and makes of it and its own operand the row for the next.
 *
 * Cost: one wait for each rank, none for the first, which can be several calls
 * ahead. For short messages of predefined operations.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_scan_shared(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool exclusive)
{
	size_t bytes = (size_t)(count * t->size);
	struct coll_slot o = coll_slot_take(k, (MPI_Count)bytes);
	int rank = k->c->rank, err = coll_slot_enter(k, &o);
	char *row = coll_slot_row(&o, rank);

	if (!err)
		memcpy(row, in, bytes);
	if (!err && rank > 0) {
		err = coll_slot_await(k, &o, rank - 1);
		if (!err)
			mpii_op_apply(op, coll_slot_row(&o, rank - 1), row,
				      count, t);
	}
	if (!err && rank + 1 < k->c->size)
		coll_slot_publish(k, &o, rank + 1);
	if (!err && !exclusive)
		memcpy(out, row, bytes);
	else if (!err && rank > 0)
		memcpy(out, coll_slot_row(&o, rank - 1), bytes);
	coll_slot_leave(&o);
	return err;
}
