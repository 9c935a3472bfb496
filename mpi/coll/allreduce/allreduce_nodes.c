/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce in two levels, for operations that commute: each node reduces at its
 * leader, the leaders reduce among them, and tell their nodes.
 *
 * Cost: an allreduce of as many ranks as there are nodes over the network; a
 * reduce and a broadcast inside nodes.
 */
#include "coll/algorithms.h"
#include "coll/levels.h"

int mpii_allreduce_nodes(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op)
{
	const struct coll_levels *l = coll_levels(k->c);
	struct coll local = coll_level(k, l->local), leaders;
	struct coll_args a = { .s.buf = (char *)in,
			       .r = coll_side(out, count, t),
			       .op = op };
	int err = coll_reduce(&local, &a);

	if (!err && l->leaders) {
		leaders = coll_level(k, l->leaders);
		a.s.buf = MPI_IN_PLACE;
		err = coll_allreduce(&leaders, &a);
	}
	return err ? err : coll_bcast(&local, &a);
}
