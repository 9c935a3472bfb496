/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Progress: polling the channels, the one epoll set, timers.
 *
 * Everything that can make an endpoint's descriptors ready is in epfd,
 * edge-triggered: sockets, doorbells, peers' pidfds, the timer. A thread that
 * has to sleep sleeps on it; the progress thread sleeps on outer_epfd, which
 * holds epfd (async.c).
 */
#include "progress.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "async.h"
#include "carrier.h"
#include "clock.h"
#include "log.h"

#define EVENTS 32

/* Polls in vain before the descriptors are looked at as well. */
#define FDS_OFTEN 8
#define FDS_SOMETIMES 64
#define FDS_SELDOM 4096

int eng_poll(struct o2g_ep *ep)
{
	int n = 0;

	for (unsigned i = 0; i < ep->nchans; i++)
		n += ep->chans[i]->ops->poll(ep->chans[i]);
	if (unlikely(ep->byes))
		eng_byes(ep);
	return n;
}

void eng_flush(struct o2g_ep *ep)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (unlikely(ep->chans[i]->needs_flush))
			ep->chans[i]->ops->flush(ep->chans[i]);
}

bool eng_arm(struct o2g_ep *ep)
{
	bool something = false;

	for (unsigned i = 0; i < ep->nchans; i++)
		something |= ep->chans[i]->ops->arm(ep->chans[i]);
	return something;
}

void eng_disarm(struct o2g_ep *ep)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		ep->chans[i]->ops->disarm(ep->chans[i]);
	ep->rearm = ep->poller_asleep || ep->async_armed;
}

/*
 * A channel's wake-up call is good once: a thread that took it (or called it
 * off) while another one still sleeps renews it before it lets go of the lock.
 */
void eng_rearm(struct o2g_ep *ep)
{
	u64 one = 1;

	ep->rearm = false;
	if (!ep->poller_asleep && !ep->async_armed)
		return;
	for (int i = 0; eng_arm(ep); i++) {
		if (i == 4) { /* busy: let the sleeper see to it */
			if (write(ep->wake_fd, &one, sizeof(one)) < 0)
				return;
			return;
		}
		eng_poll(ep);
	}
}

int eng_poll_fds(struct o2g_ep *ep, int timeout_ms)
{
	struct epoll_event ev[EVENTS];
	int n, handled = 0;

	if (timeout_ms) {
		struct pollfd p = { .fd = ep->epfd, .events = POLLIN };

		ep->poller_asleep = true;
		ep_unlock(ep);
		poll(&p, 1, timeout_ms);
		ep_lock(ep);
		ep->poller_asleep = false;
	}
	/* Fetched with the lock held: an event that waits for the lock would
	 * not notice when another thread ends its watch and frees it. */
	n = epoll_wait(ep->epfd, ev, EVENTS, 0);
	/* A callback may lose a peer whose events are still in ev:
	 * chan_watch_del strikes them out. */
	ep->live_events = ev;
	ep->nlive_events = n > 0 ? n : 0;
	for (int i = 0; i < n; i++) {
		struct chan_watch *w = ev[i].data.ptr;

		if (w)
			handled += w->ready(w, ev[i].events);
	}
	ep->nlive_events = 0;
	if (n > 0 && (ep->poller_asleep || ep->async_armed))
		ep->rearm = true;
	if (unlikely(ep->byes))
		eng_byes(ep);
	return handled;
}

static int watch_ctl(struct chan_ep *cep, int op, struct chan_watch *w,
		     u32 events)
{
	struct o2g_ep *ep = ep_of_chan(cep);
	struct epoll_event ev = { .events = events | EPOLLET, .data.ptr = w };

	return epoll_ctl(ep->epfd, op, w->fd, &ev) ? -errno : 0;
}

int chan_watch_add(struct chan_ep *cep, struct chan_watch *w, u32 events)
{
	return watch_ctl(cep, EPOLL_CTL_ADD, w, events);
}

int chan_watch_mod(struct chan_ep *cep, struct chan_watch *w, u32 events)
{
	return watch_ctl(cep, EPOLL_CTL_MOD, w, events);
}

void chan_watch_del(struct chan_ep *cep, struct chan_watch *w)
{
	struct o2g_ep *ep = ep_of_chan(cep);

	epoll_ctl(ep->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = 0; i < ep->nlive_events; i++)
		if (ep->live_events[i].data.ptr == w)
			ep->live_events[i].data.ptr = NULL;
}

/* --- timers: a short unsorted list, one timerfd for the earliest --- */

static void timer_program(struct o2g_ep *ep)
{
	struct itimerspec when = { 0 };
	u64 first = 0, now;
	struct o2g_list *l;

	o2g_list_for_each(l, &ep->timers) {
		struct chan_timer *t = container_of(l, struct chan_timer, link);

		if (!first || t->due_us < first)
			first = t->due_us;
	}
	if (first == ep->timer_armed_us)
		return;
	ep->timer_armed_us = first;
	if (first) {
		now = o2g_now_us();
		if (first <= now)
			first = now + 1;
		when.it_value.tv_sec = (first - now) / 1000000;
		when.it_value.tv_nsec = (first - now) % 1000000 * 1000;
	}
	timerfd_settime(ep->timer_fd, 0, &when, NULL);
}

