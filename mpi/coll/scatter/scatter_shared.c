/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scatter through shared memory: the root writes a row for each rank, and they
 * read theirs. The root does not wait.
 *
 * Cost: one wait, two copies of a block. For short blocks.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

static void write_rows(const struct coll_slot *o, const struct coll_side *s,
		       void *out, MPI_Count count, struct mpii_type *t,
		       int root)
{
	for (int i = 0; i < o->n; i++)
		if (i != root)
			mpii_pack(s->t, coll_block(s, i), s->count, 0,
				  coll_slot_row(o, i),
				  (size_t)(s->count * s->t->size));
	if (out != MPI_IN_PLACE)
		mpii_copy(coll_block(s, root), s->count, s->t, out, count, t);
}

int mpii_scatter_shared(const struct coll *k, const struct coll_side *s,
			void *out, MPI_Count count, struct mpii_type *t,
			int root)
{
	int rank = k->c->rank, err;
	struct coll_slot o = coll_slot_take(
		k, rank == root ? s->count * s->t->size : count * t->size);

	if (rank == root) {
		err = coll_slot_enter(k, &o);
		if (!err) {
			write_rows(&o, s, out, count, t, root);
			coll_slot_release(&o);
		}
	} else {
		err = coll_slot_wait(k, &o);
		if (!err)
			mpii_unpack(t, out, count, 0, coll_slot_row(&o, rank),
				    (size_t)(count * t->size));
	}
	coll_slot_leave(&o);
	return err;
}
