/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gatherv through shared memory: every rank writes its block, if it is short, or
 * says that it comes as a message; the root waits for the last of them. Ranks need
 * not know each other's sizes for that.
 *
 * Cost: one wait at the root, none elsewhere, for short blocks; a wait more than
 * gather_linear for the others.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

static int receive(const struct coll *k, const struct coll_slot *o,
		   const struct coll_side *r, int root)
{
	struct coll_reqs reqs;
	int err = coll_reqs_init(&reqs, o->n), late;

	if (err)
		return err;
	for (int i = 0; i < o->n && !err; i++) {
		const char *got = i == root ? NULL : coll_slot_short(o, i);

		if (i == root)
			continue;
		if (!got) {
			coll_post_recv(k, &reqs, coll_block(r, i),
				       coll_count(r, i), r->t, i);
			continue;
		}
		err = coll_slot_unpack(k, i, got, coll_slot_length(o, i),
				       coll_block(r, i), coll_count(r, i),
				       r->t);
	}
	late = coll_reqs_finish(&reqs);
	return err ? err : late;
}

int mpii_gatherv_shared(const struct coll *k, const void *in, MPI_Count count,
			struct mpii_type *t, const struct coll_side *r,
			int root)
{
	struct coll_slot o = coll_slot_take(k, COLL_SHORT + 8);
	int rank = k->c->rank, err = coll_slot_enter(k, &o);
	bool is_short = true;

	if (!err && rank != root)
		is_short = coll_slot_put_short(&o, rank, in, count, t);
	if (!err && rank == root && in != MPI_IN_PLACE)
		mpii_copy(in, count, t, coll_block(r, root),
			  coll_count(r, root), r->t);
	if (!err && coll_slot_arrive(k, &o))
		coll_slot_release(&o);
	else if (!err && rank == root)
		err = coll_slot_wait(k, &o);
	if (!err && rank == root)
		err = receive(k, &o, r, root);
	coll_slot_leave(&o);
	return err || is_short ? err : coll_send(k, in, count, t, root);
}
