/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An endpoint: the core with its lock, peers, memory for what they bring about, and who pays
 * for it. What it is for is its front's business, what leads to others its connections'.
 */
#ifndef O2GK_ENDPOINT_H
#define O2GK_ENDPOINT_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "conn.h"

#define O2GK_ANSWERS 4 /* kept for what one packet brings about: reserve.c */

struct o2gk_kernel;
struct o2gk_user;

struct o2gk_unexp {
	struct o2g_unexp core;
	u32 dump;   /* block + 1, or 0: */
	void *kbuf; /* ... the dump area was full, or it is so short: */
	u8 small[O2GD_INLINE];
	struct o2g_cookie handle; /* ep->file.taken, by a matched probe */
	struct list_head untold;  /* of a kernel endpoint: for its handler */
};

static inline struct o2gk_unexp *o2gk_unexp_of(struct o2g_unexp *u)
{
	return container_of(u, struct o2gk_unexp, core);
}

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

struct o2gk_ep {
	struct o2gk_paper *paper; /* the eight calls: all else is not used */
	const struct o2gk_front *front;
	struct o2gk_file file;	    /* the device front's own */
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

	/* what is left for later */
	struct list_head dirty;
	struct list_head losing; /* peers that are being taken apart: lost.c */
	struct list_head unpin;
	u32 nunpin;
	/* unpins, grows the matching table, takes lost peers apart */
	struct work_struct work;

	struct o2gk_unexp *spare; /* what the next unexpected message gets */
	struct o2gk_reserve reserve;
	struct o2g_cookie *mems;
	struct o2gk_mem *used_mem; /* what the core was given last */

	struct o2gd_info stats; /* the driver's part; under lock */

	/* for whoever looks from outside */
	struct list_head all; /* look.c's list */
	u64 id;
	struct pid *pid;
	const struct cred *cred;
};

static inline struct o2gk_ep *o2gk_of_core(struct o2g_core *c)
{
	return container_of(c, struct o2gk_ep, core);
}

/* Of its device front: ring.c. */
static inline void *o2gk_dump_addr(const struct o2gk_ep *ep, u32 dump)
{
	return ep->file.dump + (u64)(dump - 1) * O2GD_BLOCK;
}

/*
 * Is it, its endpoint or the process of that about to end? Then nothing is waited for on
 * its behalf: whoever waits may have what the other needs to end, such as that process's
 * memory.
 */
static inline bool o2gk_is_leaving(const struct o2gk_peer *p)
{
	return READ_ONCE(p->ep->closing) || READ_ONCE(p->ep->recalled) ||
	       READ_ONCE(p->leaving);
}

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

/* core_ops.c */
extern const struct o2g_core_ops o2gk_core_ops, o2gk_kernel_ops;
void o2gk_unexp_end(struct o2gk_ep *ep, struct o2gk_unexp *u);
int o2gk_unexp_init(void);
void o2gk_unexp_exit(void);
struct o2gk_unexp *o2gk_unexp_new(struct o2gk_ep *ep, gfp_t gfp);
void o2gk_unexp_drop(struct o2gk_unexp *u);

/* reserve.c: under ep->lock, unless said otherwise */
/* Charged to the endpoint's cgroup; any context. */
void *o2gk_alloc(struct o2gk_ep *ep, size_t n, gfp_t gfp);
/* Before a packet is received: false, and it has to wait. */
bool o2gk_reserve(struct o2gk_ep *ep, const struct o2g_hdr *h);
/* In process context, without its lock: put aside what is missing, if it can be. */
bool o2gk_reserve_fill(struct o2gk_ep *ep);
/* Without locks of the endpoint, in a worker: until there is, or it is leaving. */
void o2gk_reserve_wait(struct o2gk_peer *p, const struct o2g_hdr *h);
struct o2gk_ctl *o2gk_reserve_answer(struct o2gk_ep *ep);
struct o2gk_req *o2gk_reserve_reply(struct o2gk_ep *ep); /* not cleared */
void *o2gk_reserve_body(struct o2gk_ep *ep, u64 len);
void o2gk_reserve_free(struct o2gk_ep *ep);

/* borrow.c: in a worker, without spinlocks */
/* False: the process is dead, or the endpoint is being closed. */
bool o2gk_borrow(struct o2gk_ep *ep, struct o2gk_borrower *b);
void o2gk_unborrow(struct o2gk_ep *ep, struct o2gk_borrower *b);
/* It was killed for what it has just done, and goes on with something else. */
void o2gk_borrow_on(struct o2gk_ep *ep);
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

#endif
