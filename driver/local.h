/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What local.c, parcel.c and mail.c share: a connection whose two ends are of this host. */
#ifndef O2GK_LOCAL_H
#define O2GK_LOCAL_H

#include "o2gk.h"

/* A packet, as its receiver needs it while the sender may go away. */
struct o2gk_parcel {
	struct o2g_tx *tx;    /* of a request: not to be looked into */
	struct o2gk_ctl *ctl; /* or ours, with its body */
	struct o2g_hdr hdr;
	struct o2gk_pin *pin; /* the request's body */
	u64 off, len;	      /* in the pin, in the ctl */
	struct o2g_rx rx;
	struct o2gk_mem *mem; /* a put: what it writes to */
	u64 detail;	      /* why it was refused */
};

/* Packets of one direction: struct o2g_tx of the sender. */
struct o2gk_way {
	/* with much data, in pages; may overtake all others: local.c */
	struct o2g_list todo;
	struct o2g_tx *busy; /* being copied: in no list */
	/* all others, in order: mail.c */
	struct o2g_list mail;
	struct o2g_tx *reading;	  /* a request's, being received: in no list */
	struct o2gk_parcel *held; /* what busy is in, */
	const struct o2gk_parcel *copied; /* that or the late one, by: */
	struct task_struct *copier;
	struct o2gk_parcel late; /* begun; a worker must go on with it */
	bool is_late;
	struct o2g_hdr next; /* of the first, which waits for memory */
	bool is_starved;
	/*
	 * bytes of packets that went by TCP, and that came; the first is not
	 * known until the sender has the link, and as many as can be then
	 */
	u64 tcp_sent, tcp_came;
	/* either kind, once received, if it has a request */
	struct o2g_list done;
};

struct o2gk_link {
	spinlock_t lock;	  /* taken with softirqs off */
	refcount_t refs;	  /* of its two peers */
	struct o2gk_peer *end[2]; /* NULL: it is being closed */
	struct o2gk_way way[2];	  /* by the sender's side */
	bool pumping; /* somebody delivers mail, and keeps the ends alive */
};

/* parcel.c; under link->lock: take hold of the packet. */
void o2gk_parcel_take(struct o2gk_parcel *it, struct o2g_tx *tx);
/* Under the receiver's ep->lock: 0, or why the peer is lost. */
enum o2gd_lost o2gk_parcel_begin(struct o2gk_peer *q, struct o2gk_parcel *it);
void o2gk_parcel_end(struct o2gk_peer *q, struct o2gk_parcel *it);
/* Give back what it holds. */
void o2gk_parcel_put(struct o2gk_peer *q, struct o2gk_parcel *it);
/* Does the body go to memory that takes a process to write to? */
bool o2gk_parcel_to_user(const struct o2gk_parcel *it);
/* Copy the body to where the core wants it: 0, or why the peer is lost. */
enum o2gd_lost o2gk_parcel_copy(struct o2gk_peer *q, struct o2gk_parcel *it);
/*
 * The same in a worker, with what has been held. The process's memory may never come, nor
 * memory for what the packet brings about, and the sender may need its own: it takes that
 * back, or has the copy end.
 */
enum o2gd_lost o2gk_parcel_copy_held(struct o2gk_peer *q,
				     struct o2gk_parcel *it);
/* Under link->lock and ep->lock of @p, who gives up. */
void o2gk_parcel_take_back(struct o2gk_peer *p, struct o2gk_way *w);

/* mail.c; with the socket's lock of @q, in a worker: what mail has left to it. */
void o2gk_mail_late(struct o2gk_peer *q);
/* In a worker, without its lock: get the memory that mail waits for. */
void o2gk_mail_feed(struct o2gk_peer *q);
/* @q is being closed, nobody delivers to it any more. */
void o2gk_mail_close(struct o2gk_peer *q);
/* Both ends are gone: nothing of @side's is left. */
void o2gk_mail_drop(struct o2gk_link *l, unsigned int side);

#endif
