/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The user engine: endpoints whose messages are processed in this process.
 *
 * One lock per endpoint serialises everything below the public calls; the
 * locking rules are in docs/locking.md.
 */
#ifndef ENG_USER_H
#define ENG_USER_H

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "channel.h"
#include "engine.h"
#include "lock.h"

#define USER_MAX_CHANNELS 5 /* one is the driver */
#define USER_SLAB 256	    /* requests allocated at a time */

#define USER_AWAITED_NOW 1
#define USER_AWAITED_LONG 4 /* the bits move up with each look */

struct user_ep;

/* Ours comes before the core's, which ends with what small messages leave
 * alone: theirs takes three cache lines in all. */
struct user_req {
	union {
		_Alignas(64) u32 marks; /* all of them: mostly there is none */
		struct {
			atomic_bool done; /* set last; then only its owner
					   * touches it */
			bool detached;	  /* free it on completion */
			bool in_driver;	  /* the driver has it (too, if
					   * SHARED) */
			bool counted;	  /* ... and is in kern->callbacks */
		};
	};
	u32 slot;	       /* core.id is uses << 32 | slot + 1 */
	struct user_req *next; /* free list, or callbacks to run */
	void (*fn)(void *arg);
	void *arg;
	struct o2g_req core; /* core.owner is the endpoint */
};

struct user_peer {
	struct chan_peer cp; /* cp.core is the core's peer */
	struct user_ep *ep;
	bool lost;
	bool handed;	     /* kernel engine: the driver has its socket */
	bool bye_pending;    /* to be given up after this round: it said BYE, */
	const char *bye_why; /* ... or else why */
	struct user_peer *next_bye;
	u8 awaited; /* USER_AWAITED_, see ended.c */
	char error[728];
};

struct o2g_msg {
	struct eng_part part;
	struct o2g_unexp *unexp; /* or NULL, and then the driver's: */
	u64 handle;
};

struct o2g_mem {
	struct eng_part part;
	u64 key;
	char *base;
	size_t len;
	unsigned access;
	u32 slot;
};

struct kern;

struct user_ep {
	struct eng_ep eng;
	struct kern *kern;	   /* kernel engine: the driver, see kernel.h */
	struct user_ep *next_open; /* see forked.c */
	pid_t owner; /* a forked child has a copy of all this, and no use for it */
	struct eng_lock lock;
	struct o2g_core core;
	struct user_peer **peers; /* by rank, NULL until first use */
	struct chan *chans[USER_MAX_CHANNELS];
	unsigned nchans;
	struct chan self_chan;

	/* requests */
	struct user_req **slabs;
	u32 nslabs;
	struct user_req *free_reqs;
	u32 reqs_in_use;
	struct user_req *callbacks, **callbacks_tail;
	struct o2g_work *work,
		**work_tail; /* ready, to be done without the lock */
	unsigned works;	     /* asked for and not begun */
	unsigned workers;    /* threads that do some */
	struct user_peer *byes;

	/* progress: the descriptors, who sleeps on them, timers */
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
	u8 quick_waits;	   /* it did, so many times in a row */
	u32 lazy_us;	   /* how soon then, see async.c */
	struct chan_timer look_timer; /* have the thread look again */
	u64 calls; /* entries into waits and starts: "is it active" */

	/* peers that end without a connection */
	struct chan_timer ended_timer;
	u64 calls_looked; /* `calls` when that last fired */
	bool probed_any;

	/* completion descriptor */
	int user_fd;
	bool user_fd_set;

	/* registered memory */
	struct o2g_mem **mems;
	u32 nmems; /* places in it */
	u32 mems_in_use;

	/* statistics */
	u64 unexp_bytes, unexp_peak;

	/* identity */
	int (*resolve)(void *arg, int rank, char *address, size_t size);
	int (*ended)(void *arg, struct o2g_ended *ended);
	void (*on_lost)(void *arg, int rank, int finished);
	int (*doomed)(void *arg, uint64_t tag, int which);
	void *resolve_arg; /* of all four */
	unsigned char secret[O2G_SECRET_SIZE];
	unsigned local_size;
	char job[64], node[20], host[64];
};

static inline struct user_ep *user_of(struct o2g_ep *ep)
{
	return (struct user_ep *)ep;
}
static inline struct user_ep *user_of_chan(struct chan_ep *ep)
{
	return (struct user_ep *)ep;
}
static inline struct user_ep *user_of_core(struct o2g_core *c)
{
	return container_of(c, struct user_ep, core);
}
static inline struct user_req *user_req_of(const struct o2g_req *r)
{
	return container_of(r, struct user_req, core);
}
static inline struct user_ep *user_ep_of_req(const struct o2g_req *r)
{
	return r->owner;
}

