/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory that messages go to and come from: pages that are pinned, or a caller's own, and
 * what is registered for put and get. A request has one (struct o2gk_req), and whoever
 * copies has references to it: it may be read longer than the request lives.
 */
#ifndef O2GK_BUF_H
#define O2GK_BUF_H

#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/uio.h>

#include "cookies.h"
#include "proto.h"
#include "uapi/o2g.h"

#define O2GK_UNPIN_BATCH 16
#define O2GK_MARK 64 /* elements of a pin that are walked at most */

struct o2gk_ep;
struct o2gk_kreq;
struct o2gk_req;
struct completion;

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
/* What the core was given is not needed any more. */
void o2gk_mem_done(struct o2gk_ep *ep);
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

/* atomics.c: under ep->lock */
int o2gk_atomic(struct o2g_core *c, const struct o2g_seg *seg, u32 op, u32 type,
		void *operands, u64 n);

#endif
