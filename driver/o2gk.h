/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The driver's state: endpoints, peers, requests.
 *
 * Two locks, in this order: a socket's lock (the receive path and everyone who
 * sends on it), then ep->lock (the core and all that is said to be under it).
 * docs/locking.md tells the rest.
 */
#ifndef O2GK_H
#define O2GK_H

#include <linux/completion.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "proto.h"
#include "stream.h"
#include "uapi/o2g.h"

#define O2GK_STEP 256 /* things under ep->lock, then others get it */
#define O2GK_SLAB 256 /* requests allocated at a time */
#define O2GK_MAX_SLABS 4096
#define O2GK_RX_SOFTIRQ \
	(1024 << 10) /* bytes in a tick, then a worker goes on */
#define O2GK_RX_WORKER (1024 << 10)
#define O2GK_TX_TURN 64	  /* calls to TCP, then others get the processor */
#define O2GK_TX_GATHER 16 /* small packets in one of them */
#define O2GK_UNPIN_BATCH 16
#define O2GK_MARK 64   /* elements of a pin that are walked at most */
#define O2GK_ANSWERS 4 /* kept for what one packet brings about: reserve.c */
#define O2GK_LOCAL_EAGER \
	(16 << 10) /* of a body copied under ep->lock: mail.c */

struct o2gk_ep;
struct o2gk_kernel;
struct o2gk_kreq;
struct o2gk_paper;
struct o2gk_link;
struct o2gk_req;
struct o2gk_user;

/* Pinned user pages; freed in process context only, because unpinning sleeps. */
struct o2gk_pin {
	struct list_head link; /* ep->unpin, once nobody needs it */
	refcount_t refs;       /* its owner, who copies from it (local.c) */
	struct page **pages;
	struct bio_vec *bvec;
	unsigned int n;
	bool write;
	bool even;  /* one piece of memory: all but the ends are whole pages */
	u64 *marks; /* or many pieces: where every O2GK_MARK-th element begins */
	struct mmpin account;
	/* of a kernel endpoint: who is told when nobody reads it any more */
	struct o2gk_ep *owner;
	struct o2gk_kreq *holder; /* a request, */
	struct completion *gone;  /* or whoever ends a registration */
	unsigned int npinned; /* of pages: the others are the caller's own */
};

/* A completion, until it is in the ring. */
struct o2gk_done {
	struct list_head link; /* ep->overflow, when the ring is full */
	struct o2gk_req *req;  /* NULL: it tells of a lost peer */
	u32 dump;	       /* the body: block of the dump area + 1, or 0 */
	struct o2gd_cqe cqe;
};

enum o2gk_phase {
	O2GK_FREE,
	O2GK_BUSY,    /* submitted */
	O2GK_WAITING, /* complete; its cqe waits for room in the ring */
};

/* A request, found by slot. Under ep->lock. */
struct o2gk_req {
	struct o2g_req core; /* core.owner: the endpoint */
	u32 slot, gen;
	u8 phase;
	bool quiet; /* say nothing on completion: the caller is told directly */
	bool inside; /* being submitted: done before the call returns? */
	bool done_inside;
	bool direct;	      /* its DATA goes by the link */
	struct o2gk_pin *pin; /* its pinned pages */
	struct iovec *iov;    /* its user memory, when not pinned */
	struct iovec iov0;    /* iov points here for a single piece */
	struct o2gk_ctl *out; /* small send: the packet, with its body */
	void *kbuf;	      /* recv: body for FETCH */
	u32 kbuf_len;
	struct o2gk_mem *mem; /* serving a get: what is read */
	struct o2gk_done done;
};

struct o2gk_unexp {
	struct o2g_unexp core;
	u32 dump;   /* block + 1, or 0: */
	void *kbuf; /* ... the dump area was full, or it is so short: */
	u8 small[O2GD_INLINE];
	struct o2g_cookie handle; /* ep->taken, by a matched probe */
	struct list_head untold;  /* of a kernel endpoint: for its handler */
};

