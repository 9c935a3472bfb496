/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoallv and alltoallw through shared memory: every rank writes its short
 * blocks into its row, and before them where each lies and how long the others
 * are. Those go in pieces (pieces.h), in n - 1 rounds: in round i from each rank to
 * the one i further. All ranks see all lengths, so that they agree how many pieces
 * a round has; none needs to know them before.
 *
 * Cost: one wait for short blocks. For the others two copies, by both ranks at the
 * same time.
 */
#include "coll/algorithms.h"
#include "coll/pieces.h"

#define IN_ROW (16 << 10) /* a block */

/* Of the block for one rank. */
struct place {
	uint64_t bytes;
	uint64_t at; /* in the row; 0: it comes in pieces */
};

/* The long blocks of a round: the longest of all, and those of this rank. */
struct round {
	MPI_Count longest, sent, got;
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
		if (n > IN_ROW || at + n > COLL_SHARED_LONG)
			continue;
		mpii_pack(coll_type(s, i), coll_block(s, i), coll_count(s, i),
			  0, (char *)places + at, (size_t)n);
		places[i].at = (uint64_t)at;
		at += n;
	}
}

/* From one rank to another, in pieces. */
static MPI_Count long_bytes(const struct coll_slot *o, int from, int to)
{
	const struct place *p = &places_of(o, from)[to];

	return p->at ? 0 : (MPI_Count)p->bytes;
}

static struct round round_of(const struct coll_slot *o, int rank, int i)
{
	int n = o->n;
	struct round d = { 0, long_bytes(o, rank, (rank + i) % n),
			   long_bytes(o, (rank + n - i) % n, rank) };

	for (int from = 0; from < n; from++) {
		MPI_Count bytes = long_bytes(o, from, (from + i) % n);

		d.longest = bytes > d.longest ? bytes : d.longest;
	}
	return d;
}

/* The blocks in rows. */
static int take_short(const struct coll *k, const struct coll_slot *o,
		      const struct coll_side *r)
{
	int rank = k->c->rank, err = MPI_SUCCESS;

	for (int from = 0; from < o->n && !err; from++) {
		const struct place *p = &places_of(o, from)[rank];

		if (from != rank && p->at)
			err = coll_slot_unpack(k, from,
					       coll_slot_row(o, from) + p->at,
					       (size_t)p->bytes,
					       coll_block(r, from),
					       coll_count(r, from),
					       coll_type(r, from));
	}
	return err;
}

/* Pieces of two blocks: from us to rank @to, and from rank @from to us. */
static int step(const struct coll *k, const struct coll_side *s, int to,
		const struct coll_side *r, int from, const struct round *d,
		MPI_Count at)
{
	size_t give = coll_piece_bytes(d->sent - at, COLL_PIECE);
	size_t take = coll_piece_bytes(d->got - at, COLL_PIECE);
	size_t room = coll_piece_bytes(bytes_of(r, from) - at, COLL_PIECE);
	struct coll_slot o = coll_piece_take(k);
	int err = coll_slot_enter(k, &o);

	if (!err && give) {
		mpii_pack(coll_type(s, to), coll_block(s, to),
			  coll_count(s, to), at,
			  coll_slot_row(&o, k->c->rank), give);
		coll_slot_publish(k, &o, to);
	}
	if (!err && take)
		err = coll_slot_await(k, &o, from);
	if (!err && take)
		mpii_unpack(coll_type(r, from), coll_block(r, from),
			    coll_count(r, from), at, coll_slot_row(&o, from),
			    take < room ? take : room);
	coll_slot_leave(&o);
	return err;
}

static int take_long(const struct coll *k, const struct coll_side *s,
		     const struct coll_side *r, const struct round *rounds)
{
	int n = k->c->size, rank = k->c->rank, err = MPI_SUCCESS;

	for (int i = 1; i < n && !err; i++) {
		const struct round *d = &rounds[i];
		int to = (rank + i) % n, from = (rank + n - i) % n;

		for (MPI_Count at = 0; at < d->longest && !err;
		     at += COLL_PIECE)
			err = step(k, s, to, r, from, d, at);
		if (!err && d->got)
			err = coll_received(k,
					    mpii_check_length(from, d->got,
							      bytes_of(r, from)));
	}
	return err;
}

int mpii_alltoallv_shared(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r)
{
	struct coll_slot o = coll_slot_take(k, COLL_SHARED_LONG);
	int rank = k->c->rank, err = coll_slot_enter(k, &o);
	struct round rounds[COLL_SHARED_RANKS];

	if (!err) {
		fill_row(&o, s, rank);
		err = coll_slot_meet(k, &o);
	}
	if (!err) {
		err = take_short(k, &o, r);
		for (int i = 1; i < o.n; i++)
			rounds[i] = round_of(&o, rank, i);
	}
	coll_slot_leave(&o);
	if (err)
		return err;
	mpii_copy(coll_block(s, rank), coll_count(s, rank), coll_type(s, rank),
		  coll_block(r, rank), coll_count(r, rank), coll_type(r, rank));
	return take_long(k, s, r, rounds);
}
