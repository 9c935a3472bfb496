/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The channel interface: how packets get from one endpoint to another. It is
 * MPICH's channel interface (send control, is there a control packet, receive
 * it, send data, receive data, connect, close) in today's C. A channel knows
 * nothing of matching or protocols; it moves packets and bodies.
 *
 * A channel is added by writing one folder that fills struct chan_ops and
 * one line in engine/channels.c.
 *
 * Locking: the engine holds the endpoint's lock around every op and calls the
 * watch callbacks with it held. A channel starts no thread.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "proto.h"

struct chan_ep; /* the endpoint, as channels see it: opaque */
struct chan_ops;

/* An open channel of one endpoint. Channels embed it first. */
struct chan {
	const struct chan_ops *ops;
	struct chan_ep *ep;
	/*
	 * Hot peers for polling are the channel's business; the engine only
	 * looks at this: bodies or headers are held back for batching.
	 */
	bool needs_flush;
	bool slow_poll;	   /* polling takes a system call */
	bool partial_poll; /* some peers are seen by their descriptors only */
	bool hands_over;   /* its sockets are offered to chan_ep_handover */
	u32 *waiting; /* where peers see how many threads wait here, or NULL */
};

/* What a peer of another job is known by, and proves itself with. */
#define CHAN_SECRETS 8
struct chan_other {
	u64 job; /* its rank in that is core.wire_rank */
	/* One of each meeting; the latest CHAN_SECRETS of them, secret n at n modulo
	 * that. Either end may lack some that the other has. */
	u8 secrets[CHAN_SECRETS][32];
	u32 nsecrets;
	/* What tells of each that one has it, and does not tell it; 0: none. */
	u64 marks[CHAN_SECRETS];
};

/* Does it have one of those that another process has marked? */
static inline bool chan_is_marked(const struct chan_other *o, const u64 *marks,
				  u32 n)
{
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; marks[i] && k < CHAN_SECRETS; k++)
			if (o->marks[k] == marks[i])
				return true;
	return false;
}

static inline const u8 *chan_secret(const struct chan_other *o, u32 n)
{
	return o->secrets[n % CHAN_SECRETS];
}

/* A peer, as channels see it. The engine embeds it; `core` comes first. */
struct chan_peer {
	struct o2g_peer core;
	const struct chan_other *other; /* NULL: it is of our job */
	struct chan *chan; /* the channel that carries it, NULL before use */
	void *link;	   /* the channel's own state for it */
	char host[64];	   /* for messages; "" when not known yet */
};

struct chan_ops {
	const char *name;
	/*
	 * NULL, or the channel whose cards this one has, since it speaks the
	 * same on the wire: it reaches that one's endpoints and is reached by
	 * them, and an endpoint that has opened it needs no other.
	 */
	const char *speaks;
	bool local; /* its peers are those of this host, reached by memory */

	/* Open for this endpoint. -errno when it cannot be used here, with one
	 * line saying why. */
	int (*open)(struct chan_ep *ep, struct chan **chan, char *why,
		    size_t why_size);
	/* Frees everything; links were closed before. */
	void (*close)(struct chan *c);

	/* This endpoint's card: printable, no ';'. What reaches()/connect() get. */
	int (*card)(struct chan *c, char *buf, size_t size);
	bool (*reaches)(struct chan *c, const char *card);

	/*
	 * Set up peer->link and the core's eager_max and can_get. Must not
	 * block: packets sent before the connection stands are queued. Negative
	 * errno: unreachable.
	 */
	int (*connect)(struct chan *c, struct chan_peer *p, const char *card);
	/*
	 * The same for a rank of the own job that the channel finds by itself.
	 * -ENOENT: it does not; ask for the card. NULL: it never does.
	 */
	int (*meet)(struct chan *c, struct chan_peer *p);
	/* We have been told of a peer of another job, which may have called before.
	 * NULL: whoever calls too early is refused, and calls again. */
	void (*known)(struct chan *c, struct chan_peer *p);
	/*
	 * Close and free peer->link and every queued tx of it (control ones are
	 * freed, those with a req are just unlinked). In order, after flushing
	 * what fits, when @orderly.
	 */
	void (*disconnect)(struct chan *c, struct chan_peer *p, bool orderly);
	/*
	 * The peer is lost, and another channel carried it: close and free what
	 * it has here all the same, before its requests end. A packet of it may
	 * be coming in. NULL: such a peer is never heard here.
	 */
	void (*forget)(struct chan *c, struct chan_peer *p);

