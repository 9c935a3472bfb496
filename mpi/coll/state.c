/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "coll/state.h"

static void destroy(void *arg)
{
	struct coll_state *s = arg;

	if (s->shared)
		s->shared_free(s->shared);
	if (s->levels)
		s->levels_free(s->levels);
	free(s);
}

struct coll_state *coll_state(struct mpii_comm *c)
{
	if (mpii_unlikely(!c->coll)) {
		c->coll = calloc(1, sizeof(struct coll_state));
		c->coll_free = destroy;
	}
	return c->coll;
}
