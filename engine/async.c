/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The progress thread: completes what is under way while the program computes.
 *
 * It sleeps on outer_epfd, in which epfd sits as a one-shot: armed, the first
 * arrival wakes it; not armed, traffic costs it nothing. It is armed
 *   - soon after the program has left the library with something large under
 *     way (then an answer has to be given before it comes back), and
 *   - when the program has not been in the library for a while, which is longer
 *     when nothing at all is under way.
 * A thread that waits in the library disarms it, and has it look again a little
 * later. If it then still waits, in the same call for long, there is nothing to look
 * for: the progress thread sleeps until that call ends, and then looks again. Setting a timer takes microseconds in a virtual machine, about as long
 * as copying 32 KiB; so after a program has come back at once many times in a
 * row, nothing is set anew while a timer is under way that is late but good
 * enough. The first time it fires and the program is away ends that. So ranks that
 * exchange small messages all the time hardly wake it, and one that computes is
 * served. Timers wake it always: they are rare, and nobody else may be there.
 */
#include "async.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "log.h"
#include "progress.h"
#include "settings.h"
#include "slice.h"
#include "watch.h"

#define WANT_US 20	  /* a program that means to wait is back by then */
#define WANT_LATE_US 1000 /* ... where it may have to wait for a core */
#define WANT_LAZY_US 1000 /* ... where it always came back */
#define LAZIEST_US 16000  /* ... and has for long */
#define QUICK 32	  /* times in a row make always */
#define LOOK_FIRST_US 2000
#define LOOK_MIN_MS 1
#define LOOK_MAX_MS 20
#define BUSY_FIRES 4 /* arrivals in a row with calls between: it is active */

static void outer_set(struct o2g_ep *ep, u32 events)
{
	struct epoll_event ev = { .events = events, .data.ptr = &ep->epfd };

	epoll_ctl(ep->outer_epfd, EPOLL_CTL_MOD, ep->epfd, &ev);
}

void eng_async_arm(struct o2g_ep *ep)
{
	if (!ep->thread_runs || ep->async_armed)
		return;
	/* Arrivals that were read meanwhile do not fire: epoll looks again. */
	outer_set(ep, EPOLLIN | EPOLLONESHOT);
	ep->async_armed = true;
	ep->async_wanted = false;
	eng_rearm(ep);
}

static void look_now(struct chan_timer *t)
{
	/* Waking the thread is all it is for. */
}

static void look_in(struct o2g_ep *ep, u64 us)
{
	ep->look_timer.fn = look_now;
	chan_timer_set((struct chan_ep *)ep, &ep->look_timer, us);
}

/*
 * For programs that always come back: a timer that fires some time soon, and less
 * soon each time it did in vain.
 */
static void look_lazily(struct o2g_ep *ep)
{
	if (!o2g_list_empty(&ep->look_timer.link))
		return;
	look_in(ep, ep->lazy_us);
	if (ep->lazy_us < LAZIEST_US)
		ep->lazy_us *= 2;
}

/* It does not come back any more. */
static void look_soon(struct o2g_ep *ep)
{
	ep->quick_waits = 0;
	ep->lazy_us = WANT_LAZY_US;
}

void eng_async_want(struct o2g_ep *ep)
{
	if (!ep->thread_runs || ep->async_armed || ep->async_wanted)
		return;
	ep->async_wanted = true;
	if (ep->quick_waits >= QUICK)
		look_lazily(ep);
	else
		look_in(ep, ep->oversubscribed ? WANT_LATE_US : WANT_US);
}

void eng_async_disarm(struct o2g_ep *ep)
{
	if (ep->async_armed) {
		outer_set(ep, 0);
		ep->async_armed = false;
		eng_disarm(ep);
	}
	if (ep->async_wanted && ep->quick_waits < QUICK)
		ep->quick_waits++;
	ep->async_wanted = false;
	if (ep->quick_waits >= QUICK)
		look_lazily(ep);
	else
		look_in(ep, LOOK_FIRST_US);
}

void eng_async_unpark(struct o2g_ep *ep)
{
	ep->async_parked = false;
	look_in(ep, LOOK_FIRST_US);
}

