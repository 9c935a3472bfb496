/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Telling an o2g_watch what threads wait for. A wait costs nothing more until it
 * has lasted for a while: only then is anything written down.
 */
#ifndef ENG_WATCH_H
#define ENG_WATCH_H

#include "ep.h"

#define ENG_WATCH_MS 100    /* a wait that lasts longer is told of */
#define ENG_WATCH_SLEEPS 16 /* ... and one that is woken all the time */

/* One wait of a thread. */
struct eng_waiting {
	void *mine;   /* the watch's; NULL: it was not told */
	u64 since_ns; /* when it began to sleep, roughly; 0: not known */
	u64 told_ns;  /* when the watch was told last */
	u64 slept_us; /* the latest sleep */
	unsigned sleeps;
	bool fresh; /* nothing has happened since the watch was told */
};

/* The rest is set before the first sleep: most waits end without one. */
static inline void eng_watch_begin(struct eng_waiting *w)
{
	w->mine = NULL;
	w->sleeps = 0;
}

/* How long a sleep may last, so that the watch hears of it in time. */
static inline int eng_watch_timeout(const struct o2g_ep *ep,
				    struct eng_waiting *w, int timeout)
{
	if (!w->sleeps) {
		w->since_ns = w->told_ns = 0;
		w->fresh = false;
	}
	w->slept_us = 0; /* it may not come to that */
	if (!ep->watch || w->fresh || (timeout >= 0 && timeout < ENG_WATCH_MS))
		return timeout;
	return ENG_WATCH_MS;
}

/* After a sleep; the lock may be let go of. */
void eng_watch_tell(struct o2g_ep *ep, struct eng_waiting *w,
		    int (*cond)(void *), void *arg);
static inline void eng_watch_slept(struct o2g_ep *ep, struct eng_waiting *w,
				   int (*cond)(void *), void *arg)
{
	w->fresh = false;
	w->sleeps++;
	if (ep->watch && (w->slept_us >= ENG_WATCH_MS * 1000ull ||
			  w->sleeps % ENG_WATCH_SLEEPS == 0))
		eng_watch_tell(ep, w, cond, arg);
}

void eng_watch_end(struct o2g_ep *ep, struct eng_waiting *w);

/* The progress thread, now and then: if something is new the watch looks at it. */
void eng_watch_tick(struct o2g_ep *ep);
/* In how many milliseconds there will be something to look at; -1: not known. */
int eng_watch_due(const struct o2g_ep *ep);

#endif
