/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A peer, and the connection that leads to it once there is one: a socket, or a link to
 * another endpoint of this host. A peer has one connection in its time, and one at a time
 * receives from it. What is said to be under the socket's lock belongs to whoever has it.
 */
#ifndef O2GK_CONN_H
#define O2GK_CONN_H

#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "front.h"
#include "stream.h"

#define O2GK_RX_SOFTIRQ \
	(1024 << 10)	     /* bytes in a tick, then a worker goes on */
#define O2GK_RX_PACKETS 1024 /* in one go, likewise */
#define O2GK_RX_WORKER (1024 << 10)
#define O2GK_TX_TURN 64	  /* calls to TCP, then others get the processor */
#define O2GK_TX_GATHER 16 /* small packets in one of them */
#define O2GK_LOCAL_EAGER \
	(16 << 10) /* of a body copied under ep->lock: mail.c */

struct o2gk_link;

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
	bool leaving;	/* it is being given up by a call */
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
	struct list_head serving; /* ep->file.serving: the process can take one */
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
	struct list_head met; /* its owner has still to hear that it is there, */
	struct list_head untold;       /* ... that it is lost: */
	u32 telling;		       /* so many things */
	u32 lent;		       /* requests that are over but for that */
	struct o2gk_atomic_send tuned; /* what its socket was like before */
};

static inline struct o2gk_peer *o2gk_peer_of(struct o2g_peer *p)
{
	return container_of(p, struct o2gk_peer, core);
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
void o2gk_peer_put(struct o2gk_peer *p);
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
