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
	struct mpii_type *t = coll_bytes();
	struct mpii_comm *local = k->c->local;
	char go = 0;
	int err = mpii_barrier(local);

	if (!err && k->c->rank == 0)
		err = coll_sendrecv(k, NULL, 0, t, 0, NULL, 0, t, 0);
	return err ? err : mpii_bcast(&go, 1, t, 0, local);
}
