/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How two ranks of one host exchange blocks: through boxes in the memory they
 * share (shared.h). Every two ranks have two. In one turn each writes into one of
 * them and reads the other, in the next turn they are exchanged: a rank writes
 * where it has read. So it never waits for the other to have read what it wrote a
 * turn before; and what it writes to is in the caches of its core already, where
 * it would have to be taken away from the other's if everybody had a box of its own
 * to write to. Between cores that are far from each other that is several times as
 * quick.
 *
 * A turn of a pair is
 *
 *	write into coll_box_out()
 *	meet, or coll_box_put() and coll_box_await()
 *	read from coll_box_in()
 *	coll_box_turn()
 *
 * at both ranks, which therefore have to agree how many turns they take.
 */
#ifndef COLL_BOXES_H
#define COLL_BOXES_H

#include "coll/shared.h"

struct coll_box {
	_Alignas(64) atomic_uint put; /* the turn, of those that are put */
};

struct coll_boxes {
	char *memory;	 /* a box for each rank and each other */
	unsigned *turns; /* that we have had with each */
	size_t room;	 /* of a box, bytes */
	int n, rank;
};

struct coll_boxes coll_boxes(const struct coll *k);
/* What we have put into coll_box_out(), rank @to may wait for. */
void coll_box_put(const struct coll *k, const struct coll_boxes *b, int to);
int coll_box_await(const struct coll *k, const struct coll_boxes *b, int from);

/* Everybody has filled the first boxes, or @o's rows; meanwhile the block from us
 * to ourselves is copied. */
int coll_boxes_meet(const struct coll *k, struct coll_slot *o,
		    const struct coll_side *s, const struct coll_side *r);

static inline struct coll_box *coll_box(const struct coll_boxes *b, int i,
					int j)
{
	return (struct coll_box *)(b->memory +
				   ((size_t)i * b->n + j) *
					   (sizeof(struct coll_box) + b->room));
}
static inline struct coll_box *coll_box_out(const struct coll_boxes *b, int to)
{
	return b->turns[to] % 2 ? coll_box(b, to, b->rank) :
				  coll_box(b, b->rank, to);
}
static inline struct coll_box *coll_box_in(const struct coll_boxes *b, int from)
{
	return b->turns[from] % 2 ? coll_box(b, b->rank, from) :
				    coll_box(b, from, b->rank);
}
static inline char *coll_box_data(struct coll_box *box)
{
	return (char *)(box + 1);
}
static inline void coll_box_turn(const struct coll_boxes *b, int with)
{
	b->turns[with]++;
}

/* Of so many ranks: all the boxes together should fit into a cache. */
static inline size_t coll_box_room(int n)
{
	return n <= 16 ? 64 << 10 : 32 << 10;
}
static inline size_t coll_boxes_bytes(int n)
{
	return (size_t)n * n * (sizeof(struct coll_box) + coll_box_room(n));
}

#endif
