/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Barrier in two levels: each node gathers, the leaders meet, and each node is
 * released by its leader.
 *
 * Cost: log2(nodes) messages over the network, after each other.
 */
#include "coll/algorithms.h"
#include "coll/levels.h"

int mpii_barrier_nodes(const struct coll *k)
{
	const struct coll_levels *l = coll_levels(k->c);
	struct coll local = coll_level(k, l->local), leaders;
	char go = 0;
	struct coll_args a = { .r = coll_side(&go, 1, coll_bytes()) };
	int err = coll_barrier(&local, &a);

	if (!err && l->leaders) {
		leaders = coll_level(k, l->leaders);
		err = coll_barrier(&leaders, &a);
	}
	return err ? err : coll_bcast(&local, &a);
}
