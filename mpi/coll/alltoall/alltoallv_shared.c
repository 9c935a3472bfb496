/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoallv and alltoallw through shared memory: every rank writes its short
 * blocks into its row, with their places before them, and sends the others as
 * messages. Ranks need not know each other's sizes for that.
 *
 * Cost: one wait for short blocks; one more than alltoall_direct for the others.
 */
#include "coll/algorithms.h"
#include "coll/shared.h"

#define AS_MESSAGE UINT32_MAX

/* Where the block for each rank lies in a row, and where it ends. */
struct place {
	uint32_t at, end;
};

static MPI_Count bytes_of(const struct coll_side *s, int i)
{
	return coll_count(s, i) * coll_type(s, i)->size;
}

/* What fits; the last entry that does not is for messages. */
static void fill_row(const struct coll_slot *o, const struct coll_side *s,
		     int rank)
{
	char *row = coll_slot_row(o, rank);
	struct place *places = (struct place *)row;
	MPI_Count at = (MPI_Count)(o->n * sizeof(*places));

	for (int i = 0; i < o->n; i++) {
		MPI_Count n = bytes_of(s, i);

		places[i] = (struct place){ AS_MESSAGE, 0 };
		if (i == rank || n > COLL_SHORT || at + n > COLL_SHARED_ROW)
			continue;
		mpii_pack(coll_type(s, i), coll_block(s, i), coll_count(s, i),
			  0, row + at, (size_t)n);
		places[i] = (struct place){ (uint32_t)at, (uint32_t)(at + n) };
		at += n;
	}
}

/* The blocks that do not lie in rows: those for us, and ours. */
static int messages(const struct coll *k, const struct coll_slot *o,
		    const struct coll_side *s, const struct coll_side *r)
{
	int n = o->n, rank = k->c->rank, err;
	const struct place *ours = (struct place *)coll_slot_row(o, rank);
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, 2 * n);
	if (err)
		return err;
	for (int i = 1; i < n; i++) {
		int from = (rank - i + n) % n;
		const char *row = coll_slot_row(o, from);
		struct place p = ((const struct place *)row)[rank];

		if (p.at == AS_MESSAGE) {
			coll_post_recv(k, &reqs, coll_block(r, from),
				       coll_count(r, from), coll_type(r, from),
				       from);
			continue;
		}
		coll_slot_unpack(k, from, row + p.at, p.end - p.at,
				 coll_block(r, from), coll_count(r, from),
				 coll_type(r, from));
	}
	for (int i = 1; i < n; i++) {
		int to = (rank + i) % n;

		if (ours[to].at == AS_MESSAGE)
			coll_post_send(k, &reqs, coll_block(s, to),
				       coll_count(s, to), coll_type(s, to), to);
	}
	return coll_reqs_finish(&reqs);
}

int mpii_alltoallv_shared(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r)
{
	struct coll_slot o = coll_slot_take(k, COLL_SHARED_ROW);
	int rank = k->c->rank, err = coll_slot_enter(k, &o);

	if (!err) {
		fill_row(&o, s, rank);
		err = coll_slot_meet(k, &o);
	}
	if (!err) {
		mpii_copy(coll_block(s, rank), coll_count(s, rank),
			  coll_type(s, rank), coll_block(r, rank),
			  coll_count(r, rank), coll_type(r, rank));
		err = messages(k, &o, s, r);
	}
	coll_slot_leave(&o);
	return err;
}
