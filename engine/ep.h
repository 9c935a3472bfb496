/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The endpoint, and its lock, which serialises everything below the public calls:
 * docs/locking.md has the rules.
 */
#ifndef ENG_EP_H
#define ENG_EP_H

#include <pthread.h>

#include "channel.h"
#include "lock.h"
#include "peers.h"

#define ENG_MAX_CHANNELS 5 /* one is the driver */

struct carrier;
struct eng_handler;
struct eng_peer;
struct eng_req;
struct epoll_event;
struct kern;

/* Handlers, see serve.c. */
struct eng_serve {
	struct eng_handler *handlers;
	struct o2g_list ready; /* peers whose next message can be handled */
	struct o2g_work work;
	bool scheduled; /* the work will look at the list, or does */
	const struct eng_handler *running;
	const void *runner; /* the thread that does the work */
};

struct o2g_ep {
	int rank, size;
	u64 job_id; /* what other jobs know ours by: other.c */
	struct eng_lock lock;
	struct o2g_core core;
	struct eng_peers peers;
	const struct carrier *any; /* of receives whose sender may be carried by
				    * either */
	const struct carrier *driver; /* or NULL; its state is kern */
	struct kern *kern;
	struct chan *chans[ENG_MAX_CHANNELS];
	unsigned nchans;
	struct chan self_chan;

	/* requests */
	struct eng_req **slabs;
	u32 nslabs;
	struct eng_req *free_reqs;
	u32 reqs_in_use;
	struct eng_req *callbacks, **callbacks_tail;
	struct o2g_work *work,
		**work_tail; /* ready, to be done without the lock */
	unsigned works;	     /* asked for and not begun */
	unsigned workers;    /* threads that do some */
	struct eng_serve serve;
	struct eng_peer *byes;
	struct o2g_list retired; /* peers that are gone, see peer.c */

	/* progress: the descriptors, whoever sleeps on them, timers */
	int epfd;     /* every descriptor of the channels, edge-triggered */
	int timer_fd; /* in epfd: the earliest chan_timer */
	int wake_fd;  /* in epfd: wakes the thread that sleeps on it */
	struct chan_watch timer_watch, wake_watch;
	struct o2g_list timers;
	u64 timer_armed_us; /* when timer_fd fires, 0 not armed */
	unsigned idle_polls;
	struct epoll_event *live_events; /* being handled, see chan_watch_del */
	int nlive_events;

	/* waiting */
	atomic_uint losses; /* peers lost so far */
	atomic_uint events; /* bumped when something completed or arrived */
	unsigned inside;    /* threads in a wait */
	u32 *waiting;	    /* where peers see that number, or NULL */
	union {
		u64 listeners; /* any of these: an event is to be told */
		struct {
			unsigned sleepers;  /* threads asleep on `events` */
			bool poller_asleep; /* a thread is asleep on epfd */
			bool user_fd_used;
		};
	};
	bool rearm;	  /* a sleeper's wake-up call was used up */
	unsigned spin_us; /* adapted */
	unsigned spin_max_us;
	unsigned short_sleeps, spin_patience;
	u64 moved;   /* bytes of the last operation on memory of a peer */
	u64 awaited; /* bytes the waiting thread hopes for */
	bool oversubscribed;
	u64 offered;  /* when the core was last offered to others */
	u64 offer_ns; /* for how long at most, adapted */

	/* the progress thread */
	pthread_t thread;
	bool thread_runs, closing;
	int outer_epfd;	   /* epfd in it, one-shot: what the thread sleeps on */
	int kick_fd;	   /* in outer_epfd: stop, or there is work */
	bool async_armed;  /* arrivals wake the progress thread */
	bool async_wanted; /* ... soon, unless the program waits by then */
	bool async_parked; /* it sleeps until a wait in the library ends */
	u8 quick_waits;	   /* it did, so many times in a row */
	u32 lazy_us;	   /* how soon then, see async.c */
	struct chan_timer look_timer; /* have the thread look again */
	u64 calls; /* entries into waits and starts: "is it active" */

