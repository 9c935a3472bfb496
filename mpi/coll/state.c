/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A blocking call of the program and a nonblocking one that is continued by
 * another thread may be the first on a communicator at the same time.
 */
#include "coll/state.h"

pthread_mutex_t coll_state_lock = PTHREAD_MUTEX_INITIALIZER;

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
	struct coll_state *s = coll_state_get(c);

	if (mpii_likely(s))
		return s;
	pthread_mutex_lock(&coll_state_lock);
	s = c->coll;
	if (!s) {
		s = calloc(1, sizeof(*s));
		c->coll_free = s ? destroy : NULL;
		__atomic_store_n(&c->coll, s, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&coll_state_lock);
	return s;
}