struct o2gk_mem {
	struct o2g_cookie key; /* ep->mems */
	u64 len;
	u32 access;
	u32 refs; /* its registration, packets that use it */
	struct o2gk_pin *pin;
	struct iovec iov; /* when it could not be pinned */
	struct completion
		*gone; /* of a kernel endpoint: whoever waits for that */
};

/* A packet without a request: control, or a small body that was copied. */
struct o2gk_ctl {
	bool lone;	  /* it leaves at once, and is not for the queue */
	bool answer;	  /* to what the peer has sent: counted in p->answers */
	struct o2g_tx tx; /* tx.req is NULL; off and left are about body */
	u8 body[];	  /* right behind tx.hdr: both are sent as one piece */
};

struct o2gk_callbacks {
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/*
 * Another endpoint, and the socket that leads to it once there is one. It is known by
 * its number until it is forgotten, and lives as long as anybody has to do with it.
 */
struct o2gk_peer {
	struct o2g_peer core; /* core.rank: its number */
	struct o2gk_ep *ep;
	/*
	 * ep->peers, queued work, messages that a probe has taken, and whoever
	 * uses it without ep->lock
	 */
	refcount_t refs;
	struct rcu_head rcu;
	bool forgotten; /* nothing is queued for it any more */

	/* the socket: set once, under its own lock and ep->lock */
	struct socket *sock; /* holds the file */
	struct sock *sk;
	struct o2gk_callbacks saved;
	bool taken_over; /* our callbacks are in place; under the socket's lock */

	/* receiving: under the socket's lock */
	struct o2g_stream stream;
	struct o2g_rx rx;
	struct iov_iter iter; /* where the body goes on */
	bool iter_set;
	bool rx_more;	 /* the last run stopped early */
	bool rx_starved; /* ... for want of memory for this packet: */
	struct o2g_hdr rx_next;
	unsigned long rx_tick;	  /* when softirq last copied */
	u64 rx_copied;		  /* ... and how much since that tick */
	struct o2gk_mem *put_mem; /* a put is being received into it */
	struct work_struct rx_work;

	/* sending: the queue is under ep->lock, its head also needs the socket's */
	struct o2g_list txq; /* struct o2g_tx */
	u64 txq_len;
	u32 answers;  /* of txq: what the peer makes us keep */
	bool rx_held; /* reading has stopped because of them; socket's lock */
	u64 tx_bytes; /* of packets for the socket, ever */
	u64 rx_bytes; /* ... received from it, under ep->lock */
	struct list_head dirty; /* ep->dirty: has something new to send */
	struct work_struct tx_work;
	bool go_on; /* the worker has more to start: o2g_proto_go_on */

	/* messages for handlers; under ep->lock */
	struct list_head serving; /* ep->serving: the process can take one */
	bool served_out;	  /* it has one, and is not done with it */

	/* the other end of the connection, if it is the driver's: local.c */
	struct o2gk_link *link; /* set once, under ep->lock */
	u8 side;		/* of the link: 0 or 1 */
	struct list_head local;
	struct work_struct local_work;

