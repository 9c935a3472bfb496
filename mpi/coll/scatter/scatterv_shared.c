/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scatterv through shared memory: the root writes each block that is short into a
 * row and sends the others as messages, which the row then says.
 *
 * Cost: one wait, none at the root, for short blocks.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

static int give(const struct coll *k, const struct coll_slot *o,
		const struct coll_side *s, int root)
{
	struct coll_reqs reqs;
	int err = coll_reqs_init(&reqs, o->n);

	if (err)
		return err;
	for (int i = 0; i < o->n; i++)
		if (i != root && !coll_slot_put_short(o, i, coll_block(s, i),
						      coll_count(s, i), s->t))
			coll_post_send(k, &reqs, coll_block(s, i),
				       coll_count(s, i), s->t, i);
	coll_slot_release(o);
	return coll_reqs_finish(&reqs);
}

int mpii_scatterv_shared(const struct coll *k, const struct coll_side *s,
			 void *out, MPI_Count count, struct mpii_type *t,
			 int root)
{
	struct coll_slot o = coll_slot_take(k, COLL_SHORT + 8);
	int rank = k->c->rank, err;
	const char *got = NULL;

	if (rank == root) {
		err = coll_slot_enter(k, &o);
		if (!err)
			err = give(k, &o, s, root);
		if (!err && out != MPI_IN_PLACE)
			mpii_copy(coll_block(s, root), coll_count(s, root),
				  s->t, out, count, t);
		coll_slot_leave(&o);
		return err;
	}
	err = coll_slot_wait(k, &o);
	if (!err) {
		got = coll_slot_short(&o, rank);
		if (got)
			err = coll_slot_unpack(k, root, got,
					       coll_slot_length(&o, rank), out,
					       count, t);
	}
	coll_slot_leave(&o);
	return err || got ? err : coll_recv(k, out, count, t, root);
}
