/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * o2g_dsm.ko: what its files share. docs/dsm.md has the ideas.
 *
 *	main.c	  loading, the device, the file system that regions' inodes are of
 *	dev.c	  system calls in
 *	member.c  a node: its endpoint, its peers
 *	region.c  a region: its file, its table of pages
 *	fault.c	  threads that need pages
 *	ops.c	  what the protocol asks of its engine
 *	take.c	  pages that others take
 *	arrive.c  messages that come
 *	loss.c	  nodes that die
 *	out.c	  messages that go
 *	stock.c	  memory for all that a message may bring about
 *	user.c	  what a user may have
 *
 * Locks. The protocol of a region runs under `region->lock`, a spinlock taken with
 * softirqs off. Before it comes the lock of a page of the region: whoever maps one has it,
 * and whoever takes one away has it from unmapping the page until the protocol knows.
 * `node->lock` is taken under it or alone, and nothing under that. Calls of o2g.ko are
 * made without any of them, since they call us back. `node->mutex` comes first of all.
 * Nothing that serves others takes a lock of a process's memory.
 */
#ifndef DSMK_H
#define DSMK_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "counts.h"
#include "dsm_proto.h"
#include "o2g_kernel.h"

struct mem_cgroup;
struct dsmk_region;
struct dsmk_user;

/* --- nodes --- */

struct dsmk_charge {
	struct dsmk_user *user;
	unsigned long pages;
};

struct dsmk_node {
	refcount_t refs; /* its file, its regions */
	struct mutex mutex;
	bool ready;
	struct o2gk_ep *ep;
	u32 rank, size;
	struct mem_cgroup *memcg; /* pays */
	struct workqueue_struct *wq;
	struct dsmk_charge charge;

	spinlock_t lock; /* all that follows; with softirqs off */
	struct list_head regions;
	dsm_set connected, dead;
	dsm_set untold;	      /* dead, and the regions have yet to hear of it */
	dsm_set liars;	      /* whom we have yet to give up */
	struct list_head out; /* struct dsmk_send, in this order */
	bool sending;	      /* somebody takes them off */
	u32 nsent;	      /* that they have */
	struct list_head sends; /* that are free */
	u32 nsends;
	u32 unsent[DSM_NODES];	 /* messages to each that are not over yet */
	struct list_head spares; /* pages, by lru */
	u32 nspares;

	wait_queue_head_t wait; /* for connections */
	struct work_struct loss_work;
	struct delayed_work out_work;
};

/* member.c */
struct dsmk_node *dsmk_node_new(void);
int dsmk_node_open(struct dsmk_node *n, const u8 *secret, const char *job,
		   u32 *port);
int dsmk_node_connect(struct dsmk_node *n, u32 peer,
		      const struct sockaddr_storage *to, int len,
		      unsigned int timeout_ms);
void dsmk_node_get(struct dsmk_node *n);
void dsmk_node_put(struct dsmk_node *n);
/* A region by its number, or NULL; dsmk_region_put(). */
struct dsmk_region *dsmk_node_region(struct dsmk_node *n, u32 id);

/* --- regions --- */

enum dsmk_slot_flags {
	DSMK_WAITED = 1, /* threads wait for it */
	DSMK_FRESH = 2,	 /* it has come, and none of them has mapped it yet */
};

/* What the engine knows of a page; all under region->lock. */
struct dsmk_slot {
	struct page *page;	/* NULL: none here */
	struct list_head taken; /* region->takes: somebody wants it back */
	u32 came;		/* microseconds: when it came, or was mapped */
	u32 due;		/* ... and when to try to take it */
	u32 flags;
	u32 lockers; /* with a reference, waiting for the page's lock */
};

#define DSMK_READY 2 /* pages that one message can need */
#define DSMK_WAITS 16

struct dsmk_region {
	struct list_head link;
	refcount_t refs; /* its file; whoever deals with a message of it */
	struct completion unused;
	struct dsmk_node *node;
	struct inode *inode;
	u32 id;
	u32 hold_us;
	struct dsmk_charge charge;

	struct dsm_counts *counts; /* the program's, mapped here as well */
	struct page **counts_pages;
	unsigned long ncounts;

	spinlock_t lock;
	struct dsm_proto proto;
	struct dsmk_slot *slots;
	struct page *ready[DSMK_READY];
	struct page *lifted; /* that was taken last, if its content is wanted */
	struct list_head records; /* struct dsmk_send, for what it brings about */
	u32 nrecords;
	bool frozen;	      /* a death is being dealt with: nothing else is */
	bool closing;	      /* workers end */
	dsm_set late;	      /* whose messages wait with o2g.ko */
	u32 nlate[DSM_NODES]; /* ... that we have told to, and all behind them */
	u32 fetching;	      /* late_work waits for this node, plus 1 */
	u32 served;	      /* ... and has served this one last */
	struct list_head takes;
	bool kick; /* one of them can be taken earlier than it seemed */