void chan_timer_set(struct chan_ep *cep, struct chan_timer *t, u64 us)
{
	struct o2g_ep *ep = ep_of_chan(cep);

	if (t->link.next)
		o2g_list_del(&t->link);
	t->due_us = o2g_now_us() + us;
	o2g_list_add_tail(&t->link, &ep->timers);
	timer_program(ep);
}

void chan_timer_del(struct chan_ep *cep, struct chan_timer *t)
{
	if (t->link.next)
		o2g_list_del(&t->link);
}

static struct chan_timer *timer_due(struct o2g_ep *ep, u64 now)
{
	struct o2g_list *l;

	o2g_list_for_each(l, &ep->timers) {
		struct chan_timer *t = container_of(l, struct chan_timer, link);

		if (t->due_us <= now)
			return t;
	}
	return NULL;
}

static int timer_ready(struct chan_watch *w, u32 events)
{
	struct o2g_ep *ep = container_of(w, struct o2g_ep, timer_watch);
	struct chan_timer *t;
	u64 ticks, now = o2g_now_us();

	if (read(w->fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		o2g_error("reading a timer failed: %s", strerror(errno));
	ep->timer_armed_us = 0;
	while ((t = timer_due(ep, now))) {
		o2g_list_del(&t->link);
		t->fn(t);
	}
	timer_program(ep);
	return 0;
}

/*
 * It is for the thread that sleeps on epfd. If that still sleeps, this is another
 * one, which was quicker to ask for events: ring again, or it sleeps on.
 */
static int wake_ready(struct chan_watch *w, u32 events)
{
	struct o2g_ep *ep = container_of(w, struct o2g_ep, wake_watch);
	u64 n = 1;
	ssize_t done = ep->poller_asleep ? write(w->fd, &n, sizeof(n)) :
					   read(w->fd, &n, sizeof(n));

	if (done < 0 && errno != EAGAIN)
		o2g_error("waking a thread failed: %s", strerror(errno));
	return 0;
}

static int watch_own(struct o2g_ep *ep, struct chan_watch *w, int fd,
		     int (*ready)(struct chan_watch *, u32))
{
	w->fd = fd;
	w->ready = ready;
	return fd < 0 ? -errno :
			chan_watch_add((struct chan_ep *)ep, w, EPOLLIN);
}

int eng_progress_init(struct o2g_ep *ep)
{
	int err;

	o2g_list_init(&ep->timers);
	ep->timer_watch.fd = ep->wake_watch.fd = ep->user_fd = -1;
	ep->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (ep->epfd < 0)
		return -errno;
	err = watch_own(ep, &ep->timer_watch,
			timerfd_create(CLOCK_MONOTONIC,
				       TFD_CLOEXEC | TFD_NONBLOCK),
			timer_ready);
	ep->timer_fd = ep->timer_watch.fd;
	if (!err)
		err = watch_own(ep, &ep->wake_watch,
				eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				wake_ready);
	ep->wake_fd = ep->wake_watch.fd;
	if (err)
		eng_progress_cleanup(ep);
	return err;
}

void eng_progress_cleanup(struct o2g_ep *ep)
{
	int *fds[] = { &ep->timer_fd, &ep->wake_fd, &ep->epfd, &ep->user_fd };

	for (int i = 0; i < 4; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/*
 * With the driver only connections in the making are seen by their descriptors
 * alone, and a program that polls for a message should make no system call: no
 * look at the clock either, which is one on some machines.
 */
static bool time_for_fds(struct o2g_ep *ep)
{
	unsigned n = ++ep->idle_polls;

	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->partial_poll)
			return n % FDS_OFTEN == 0;
	if (!ep->driver)
		return n % FDS_OFTEN == 0;
	return n % FDS_SELDOM == 0 ||
	       (n % FDS_SOMETIMES == 0 && !ep->driver->has_all(ep));
}

int eng_look(struct o2g_ep *ep)
{
	int n = eng_poll(ep);

	if (n == 0 && time_for_fds(ep))
		n = eng_poll_fds(ep, 0);
	return n;
}

int o2g_progress(struct o2g_ep *ep)
{
	int n;

	ep_enter_or_exit(ep);
	ep->calls++;
	eng_flush(ep);
	n = eng_look(ep);
	ep_settle(ep);
	ep_unlock(ep);
	return n;
}

/* --- the completion descriptor --- */

static int open_user_fd(struct o2g_ep *ep)
{
	ep->user_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ep->user_fd < 0)
		return -errno;
	ep->user_fd_used = true;
	eng_async_arm(ep);
	return ep->user_fd;
}

int o2g_fd(struct o2g_ep *ep)
{
	int fd;

	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	fd = ep->user_fd < 0 ? open_user_fd(ep) : ep->user_fd;
	ep_unlock(ep);
	return fd;
}

void o2g_fd_clear(struct o2g_ep *ep)
{
	u64 n;

	if (!ep_enter(ep))
		return;
	if (ep->user_fd_set && read(ep->user_fd, &n, sizeof(n)) > 0)
		ep->user_fd_set = false;
	eng_async_arm(ep);
	ep_unlock(ep);
}
