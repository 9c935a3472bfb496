/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Gather of long blocks between ranks of one host: every rank writes its block into
 * shared memory piece by piece, and the root puts the pieces where they belong.
 * Before that all say how long theirs are, so that they agree on the number of
 * pieces even if the program is wrong.
 *
 * Cost: one copy by each rank, n - 1 by the root, all at the same time, and a wait
 * where a rank is ahead of the root by more than what is shared.
 */
#include "coll/algorithms.h"
#include "coll/pieces.h"

/* Every rank's bytes; returns the most, or an error in *err. */
static MPI_Count tell_lengths(const struct coll *k, MPI_Count mine,
			      MPI_Count *lengths, int *err)
{
	struct coll_slot o = coll_slot_take(k, sizeof(uint64_t));
	MPI_Count most = 0;

	*err = coll_slot_enter(k, &o);
	if (!*err) {
		*(uint64_t *)coll_slot_row(&o, k->c->rank) = (uint64_t)mine;
		*err = coll_slot_meet(k, &o);
	}
	for (int i = 0; i < o.n && !*err; i++) {
		lengths[i] = *(MPI_Count *)coll_slot_row(&o, i);
		most = lengths[i] > most ? lengths[i] : most;
	}
	coll_slot_leave(&o);
	return most;
}

static int give(const struct coll *k, const void *in, MPI_Count count,
		struct mpii_type *t, MPI_Count at, int root)
{
	size_t n = coll_piece_bytes(count * t->size - at, COLL_PIECE);
	struct coll_slot o = coll_piece_take(k);
	int err = coll_slot_enter(k, &o);

	if (!err && n) {
		mpii_pack(t, in, count, at, coll_slot_row(&o, k->c->rank), n);
		coll_slot_publish(k, &o, root);
	}
	coll_slot_leave(&o);
	return err;
}

static int take(const struct coll *k, const struct coll_side *r,
		const MPI_Count *lengths, MPI_Count at)
{
	size_t room = coll_piece_bytes(r->count * r->t->size - at, COLL_PIECE);
	struct coll_slot o = coll_piece_take(k);
	int err = MPI_SUCCESS;

	for (int i = 0; i < o.n && !err; i++) {
		size_t n = coll_piece_bytes(lengths[i] - at, COLL_PIECE);

		if (i == k->c->rank || !n)
			continue;
		err = coll_slot_await(k, &o, i);
		if (!err)
			mpii_unpack(r->t, coll_block(r, i), r->count, at,
				    coll_slot_row(&o, i), n < room ? n : room);
	}
	coll_slot_leave(&o);
	return err;
}

static int check_lengths(const struct coll *k, const MPI_Count *lengths,
			 MPI_Count want)
{
	int err = MPI_SUCCESS;

	for (int i = 0; i < k->c->size && !err; i++)
		if (i != k->c->rank)
			err = coll_received(k, mpii_check_length(i, lengths[i],
								 want));
	return err;
}

int mpii_gather_pieces(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r, int root)
{
	bool is_root = k->c->rank == root;
	MPI_Count lengths[COLL_SHARED_RANKS], most;
	int err;

	most = tell_lengths(k, is_root ? 0 : count * t->size, lengths, &err);
	if (!err && is_root && in != MPI_IN_PLACE)
		mpii_copy(in, count, t, coll_block(r, root), r->count, r->t);
	for (MPI_Count at = 0; at < most && !err; at += COLL_PIECE)
		err = is_root ? take(k, r, lengths, at) :
				give(k, in, count, t, at, root);
	if (!err && is_root)
		err = check_lengths(k, lengths, r->count * r->t->size);
	return err;
}
