/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Endpoints of other kernel modules (include/o2g_kernel.h): what kfront.c, kcall.c and
 * segs.c share. They have no process, no file and no rings: requests are the caller's,
 * and their ends are told by callbacks, without ep->lock.
 */
#ifndef O2GK_KFRONT_H
#define O2GK_KFRONT_H

#include <linux/completion.h>
#include <linux/sched/mm.h>

#include "o2g_kernel.h"
#include "o2gk.h"

/* What is in a request's room. */
struct o2gk_kreq {
	struct o2gk_req req;
	struct o2g_cookie id;  /* kernel->ids, when it is known there */
	struct list_head link; /* posted receives; then what is to be told */
	bool known;
	bool under_way;
	struct o2gk_peer *lent_to; /* held: the other end still reads it */
	struct completion ended;   /* for o2gk_wait() */
};

struct o2gk_reach;

struct o2gk_kernel {
	struct o2gk_ep *ep;
	const struct o2gk_owner *owner;
	void *private;
	gfp_t gfp;

	/* all under ep->lock */
	struct o2g_cookie *ids; /* requests that peers may name */
	u64 next_id;
	struct list_head receives; /* posted, from any source */
	struct list_head finished; /* requests: done() is to be called */
	struct list_head later;	   /* ... by the worker */
	struct list_head met;	   /* peers with a connection: o2gk_peer.met */
	struct list_head lost;	   /* ... that are lost: o2gk_peer.untold */
	struct list_head untold;   /* messages for the handler */
	u32 active;		   /* requests that are not told yet */
	u32 lent;	 /* memory that was registered, and is being read */
	bool delivering; /* somebody calls the owner */
	struct o2gk_unexp *telling; /* the handler is at this message, */
	bool telling_freed;	    /* which is nobody else's any more */
	struct o2gk_msg msg;
	struct o2gk_req discard; /* receives what the handler has dealt with */

	spinlock_t released_lock;  /* innermost */
	struct list_head released; /* memory that others do not read any more */

	struct work_struct worker;
	wait_queue_head_t wait;

	struct o2gk_reach *reach; /* kreach.c; NULL: it has no secret */
};

static inline struct o2gk_kreq *o2gk_kreq_of(struct o2gk_request *req)
{
	return (struct o2gk_kreq *)req->room;
}

/* From here on memory comes from where @gfp allows: GFP_NOFS, GFP_NOIO, or anything. */
static inline unsigned int o2gk_gfp_enter(gfp_t gfp)
{
	if (gfp == GFP_NOFS)
		return memalloc_nofs_save();
	return gfp == GFP_NOIO ? memalloc_noio_save() : 0;
}

static inline void o2gk_gfp_leave(gfp_t gfp, unsigned int before)
{
	if (gfp == GFP_NOFS)
		memalloc_nofs_restore(before);
	else if (gfp == GFP_NOIO)
		memalloc_noio_restore(before);
}

static inline gfp_t o2gk_gfp_of(const struct o2gk_ep *ep)
{
	return ep->kernel ? ep->kernel->gfp : GFP_KERNEL;
}

static inline unsigned int o2gk_alloc_enter(const struct o2gk_ep *ep)
{
	return o2gk_gfp_enter(o2gk_gfp_of(ep));
}

static inline void o2gk_alloc_leave(const struct o2gk_ep *ep,
				    unsigned int before)
{
	o2gk_gfp_leave(o2gk_gfp_of(ep), before);
}

/* Under ep->lock: a callback, or a call while one runs? Whoever delivers sends. */
static inline bool o2gk_kernel_is_inside(const struct o2gk_ep *ep,
					 enum o2gk_context context)
{
	return context == O2GK_NESTED && ep->kernel->delivering;
}

/* kfront.c; under ep->lock, which is let go of meanwhile: tell the owner */
void o2gk_kernel_deliver(struct o2gk_ep *ep);
/* Under it: the request is over, and nobody else looks at its memory. */
void o2gk_kernel_end(struct o2gk_ep *ep, struct o2gk_kreq *kr);
/* Under it: may it be freed now? */
bool o2gk_kernel_unexp_free(struct o2gk_ep *ep, struct o2gk_unexp *u);
/* Under it: the last use of @m, but for what the other end of a link reads. */
void o2gk_kernel_mem_end(struct o2gk_ep *ep, struct o2gk_mem *m);
/* Without it, in any context: ... which has read it. */
void o2gk_kernel_released(struct o2gk_pin *pin);
/* In process context, without it: what follows from that. */
void o2gk_kernel_reap(struct o2gk_ep *ep);
/* The endpoint is closed: everything is told, and waited for. */
void o2gk_kernel_finish(struct o2gk_ep *ep);
/* With the socket's lock: it is ours now; and was. */
void o2gk_kernel_tune(struct o2gk_peer *p, struct sock *sk);
void o2gk_kernel_untune(struct o2gk_peer *p);

/* A connection for a peer, in process context. The socket is ours, or left as it is. */
int o2gk_kernel_attach(struct o2gk_ep *ep, u32 peer, struct socket *sock);

/* kreach.c: listening and dialling, for an endpoint with a secret; and the end of it */
int o2gk_kernel_reach_open(struct o2gk_ep *ep, const struct o2gk_config *c);
void o2gk_kernel_reach_close(struct o2gk_ep *ep);

/* segs.c */
/* 0, and how long they are; -EINVAL. *@user: is there user memory among them? */
int o2gk_segs_check(const struct o2gk_seg *segs, unsigned int n, u64 *length,
		    bool *user);
/* To @to, without user memory. */
int o2gk_segs_copy(const struct o2gk_seg *segs, unsigned int n, void *to);
/* All of them as pages; an ERR_PTR. Sleeps if there is user memory, or @gfp lets it. */
struct o2gk_pin *o2gk_segs_pin(struct o2gk_ep *ep, const struct o2gk_seg *segs,
			       unsigned int n, unsigned int foll, gfp_t gfp);

#endif
