/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Waiting: spin for a moment, then sleep.
 *
 * How long to spin is adapted. Each time it did not help it is halved. When the
 * sleep that followed was short, a longer spin might have done; but it might as
 * well have kept the peer from running, if the two share a core. So the full
 * time is tried again after such a sleep, and after ever more of them when that
 * did not help either. Whoever waits for much data may spin for about as long as
 * copying it takes. With more ranks than cores a rank offers its core to others
 * instead, and then sleeps.
 *
 * Of several threads that wait on one endpoint one sleeps on its descriptors
 * and the others on `events`; when the first is done, another takes its place.
 */
#include "wait.h"

#include <sched.h>
#include <unistd.h>

#include "async.h"
#include "clock.h"
#include "core_ops.h"
#include "peer.h"
#include "progress.h"
#include "settings.h"
#include "watch.h"

#define SPIN_MAX_US 50
#define PATIENCE_MAX 256 /* short sleeps before another full spin */
#define CLOCK_EVERY 32
#define SLOW_CLOCK_EVERY 8
#define FDS_OFTEN_NS 5000
#define FDS_RARELY_NS 25000
#define FDS_DRIVER_NS 1000000 /* they only tell of new connections */
#define YIELD_NS 1000	      /* a yield that let nobody run is shorter */
#define VAIN_NS 50000	      /* of those, before sleeping is cheaper */
#define OFFER_NS 2000000
#define OFFER_DRIVER_NS 500000 /* it wakes us at little cost */
#define OFFER_FIRST_NS 50000   /* to those who compute for long */
#define LONG_NS 10000000 /* beside which sleeping and waking cost nothing */
#define MEMORY_YIELDS 2	 /* without looking for messages */
#define BYTES_PER_NS 5	 /* a slow copy */
#define COPY_MAX_NS 400000

void eng_wait_init(struct o2g_ep *ep)
{
	int64_t asked = o2g_settings()->spin_us;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	ep->oversubscribed = cpus > 0 && !ep->sleeps &&
			     ep->local_size > (unsigned)cpus;
	ep->spin_max_us = asked >= 0			   ? (unsigned)asked :
			  ep->oversubscribed || ep->sleeps ? 0 :
							     SPIN_MAX_US;
	ep->spin_us = ep->spin_max_us;
	ep->spin_patience = 1;
}

/* Let a thread that wants the lock have it. */
static inline void let_others_in(struct o2g_ep *ep)
{
	if (unlikely(eng_lock_contended(&ep->lock))) {
		ep_unlock(ep);
		sched_yield();
		ep_lock(ep);
	}
}

/*
 * Is it true now? Callbacks and work of completed requests may make it so, and it
 * may complete requests itself: none may be left when we go to sleep. The lock is
 * let go of for work.
 */
static bool holds(struct o2g_ep *ep, int (*cond)(void *), void *arg)
{
	bool yes;

	do {
		ep_settle(ep);
		yes = cond(arg);
	} while (!yes && unlikely(ep->callbacks || ep->work));
	return yes;
}

/* How long the data that is waited for may take, when spinning is worth it. */
static u64 copy_ns(const struct o2g_ep *ep)
{
	u64 ns = ep->awaited / BYTES_PER_NS;

	if (ep->spin_us == 0)
		return 0;
	return ns < COPY_MAX_NS ? ns : COPY_MAX_NS;
}

/* How to poll: how often to look at the clock, which should cost little beside
 * polling, and at the descriptors, which see what polling does not. */
struct rhythm {
	unsigned clock_every;
	u64 fds_every_ns;
};

static struct rhythm rhythm_of(const struct o2g_ep *ep)
{
	struct rhythm r = { CLOCK_EVERY, FDS_RARELY_NS };

	for (unsigned i = 0; i < ep->nchans; i++) {
		if (ep->chans[i]->slow_poll)
			r.clock_every = SLOW_CLOCK_EVERY;
		if (ep->chans[i]->partial_poll)
			r.fds_every_ns = FDS_OFTEN_NS;
	}
	if (ep->driver && r.fds_every_ns == FDS_RARELY_NS)
		r.fds_every_ns = FDS_DRIVER_NS;
	return r;
}

/*
 * True when cond holds. That it held at once says nothing about spinning; that
 * it came to hold while we did says that it is worth it.
 */
