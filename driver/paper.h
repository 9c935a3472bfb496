/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of 2004, in the driver: what paper.c (the calls), paper_post.c
 * (receives), paper_area.c (the dump area), paper_entry.c (what the program sees),
 * paper_msg.c (messages), paper_rx.c (their bytes), paper_sock.c (sockets) and
 * paper_look.c (what others see) share.
 *
 * Messages are parsed and matched where they arrive. What a program gave us to
 * write to, the entry and the buffer of a receive and the dump area, is pinned,
 * so that softirq can write to it: done is set while the program computes.
 * Where pinning is refused everything happens just the same, but for the
 * writing: bodies stay in the socket until a thread of the program, parked in
 * O2GD_PAPER_DUMP or waiting in O2GD_PAPER_WAIT, copies them, and what is to be
 * said in entries waits in `late` for such a thread.
 *
 * Nothing that lies in the program's memory is read back. The driver has its own
 * list of messages and its own map of the dump area; an entry that the program
 * hands in is only an address to look for.
 *
 * Locks: a socket's lock, late_mutex, lock, in this order; docs/locking.md.
 */
#ifndef O2GK_PAPER_H
#define O2GK_PAPER_H

#include <linux/rbtree.h>
#include <linux/xarray.h>

#include "o2gk.h"

struct o2gk_paper;

/* A receive, from o2gd_paper_put until its memory is unpinned. */
struct o2gk_paper_recv {
	struct o2g_match_entry match;
	struct list_head link; /* late_recvs, then trash */
	u64 entry;	       /* the program's address of it */
	u32 number;	       /* in paper->posted */
	struct o2gk_pin *pin;  /* the entry, then the buffer; or NULL */
	u32 nentry;	       /* pages of the pin that are the entry's */
	struct iovec buffer;
	/* what is to be written to the entry */
	u64 received;
	s32 rank, tag, error;
	bool done;
};

/* A message in the dump area. */
struct o2gk_paper_msg {
	struct o2g_match_entry match;
	struct rb_node place;	/* paper_area.places, by off */
	struct list_head order; /* of arrival; or in area->unused */
	struct list_head late;	/* late_msgs: the program's entry is behind */
	u64 off, extent;	/* in the area; the entry, then the body */
	u64 len, received;
	s32 error;
	bool done;
	bool shown; /* it is in the program's list */
};

struct o2gk_paper_area {
	u64 addr, len;	      /* the program's; aligned. len 0: not set */
	struct o2gk_pin *pin; /* or NULL */
	void *map;	      /* the pinned pages, in one piece */
	void *mapped;	      /* what vunmap wants */
	struct o2gk_paper_msg *msgs;
	struct list_head unused; /* of msgs */
	struct list_head order;	 /* oldest first */
	struct rb_root places;
	struct o2gk_paper_msg *rover; /* the search begins behind it */
	u64 room;		      /* bytes that no message has */
};

enum o2gk_paper_phase {
	O2GK_PAPER_HEADER, /* the next bytes are a header */
	O2GK_PAPER_HELD,   /* a header is there, but no place for its body */
	O2GK_PAPER_BODY,
};

/*
 * A registered socket. The receive state is the business of whoever has the
 * socket's lock, except while phase is O2GK_PAPER_HELD: then it is under
 * paper->lock, and whoever makes room moves it on.
 */
struct o2gk_paper_sock {
	struct o2gk_paper *paper;
	u32 rank;
	struct socket *sock; /* holds the file */
	struct sock *sk;
	struct o2gk_callbacks saved;
	bool taken_over; /* under the socket's lock */
	bool open;	 /* not lost; changes with both locks */
	bool refused;	 /* lost because of what it sent */
	bool losing; /* receives are still to be ended; under paper->lock: */
	bool losing_any;	 /* ... from any source as well */
	u64 losing_seq;		 /* ... posted before this one */
	unsigned long losing_at; /* ... and of those from this number on */

	int phase; /* enum o2gk_paper_phase; stored with release order */
	struct o2g_stream stream;
	struct o2gk_paper_recv *recv; /* takes the body, or: */
	struct o2gk_paper_msg *msg;
	u64 room;  /* bytes of it that still fit */
	s32 error; /* found while copying */
	struct iovec iov;
	struct iov_iter iter;
	bool iter_set;
	unsigned long rx_tick; /* when softirq last copied */
	u64 rx_copied;	       /* ... and how much since that tick */

	struct list_head held; /* paper->held */
	struct list_head job;  /* paper->jobs */
	struct work_struct work;
	struct o2gd_paper_sock *told; /* in the mapping; ours to write only */
	struct o2gd_paper_sock info;  /* what it says */
	u64 drops[O2GD_NDROPS];	      /* under paper->lock */
};

struct o2gk_paper {
	spinlock_t lock; /* taken with softirqs off */
	bool closing;
	struct workqueue_struct *wq;
	struct o2gk_charge charge;
	struct mem_cgroup *memcg; /* pays */
	struct mm_struct *mm;
	struct net *net;
	struct o2g_match match;
	struct o2gk_paper_area area;
	struct xarray posted; /* receives by number */
	u32 next_number;
	struct list_head held; /* sockets whose message finds no room, */
	u32 nheld;	       /* ... so many */

	struct mutex mutex; /* registration and the dump area */
	struct o2gk_paper_sock **socks;
	u32 nsocks; /* stored with release order: paper_look.c has no mutex */
	u32 max_socks, nopen;
	u32 nlosing; /* sockets whose receives are being ended */
	struct xarray by_rank;

