/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a struct o2g_counter is told of a request. With the endpoint's lock; others
 * read the numbers without. */
#ifndef ENG_COUNTER_H
#define ENG_COUNTER_H

#include "req.h"

static inline void eng_counter_add(uint32_t *n, int more)
{
	__atomic_store_n(n, *n + (uint32_t)more, __ATOMIC_RELEASE);
}

static inline void eng_counter_start(struct o2g_counter *c, struct eng_req *r)
{
	r->counter = c;
	r->has_counter = true;
	r->departed = false;
	eng_counter_add(&c->pending, 1);
	eng_counter_add(&c->local, 1);
}

/* Its data may be changed. */
static inline void eng_counter_departed(struct eng_req *r)
{
	if (r->departed)
		return;
	r->departed = true;
	eng_counter_add(&r->counter->local, -1);
}

/* It is not started after all. */
static inline void eng_counter_cancel(struct eng_req *r)
{
	eng_counter_departed(r);
	eng_counter_add(&r->counter->pending, -1);
	r->has_counter = false;
}

static inline void eng_counter_done(struct eng_req *r)
{
	if (unlikely(r->core.status) && !r->counter->error)
		r->counter->error = r->core.status;
	eng_counter_cancel(r);
}

#endif
