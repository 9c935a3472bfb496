/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the collectives keep with a communicator, as its c->coll. */
#ifndef COLL_STATE_H
#define COLL_STATE_H

#include "coll/coll.h"

struct coll_shared;
struct coll_levels;

struct coll_state {
	/* shared.c */
	struct coll_shared *shared; /* NULL: not asked for yet */
	void (*shared_free)(struct coll_shared *s);
	/* levels.c */
	bool levels_known;
	struct coll_levels *levels; /* NULL: it has none */
	void (*levels_free)(struct coll_levels *l);
};

/* Made on first use. NULL: out of memory. */
struct coll_state *coll_state(struct mpii_comm *c);

#endif