	/* the end; under ep->lock */
	bool bye;	     /* it said so */
	enum o2gd_lost doom; /* to be given up, found out without the socket */
	u64 doom_detail;
	int tx_err; /* sending failed; under the socket's lock */
	u64 drops[O2GD_NDROPS];
	bool lost;		 /* o2g_proto_peer_cut was called */
	struct list_head losing; /* ep->losing: there is still something of it */
	struct o2g_list dead;	 /* ... packets that will not be sent */
	u32 losing_slot;	 /* ... receives from this slot on */
	struct o2gk_done done;
	/* of a kernel endpoint */
	struct list_head receives; /* posted for it alone */
	struct list_head untold;   /* its owner has still to hear of the loss */
	bool telling;		   /* ... and has not heard all of it yet */
	struct o2gk_atomic_send tuned; /* what its socket was like before */
};

/* What an endpoint counts for with its user: user.c. */
struct o2gk_charge {
	struct o2gk_user *user; /* NULL: not at all */
	unsigned long pages;
	u32 workers;
};

/* Memory for what the next packets bring about: reserve.c. */
struct o2gk_reserve {
	struct o2g_list answers; /* struct o2gk_ctl, without a body */
	u32 nanswers;
	struct o2gk_req *reply;
	void *body;
	u64 body_len;
};

/* A worker that has the process's memory: borrow.c. */
struct o2gk_borrower {
	struct list_head link; /* ep->borrowers */
	struct task_struct *task;
	unsigned int alloc; /* of a kernel endpoint, which has no process */
};

/*
 * Whom an endpoint is for: a process with an open file (file.c), or another module
 * (kfront.c). All under ep->lock.
 */
struct o2gk_front {
	/* The request is over; it is not a reply to a get. */
	void (*done)(struct o2gk_ep *ep, struct o2gk_req *r);
	struct o2gk_req *(*find)(struct o2gk_ep *ep, u64 id);
	/* From an unexpected message to the receive it belongs to. */
	void (*copy)(struct o2gk_ep *ep, const struct o2g_sink *to,
		     const struct o2g_seg *from, u64 len);
	void (*arrived)(struct o2gk_ep *ep, struct o2gk_unexp *u);
	/* All that needed it is over. */
	void (*lost)(struct o2gk_peer *p);
	/* ... and it is not to be told any more. */
	void (*forget)(struct o2gk_peer *p);
	/* End a receive that is posted for it alone; false: there is no other. */
	bool (*end_posted)(struct o2gk_peer *p);
	/* End one of all that are posted; likewise. */
	bool (*drop_posted)(struct o2gk_ep *ep);
};

/* How far a receive with a wildcard has been compared with messages: seek.c. */
struct o2gk_seek {
	bool begun;
	struct o2g_match_walk walk;
};

struct o2gk_ep {
	struct o2gk_paper *paper; /* the eight calls: all else is not used */
	const struct o2gk_front *front;
	struct o2gk_kernel *kernel; /* the kernel front's own, or NULL */
	spinlock_t lock;	    /* taken with softirqs off */
	struct o2g_core core;
	/*
	 * By number, changed under ep->lock. A peer (O2GK_KNOWN), or a value: a rank
	 * that was given up before it was known.
	 */
	struct xarray peers;
	struct o2gk_peer *recent; /* of them, the one asked for last */
	u32 nothers;		  /* of them, peers of other jobs */
	u32 rank, size;
	u64 eager_max;

	/* set up once; ready is set last */
	struct mutex mutex; /* serialises set-up, growth and registration */
	bool ready, closing;
	struct workqueue_struct *wq;
	struct mm_struct *mm;	/* whose memory this is about; mm_count held */
	spinlock_t borrow_lock; /* innermost; process context only */
	struct list_head borrowers;
	bool recalled; /* nobody gets the memory any more */
	struct net *net;
	struct mem_cgroup *memcg; /* pays */
	struct o2gk_charge charge;

	/* requests */
	struct o2gk_req **slabs;
	u32 nslots;
	u32 closing_slot; /* receives from this one on may still be posted */

	/* the mapping */
	void *area;
	unsigned long area_size, area_pages;
	struct o2gd_shared *shared;
	struct o2gd_sqe *sq;
	u32 sq_mask, sq_head;
	u32 sq_unmet;		  /* whom the next one is for: not known yet */
	bool sq_no_memory;	  /* ... and will not be */
	struct o2gk_seek sq_seek; /* of the next one */
	u32 unexpected;		  /* as last told user space */
	struct o2gd_cqe *cq;
	u32 cq_mask, cq_tail;
	u32 cq_freed; /* entries before this one have given their dump back */
	u32 *cq_dump; /* by entry: block of the dump area + 1 */
	struct list_head overflow;
	u32 noverflow;
	void *dump;
	unsigned long *dump_map;
	u16 *dump_len; /* by first block: how many */
	u32 dump_blocks, dump_next, dump_free;

	/* what is left for later */
	struct list_head dirty;
	struct list_head losing; /* peers that are being taken apart: lost.c */
	struct list_head unpin;
	u32 nunpin;
	bool wake;   /* something is news: look whether to wake */
	u32 arrived; /* unexpected messages, for who probes */
	/* unpins, grows the matching table, takes lost peers apart */
	struct work_struct work;