	/* memory that is not pinned */
	struct mutex late_mutex; /* held by whoever writes to entries there */
	struct list_head late_recvs, late_msgs;
	struct list_head jobs; /* sockets whose next body goes there */
	wait_queue_head_t dump_wait;
	atomic_t ndumpers;

	struct list_head trash; /* receives that are over */
	u32 ntrash;
	atomic_long_t pinned, pin_refused; /* pages; times */
	struct work_struct work; /* unpins, grows the matching table */

	void *map;
	unsigned long map_pages;
	struct o2gd_paper_shared *shared;
	u32 news;
	bool wake, wake_dumper; /* to be done when the lock is free */
	wait_queue_head_t wait;
};

/* paper.c */
void o2gk_paper_lock(struct o2gk_paper *paper);
void o2gk_paper_unlock(struct o2gk_paper *paper); /* wakes whoever waits */
/* Let go of it for a moment, in process context. */
void o2gk_paper_breathe(struct o2gk_paper *paper);
void o2gk_paper_news(struct o2gk_paper *paper);

/* paper_post.c */
int o2gk_paper_put(struct o2gk_paper *paper, u64 addr);
int o2gk_paper_cancel(struct o2gk_paper *paper, u64 addr);
/* Pin memory of the program, and count it; NULL: refused. */
struct o2gk_pin *o2gk_paper_pin(struct o2gk_paper *paper,
				const struct iovec *iov, u32 n);
/* Nobody needs it any more; any context. */
void o2gk_paper_recv_drop(struct o2gk_paper *paper, struct o2gk_paper_recv *r);
/* Unpin and free those; process context. */
void o2gk_paper_empty_trash(struct o2gk_paper *paper);

/* paper_area.c: under paper->lock, except for the first two */
int o2gk_paper_area_create(struct o2gk_paper *paper, u64 addr, u64 len);
void o2gk_paper_area_destroy(struct o2gk_paper_area *a);
/* NULL: there is no room. */
struct o2gk_paper_msg *o2gk_paper_msg_alloc(struct o2gk_paper_area *a, u64 len);
void o2gk_paper_msg_free(struct o2gk_paper_area *a, struct o2gk_paper_msg *m);
struct o2gk_paper_msg *o2gk_paper_msg_find(struct o2gk_paper_area *a,
					   u64 entry);
u64 o2gk_paper_longest(const struct o2gk_paper_area *a);
u64 o2gk_paper_used(const struct o2gk_paper_area *a);

/* paper_entry.c */
/* Under paper->lock; written at once when pinned, else soon. */
void o2gk_paper_recv_begun(struct o2gk_paper *paper, struct o2gk_paper_recv *r);
void o2gk_paper_recv_grown(struct o2gk_paper *paper, struct o2gk_paper_recv *r);
void o2gk_paper_recv_done(struct o2gk_paper *paper, struct o2gk_paper_recv *r);
void o2gk_paper_msg_show(struct o2gk_paper *paper, struct o2gk_paper_msg *m);
void o2gk_paper_msg_grown(struct o2gk_paper *paper, struct o2gk_paper_msg *m);
/* Take it out of the program's list and free it; takes the locks. */
int o2gk_paper_msg_remove(struct o2gk_paper *paper, u64 entry);
/* In the program's own threads: write what waits for that. */
void o2gk_paper_flush(struct o2gk_paper *paper);
/* The same, and nobody else is still writing. */
void o2gk_paper_settle(struct o2gk_paper *paper);
bool o2gk_paper_is_late(const struct o2gk_paper *paper);

/* paper_msg.c: under paper->lock */
#define O2GK_PAPER_NO_RANK U32_MAX /* for traces: these endpoints have none */
/* Whoever sees the phase also has the rest of the receive state. */
static inline enum o2gk_paper_phase
o2gk_paper_phase(const struct o2gk_paper_sock *s)
{
	return smp_load_acquire(&s->phase); /* pairs with set_phase */
}

/* The program sees s->info. */
void o2gk_paper_tell(struct o2gk_paper_sock *s);
/* A header is there: find a place for the body, or hold it. */
void o2gk_paper_arrive(struct o2gk_paper_sock *s);
/* The last byte is. */
void o2gk_paper_finish(struct o2gk_paper_sock *s);
/* A portion of what waits for it ends here, in any context, the rest in a worker: */
void o2gk_paper_lose(struct o2gk_paper_sock *s, enum o2gd_lost why, u64 detail);
/* Without the lock, in process context. */
void o2gk_paper_lose_rest(struct o2gk_paper_sock *s);
/* When there is new room or a new receive; without the lock, in process context. */
void o2gk_paper_resume(struct o2gk_paper *paper);
bool o2gk_paper_can_arrive(struct o2gk_paper *paper, s32 rank);

/* paper_rx.c */
/* With the socket's lock: all there is, or one turn. False: something is left. */
bool o2gk_paper_rx_run(struct o2gk_paper_sock *s, enum o2gk_context context);
/* In process context: read, and see whether that was all. */
void o2gk_paper_rx_turn(struct o2gk_paper_sock *s, enum o2gk_context context);
/* In the program's own threads: copy what waits for that. */
void o2gk_paper_run_jobs(struct o2gk_paper *paper);

/* paper_sock.c */
int o2gk_paper_sock_add(struct o2gk_paper *paper, u32 rank, int fd);
void o2gk_paper_sock_release_all(struct o2gk_paper *paper);
/* The callbacks are no longer ours; under the socket's lock. */
void o2gk_paper_sock_restore(struct o2gk_paper_sock *s);

#endif