static bool spin(struct o2g_ep *ep, int (*cond)(void *), void *arg)
{
	u64 quiet_since = 0, last_fds = 0;
	struct rhythm rhythm = { 0 };
	unsigned rounds = 0; /* since the clock was looked at */

	for (;;) {
		int n = eng_poll(ep);

		if (holds(ep, cond, arg)) {
			if (unlikely(quiet_since))
				ep->spin_patience = 1;
			return true;
		}
		if (n) {
			quiet_since = 0;
			continue;
		}
		if (!rhythm.clock_every)
			rhythm = rhythm_of(ep);
		/* Looking again at once finds nothing, and may cost calls. */
		if (!ep->spin_us && rhythm.clock_every == SLOW_CLOCK_EVERY)
			return false;
		/* A call lets go of the core's parts for long enough. */
		if (rhythm.clock_every != SLOW_CLOCK_EVERY)
			o2g_cpu_relax();
		if (++rounds < rhythm.clock_every)
			continue;
		rounds = 0;
		u64 now = o2g_now_ns();

		if (!quiet_since)
			quiet_since = last_fds = now;
		if (now - quiet_since > ep->spin_us * 1000ull + copy_ns(ep))
			return false;
		if (now - last_fds > rhythm.fds_every_ns) {
			last_fds = now;
			if (eng_poll_fds(ep, 0) && holds(ep, cond, arg))
				return true;
		}
		let_others_in(ep);
	}
}

/*
 * A rank that has computed for long, or slept, is likely to wait for others that
 * compute as long: it sleeps at once, and offers its core only briefly the next times.
 */
static bool computes(struct o2g_ep *ep, u64 now)
{
	const u64 most = ep->driver ? OFFER_DRIVER_NS : OFFER_NS;
	bool yes = now - ep->offered > LONG_NS;

	ep->offered = now;
	if (yes)
		ep->offer_ns = OFFER_FIRST_NS;
	else if (ep->offer_ns < most)
		ep->offer_ns *= 2;
	return yes;
}

/*
 * Give the core to others, who may be what we wait for. When yielding takes no
 * time nobody else wants the core: then spinning costs nobody anything, and it is
 * time to sleep when that has gone on for as long as sleeping and waking take.
 * When it has gone on for long we wait for something else, and may be in its way:
 * ranks that have slept come before one that computes, however often they yield.
 */
static bool offer_core(struct o2g_ep *ep, int (*cond)(void *), void *arg)
{
	u64 start = o2g_now_ns(), before = start, after, in_vain = 0;
	u64 fds_every_ns = rhythm_of(ep).fds_every_ns, last_fds = start;

	if (computes(ep, start))
		return false;
	do {
		eng_poll(ep);
		if (before - last_fds > fds_every_ns) {
			last_fds = before;
			eng_poll_fds(ep, 0);
		}
		if (holds(ep, cond, arg))
			return true;
		ep_unlock(ep);
		sched_yield();
		ep_lock(ep);
		/* Before polling: that takes many lines to the cache. */
		if (holds(ep, cond, arg))
			return true;
		after = o2g_now_ns();
		in_vain = after - before < YIELD_NS ?
				  in_vain + (after - before) :
				  0;
		before = after;
	} while (in_vain < VAIN_NS && after - start < ep->offer_ns);
	eng_poll(ep);
	return holds(ep, cond, arg);
}

/* Asleep until something happens; returns early without reason now and then. */
static void sleep_on_events(struct o2g_ep *ep, struct eng_waiting *w,
			    int timeout_ms)
{
	struct timespec t = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	u64 start = o2g_now_us();
	unsigned seen = atomic_load(&ep->events);

	ep->sleepers++;
	ep_unlock(ep);
	eng_futex_wait(&ep->events, seen, timeout_ms < 0 ? NULL : &t);
	ep_lock(ep);
	ep->sleepers--;
	w->slept_us = o2g_now_us() - start;
}

/*
 * What others write into shared memory makes no event: they ring when we sleep
 * (o2g_nudge). So having said that we do we look once more, and have those do so
 * who sleep beside us.
 */
static bool came_meanwhile(struct o2g_ep *ep, int (*cond)(void *), void *arg)
{
	if (unlikely(ep->sleepers))
		eng_event(ep);
	return cond(arg);
}

/* True: cond holds. It is not asked again then, since that may take what it finds. */
static bool sleep_on_fds(struct o2g_ep *ep, int (*cond)(void *), void *arg,
			 struct eng_waiting *w, int timeout_ms)
{
	bool news, yes;
	u64 start;

	news = eng_arm(ep);
	yes = !news && came_meanwhile(ep, cond, arg);
	if (news || yes) {
		eng_disarm(ep);
		return yes;
	}
	start = o2g_now_us();
	eng_poll_fds(ep, timeout_ms);
	eng_disarm(ep);
	ep->spin_us /= 2;
	w->slept_us = o2g_now_us() - start;
	if (w->slept_us > SPIN_MAX_US || ++ep->short_sleeps < ep->spin_patience)
		return false;
	ep->short_sleeps = 0;
	if (ep->spin_patience < PATIENCE_MAX)
		ep->spin_patience *= 2;
	ep->spin_us = ep->spin_max_us;
	return false;
}

