/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How the memory of a communicator is laid out: for shared.c, which uses it, and
 * shared_memory.c, which makes it. */
#ifndef COLL_SHARED_MEMORY_H
#define COLL_SHARED_MEMORY_H

#include "coll/shared.h"

/*
 * A slot has a line for each rank, with its word and a row if that is short.
 * Longer rows are elsewhere, in one of a few areas.
 */
#define SLOTS 128
#define LINE 64
#define WORD 16 /* of a line; the rest is the row */
#define KINDS 3
static const struct row_kind {
	unsigned areas;
	size_t bytes; /* of a row */
} kinds[KINDS] = {
	{ SLOTS, LINE - WORD },
	{ 16, COLL_SHARED_SHORT },
	{ 8, COLL_SHARED_LONG },
};

/* At the beginning of the memory. */
struct start {
	_Alignas(64) unsigned asleep; /* ranks, waiting for what others write */
};

/* Of one communicator. */
struct coll_shared {
	enum { UNKNOWN, USED, UNUSABLE } state;
	unsigned asked;	 /* calls that would have gone this way */
	uint64_t calls;	 /* that went */
	unsigned losses; /* of libo2g, when all members were alive */
	int n;
	int *others;	 /* the other members, as peers */
	unsigned *turns; /* see boxes.h */
	char *memory;
	size_t bytes;
	size_t boxes;			  /* where they are in it */
	struct coll_shared *next, **link; /* all there are */
};

static inline size_t slot_bytes(int n)
{
	return sizeof(struct coll_slot_counters) + (size_t)(n + 1) * LINE;
}

static inline size_t area_bytes(const struct row_kind *kind, int n)
{
	return (size_t)(n + 1) * kind->bytes;
}

/* NULL: out of memory. */
struct coll_shared *coll_shared_create(struct mpii_comm *c);
/* All ranks together: rank 0 makes it, all map it, and use it only if all can. */
int coll_shared_set_up(const struct coll *k, struct coll_shared *s);

#endif