	/*
	 * Send a packet with body bytes [off, off+len) of req's segments.
	 * Contract as o2g_core_ops.xmit: 0 taken whole, 1 queued on req->tx
	 * (o2g_proto_sent later), negative: peer gone. A control packet
	 * (req NULL) is always taken: 0 or negative.
	 */
	int (*send)(struct chan *c, struct chan_peer *p,
		    const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		    u64 len);

	/*
	 * The same for a message in one piece, now or not at all: 0, or
	 * -EAGAIN with nothing done. Only for bodies below the core's
	 * inject_max, which connect() sets; NULL where it is 0.
	 */
	int (*inject)(struct chan *c, struct chan_peer *p,
		      const struct o2g_hdr *h, const void *buf, u64 len);

	/*
	 * The peer is ready for @len bytes of this send. True: they may go by reference
	 * to their pages, and the send is complete when the peer has answered; before
	 * it ends otherwise, disconnect() resets the connection. NULL: never.
	 */
	bool (*lend)(struct chan *c, struct chan_peer *p,
		     const struct o2g_req *req, u64 len);

	/*
	 * Take what has arrived and push what is queued, at the places where
	 * something is likely: cheap when there is nothing. Full rounds go
	 * through the watch callbacks. Returns the number of packets handled.
	 */
	int (*poll)(struct chan *c);
	/* Send what was held back for batching. */
	void (*flush)(struct chan *c);

	/*
	 * The endpoint is about to sleep on its descriptors: from now on an
	 * arrival must make one readable. True: something is there already.
	 */
	bool (*arm)(struct chan *c);
	void (*disarm)(struct chan *c);

	/* Read the peer's memory; -EOPNOTSUPP, -EPERM: not here. NULL: never. */
	int (*get)(struct chan *c, struct chan_peer *p, u64 addr,
		   const struct o2g_seg *segs, u32 nsegs, u64 len);
	/* Write it. */
	int (*put)(struct chan *c, struct chan_peer *p, u64 addr,
		   const struct o2g_seg *segs, u32 nsegs, u64 len);

	/*
	 * Tell the peers of registered memory; key 0: slot is free again. And
	 * look the key of a peer's memory up: 0, with the address, only if it
	 * is known, allows this and reaches so far; -EAGAIN: ask the owner, with
	 * packets. NULL: where there is no get and put.
	 */
	void (*set_key)(struct chan *c, u32 slot, const struct o2g_key *key,
			unsigned access);
	int (*find_key)(struct chan *c, struct chan_peer *p, u64 key,
			u64 offset, u64 len, bool write, u64 *addr);

	/* This memory is not registered any more: nothing further of what is coming
	 * in is written to it (chan_rx_deny). NULL: a packet is never in parts. */
	void (*deny)(struct chan *c, const void *base, size_t len);

	/* Is the peer in a wait, and would take part in copying? NULL: unknown. */
	bool (*waits)(struct chan *c, struct chan_peer *p);

	/* Wake the peer if it sleeps, as an arrival would. NULL: memory is not
	 * shared with it. The caller has put the fence. */
	void (*nudge)(struct chan *c, struct chan_peer *p);

	/* "10.0.0.1:4711 -> 10.0.0.2:4001", for info and error messages. */
	void (*describe)(struct chan *c, struct chan_peer *p, char *buf,
			 size_t size);
};

extern const struct chan_ops shm_chan_ops, bpf_chan_ops, tcp_chan_ops;

/* --- what the engine offers to channels (engine/host.c) --- */