/* The same, by whichever way. Counted in *asleep, if given, before the last look. */
static bool sleep_once(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		       unsigned *asleep, struct eng_waiting *w, int timeout_ms)
{
	bool yes = false;

	timeout_ms = eng_watch_timeout(ep, w, timeout_ms);
	if (asleep)
		__atomic_fetch_add(asleep, 1, __ATOMIC_SEQ_CST);
	if (!ep->poller_asleep)
		yes = sleep_on_fds(ep, cond, arg, w, timeout_ms);
	else if (!asleep || !(yes = cond(arg)))
		sleep_on_events(ep, w, timeout_ms);
	if (asleep)
		__atomic_fetch_sub(asleep, 1, __ATOMIC_RELAXED);
	return yes;
}

/* Milliseconds to sleep, -1 without limit, 0 when the time is up. */
static int time_left(u64 deadline_us)
{
	u64 now, left;

	if (!deadline_us)
		return -1;
	now = o2g_now_us();
	if (now >= deadline_us)
		return 0;
	left = (deadline_us - now + 999) / 1000;
	return left > 1000000 ? 1000000 : (int)left;
}

static inline void enter(struct o2g_ep *ep, int threads)
{
	ep->inside += (unsigned)threads;
	if (ep->waiting)
		__atomic_store_n(ep->waiting, ep->inside, __ATOMIC_RELAXED);
}

static int wait_locked(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		       unsigned *asleep, int64_t timeout_us)
{
	u64 deadline = timeout_us < 0 ? 0 : o2g_now_us() + timeout_us;
	struct eng_waiting w;
	int ret = 0;

	env_assert(ep->lock.depth == 0); /* no waiting inside callbacks */
	ep->calls++;
	enter(ep, 1);
	eng_watch_begin(&w);
	eng_flush(ep);
	if (unlikely(ep->async_armed || ep->async_wanted))
		eng_async_disarm(ep);
	while (!holds(ep, cond, arg)) {
		int timeout;

		if (ep->oversubscribed) {
			if (offer_core(ep, cond, arg))
				break;
		} else if (spin(ep, cond, arg)) {
			break;
		}
		timeout = time_left(deadline);
		if (timeout == 0) {
			ret = -ETIMEDOUT;
			break;
		}
		if (sleep_once(ep, cond, arg, asleep, &w, timeout)) {
			ep_settle(ep);
			break;
		}
		eng_watch_slept(ep, &w, cond, arg);
	}
	if (unlikely(w.mine))
		eng_watch_end(ep, &w);
	enter(ep, -1);
	if (unlikely(ep->async_parked))
		eng_async_unpark(ep);
	ep->awaited = 0;
	if (unlikely(ep->sleepers))
		eng_event(ep);
	return ret;
}

int eng_wait_locked(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    int64_t timeout_us)
{
	return wait_locked(ep, cond, arg, NULL, timeout_us);
}

/*
 * For what is written to shared memory, with more ranks than cores. Whoever gets the
 * core back mostly finds that it has come, and has little in its caches: so that
 * is all it looks at.
 */
static bool yield_for(int (*cond)(void *), void *arg)
{
	for (int i = 0; i < MEMORY_YIELDS; i++) {
		sched_yield();
		if (cond(arg))
			return true;
	}
	return false;
}

int o2g_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    unsigned *asleep)
{
	int ret;

	if (ep->oversubscribed && yield_for(cond, arg))
		return 0;
	ep_enter_or_exit(ep);
	ret = wait_locked(ep, cond, arg, asleep, -1);
	ep_unlock(ep);
	return ret;
}

int o2g_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		   int64_t timeout_us)
{
	int ret;

	if (unlikely(!ep_enter(ep))) {
		if (!cond(arg))
			eng_forked_exit();
		return 0;
	}
	ret = eng_wait_locked(ep, cond, arg, timeout_us);
	ep_unlock(ep);
	return ret;
}

/* --- memory that peers write --- */

int o2g_nudge(struct o2g_ep *ep, const int *peers, size_t n)
{
	int err = 0;

	/* Between what the caller wrote and the look at who sleeps. */
	atomic_thread_fence(memory_order_seq_cst);
	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	for (size_t i = 0; i < n && !err; i++) {
		struct eng_peer *p = eng_peer_known(ep, peers[i]);

		if (unlikely(!p || !p->cp.chan))
			p = eng_peer_connect(ep, peers[i], &err);
		if (unlikely(!p || p->lost))
			continue;
		if (unlikely(p->resolving)) {
			p->nudged = true;
			continue;
		}
		if (likely(p->cp.chan->ops->nudge))
			p->cp.chan->ops->nudge(p->cp.chan, &p->cp);
		else if (peers[i] != ep->rank)
			err = -EOPNOTSUPP;
	}
	ep_unlock(ep);
	return err;
}

unsigned o2g_losses(const struct o2g_ep *ep)
{
	return atomic_load_explicit(&ep->losses, memory_order_relaxed);
}
