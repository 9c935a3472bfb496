// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Receives and probes with a wildcard. Each is compared with the unexpected messages,
 * oldest first, and peers can make that long: it is done in portions, with a mark in
 * the list. Messages that come meanwhile are behind it. What softirq cannot finish of
 * the posting ring, whose first entry is the one that looks, a worker does.
 *
 * A message is compared with few receives, however many there are, unless each of them
 * ignores other bits; so many of that sort are refused.
 */
#include "o2gk.h"

#include "match_impl.h"

bool o2gk_seek(struct o2g_match *m, struct o2gk_seek *s,
	       const struct o2g_match_entry *recv, u32 *left)
{
	if (!s->begun && (!match_is_wild(recv) || !m->nunexp))
		return true;
	if (!s->begun)
		o2g_match_walk_begin(m, &s->walk);
	s->begun = true;
	if (!o2g_match_skip(m, &s->walk, recv->src, recv->tag, recv->ignore,
			    left))
		return false;
	m->skip = &s->walk.mark.order;
	return true;
}

void o2gk_seek_end(struct o2g_match *m, struct o2gk_seek *s)
{
	if (!s->begun)
		return;
	m->skip = NULL;
	o2g_match_walk_end(&s->walk);
	s->begun = false;
}

void o2gk_seek_all(struct o2g_match *m, spinlock_t *lock, struct o2gk_seek *s,
		   const struct o2g_match_entry *recv)
{
	u32 left = O2GK_STEP;

	s->begun = false;
	while (!o2gk_seek(m, s, recv, &left)) {
		spin_unlock_bh(lock);
		cond_resched();
		spin_lock_bh(lock);
		left = O2GK_STEP;
	}
}

bool o2gk_too_odd(const struct o2g_match *m, u32 src, u64 ignore)
{
	return unlikely(m->nodd >= O2GK_STEP) &&
	       o2g_match_is_odd(m, src, ignore);
}