struct o2g_core *chan_ep_core(struct chan_ep *ep);
u32 chan_ep_rank(const struct chan_ep *ep);
const char *chan_ep_job(const struct chan_ep *ep);
const unsigned char *chan_ep_secret(const struct chan_ep *ep); /* 32 bytes */
/* Where to listen, as o2g_attr has it, or NULL; while channels are opened. */
const char *chan_ep_listen(const struct chan_ep *ep);
unsigned chan_ep_local_size(const struct chan_ep *ep);
/* Is shared memory not open, or are ranks on other hosts? False is a forecast:
 * it may not reach a rank of this host, in a PID namespace of its own. */
bool chan_ep_needs_network(const struct chan_ep *ep);
/* 16 hex digits: the same for endpoints that share memory and a network stack. */
const char *chan_ep_node(const struct chan_ep *ep);
/* Are there more of us than cores on this host? Then we take turns. */
bool chan_ep_crowded(const struct chan_ep *ep);
/* Does no thread wait in the library? Then nobody is kept waiting either. */
bool chan_ep_away(const struct chan_ep *ep);

/* The peer of that rank, made known if it was not; NULL when out of memory or
 * out of range. It may be carried by another channel already. */
struct chan_peer *chan_ep_peer(struct chan_ep *ep, u32 rank);
/* The number of our job, as others know it; and the peer that is @rank of another
 * job. NULL: we have not been told of it. */
u64 chan_ep_job_id(const struct chan_ep *ep);
struct chan_peer *chan_ep_other(struct chan_ep *ep, u64 job, u32 rank);

/*
 * A socket that has passed its hello: will the engine have it, to use without
 * the channel? 0: it has it now; the channel only keeps the descriptor, and
 * closes it in the end. 1: no, carry on. Negative: it could not be done.
 */
int chan_ep_handover(struct chan_ep *ep, struct chan_peer *p, int fd);

/* Called with the lock held when fd is ready (epoll bits, edge-triggered).
 * Returns the number of packets handled. */
struct chan_watch {
	int fd;
	int (*ready)(struct chan_watch *w, u32 events);
};
int chan_watch_add(struct chan_ep *ep, struct chan_watch *w, u32 events);
/* Watch for other events from now on; those that there are make one. */
int chan_watch_mod(struct chan_ep *ep, struct chan_watch *w, u32 events);
void chan_watch_del(struct chan_ep *ep, struct chan_watch *w);

/* Call fn(arg) with the lock held in about @us microseconds, from whichever
 * thread is there. One per timer; setting it again moves it. */
struct chan_timer {
	struct o2g_list link;
	u64 due_us;
	void (*fn)(struct chan_timer *t);
};
void chan_timer_set(struct chan_ep *ep, struct chan_timer *t, u64 us);
void chan_timer_del(struct chan_ep *ep, struct chan_timer *t);

/*
 * The connection is lost. Disconnects it and fails what needs it; @why ("reset
 * by peer", "malformed packet: bad version") ends up in the error text. After
 * this the link is gone: the caller returns at once.
 */
void chan_peer_lost(struct chan_peer *p, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Somebody rang, perhaps with no packet to show for it: let all who wait look at
 * their conditions. */
void chan_nudged(struct chan_ep *ep);

/* --- helpers every channel uses (channel/body.c) --- */

/* Copy @n bytes into a sink and advance it; what does not fit is dropped. */
void chan_sink_write(struct o2g_sink *s, const void *data, size_t n);
/* The rest of a PUT's body that goes to this memory is dropped, and its peer told. */
void chan_rx_deny(struct o2g_rx *rx, const void *base, size_t len);
/* Copy body bytes [off, off+n) of a request. */
void chan_req_read(const struct o2g_req *req, u64 off, void *to, size_t n);
/* Copy @n bytes from [off, off+n) of a segment list. */
void chan_gather(void *to, const struct o2g_seg *segs, u32 nsegs, u64 off,
		 size_t n);
/* Describe [off, off+len) as at most @max iovecs; returns how many, and the
 * bytes they cover in *covered. struct o2g_seg is a struct iovec. */
u32 chan_slice(const struct o2g_seg *segs, u32 nsegs, u64 off, u64 len,
	       struct o2g_seg *out, u32 max, u64 *covered);

#endif
