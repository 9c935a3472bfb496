/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduce in two levels, for operations that commute: each node reduces at its
 * leader, the leaders reduce at that of the root's node, which hands the result
 * to the root if that is another rank.
 *
 * Cost: a reduce of as many ranks as there are nodes over the network; a reduce
 * and a message inside nodes.
 */
#include "coll/algorithms.h"
#include "coll/levels.h"

/* At leaders: `value` has what the node has, and then what all have. */
static int among_leaders(const struct coll *k, const struct coll_levels *l,
			 struct coll_args *a, int home)
{
	struct coll leaders = coll_level(k, l->leaders);

	a->root = home;
	if (l->leaders->rank == home)
		a->s.buf = MPI_IN_PLACE;
	else
		a->s.buf = a->r.buf;
	return coll_reduce(&leaders, a);
}

static int hand_over(const struct coll *local, const struct coll_levels *l,
		     void *value, void *out, MPI_Count count,
		     struct mpii_type *t, int root)
{
	int to = l->local_rank[root];

	if (local->c->rank == 0)
		return coll_send(local, value, count, t, to);
	if (local->c->rank == to)
		return coll_recv(local, out, count, t, 0);
	return MPI_SUCCESS;
}

int mpii_reduce_nodes(const struct coll *k, const void *in, void *out,
		      MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		      int root)
{
	const struct coll_levels *l = coll_levels(k->c);
	struct coll local = coll_level(k, l->local);
	int home = l->node[root], err;
	struct coll_args a = { .s.buf = (char *)in, .op = op };
	struct coll_memory mem;

	a.r = coll_side(coll_memory_typed(&mem, count, t), count, t);
	if (!a.r.buf)
		return MPI_ERR_NO_MEM;
	err = coll_reduce(&local, &a);
	if (!err && l->leaders)
		err = among_leaders(k, l, &a, home);
	if (!err && l->node[k->c->rank] == home) {
		if (l->local_rank[root])
			err = hand_over(&local, l, a.r.buf, out, count, t,
					root);
		else if (k->c->rank == root)
			mpii_copy(a.r.buf, count, t, out, count, t);
	}
	coll_memory_put(&mem);
	return err;
}
