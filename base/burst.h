/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Small messages in a row: when they are kept back to leave together, and for how
 * long. Each message costs a system call otherwise.
 *
 * The first leaves at once. One that follows within microseconds, in the same turn,
 * is the next of a burst and goes to a batch. A turn ends when the program waits or
 * tests, and when anything is received: a ping-pong receives between two sends, so
 * it never sees a batch. The batch leaves at the end of the turn, or by a timer.
 *
 * A timer costs a thread its sleep, and most programs wait or test soon after a
 * burst. So it is not taken back when the batch leaves; each time it finds nothing
 * to do the next one is set later, and the first batch that really had to wait for
 * it brings the short time back.
 */
#ifndef BASE_BURST_H
#define BASE_BURST_H

#include <stdbool.h>

#include "clock.h"

#define O2G_BURST_NS 20000    /* from one message of a burst to the next */
#define O2G_BATCH_US 50	      /* a batch waits for its end this long ... */
#define O2G_BATCH_MAX_US 6400 /* ... or this, where it never had to */

/* Of whoever sends to one place. Zeroed: nothing has been sent. */
struct o2g_burst {
	uint64_t turn;	  /* of the last message */
	uint64_t last_ns; /* when it left; 0: nobody looked */
};

/* Is this message the next of several? */
static inline bool o2g_burst_goes_on(struct o2g_burst *b, uint64_t turn)
{
	uint64_t last = b->last_ns;

	if (b->turn != turn)
		return false;
	b->last_ns = o2g_now_ns();
	return last && b->last_ns - last < O2G_BURST_NS;
}

/* A message has left by itself. The call takes longer than what makes a burst, so
 * time counts from here. */
static inline void o2g_burst_left(struct o2g_burst *b, uint64_t turn)
{
	b->last_ns = o2g_now_ns();
	b->turn = turn;
}

/* Or, where asking the clock is too dear for that: the first of a turn only says so,
 * and the burst begins with the next ... */
static inline void o2g_burst_first(struct o2g_burst *b, uint64_t turn)
{
	b->last_ns = 0;
	b->turn = turn;
}

/* ... which says so when its call has returned. */
static inline void o2g_burst_returned(struct o2g_burst *b)
{
	if (b->last_ns)
		b->last_ns = o2g_now_ns();
}

/* A batch that waits, and its timer. */
struct o2g_batch {
	uint64_t since_ns; /* when it began */
	uint32_t wait_us;  /* what the timer is set to next */
	bool timer_set;
};

enum o2g_batch_due { O2G_BATCH_GONE, O2G_BATCH_YOUNG, O2G_BATCH_DUE };

static inline void o2g_batch_init(struct o2g_batch *b)
{
	b->wait_us = O2G_BATCH_US;
	b->timer_set = false;
}

/* One begins. Microseconds to set the timer to; 0: it is set. */
static inline uint32_t o2g_batch_begin(struct o2g_batch *b, uint64_t now_ns)
{
	b->since_ns = now_ns;
	if (b->timer_set)
		return 0;
	b->timer_set = true;
	return b->wait_us;
}

/*
 * The timer has gone off, and there is a batch if it @waits. DUE: it leaves now.
 * YOUNG: it has just begun; o2g_batch_again() says when to look.
 */
static inline enum o2g_batch_due o2g_batch_timer(struct o2g_batch *b,
						 bool waits, uint64_t now_ns)
{
	b->timer_set = false;
	if (!waits) {
		if (b->wait_us < O2G_BATCH_MAX_US)
			b->wait_us *= 2;
		return O2G_BATCH_GONE;
	}
	if (now_ns - b->since_ns < O2G_BATCH_US * 1000 / 2)
		return O2G_BATCH_YOUNG;
	b->wait_us = O2G_BATCH_US;
	return O2G_BATCH_DUE;
}

/* Set the timer once more: microseconds. */
static inline uint32_t o2g_batch_again(struct o2g_batch *b)
{
	b->timer_set = true;
	return O2G_BATCH_US;
}

#endif
