/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Whom an endpoint is for. The core and the connections ask the front what becomes of a
 * request that is over, of a message that has come, of a peer that is lost, and nothing
 * else. There are two: the device (file.c, with dev.c, req.c, inject.c, ring.c, handlers.c
 * and look.c), whose state is here, and other kernel modules (kfront.h). The eight calls
 * share the device and none of the rest: paper.h.
 */
#ifndef O2GK_FRONT_H
#define O2GK_FRONT_H

#include <linux/poll.h>
#include <linux/wait.h>

#include "buf.h"
#include "match.h"

#define O2GK_SLAB 256 /* requests allocated at a time */
#define O2GK_MAX_SLABS 4096

struct o2gk_ctl;
struct o2gk_paper;
struct o2gk_peer;
struct o2gk_unexp;

/* --- what an endpoint asks of it --- */

/* All of it under ep->lock. */
struct o2gk_front {
	/* The request is over; it is not a reply to a get. */
	void (*done)(struct o2gk_ep *ep, struct o2gk_req *r);
	struct o2gk_req *(*find)(struct o2gk_ep *ep, u64 id);
	/* From an unexpected message to the receive it belongs to. */
	void (*copy)(struct o2gk_ep *ep, const struct o2g_sink *to,
		     const struct o2g_seg *from, u64 len);
	void (*arrived)(struct o2gk_ep *ep, struct o2gk_unexp *u);
	/* It has a socket; NULL: no matter. */
	void (*met)(struct o2gk_peer *p);
	/* All that needed it is over. */
	void (*lost)(struct o2gk_peer *p);
	/* ... and it is not to be told any more. */
	void (*forget)(struct o2gk_peer *p);
	/* End a receive that is posted for it alone; false: there is no other. */
	bool (*end_posted)(struct o2gk_peer *p);
	/* End one of all that are posted; likewise. */
	bool (*drop_posted)(struct o2gk_ep *ep);
};

/* A completion, until it is in the ring. */
struct o2gk_done {
	struct list_head link; /* ep->file.overflow, when the ring is full */
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

static inline struct o2gk_req *o2gk_req_of(struct o2g_req *r)
{
	return container_of(r, struct o2gk_req, core);
}

/* --- the device --- */

/* How far a receive with a wildcard has been compared with messages: seek.c. */
struct o2gk_seek {
	bool begun;
	struct o2g_match_walk walk;
};

/*
 * What an endpoint of the device has beside. Under ep->lock, but for what is set up once.
 * User space reads and writes the mapping at any time: nothing that was written there is
 * believed.
 */
struct o2gk_file {
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

	/* for whoever waits, or probes */
	bool wake;   /* something is news: look whether to wake */
	u32 arrived; /* unexpected messages, for who probes */
	wait_queue_head_t wait;
	atomic_t waiters; /* threads in O2GD_WAIT */

	/* messages that the process has in its hands */
	struct o2g_cookie *taken; /* messages held by matched probes */
	u64 next_handle;

	struct list_head serving; /* peers with a message for a handler */
	struct o2gk_done served_done;
	bool served_told;
};

/* file.c: the front of endpoints that are open files */
extern const struct o2gk_front o2gk_file_front;
/* A small receive is matched: find memory for its body. */
int o2gk_recv_resolve(struct o2gk_ep *ep, struct o2g_req *req);
void o2gk_req_release(struct o2gk_ep *ep, struct o2gk_req *r);
void o2gk_file_free(struct o2gk_ep *ep);

/* handlers.c: under ep->lock */
void o2gk_served_init(struct o2gk_ep *ep);
void o2gk_served(struct o2g_core *c, struct o2g_peer *peer);
/* The next message for a handler, of any peer (O2GD_ANY) or this one; NULL: none. */
struct o2gk_unexp *o2gk_served_take(struct o2gk_ep *ep, u32 number);
/* The peer is lost: is there still one to be taken? */
void o2gk_served_lost(struct o2gk_peer *p);
/* A lost peer's are gone, @max at a time. True: those were all. */
bool o2gk_served_drop(struct o2gk_peer *p, u32 max);

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

/* look.c */
void o2gk_look_add(struct o2gk_ep *ep);
void o2gk_look_remove(struct o2gk_ep *ep);
int o2gk_look_counters(struct o2gk_ep *own, struct o2gd_counters *c);
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

#endif