	struct o2gk_unexp *spare; /* what the next unexpected message gets */
	struct o2gk_reserve reserve;
	struct o2g_cookie *taken; /* messages held by matched probes */
	u64 next_handle;
	struct o2g_cookie *mems;
	struct o2gk_mem *used_mem; /* what the core was given last */

	struct list_head serving; /* peers with a message for a handler */
	struct o2gk_done served_done;
	bool served_told;

	wait_queue_head_t wait;
	atomic_t waiters;	/* threads in O2GD_WAIT */
	struct o2gd_info stats; /* the driver's part; under lock */

	/* for whoever looks from outside */
	struct list_head all; /* look.c's list */
	u64 id;
	struct pid *pid;
	kuid_t uid;
};

static inline struct o2gk_ep *o2gk_of_core(struct o2g_core *c)
{
	return container_of(c, struct o2gk_ep, core);
}

static inline struct o2gk_peer *o2gk_peer_of(struct o2g_peer *p)
{
	return container_of(p, struct o2gk_peer, core);
}

static inline struct o2gk_req *o2gk_req_of(struct o2g_req *r)
{
	return container_of(r, struct o2gk_req, core);
}

static inline struct o2gk_unexp *o2gk_unexp_of(struct o2g_unexp *u)
{
	return container_of(u, struct o2gk_unexp, core);
}

/* Who runs the send or receive path, and so what it may do. */
enum o2gk_context {
	O2GK_SOFTIRQ, /* must not sleep; the socket is locked */
	O2GK_BACKLOG, /* the same, and it must not send either */
	O2GK_LINK,    /* the same, and own's mail is being delivered: mail.c */
	O2GK_CALLER,  /* a system call of the endpoint's process */
	O2GK_WORKER,  /* a worker, with or without the process's memory */
	O2GK_NESTED,  /* must not sleep, and may be a callback: kfront.c */
};

/*
 * For o2gk_ep_unlock() of whoever has a socket's lock: a caller does not take those
 * of others then, but leaves them to workers.
 */
static inline enum o2gk_context o2gk_with_lock(enum o2gk_context context)
{
	return context == O2GK_CALLER ? O2GK_WORKER : context;
}

void o2gk_peer_put(struct o2gk_peer *p);

/* Work for a peer, unless it or its endpoint is on its way out. */
static inline void o2gk_queue(struct o2gk_peer *p, struct work_struct *work)
{
	if (READ_ONCE(p->ep->closing) || READ_ONCE(p->forgotten))
		return;
	refcount_inc(&p->refs); /* given back at its end */
	if (!queue_work(p->ep->wq, work))
		o2gk_peer_put(p);
}

/* ep.c */
struct o2gk_ep *o2gk_ep_create(void);
int o2gk_ep_setup(struct o2gk_ep *ep, struct o2gd_setup *s);
/* What every endpoint has; net and memcg are set. */
int o2gk_ep_prepare(struct o2gk_ep *ep, const struct o2gd_setup *s);
/* Say goodbye to all peers; wait until that is out, or so long. */
int o2gk_ep_bye(struct o2gk_ep *ep, u32 ms);
void o2gk_ep_destroy(struct o2gk_ep *ep);
int o2gk_ep_grow(struct o2gk_ep *ep, u32 nslots);
void o2gk_ep_lock(struct o2gk_ep *ep);
/*
 * Wakes whoever waits. What the core wants sent on sockets other than @own's is
 * sent here by a caller, left to workers by the others; @own (may be NULL) is
 * the business of whoever holds its lock.
 */
void o2gk_ep_unlock(struct o2gk_ep *ep, enum o2gk_context context,
		    struct o2gk_peer *own);
void o2gk_ep_housekeeping(struct o2gk_ep *ep);

/* peer.c */
#define O2GK_KNOWN XA_MARK_0
/* A rank of the job, or a number that a peer of another job may have? */
bool o2gk_is_number(const struct o2gk_ep *ep, u32 number);
/* The peer of that number, if it is known; under ep->lock. */
struct o2gk_peer *o2gk_peer_find(struct o2gk_ep *ep, u32 number);
/* The next one that is known, from *@number on, which is set; likewise. */
struct o2gk_peer *o2gk_peer_next(struct o2gk_ep *ep, unsigned long *number);
/* Without the lock: likewise with a reference, for o2gk_peer_put(). */
struct o2gk_peer *o2gk_peer_hold(struct o2gk_ep *ep, u32 number);
/*
 * Make it known, in process context, without locks of the endpoint. Ranks of the
 * job become known when they are first used, others by o2gk_peer_add() alone:
 * -ENOTCONN.
 */
int o2gk_peer_meet(struct o2gk_ep *ep, u32 number);
int o2gk_peer_add(struct o2gk_ep *ep, u32 number, u32 wire_rank);
/* Under ep->mutex: give it up; and that, and have nothing left of it. */
int o2gk_peer_down(struct o2gk_ep *ep, u32 number);
int o2gk_peer_forget(struct o2gk_ep *ep, u32 number);
enum o2gd_peer_state o2gk_peer_state(struct o2gk_ep *ep, u32 number);

/* lost.c */
/*
 * Under the socket's lock, when it has one, and ep->lock, in any context. A portion of
 * what needs it ends here, the rest in a worker, and then its loss is told.
 */
void o2gk_peer_lost(struct o2gk_peer *p, enum o2gd_lost why, u64 detail);
/* The rest at once, in process context: of one, of all. */
void o2gk_lost_finish(struct o2gk_peer *p);
void o2gk_lost_finish_all(struct o2gk_ep *ep);
/* In process context, without locks: all of them. */
void o2gk_doom_all(struct o2gk_ep *ep);
/* Under ep->lock alone: have that done soon. */
void o2gk_peer_doom(struct o2gk_peer *p, enum o2gd_lost why, u64 detail);
/* What @p has sent was refused or dropped. */
void o2gk_drop(struct o2gk_peer *p, enum o2gd_drop why, u64 n);

/* core_ops.c */
extern const struct o2g_core_ops o2gk_core_ops, o2gk_kernel_ops;
void o2gk_unexp_end(struct o2gk_ep *ep, struct o2gk_unexp *u);
int o2gk_unexp_init(void);
void o2gk_unexp_exit(void);
struct o2gk_unexp *o2gk_unexp_new(struct o2gk_ep *ep, gfp_t gfp);
void o2gk_unexp_drop(struct o2gk_unexp *u);

/* file.c: the front of endpoints that are open files */
extern const struct o2gk_front o2gk_file_front;
/* A small receive is matched: find memory for its body. */
int o2gk_recv_resolve(struct o2gk_ep *ep, struct o2g_req *req);
void o2gk_req_release(struct o2gk_ep *ep, struct o2gk_req *r);
void o2gk_file_free(struct o2gk_ep *ep);

/* reserve.c: under ep->lock, unless said otherwise */
/* Charged to the endpoint's cgroup; any context. */
void *o2gk_alloc(struct o2gk_ep *ep, size_t n, gfp_t gfp);
/* Before a packet is received: false, and it has to wait. */
bool o2gk_reserve(struct o2gk_ep *ep, const struct o2g_hdr *h);
/* In process context, without its lock: put aside what is missing, if it can be. */
bool o2gk_reserve_fill(struct o2gk_ep *ep);
/* Without locks of the endpoint, in a worker: until there is. */
void o2gk_reserve_wait(struct o2gk_ep *ep, const struct o2g_hdr *h);
struct o2gk_ctl *o2gk_reserve_answer(struct o2gk_ep *ep);
struct o2gk_req *o2gk_reserve_reply(struct o2gk_ep *ep); /* not cleared */
void *o2gk_reserve_body(struct o2gk_ep *ep, u64 len);
void o2gk_reserve_free(struct o2gk_ep *ep);

/* handlers.c: under ep->lock */
void o2gk_served_init(struct o2gk_ep *ep);
void o2gk_served(struct o2g_core *c, struct o2g_peer *peer);
/* The next message for a handler, of any peer (O2GD_ANY) or this one; NULL: none. */
struct o2gk_unexp *o2gk_served_take(struct o2gk_ep *ep, u32 number);
/* The peer is lost: is there still one to be taken? */
void o2gk_served_lost(struct o2gk_peer *p);
/* A lost peer's are gone, @max at a time. True: those were all. */
bool o2gk_served_drop(struct o2gk_peer *p, u32 max);

/* borrow.c: in a worker, without spinlocks */
/* False: the process is dead, or the endpoint is being closed. */
bool o2gk_borrow(struct o2gk_ep *ep, struct o2gk_borrower *b);
void o2gk_unborrow(struct o2gk_ep *ep, struct o2gk_borrower *b);
/* For good: whoever waits for a page of it does not wait any longer. */
void o2gk_recall(struct o2gk_ep *ep);
/* @mm: of the process that has set it up. */
bool o2gk_is_orphan(const struct o2gk_ep *ep, const struct mm_struct *mm);

/* user.c: process context */
int o2gk_user_charge(struct o2gk_charge *c, unsigned long pages);
void o2gk_user_uncharge(struct o2gk_charge *c);
/*
 * Workers of an endpoint that is charged. They touch its process's memory, and may
 * wait there for a page as long as somebody likes: only work of the same endpoint
 * waits with them.
 */
struct workqueue_struct *o2gk_wq_alloc(const struct o2gk_charge *c);
void *o2gk_area_alloc(unsigned long size);
int o2gk_area_map(struct vm_area_struct *vma, void *area);

/* req.c: all in process context unless said otherwise */
int o2gk_submit(struct o2gk_ep *ep, const struct o2gd_sqe *sqe);
int o2gk_slot_cancel(struct o2gk_ep *ep, u32 slot);
int o2gk_slot_probe(struct o2gk_ep *ep, struct o2gd_probe *a);
int o2gk_fetch(struct o2gk_ep *ep, const struct o2gd_fetch *f);
/*
 * Take what is in the posting ring; any context, under ep->lock. False: there is more,
 * which a worker takes.
 */
bool o2gk_sq_drain(struct o2gk_ep *ep);
/* All of it; in process context, and the lock is let go of in between. */
void o2gk_sq_drain_all(struct o2gk_ep *ep);
struct o2gk_req *o2gk_req_find(struct o2gk_ep *ep, u32 slot);

/* seek.c: under the lock of the matching */
/*
 * Pass over what @recv, with a wildcard, does not accept, and *@left messages at most.
 * True: it may be posted now, or looked for. Ended afterwards, in the same hold.
 */
bool o2gk_seek(struct o2g_match *m, struct o2gk_seek *s,
	       const struct o2g_match_entry *recv, u32 *left);
void o2gk_seek_end(struct o2g_match *m, struct o2gk_seek *s);
/* In process context; lets go of the lock in between. */
void o2gk_seek_all(struct o2g_match *m, spinlock_t *lock, struct o2gk_seek *s,
		   const struct o2g_match_entry *recv);
/* Are there too many receives already that each ignore other bits? */
bool o2gk_too_odd(const struct o2g_match *m, u32 src, u64 ignore);

/* inject.c */
int o2gk_inject(struct o2gk_ep *ep, const struct o2gd_inject *i);
/* How many messages have left, or why the first could not. */
int o2gk_burst(struct o2gk_ep *ep, const struct o2gd_burst *b);

/* ring.c: under ep->lock */
int o2gk_area_create(struct o2gk_ep *ep, struct o2gd_setup *s);
void o2gk_area_destroy(struct o2gk_ep *ep);
void o2gk_cq_post(struct o2gk_ep *ep, struct o2gk_done *d);
bool o2gk_cq_flush(struct o2gk_ep *ep);
void o2gk_cq_forget(struct o2gk_ep *ep, struct o2gk_done *d);
bool o2gk_cq_seen(const struct o2gk_ep *ep);
u32 o2gk_dump_alloc(struct o2gk_ep *ep, u64 len); /* block + 1, 0: full */
bool o2gk_dump_fits(struct o2gk_ep *ep, u64 len);
void o2gk_dump_free(struct o2gk_ep *ep, u32 dump);
static inline void *o2gk_dump_addr(const struct o2gk_ep *ep, u32 dump)
{
	return ep->dump + (u64)(dump - 1) * O2GD_BLOCK;
}

/* mem.c */
struct o2gk_pin *o2gk_pin_user(struct o2gk_ep *ep, const struct iovec *iov,
			       u32 n, bool write);
/* Peers choose where in it they begin: what is long and not even gets an index. */
bool o2gk_pin_index(struct o2gk_pin *pin, gfp_t gfp);
void o2gk_pin_free(struct o2gk_pin *pin);
/* Have it unpinned soon; under ep->lock. */
void o2gk_pin_later(struct o2gk_ep *ep, struct o2gk_pin *pin);
/* Give a reference to somebody else's back, likewise. */
void o2gk_pin_put(struct o2gk_ep *ep, struct o2gk_pin *pin);
int o2gk_mem_add(struct o2gk_ep *ep, const struct o2gd_mem *a);
/* Under ep->lock: from now on peers find it. -EEXIST: another has its key. */
int o2gk_mem_link(struct o2gk_ep *ep, struct o2gk_mem *m);
/* @gone: of a kernel endpoint, for whoever waits until nobody uses it. */
int o2gk_mem_drop(struct o2gk_ep *ep, u64 key, struct completion *gone);
void o2gk_mem_put(struct o2gk_ep *ep, struct o2gk_mem *m);
int o2gk_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		  u64 len, bool write, struct o2g_seg *seg);
/* The user's pieces, copied in and checked. *iov is @one for a single one. */
int o2gk_iov_import(u64 addr, u32 nsegs, u64 len, struct iovec *one,
		    struct iovec **iov, u32 *n);
