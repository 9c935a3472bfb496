/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See boxes.h. */
#include "coll/boxes.h"

struct coll_boxes coll_boxes(const struct coll *k)
{
	struct coll_boxes b = { .room = coll_box_room(k->c->size),
				.n = k->c->size,
				.rank = k->c->rank };

	b.memory = coll_shared_boxes(k, &b.turns);
	return b;
}

void coll_box_put(const struct coll *k, const struct coll_boxes *b, int to)
{
	atomic_store_explicit(&coll_box_out(b, to)->put, b->turns[to] + 1,
			      memory_order_release);
	coll_shared_wake(k, to);
}

int coll_box_await(const struct coll *k, const struct coll_boxes *b, int from)
{
	return coll_shared_await(k, &coll_box_in(b, from)->put,
				 b->turns[from] + 1);
}

int coll_boxes_meet(const struct coll *k, struct coll_slot *o,
		    const struct coll_side *s, const struct coll_side *r)
{
	bool last = coll_slot_arrive(k, o);
	int own = k->c->rank;

	if (last)
		coll_slot_release(o);
	mpii_copy(coll_block(s, own), coll_count(s, own), coll_type(s, own),
		  coll_block(r, own), coll_count(r, own), coll_type(r, own));
	return last ? MPI_SUCCESS : coll_slot_wait(k, o);
}