void eng_async_kick(struct o2g_ep *ep)
{
	u64 one = 1;

	if (ep->thread_runs && !ep->closing &&
	    write(ep->kick_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		o2g_error("cannot wake the progress thread: %s",
			  strerror(errno));
}

static void take_kick(struct o2g_ep *ep)
{
	u64 n;

	if (read(ep->kick_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		o2g_error("the progress thread's wake-up failed: %s",
			  strerror(errno));
}

/* Calls that work makes from here are not the program's. */
static void settle_quietly(struct o2g_ep *ep)
{
	u64 calls = ep->calls;

	ep_settle(ep);
	ep->calls = calls;
}

/* Handle what there is, unless the program comes in and does it itself. */
static void drain(struct o2g_ep *ep)
{
	int n;

	do {
		n = eng_poll_fds(ep, 0);
		n += eng_poll(ep);
		settle_quietly(ep);
		if (eng_lock_contended(&ep->lock)) {
			ep_unlock(ep);
			ep_lock(ep);
		}
	} while (n && !ep->inside && !ep->closing);
}

/*
 * Arming looks for what has come already, which may complete requests. What is to
 * be done then is done before going to sleep; it may disarm, as every wait does.
 */
static void arm_and_settle(struct o2g_ep *ep)
{
	do {
		eng_async_arm(ep);
		settle_quietly(ep);
	} while (!ep->async_armed && !ep->inside && !ep->closing);
}

/*
 * Does anybody gain when arrivals are taken before the program comes back? With
 * nothing under way here, messages may as well stay in the sockets, from where
 * they go straight to where they are wanted; but a peer may wait for room or for
 * a connection, so after a while they are taken all the same.
 */
static bool worth_arming(const struct o2g_ep *ep, int look)
{
	return ep->reqs_in_use || ep->works || ep->mems_in_use ||
	       ep->user_fd_used || look >= LOOK_MAX_MS;
}

/* What the thread remembers from one turn to the next. */
struct turn {
	int look;  /* ms until it looks whether the program is away */
	int busy;  /* arrivals in a row with calls between */
	bool stay; /* arm, whether the program was in the library or not */
	u64 seen;  /* ep->calls at the last look */
};

/* Arm if that is of use; returns whether it is, and for how many ms to sleep. */
static bool get_ready(struct o2g_ep *ep, struct turn *t, int *timeout)
{
	*timeout = t->look;
	if (ep->inside && ep->calls == t->seen && t->look >= LOOK_MAX_MS) {
		*timeout = -1;
		ep->async_parked = true;
		return false;
	}
	if (!ep->inside && (t->stay || ep->calls == t->seen) &&
	    worth_arming(ep, t->look)) {
		arm_and_settle(ep);
		*timeout = eng_watch_due(ep);
		return true;
	}
	if (t->look < LOOK_MAX_MS)
		t->look *= 2;
	return false;
}

static void on_arrival(struct o2g_ep *ep, struct turn *t)
{
	ep->async_armed = false;
	if (ep->inside)
		return;
	t->busy = ep->calls != t->seen ? t->busy + 1 : 0;
	drain(ep);
	t->stay = t->busy < BUSY_FIRES;
	if (!t->stay)
		t->busy = 0;
}

static void on_timer_or_work(struct o2g_ep *ep, struct turn *t)
{
	drain(ep);
	t->stay = ep->async_wanted || ep->works;
	if (ep->async_wanted && !ep->inside)
		look_soon(ep);
}

static void *run(void *arg)
{
	struct turn t = { .look = LOOK_MIN_MS, .stay = true };
	struct o2g_ep *ep = arg;
	struct epoll_event ev;
	int n, timeout;
	bool armed;

	eng_short_slice();
	ep->lock.helper = __builtin_thread_pointer();
	ep_lock(ep);
	while (!ep->closing) {
		armed = get_ready(ep, &t, &timeout);
		t.seen = ep->calls;
		ep_unlock(ep);
		n = epoll_wait(ep->outer_epfd, &ev, 1, timeout);
		ep_lock(ep);
		eng_watch_tick(ep);
		if (ep->calls != t.seen && (armed || timeout < 0))
			t.look = LOOK_MIN_MS; /* it has come back */
		ep->async_parked = false;
		t.stay = false;
		if (n <= 0 || ep->closing)
			continue;
		if (ev.data.ptr == &ep->kick_fd)
			take_kick(ep);
		if (ev.data.ptr == &ep->epfd)
			on_arrival(ep, &t);
		else
			on_timer_or_work(ep, &t);
	}
	ep_unlock(ep);
	return NULL;
}

static int outer_add(struct o2g_ep *ep, int fd, u32 events, void *ptr)
{
	struct epoll_event ev = { .events = events, .data.ptr = ptr };

	return epoll_ctl(ep->outer_epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int start_thread(struct o2g_ep *ep)
{
	sigset_t all, old;
	int err;

	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&ep->thread, NULL, run, ep);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

void eng_async_start(struct o2g_ep *ep)
{
	int err;

	if (!o2g_settings()->progress_thread)
		return;
	ep->outer_epfd = epoll_create1(EPOLL_CLOEXEC);
	ep->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = -errno;
	if (ep->outer_epfd < 0 || ep->kick_fd < 0)
		goto err_fds;
	err = outer_add(ep, ep->epfd, 0, &ep->epfd);
	if (!err)
		err = outer_add(ep, ep->kick_fd, EPOLLIN, &ep->kick_fd);
	if (!err)
		err = outer_add(ep, ep->timer_fd, EPOLLIN | EPOLLET,
				&ep->timer_fd);
	if (err)
		goto err_fds;
	look_soon(ep);
	ep->thread_runs = true;
	err = start_thread(ep);
	if (!err)
		return;
	ep->thread_runs = false;
err_fds:
	if (ep->outer_epfd >= 0)
		close(ep->outer_epfd);
	if (ep->kick_fd >= 0)
		close(ep->kick_fd);
	o2g_warn(
		"no progress thread (%s): messages wait while the program computes",
		strerror(-err));
}

void eng_async_stop(struct o2g_ep *ep)
{
	u64 one = 1;

	if (!ep->thread_runs)
		return;
	ep_lock(ep);
	ep->closing = true;
	ep_unlock(ep);
	if (write(ep->kick_fd, &one, sizeof(one)) < 0)
		o2g_error("cannot wake the progress thread: %s",
			  strerror(errno));
	pthread_join(ep->thread, NULL);
	ep->thread_runs = false;
	close(ep->outer_epfd);
	close(ep->kick_fd);
}