	wait_queue_head_t waits[DSMK_WAITS]; /* by page */
	wait_queue_head_t take_wait;
	struct delayed_work take_work;
	struct work_struct late_work;
	struct o2gk_request request; /* of late_work */
	void *buffer;
};

struct o2gs_region;

/* region.c */
/* The file of a new region, or an ERR_PTR. */
struct file *dsmk_region_file(struct dsmk_node *n, const struct o2gs_region *a);
void dsmk_region_put(struct dsmk_region *r);
int dsmk_regions_init(void);
void dsmk_regions_exit(void);
/* dev.c */
extern const struct file_operations dsmk_device_fops;
long dsmk_region_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* fault.c */
extern const struct vm_operations_struct dsmk_vm_ops;
void dsmk_wake(struct dsmk_region *r, u32 page);
void dsmk_wake_all(struct dsmk_region *r);
/* Pages for a hint: 0, or -EIO if one is gone. */
int dsmk_want(struct dsmk_region *r, u32 first, u32 n, enum dsm_access access,
	      bool home);

static inline wait_queue_head_t *dsmk_wait_of(struct dsmk_region *r, u32 page)
{
	return &r->waits[page % DSMK_WAITS];
}

/* ops.c */
extern const struct dsm_ops dsmk_ops;
u32 dsmk_now_us(void);

/* take.c */
/* Under r->lock: somebody wants the page. */
void dsmk_take_later(struct dsmk_region *r, u32 page);
void dsmk_take_work(struct work_struct *w);

/* arrive.c */
/* As struct o2gk_owner's. */
bool dsmk_arrived(struct o2gk_ep *ep, void *private, const struct o2gk_msg *m);
void dsmk_late_work(struct work_struct *w);

/* loss.c */
/* A node has died, in any context. */
void dsmk_node_lost(struct dsmk_node *n, u32 peer);
/* It has sent what makes no sense. */
void dsmk_node_lies(struct dsmk_node *n, u32 peer);
void dsmk_loss_work(struct work_struct *w);

/* --- messages that go --- */

struct dsmk_send {
	struct list_head link;
	struct dsmk_node *node;
	struct page *page; /* the content; ours */
	u32 to;
	bool counted; /* in node->unsent */
	u64 tag;
	struct o2gk_request req;
};

/* out.c */
void dsmk_out_add(struct dsmk_send *s, u32 to, u64 tag, struct page *page);
/* Without locks; @flags as of struct o2gk_request. */
void dsmk_out_flush(struct dsmk_node *n, u32 flags);
void dsmk_out_work(struct work_struct *w);
void dsmk_out_drop(struct dsmk_node *n);

/* All of a message but the content is in its tag. */
static inline u64 dsmk_tag(u32 region, const struct dsm_msg *m)
{
	return (u64)m->type << 60 | (u64)m->access << 58 | (u64)m->flags << 54 |
	       (u64)m->node << 48 | (u64)region << 32 | m->page;
}

static inline u32 dsmk_tag_region(u64 tag)
{
	return tag >> 32 & 0xffff;
}

static inline struct dsm_msg dsmk_tag_msg(u64 tag)
{
	return (struct dsm_msg){ .type = tag >> 60,
				 .access = tag >> 58 & 3,
				 .flags = tag >> 54 & 15,
				 .node = tag >> 48 & 63,
				 .page = (u32)tag };
}

/* --- memory --- */

/* stock.c */
/* Process context: until there is all that a message can need; -ENOMEM, -EINTR. */
int dsmk_stock_fill(struct dsmk_node *n);
/* Under r->lock: is there? It is this region's then until the lock is let go of. */
bool dsmk_stock_check(struct dsmk_region *r);
/* A page of ours that is not needed any more; without r->lock or with it. */
void dsmk_spare_put(struct dsmk_node *n, struct page *page);
struct dsmk_send *dsmk_send_get(struct dsmk_node *n);
void dsmk_send_put(struct dsmk_send *s);
/* Under r->lock: one of those that the region has for this message. */
struct dsmk_send *dsmk_stock_record(struct dsmk_region *r);
/* What a region has of it goes back. */
void dsmk_stock_return(struct dsmk_region *r);
void dsmk_stock_drop(struct dsmk_node *n);

/* user.c */
int dsmk_user_charge(struct dsmk_charge *c, unsigned long pages);
void dsmk_user_uncharge(struct dsmk_charge *c);

#endif
