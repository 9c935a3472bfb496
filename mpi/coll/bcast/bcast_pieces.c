/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Broadcast of a long message between ranks of one host: the root writes it into
 * shared memory piece by piece, and the others read each piece while it writes the
 * next. The root does not wait for them at the end.
 *
 * Cost: one copy by each rank, all at the same time, and a wait where a rank is
 * ahead of the others by more than what is shared.
 */
#include "coll/algorithms.h"
#include "coll/pieces.h"

static int give(const struct coll *k, const void *buf, MPI_Count count,
		struct mpii_type *t)
{
	MPI_Count left = count * t->size, at = 0;
	int err;

	do {
		struct coll_slot o = coll_piece_take(k);
		struct coll_piece *p = coll_piece_row(&o, o.n);

		err = coll_slot_enter(k, &o);
		if (!err) {
			coll_piece_say(k, p, left);
			mpii_pack(t, buf, count, at, coll_piece_data(p),
				  coll_piece_bytes(left, COLL_PIECE));
			coll_slot_release(&o);
		}
		coll_slot_leave(&o);
		left -= COLL_PIECE;
		at += COLL_PIECE;
	} while (!err && left > 0);
	return err;
}

static int take(const struct coll *k, void *buf, MPI_Count count,
		struct mpii_type *t, int root)
{
	MPI_Count left = count * t->size, theirs = 0, at = 0;
	int err;

	do {
		struct coll_slot o = coll_piece_take(k);
		const struct coll_piece *p = coll_piece_row(&o, o.n);

		err = coll_slot_wait(k, &o);
		if (!err) {
			theirs = (MPI_Count)p->left;
			err = coll_piece_check(k, root, p, left);
			mpii_unpack(t, buf, count, at, coll_piece_data(p),
				    coll_piece_bytes(theirs < left ? theirs :
								     left,
						     COLL_PIECE));
		}
		coll_slot_leave(&o);
		left -= COLL_PIECE;
		at += COLL_PIECE;
	} while (!err && theirs > COLL_PIECE);
	return err;
}

int mpii_bcast_pieces(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root)
{
	return k->c->rank == root ? give(k, buf, count, t) :
				    take(k, buf, count, t, root);
}
