// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "util.h"

#define TIMERS 16

static struct watch **watches; /* with holes where one was deleted */
static struct pollfd *polls;   /* the same order */
static size_t nwatches, room;
static struct timer *timers[TIMERS];

void watch_add(struct watch *w)
{
	if (w->active)
		return;
	if (nwatches == room) {
		room = room * 2 + 16;
		watches = xrealloc(watches, room * sizeof(*watches));
		polls = xrealloc(polls, room * sizeof(*polls));
	}
	w->active = true;
	watches[nwatches++] = w;
}

void watch_del(struct watch *w)
{
	if (!w->active)
		return;
	w->active = false;
	for (size_t i = 0; i < nwatches; i++)
		if (watches[i] == w)
			watches[i] = NULL;
}

void timer_set(struct timer *t, unsigned ms)
{
	t->at = o2g_now_ns() + ms * 1000000ull;
	if (t->active)
		return;
	for (int i = 0; i < TIMERS; i++) {
		if (!timers[i]) {
			timers[i] = t;
			t->active = true;
			return;
		}
	}
	fail(EXIT_TROUBLE, "too many timers");
}

void timer_clear(struct timer *t)
{
	for (int i = 0; i < TIMERS && t->active; i++)
		if (timers[i] == t)
			timers[i] = NULL;
	t->active = false;
}

static int next_timer_ms(void)
{
	uint64_t now = o2g_now_ns(), first = UINT64_MAX;

	for (int i = 0; i < TIMERS; i++)
		if (timers[i] && timers[i]->at < first)
			first = timers[i]->at;
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now + 999999) / 1000000);
}

static void run_timers(void)
{
	uint64_t now = o2g_now_ns();

	for (int i = 0; i < TIMERS; i++) {
		struct timer *t = timers[i];

		if (t && t->at <= now) {
			timer_clear(t);
			t->fn(t);
		}
	}
}

static size_t fill_polls(void)
{
	size_t n = 0;

	for (size_t i = 0; i < nwatches; i++)
		if (watches[i])
			watches[n++] = watches[i];
	nwatches = n;
	for (size_t i = 0; i < n; i++) {
		/* A hang-up is reported even when nothing is asked for, which
		 * would spin; a negative descriptor is skipped. */
		polls[i].fd = watches[i]->events ? watches[i]->fd : -1;
		polls[i].events = watches[i]->events;
		polls[i].revents = 0;
	}
	return n;
}

void loop_run(const bool *stop)
{
	while (!*stop) {
		size_t n = fill_polls();

		if (poll(polls, n, next_timer_ms()) < 0 && errno != EINTR)
			fail(EXIT_TROUBLE, "poll: %s", strerror(errno));
		for (size_t i = 0; i < n && !*stop; i++)
			if (watches[i] && polls[i].revents)
				watches[i]->fn(watches[i], polls[i].revents);
		run_timers();
	}
}
