/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A communicator whose ranks are on several nodes, some of them together, seen as
 * two levels: the ranks of a node, and one rank of each node, its leader. An
 * algorithm in levels crosses the network once per node instead of once per rank.
 *
 * Both are communicators of our own that share the contexts of the whole one, and
 * a phase in them has its tag: the phases of a call come in the same order at
 * every rank, and messages between two ranks keep theirs.
 */
#ifndef COLL_LEVELS_H
#define COLL_LEVELS_H

#include "coll/coll.h"

struct coll_levels {
	struct mpii_comm *local;   /* of this rank's node; 0 is the leader */
	struct mpii_comm *leaders; /* NULL unless this rank is one */
	int *node; /* of each rank, by the number of its leader in leaders */
	int *local_rank; /* of each rank, in its node */
};

/* Where the ranks of an intracommunicator are; found out once. */
enum coll_place {
	COLL_UNKNOWN,	/* the launcher has not said */
	COLL_TOGETHER,	/* on one node */
	COLL_APART,	/* each on its own */
	COLL_IN_LEVELS, /* on several, some together */
};
enum coll_place coll_place(struct mpii_comm *c);

/* NULL unless COLL_IN_LEVELS. */
const struct coll_levels *coll_levels(struct mpii_comm *c);

/* A phase of k in one of the two. */
static inline struct coll coll_level(const struct coll *k, struct mpii_comm *c)
{
	return (struct coll){ .c = c,
			      .context = k->context,
			      .tag = k->tag,
			      .task = k->task,
			      .wrong = k->wrong };
}

#endif