/*
 * Where *@off is, or up to O2GK_MARK elements behind it: an element, and *@off becomes
 * the offset in what begins there.
 */
const struct bio_vec *o2gk_bvec_at(const struct o2gk_pin *pin, u64 *off);
/* An iterator over [off, off + len) of a segment that is not kernel memory. */
void o2gk_seg_iter(const struct o2g_seg *seg, unsigned int direction, u64 off,
		   u64 len, struct iov_iter *iter);

/* look.c */
void o2gk_look_add(struct o2gk_ep *ep);
void o2gk_look_remove(struct o2gk_ep *ep);
void o2gk_look_info(struct o2gk_ep *ep, struct o2gd_info *info);
int o2gk_look_list(struct o2gd_list *l);
int o2gk_look_queues(struct o2gd_look *q);
int o2gk_look_socks(struct o2gd_look *q);
/* What is looked for goes here, as far as there is room. */
struct o2gk_found {
	void *to;
	u32 max, count;
};

void o2gk_found_entry(struct o2gk_found *f, enum o2gd_queue queue,
		      const struct o2g_match_entry *m, u64 length,
		      enum o2gd_body body);

/* paper.c: the eight calls of 2004 */
int o2gk_paper_init(struct o2gk_ep *ep, void __user *arg); /* ep->mutex */
void o2gk_paper_destroy(struct o2gk_paper *paper);
/* Its process is gone: so are its connections, whoever has a descriptor. */
void o2gk_paper_shut(struct o2gk_paper *paper);
int o2gk_paper_mmap(struct o2gk_paper *paper, struct vm_area_struct *vma);
long o2gk_paper_call(struct o2gk_paper *paper, unsigned int cmd,
		     unsigned long arg);

