/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the collectives keep with a communicator, as its c->coll. */
#ifndef COLL_STATE_H
#define COLL_STATE_H

#include "coll/coll.h"

struct coll_shared;
struct coll_levels;

struct coll_state {
	/* shared.c */
	struct coll_shared *shared; /* of blocking calls only; NULL at first */
	void (*shared_free)(struct coll_shared *s);
	/* levels.c */
	atomic_bool place_known;
	int place; /* enum coll_place, valid once known, as is the next */
	struct coll_levels *levels; /* NULL: it has none */
	void (*levels_free)(struct coll_levels *l);
};

extern pthread_mutex_t coll_state_lock; /* for what is made on first use */

/* NULL: not there yet. */
static inline struct coll_state *coll_state_get(const struct mpii_comm *c)
{
	return __atomic_load_n(&c->coll, __ATOMIC_ACQUIRE);
}
/* Made on first use. NULL: out of memory. */
struct coll_state *coll_state(struct mpii_comm *c);

#endif