/* The user engine, or another whose calls are @ops, with a driver. */
int user_open_as(const struct eng_ops *ops, struct kern *kern,
		 const struct o2g_attr *attr, struct o2g_ep **ep);
void user_close(struct o2g_ep *ep);
/* In the child of a fork its calls fail. */
void user_forked_add(struct user_ep *ep);
void user_forked_del(struct user_ep *ep);
void user_set_secret(struct o2g_ep *ep, const unsigned char *secret);
int user_address(struct o2g_ep *ep, char *address, size_t size);

extern const struct eng_ops user_ops;
extern const struct o2g_core_ops user_core_ops;

void user_run_callbacks(struct user_ep *ep);
void user_rearm(struct user_ep *ep);
void user_work_left(struct user_ep *ep);

static inline void user_lock(struct user_ep *ep)
{
	eng_lock_take(&ep->lock);
}
/* Completion callbacks run here, when no core function is on the stack. */
static inline void user_unlock(struct user_ep *ep)
{
	if (unlikely(ep->rearm) && ep->lock.depth == 0)
		user_rearm(ep);
	if (unlikely(ep->callbacks) && ep->lock.depth == 0)
		user_run_callbacks(ep);
	if (unlikely(ep->work) && ep->lock.depth == 0)
		user_work_left(ep);
	eng_lock_release(&ep->lock);
}

/* work.c */
int user_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	       struct o2g_work *work);
/* With the lock, which it lets go of while it works. */
void user_run_work(struct user_ep *ep);

/* All that completed requests have caused; in calls that make progress. */
static inline void user_settle(struct user_ep *ep)
{
	if (unlikely(ep->callbacks) && ep->lock.depth == 0)
		user_run_callbacks(ep);
	if (unlikely(ep->work) && ep->lock.depth == 0)
		user_run_work(ep);
}

/* req.c */
int user_req_add_slab(struct user_ep *ep);

static inline struct user_req *user_req_alloc(struct user_ep *ep)
{
	struct user_req *r = ep->free_reqs;

	if (unlikely(!r)) {
		if (user_req_add_slab(ep))
			return NULL;
		r = ep->free_reqs;
	}
	ep->free_reqs = r->next;
	ep->reqs_in_use++;
	r->core.flags = 0;
	r->core.state = O2G_ST_NEW;
	r->core.status = 0;
	r->marks = 0;
	r->fn = NULL;
	return r;
}

void user_req_drop_segs(struct o2g_req *r);
static inline void user_req_free(struct user_ep *ep, struct user_req *r)
{
	if (unlikely(r->core.nsegs != 1))
		user_req_drop_segs(&r->core);
	r->core.nsegs = 0;
	r->core.id += 1ull << 32;
	r->next = ep->free_reqs;
	ep->free_reqs = r;
	ep->reqs_in_use--;
}

void user_reqs_cleanup(struct user_ep *ep);
void user_req_status(const struct user_req *r, struct o2g_status *s);
int user_req_copy_segs(struct o2g_req *r, const struct o2g_seg *segs,
		       unsigned nsegs);
static inline int user_req_set_segs(struct o2g_req *r,
				    const struct o2g_seg *segs, unsigned nsegs)
{
	if (unlikely(nsegs != 1))
		return user_req_copy_segs(r, segs, nsegs);
	r->seg0 = segs[0];
	r->segs = &r->seg0;
	r->nsegs = 1;
	r->len = segs[0].len;
	return 0;
}

/* A receive from anybody, so far. */
static inline void user_req_set_recv(struct o2g_req *r, u64 tag, u64 ignore)
{
	r->kind = O2G_REQ_RECV;
	r->peer = NULL;
	r->tag = tag;
	r->got = 0;
	r->msg_len = 0;
	r->match.tag = tag;
	r->match.ignore = ignore;
	r->match.src = O2G_MATCH_ANY;
}

/* core_ops.c */
/* Something completed or arrived: wake whoever sleeps. With the lock. */
void user_tell(struct user_ep *ep);
static inline void user_event(struct user_ep *ep)
{
	if (unlikely(ep->listeners))
		user_tell(ep);
}
void user_match_grow(struct user_ep *ep);

/* peer.c */
struct user_peer *user_peer_get(struct user_ep *ep, int rank);
/* The peer, connected or connecting. NULL and *err when that is impossible. */
struct user_peer *user_peer_connect(struct user_ep *ep, int rank, int *err);
void user_peers_say_bye(struct user_ep *ep);
void user_peers_cleanup(struct user_ep *ep);
/* Give a peer up, but not from inside a call of the core. */
void user_bye_later(struct user_peer *p, const char *why);
void user_byes(struct user_ep *ep);