/* paper_look.c */
struct net *o2gk_paper_net(const struct o2gk_paper *paper);
struct mm_struct *o2gk_paper_mm(const struct o2gk_paper *paper);
void o2gk_paper_info(struct o2gk_paper *paper, struct o2gd_info *info);
u32 o2gk_paper_nsocks(const struct o2gk_paper *paper);
void o2gk_paper_queues(struct o2gk_paper *paper, struct o2gk_found *f);
void o2gk_paper_socks(struct o2gk_paper *paper, struct o2gk_found *f);

/* takeover.c; with the socket's lock */
int o2gk_take_over(struct sock *sk, void *owner,
		   const struct o2gk_callbacks *ours, /* write_space: or NULL */
		   struct o2gk_callbacks *saved);
/* Once it was, nothing happens. */
void o2gk_give_back(struct sock *sk, const void *owner,
		    const struct o2gk_callbacks *saved);
/* Has the program ended the connection by connect(AF_UNSPEC)? */
bool o2gk_is_disconnected(const struct sock *sk);

/* sock.c */
int o2gk_sock_register(struct o2gk_ep *ep, u32 number, int fd);
/* The same; on success the reference to the socket's file is ours. */
int o2gk_sock_attach(struct o2gk_ep *ep, u32 number, struct socket *sock);
/*
 * Give it back; a grace period later nothing of the network calls us for the peer.
 * Then: nobody works for it any more, either.
 */