	/* peers that end without a connection */
	struct chan_timer ended_timer;
	u64 calls_looked; /* `calls` when that last fired */
	u32 ended_us;	  /* it was set to so little, for an answer */
	bool probed_any;
	u32 untold; /* peers that are */

	/* peers whose address is being asked for */
	struct o2g_list resolving;
	struct chan_timer resolve_timer;
	u32 resolve_us; /* between two looks */

	/* completion descriptor */
	int user_fd;
	bool user_fd_set;

	/* registered memory */
	struct o2g_mem **mems;
	u32 nmems; /* places in it */
	u32 mems_in_use;

	/* statistics */
	u64 unexp_bytes, unexp_peak;

	/* whoever wants to know what we wait for, and what was seen last */
	const struct o2g_watch *watch;
	u64 looked_ns, looked_calls, looked_arrived, looked_unexp;
	unsigned looked_news;

	/* identity */
	struct o2g_ep *next_open; /* see forked.c */
	pid_t owner;		  /* a forked child has a copy of all this */
	int (*resolve)(void *arg, int rank, char *address, size_t size);
	int (*ended)(void *arg, struct o2g_ended *ended);
	void (*on_lost)(void *arg, int rank, int finished);
	int (*doomed)(void *arg, uint64_t tag, int which);
	void *resolve_arg; /* of all four */
	unsigned char secret[O2G_SECRET_SIZE];
	unsigned local_size;
	bool sleeps;
	const char *listen; /* while it is opened: where, or NULL */
	char job[64], node[20], host[64];
};

static inline struct o2g_ep *ep_of_chan(struct chan_ep *ep)
{
	return (struct o2g_ep *)ep;
}
static inline struct o2g_ep *ep_of_core(struct o2g_core *c)
{
	return container_of(c, struct o2g_ep, core);
}

/* @kern, the driver opened, or NULL, is the endpoint's from now on. */
int ep_open(const struct o2g_attr *attr, struct kern *kern, struct o2g_ep **ep);

/* --- the lock --- */

void eng_rearm(struct o2g_ep *ep);	   /* progress.c */
void eng_run_callbacks(struct o2g_ep *ep); /* core_ops.c */
void eng_work_left(struct o2g_ep *ep);	   /* work.c */
void eng_run_work(struct o2g_ep *ep);

/*
 * A public call begins with this. False in the child of a fork, where nothing of
 * the endpoint may be used (forked.c).
 */
static inline bool ep_enter(struct o2g_ep *ep)
{
	return eng_lock_take(&ep->lock);
}
/* The same for calls that cannot say so: they end the child. */
_Noreturn void eng_forked_exit(void);
static inline void ep_enter_or_exit(struct o2g_ep *ep)
{
	if (unlikely(!ep_enter(ep)))
		eng_forked_exit();
}

/* Inside the library, and in threads of ours. */
static inline void ep_lock(struct o2g_ep *ep)
{
	eng_lock_take(&ep->lock);
}
/* Completion callbacks run here, when no core function is on the stack. */
static inline void ep_unlock(struct o2g_ep *ep)
{
	if (unlikely(ep->rearm) && ep->lock.depth == 0)
		eng_rearm(ep);
	if (unlikely(ep->callbacks) && ep->lock.depth == 0)
		eng_run_callbacks(ep);
	if (unlikely(ep->work) && ep->lock.depth == 0)
		eng_work_left(ep);
	eng_lock_release(&ep->lock);
}

/* All that completed requests have caused; in calls that make progress. */
static inline void ep_settle(struct o2g_ep *ep)
{
	if (unlikely(ep->callbacks) && ep->lock.depth == 0)
		eng_run_callbacks(ep);
	if (unlikely(ep->work) && ep->lock.depth == 0)
		eng_run_work(ep);
}

#endif
