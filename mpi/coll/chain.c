/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See chain.h. */
#include "coll/chain.h"

#include "coll/pieces.h"

void coll_link_value(const struct coll_link *l, void *to)
{
	if (to != l->in)
		memcpy(to, l->in, (size_t)(l->count * l->t->size));
	if (l->before)
		mpii_op_apply(l->op, l->before, to, l->count, l->t);
}

/* Where a rank stands in the chain; -1: nobody is there. */
struct place {
	int before, next;
};

static struct place place_of(const struct coll *k, int first)
{
	int n = k->c->size, rank = k->c->rank;

	return (struct place){
		rank == first ? -1 : (rank + n - 1) % n,
		(rank + 1) % n == first ? -1 : (rank + 1) % n,
	};
}

/* A piece of which we have @left bytes, and the first rank *theirs: the others
 * hear of that here. */
static int step(const struct coll *k, const struct place *at,
		struct coll_link *l, MPI_Count left, MPI_Count *theirs,
		coll_link_fn *combine)
{
	struct coll_slot o = coll_piece_take(k);
	struct coll_piece *mine = coll_piece_row(&o, k->c->rank), *before;
	int err = coll_slot_enter(k, &o);

	if (!err && at->before >= 0) {
		before = coll_piece_row(&o, at->before);
		l->before = coll_piece_data(before);
		err = coll_slot_await(k, &o, at->before);
		if (!err) {
			*theirs = (MPI_Count)before->left;
			err = coll_piece_check(k, at->before, before, left);
		}
	}
	if (!err && at->next >= 0) {
		coll_piece_say(k, mine, *theirs);
		l->next = coll_piece_data(mine);
	}
	if (!err)
		combine(l);
	if (!err && at->next >= 0)
		coll_slot_publish(k, &o, at->next);
	coll_slot_leave(&o);
	return err;
}

int coll_chain(const struct coll *k, int first, const void *in, void *out,
	       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
	       coll_link_fn *combine)
{
	MPI_Count piece = COLL_PIECE / t->size * t->size, at = 0;
	MPI_Count left = count * t->size, theirs = left;
	const struct place place = place_of(k, first);
	int err;

	do {
		struct coll_link l = {
			.in = (const char *)in + at,
			.out = out ? (char *)out + at : NULL,
			.count = (MPI_Count)coll_piece_bytes(left, piece) /
				 t->size,
			.t = t,
			.op = op,
		};

		err = step(k, &place, &l, left, &theirs, combine);
		left -= piece;
		at += piece;
		theirs -= piece;
	} while (!err && theirs > 0);
	return err;
}