void o2gk_sock_release(struct o2gk_peer *p);
void o2gk_sock_quiet(struct o2gk_peer *p);
/* Under the socket's lock. */
void o2gk_sock_restore(struct o2gk_peer *p);

/* local.c: two endpoints of this host */
void o2gk_local_init(void);
void o2gk_local_add(struct o2gk_peer *p);
void o2gk_local_remove(struct o2gk_peer *p);
void o2gk_local_put(struct o2gk_peer *p); /* last of all */
/* Under ep->lock: may a packet of so many bytes come by the socket? */
bool o2gk_local_expects(struct o2gk_peer *p, u64 bytes);
bool o2gk_local_wants(struct o2gk_ep *ep, const struct o2gd_sqe *e);
/* The others under ep->lock: does this packet go by the link? Then send it. */
bool o2gk_local_takes(struct o2gk_peer *p, const struct o2g_hdr *h,
		      struct o2g_req *req);
void o2gk_local_xmit(struct o2gk_peer *p, struct o2g_tx *tx);
void o2gk_local_drop(struct o2gk_peer *p);
void o2gk_local_sent(struct o2gk_peer *p);
bool o2gk_local_leaving(struct o2gk_peer *p);
void o2gk_local_work(struct work_struct *work);

/* mail.c: packets of theirs that do not go through TCP; under ep->lock */
void o2gk_mail_post(struct o2gk_peer *p, struct o2g_tx *tx);
void o2gk_mail_came(struct o2gk_peer *q);
/* Without a lock of an endpoint: deliver what there is. */
void o2gk_mail_pump(struct o2gk_link *l);

