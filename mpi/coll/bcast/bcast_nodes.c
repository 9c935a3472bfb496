/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast in two levels: on the root's node, then from its leader to the other
 * leaders, then on their nodes.
 *
 * Cost: log2(nodes) * (latency + bytes) over the network, and two broadcasts
 * inside nodes.
 */
#include "coll/algorithms.h"
#include "coll/levels.h"

int mpii_bcast_nodes(const struct coll *k, void *buf, MPI_Count count,
		     struct mpii_type *t, int root)
{
	const struct coll_levels *l = coll_levels(k->c);
	struct coll local = coll_level(k, l->local), leaders;
	struct coll_args a = { .r = coll_side(buf, count, t) };
	bool home = l->node[root] == l->node[k->c->rank];
	int err = MPI_SUCCESS;

	if (home) {
		a.root = l->local_rank[root];
		err = coll_bcast(&local, &a);
	}
	if (!err && l->leaders) {
		leaders = coll_level(k, l->leaders);
		a.root = l->node[root];
		err = coll_bcast(&leaders, &a);
	}
	if (err || home)
		return err;
	a.root = 0;
	return coll_bcast(&local, &a);
}
