/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoallv and alltoallw through shared memory: every rank writes its short
 * blocks into its row, before them how long each is, and the beginning of the
 * others into boxes (boxes.h). When all have, everybody reads, and each two ranks
 * pass on in their boxes what did not fit, for as long as one of them has more.
 * Both have seen how much that is, so none needs to know it before.
 *
 * Cost: one wait if the blocks fit into boxes, and two copies of each; for longer
 * ones about one more for each box they fill.
 */
#include "coll/algorithms.h"
#include "coll/boxes.h"

#define IN_ROW 256 /* a block */

/* Of the block for one rank. */
struct place {
	uint64_t bytes;
	uint64_t at; /* in the row; 0: it is in boxes */
};

/* Blocks of two ranks in boxes, in bytes. */
struct pair {
	MPI_Count sent, got;
};

static MPI_Count bytes_of(const struct coll_side *s, int i)
{
	return coll_count(s, i) * coll_type(s, i)->size;
}

static struct place *places_of(const struct coll_slot *o, int rank)
{
	return (struct place *)coll_slot_row(o, rank);
}

/* What fits. */
static void fill_row(const struct coll_slot *o, const struct coll_side *s,
		     int rank)
{
	struct place *places = places_of(o, rank);
	MPI_Count at = (MPI_Count)(o->n * sizeof(*places));

	for (int i = 0; i < o->n; i++) {
		MPI_Count n = i == rank ? 0 : bytes_of(s, i);

		places[i] = (struct place){ (uint64_t)n, 0 };
		if (n > IN_ROW)
			continue;
		mpii_pack(coll_type(s, i), coll_block(s, i), coll_count(s, i),
			  0, (char *)places + at, (size_t)n);
		places[i].at = (uint64_t)at;
		at += n;
	}
}

/* From one rank to another, in boxes. */
static MPI_Count long_bytes(const struct coll_slot *o, int from, int to)
{
	const struct place *p = &places_of(o, from)[to];

	return p->at ? 0 : (MPI_Count)p->bytes;
}

/* How much of @left bytes, which may be none or less, a box takes. */
static size_t part(const struct coll_boxes *b, MPI_Count left)
{
	if (left <= 0)
		return 0;
	return left < (MPI_Count)b->room ? (size_t)left : b->room;
}

/* What of the block for rank @to is @at bytes further. */
static void write_box(const struct coll_boxes *b, const struct coll_side *s,
		      int to, MPI_Count sent, MPI_Count at)
{
	mpii_pack(coll_type(s, to), coll_block(s, to), coll_count(s, to), at,
		  coll_box_data(coll_box_out(b, to)), part(b, sent - at));
}

static void fill_boxes(const struct coll_slot *o, const struct coll_boxes *b,
		       const struct coll_side *s)
{
	for (int i = 1; i < b->n; i++) {
		int to = (b->rank + i) % b->n;

		write_box(b, s, to, long_bytes(o, b->rank, to), 0);
	}
}

static int take_from_row(const struct coll *k, const struct coll_slot *o,
			 const struct coll_side *r, int from)
{
	const struct place *p = &places_of(o, from)[k->c->rank];

	if (!p->at)
		return MPI_SUCCESS;
	return coll_slot_unpack(k, from, coll_slot_row(o, from) + p->at,
				(size_t)p->bytes, coll_block(r, from),
				coll_count(r, from), coll_type(r, from));
}

/* A turn of ours with rank @with: what is @at bytes further in both blocks. */
static int take_turn(const struct coll *k, const struct coll_boxes *b,
		     const struct coll_side *s, const struct coll_side *r,
		     int with, const struct pair *p, MPI_Count at)
{
	MPI_Count next = at + (MPI_Count)b->room;
	size_t got = part(b, p->got - at);
	size_t room = part(b, bytes_of(r, with) - at);
	int err = at ? coll_box_await(k, b, with) : MPI_SUCCESS;

	if (err)
		return err;
	mpii_unpack(coll_type(r, with), coll_block(r, with),
		    coll_count(r, with), at,
		    coll_box_data(coll_box_in(b, with)),
		    got < room ? got : room);
	coll_box_turn(b, with);
	if (next < p->sent || next < p->got) {
		write_box(b, s, with, p->sent, next);
		coll_box_put(k, b, with);
	} else if (p->got) {
		err = coll_received(k, mpii_check_length(with, p->got,
							 bytes_of(r, with)));
	}
	return err;
}

static int take_long(const struct coll *k, const struct coll_boxes *b,
		     const struct coll_side *s, const struct coll_side *r,
		     const struct pair *pairs)
{
	bool more = true;
	int err = MPI_SUCCESS;

	for (MPI_Count at = 0; more && !err; at += (MPI_Count)b->room) {
		more = false;
		for (int i = 1; i < b->n && !err; i++) {
			int with = (b->rank + i) % b->n;
			const struct pair *p = &pairs[with];

			if (at >= p->sent && at >= p->got)
				continue;
			more = true;
			err = take_turn(k, b, s, r, with, p, at);
		}
	}
	return err;
}

/* The blocks in rows, and how long those in boxes are. */
static int take_rows(const struct coll *k, const struct coll_slot *o,
		     const struct coll_side *r, struct pair *pairs)
{
	int n = o->n, rank = k->c->rank, err = MPI_SUCCESS;

	for (int i = 1; i < n && !err; i++) {
		int with = (rank + i) % n;

		pairs[with] = (struct pair){ long_bytes(o, rank, with),
					     long_bytes(o, with, rank) };
		err = take_from_row(k, o, r, with);
	}
	return err;
}

int mpii_alltoallv_shared(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r)
{
	struct coll_slot o =
		coll_slot_take_as(k, COLL_SHARED_LONG, COLL_LENGTHS_DIFFER);
	struct coll_boxes b = coll_boxes(k);
	struct pair pairs[COLL_SHARED_RANKS];
	int err = coll_slot_enter(k, &o);
	bool wrong = true;

	if (!err) {
		fill_row(&o, s, b.rank);
		fill_boxes(&o, &b, s);
		err = coll_boxes_meet(k, &o, s, r);
		/* If somebody is, all know it now, and no pair takes a turn. */
		wrong = coll_is_wrong(k);
	}
	if (!err && !wrong)
		err = take_rows(k, &o, r, pairs);
	coll_slot_leave(&o);
	return err || wrong ? err : take_long(k, &b, s, r, pairs);
}
