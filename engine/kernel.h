/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The driver as a carrier (carrier.h): messages over TCP are matched and moved by
 * o2g.ko, whether or not the program is in the library. Users know this as the
 * kernel engine.
 *
 * The tcp channel makes the connections, proves who is who, and hands the sockets to
 * the driver (chan_ep_handover). From then on sends to those peers, and receives from
 * them, go there; messages from this host, by shm, and to oneself stay in the
 * process's own core. A receive that either may satisfy is posted to both, and the
 * one that wants it claims it by cancelling the other's.
 *
 * Everything here runs with the endpoint's lock.
 */
#ifndef ENG_KERNEL_H
#define ENG_KERNEL_H

#include "burst.h"
#include "carrier.h"

struct o2gd_shared;
struct o2gd_sqe;
struct o2gd_cqe;

/* Small messages that leave together; kernel_batch.c. */
struct kern_batch {
	u32 turn; /* grows when the program asks for anything else */
	struct o2g_burst burst;
	char *buf; /* struct o2gd_small and bodies */
	size_t len;
	struct o2g_batch batch;
	struct chan_timer timer; /* of it */
};

struct kern {
	int fd;
	struct chan chan;	 /* in ep->chans, for polling and sleeping */
	struct chan_watch watch; /* the device, for whoever sleeps */
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
int kern_open(const struct o2g_attr *attr, struct kern **kern);
void kern_free(struct kern *kern);
int kern_attach(struct o2g_ep *ep);
/* Say goodbye and close; the sockets are the channel's again. */
void kern_detach(struct o2g_ep *ep);
/* ioctl: 0 or more, or a negative errno. */
int kern_call(const struct kern *k, unsigned long request, void *arg);

/* kernel_ring.c */
extern const struct chan_ops kern_chan_ops;
int kern_poll(struct o2g_ep *ep);
int kern_ready(struct chan_watch *w, u32 events);
/* Hand a request over. 0, or negative and it is the caller's again. */
int kern_submit(struct o2g_ep *ep, struct eng_req *r,
		const struct o2gd_sqe *sqe);
/* @now: have the driver look at it, though nothing may arrive. */
void kern_post_small(struct o2g_ep *ep, const struct o2gd_sqe *sqe, bool now);
/* The driver does not have it any more. */
void kern_end_all(struct o2g_ep *ep);
void kern_left(struct o2g_ep *ep, struct eng_req *r);
bool kern_claim(struct o2g_ep *ep, struct eng_req *r);

/* kernel_batch.c */
#define KERN_BATCHED 1024 /* longest message in a batch */
void kern_batch_init(struct o2g_ep *ep);
void kern_batch_cleanup(struct o2g_ep *ep);
/* Let it wait for others? False: it is to leave now, after a flush. */
bool kern_batch_take(struct o2g_ep *ep, u32 rank, u64 tag, const void *buf,
		     size_t len);
/* It has left: the time it took is not between it and the next. */
void kern_batch_left(struct o2g_ep *ep);
/* 0, or -ENOMEM: some had to stay. */
int kern_batch_flush(struct o2g_ep *ep);

/* kernel_msg.c: messages, put and get */
int kern_send(struct o2g_ep *ep, struct eng_req *r);
int kern_inject(struct o2g_ep *ep, struct eng_peer *p, u64 tag, const void *buf,
		size_t len);
int kern_post(struct o2g_ep *ep, struct eng_req *r);
int kern_rma(struct o2g_ep *ep, struct eng_req *r);
int kern_probe(struct o2g_ep *ep, struct eng_probe *p);
int kern_mrecv(struct o2g_ep *ep, struct eng_req *r, u64 handle);
/* Take a message for a handler, of any peer or of this one: false, there is none. */
bool kern_serve(struct o2g_ep *ep, u32 source);
void kern_next_served(struct o2g_ep *ep, struct eng_peer *p);
void kern_set_buffer(struct o2gd_sqe *e, const struct o2g_req *r);

/* kernel_cancel.c */
int kern_cancel(struct o2g_ep *ep, struct eng_req *r);
void kern_give_up(struct o2g_ep *ep, enum o2g_req_kind kind,
		  bool (*doomed)(const struct o2g_req *req, void *arg));

#endif
