/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast through shared memory: the root writes, the others read. The root
 * does not wait for them, unless it is as many calls ahead as there are slots.
 *
 * Cost: one wait, two copies. For short messages.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_bcast_shared(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root)
{
	struct coll_slot o = coll_slot_take(k, count * t->size);
	size_t bytes = (size_t)(count * t->size);
	int err;

	if (k->c->rank == root) {
		err = coll_slot_enter(k, &o);
		if (!err) {
			mpii_pack(t, buf, count, 0, coll_slot_result(&o),
				  bytes);
			coll_slot_release(&o);
		}
	} else {
		err = coll_slot_wait(k, &o);
		if (!err)
			mpii_unpack(t, buf, count, 0, coll_slot_result(&o),
				    bytes);
	}
	coll_slot_leave(&o);
	return err;
}
