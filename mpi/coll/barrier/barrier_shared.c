/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Barrier through shared memory: the last to come releases the others.
 *
 * Cost: one wait for one word.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

int mpii_barrier_shared(const struct coll *k)
{
	struct coll_slot o = coll_slot_take(k, 0);
	int err = coll_slot_enter(k, &o);

	if (!err)
		err = coll_slot_meet(k, &o);
	coll_slot_leave(&o);
	return err;
}
