/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall of blocks that fit into a box, between ranks of one host: every rank
 * puts a block into a box for each other one and, when all have, reads what the
 * others have put (boxes.h).
 *
 * Cost: one wait, 2 n block copies per rank.
 */
#include "coll/algorithms.h"
#include "coll/boxes.h"

static void write_all(const struct coll_boxes *b, const struct coll_side *s,
		      size_t bytes)
{
	for (int i = 1; i < b->n; i++) {
		int to = (b->rank + i) % b->n;

		mpii_pack(s->t, coll_block(s, to), s->count, 0,
			  coll_box_data(coll_box_out(b, to)), bytes);
	}
}

static void read_all(const struct coll_boxes *b, const struct coll_side *r,
		     size_t bytes)
{
	for (int i = 1; i < b->n; i++) {
		int from = (b->rank + i) % b->n;

		mpii_unpack(r->t, coll_block(r, from), r->count, 0,
			    coll_box_data(coll_box_in(b, from)), bytes);
		coll_box_turn(b, from);
	}
}

int mpii_alltoall_boxes(const struct coll *k, const struct coll_side *s,
			const struct coll_side *r)
{
	size_t bytes = (size_t)(r->count * r->t->size);
	/* the length of alltoall_shared's rows: who goes that way is noticed */
	struct coll_slot o =
		coll_slot_take_as(k, 0, (MPI_Count)(k->c->size * bytes));
	struct coll_boxes b = coll_boxes(k);
	int err = coll_slot_enter(k, &o);

	if (!err) {
		write_all(&b, s, bytes);
		err = coll_boxes_meet(k, &o, s, r);
	}
	/* If ranks disagree all know it now, and no pair takes its turn. */
	if (!err && !coll_is_wrong(k))
		read_all(&b, r, bytes);
	coll_slot_leave(&o);
	return err;
}