/* rx.c; with the socket's lock */
void o2gk_rx_trace(const struct o2gk_peer *p, const struct o2g_hdr *h,
		   bool unexpected); /* needs no lock */
void o2gk_rx_run(struct o2gk_peer *p, enum o2gk_context context);
void o2gk_rx_work(struct work_struct *work);
/* How much softirq may copy for a connection; when it last did, and how much. */
size_t o2gk_rx_softirq_budget(unsigned long *tick, u64 *copied);

/* tx.c */
int o2gk_tx_xmit(struct o2g_core *c, struct o2g_peer *peer,
		 const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		 u64 len);
int o2gk_tx_inject(struct o2g_core *c, struct o2g_peer *peer,
		   const struct o2g_hdr *h, const void *buf, u64 len);
void o2gk_ctl_init(struct o2gk_ctl *ctl, u64 body);
struct o2gk_ctl *o2gk_ctl_alloc(struct o2gk_ep *ep, u64 body, gfp_t gfp);
/* How many answers are kept for a peer that does not read them. */
u32 o2gk_tx_most_answers(const struct o2gk_peer *p);
/* For the socket; under ep->lock. */
void o2gk_tx_enqueue(struct o2gk_peer *p, struct o2g_tx *tx);
/* Send what is queued for the socket or the link; without a lock. */
void o2gk_tx_send(struct o2gk_peer *p, enum o2gk_context context);
/* With the socket's lock: send what is queued. */
void o2gk_tx_push(struct o2gk_peer *p, enum o2gk_context context);
/* With it, in a system call: send this now, or put a copy of it first in line. */
void o2gk_tx_lone(struct o2gk_peer *p, struct o2gk_ctl *ctl);
void o2gk_tx_drop(struct o2gk_peer *p); /* both locks */
void o2gk_tx_work(struct work_struct *work);

#endif
