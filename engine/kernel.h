/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The kernel engine: messages over TCP are matched and moved by the driver,
 * o2g.ko, whether or not the program is in the library.
 *
 * It is the user engine with a driver beside it. The tcp channel makes the
 * connections, proves who is who, and hands the sockets to the driver
 * (chan_ep_handover). From then on sends to those peers, and receives from
 * them, go there; messages from this host, by shm, and to oneself stay in the
 * user engine's own core. A receive that either may satisfy is posted to both,
 * and the one that wants it claims it by cancelling the other's.
 *
 * Everything here runs with the endpoint's lock.
 */
#ifndef ENG_KERNEL_H
#define ENG_KERNEL_H

#include "user.h"

struct o2gd_shared;
struct o2gd_sqe;
struct o2gd_cqe;

/* Small messages that leave together; kernel_batch.c. */
struct kern_batch {
	u32 turn;      /* grows when the program asks for anything else */
	u32 last_turn; /* of the last small message */
	u64 last_ns;   /* when that was; 0: nobody looked */
	char *buf;     /* struct o2gd_small and bodies */
	size_t len;
	u64 since_ns;
	struct chan_timer timer;
	bool timer_set;
	u32 flush_us;
};

struct kern {
	int fd;
	struct chan chan;	 /* in ep->chans, for polling and sleeping */
	struct chan_watch watch; /* the device, for who sleeps */
	unsigned callbacks;	 /* requests in the driver that have one */
	unsigned sockets;	 /* it was given */
	struct kern_batch batch;

	/* the mapping */
	void *map;
	size_t map_size;
	struct o2gd_shared *shared;
	struct o2gd_sqe *sq;
	u32 sq_mask, sq_tail;
	struct o2gd_cqe *cq;
	u32 cq_mask, cq_head;
	const char *dump;
};

/* kernel.c */
int kern_attach(struct user_ep *ep);
/* Say goodbye and close; the sockets are the channel's again. */
void kern_detach(struct user_ep *ep);
int kern_grow(struct user_ep *ep, u32 slots);
/* Has the driver a socket to every rank that is not reached by memory? */
bool kern_has_all(const struct user_ep *ep);
int kern_take_socket(struct user_ep *ep, struct chan_peer *p, int fd);
/* Nothing that the program has sent, and cannot wait for, is still with us? */
bool kern_all_sent(const struct user_ep *ep);
void kern_peer_lost(struct user_ep *ep, u32 rank);
/* ioctl: 0 or more, or a negative errno. */
int kern_call(const struct kern *k, unsigned long request, void *arg);

/* kernel_ring.c */
extern const struct chan_ops kern_chan_ops;
int kern_poll(struct user_ep *ep);
int kern_ready(struct chan_watch *w, u32 events);
/* Hand a request over. 0, or negative and it is the caller's again. */
int kern_submit(struct user_ep *ep, struct user_req *r,
		const struct o2gd_sqe *sqe);
/* @now: have the driver look at it, though nothing may arrive. */
void kern_post_small(struct user_ep *ep, const struct o2gd_sqe *sqe, bool now);
/* The driver does not have it any more. */
void kern_left(struct user_ep *ep, struct user_req *r);
/* Is a receive that the driver has, too, still ours to complete? */
bool kern_claim(struct o2g_core *c, struct o2g_req *req);

/* kernel_batch.c */
#define KERN_BATCHED 1024 /* longest message in a batch */
void kern_batch_init(struct user_ep *ep);
void kern_batch_cleanup(struct user_ep *ep);
/* Let it wait for others? False: it is to leave now, after a flush. */
bool kern_batch_take(struct user_ep *ep, u32 rank, u64 tag, const void *buf,
		     size_t len);
/* It has left: the time it took is not between it and the next. */
void kern_batch_left(struct user_ep *ep);
/* 0, or -ENOMEM: some had to stay. */
int kern_batch_flush(struct user_ep *ep);

/* kernel_msg.c: the calls that differ from the user engine's */
int kern_isend(struct o2g_ep *ep, int peer, u64 tag, const struct o2g_seg *segs,
	       unsigned nsegs, unsigned flags, struct o2g_req **req);
int kern_inject(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		size_t len);
int kern_send(struct o2g_ep *ep, int peer, u64 tag, const void *buf, size_t len,
	      unsigned flags);
int kern_irecv(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
	       const struct o2g_seg *segs, unsigned nsegs,
	       struct o2g_req **req);
int kern_recv(struct o2g_ep *ep, int source, u64 tag, u64 ignore, void *buf,
	      size_t len, struct o2g_status *status);
int kern_cancel(struct o2g_req *req);
/* Take those of this kind back from the driver that wait in vain. */
void kern_give_up(struct user_ep *ep, enum o2g_req_kind kind,
		  bool (*doomed)(const struct o2g_req *req, void *arg));
void kern_on_done(struct o2g_req *req, void (*fn)(void *), void *arg);
/* Does the driver carry this peer? NULL p: it is not known yet. */
bool kern_carries(const struct user_ep *ep, const struct user_peer *p);
void kern_set_buffer(struct o2gd_sqe *e, const struct o2g_req *r);
void kern_set_send(struct user_req *r, struct user_peer *p, u64 tag);
void kern_set_recv(struct user_ep *ep, struct o2g_req *r, int source, u64 tag,
		   u64 ignore);
/* With its segments; NULL and *err. */
struct user_req *kern_req_alloc(struct user_ep *ep, const struct o2g_seg *segs,
				unsigned nsegs, int *err);

/* kernel_probe.c */
int kern_probe(struct o2g_ep *ep, int source, u64 tag, u64 ignore, bool block,
	       struct o2g_msg **msg, struct o2g_status *status);
int kern_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
		struct o2g_req **req);

/* kernel_mem.c */
int kern_mem_register(struct o2g_ep *ep, void *base, size_t len,
		      unsigned access, struct o2g_mem **mem,
		      struct o2g_key *key);
void kern_mem_deregister(struct o2g_mem *mem);
int kern_rma(struct o2g_ep *ep, bool put, int peer, const struct o2g_seg *segs,
	     unsigned nsegs, const struct o2g_key *key, u64 offset,
	     struct o2g_req **req);
int kern_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info);
int kern_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info);

#endif