/* ended.c */
void user_ended_start(struct user_ep *ep);
/* Somebody looks for a message of this source in vain, and may do so again. */
void user_ended_probed(struct user_ep *ep, u32 source);
/* A peer was lost: what else cannot come to an end? Receives, that is; sends have
 * to wait for the next look. */
void user_ended_give_up(struct user_ep *ep);
/* Can a message from any source still come? */
bool user_any_doomed(struct user_ep *ep, u64 tag);

/* channels.c */
extern const struct chan_ops *const user_channel_table[]; /* NULL ends it */
/* Does O2G_CHANNELS ask for it, in words or by what it implies? */
bool user_channel_wanted(const struct chan_ops *ops);
int user_channels_open(struct user_ep *ep);
void user_channels_close(struct user_ep *ep);
int user_channels_card(struct user_ep *ep, char *buf, size_t size);
int user_channels_connect(struct user_ep *ep, struct user_peer *p,
			  const char *address);
void user_node_id(char *buf, size_t size);

/* self.c */
extern const struct chan_ops self_chan_ops;

/* progress.c */
int user_progress_init(struct user_ep *ep);
void user_progress_cleanup(struct user_ep *ep);
/* One cheap round over the channels; with the lock. */
int user_poll(struct user_ep *ep);
/* The same for who asks now and then: also at the descriptors, sometimes. */
int user_look(struct user_ep *ep);
/* What the descriptors have, waiting up to timeout_ms; the lock is held, and
 * released only while it sleeps. */
int user_poll_fds(struct user_ep *ep, int timeout_ms);
/* Arrivals wake whoever sleeps on the descriptors; true: something is there. */
bool user_arm(struct user_ep *ep);
void user_disarm(struct user_ep *ep);
void user_flush(struct user_ep *ep);

/* wait.c */
int user_wait_locked(struct user_ep *ep, int (*cond)(void *), void *arg,
		     int64_t timeout_us);
void user_wait_init(struct user_ep *ep);

/* async.c */
int user_async_start(struct user_ep *ep);
void user_async_stop(struct user_ep *ep);
/* Something large is under way and the program leaves the library: have the
 * thread armed if it does not come back to wait at once. */
void user_async_want(struct user_ep *ep);
void user_async_arm(struct user_ep *ep);
/* There is work for the thread. */
void user_async_kick(struct user_ep *ep);
/* The program waits: called when one of the two flags is set. */
void user_async_disarm(struct user_ep *ep);

/* msg.c, mem.c, info.c: the calls */
int user_isend(struct o2g_ep *ep, int peer, u64 tag, const struct o2g_seg *segs,
	       unsigned nsegs, unsigned flags, struct o2g_req **req);
int user_inject(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		size_t len);
int user_send(struct o2g_ep *ep, int peer, u64 tag, const void *buf, size_t len,
	      unsigned flags);
int user_irecv(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
	       const struct o2g_seg *segs, unsigned nsegs,
	       struct o2g_req **req);
int user_recv(struct o2g_ep *ep, int source, u64 tag, u64 ignore, void *buf,
	      size_t len, struct o2g_status *status);
int user_cancel(struct o2g_req *req);
int user_probe(struct o2g_ep *ep, int source, u64 tag, u64 ignore, bool block,
	       struct o2g_msg **msg, struct o2g_status *status);
int user_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
		struct o2g_req **req);
int user_test(struct o2g_req *req, struct o2g_status *status);
int user_is_done(const struct o2g_req *req);
void user_peek_status(const struct o2g_req *req, struct o2g_status *status);
void user_detach(struct o2g_req *req);
int user_wait(struct o2g_req *req, struct o2g_status *status);
int user_wait_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		  struct o2g_status *statuses);
int user_wait_errors(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		     struct o2g_status *statuses);
int user_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    int64_t timeout_us);
int user_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		     unsigned *asleep);
void user_on_done(struct o2g_req *req, void (*fn)(void *), void *arg);
int user_nudge(struct o2g_ep *ep, const int *peers, size_t n);
unsigned user_losses(const struct o2g_ep *ep);
int user_progress(struct o2g_ep *ep);
int user_fd(struct o2g_ep *ep);
void user_fd_clear(struct o2g_ep *ep);
int user_mem_register(struct o2g_ep *ep, void *base, size_t len,
		      unsigned access, struct o2g_mem **mem,
		      struct o2g_key *key);
void user_mem_deregister(struct o2g_mem *mem);
int user_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		  u64 len, bool write, struct o2g_seg *seg);
int user_rma(struct o2g_ep *ep, bool put, int peer, const struct o2g_seg *segs,
	     unsigned nsegs, const struct o2g_key *key, u64 offset,
	     struct o2g_req **req);
int user_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info);
int user_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info);
int user_peer_error(struct o2g_ep *ep, int peer, char *text, size_t size);

#endif
