/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Barrier over an intercommunicator: each group gathers itself, the two first
 * ranks shake hands, and each group is released by a broadcast.
 *
 * Cost: about 2 log2 n + 1 messages after each other.
 */
#include "coll/algorithms.h"

int mpii_barrier_inter(const struct coll *k)
{
	struct coll local = coll_local(k);
	struct mpii_type *t = coll_bytes();
	char go = 0;
	struct coll_args a = { .r = coll_side(&go, 1, t), .root = 0 };
	int err = coll_barrier(&local, &a);

	if (!err && k->c->rank == 0)
		err = coll_sendrecv(k, NULL, 0, t, 0, NULL, 0, t, 0);
	return err ? err : coll_bcast(&local, &a);
}
