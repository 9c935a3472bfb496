/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The BPF channel: the TCP channel, except for the way in. A connection that has
 * passed its hello joins the sockmap of this process's seat (seat.h). From then
 * on a program in the kernel moves what arrives to memory that is mapped here,
 * and receiving takes no system call. Everything else is tcp/.
 *
 * A connection that cannot join is read with recv(), in the same channel.
 *
 * (This file is not called bpf.h, since <bpf/bpf.h> is libbpf's.)
 */
#ifndef BPF_CHAN_H
#define BPF_CHAN_H

#include <linux/types.h>

#include "seat.h"
#include "tcp/conn.h"
#include "tcp/intake.h"
#include "tcp/tcp.h"

#define BPF_RETRY_US 500     /* until the kernel has caught up with itself */
#define BPF_LATE_US 200000   /* what was passed may come this late */
#define BPF_WORK (256 << 10) /* bytes of the ring per turn */
#define BPF_PORTION 8	     /* this part of the ring is given back at once */
#define BPF_TALK 256  /* pieces in a row: two ranks wait for each other */
#define BPF_IDLE 2048 /* turns in vain, then sockets are watched again */

/* The maps of a seat, as this process has them. */
struct bpf_place {
	int socks, bell; /* descriptors */
	int claim;	 /* a socket in the sockmap: the seat is taken */
	struct bpf_seat *seat;
	/* the ring buffer behind the bell, which is never read */
	u64 *bell_taken;       /* ours, one page */
	const u64 *bell_given; /* the kernel's, one page */
};

/* A connection that has joined: tcp_in.joined. */
struct bpf_member {
	struct tcp_conn *conn;
	u32 id;	       /* its name; the index in it is that of `members` */
	u32 pieces;    /* that it brought ... */
	u32 sleeps;    /* ... since the channel had counted so many */
	bool waits;    /* for the retry timer */
	u64 closed_us; /* when recv() first said so; 0: not yet */
};

struct bpf_chan {
	struct tcp_chan tcp; /* first */
	struct bpf_place place;
	struct chan_watch bell;
	u64 head;	/* what was taken; the seat is not trusted */
	u64 given_back; /* what seat->head says */
	struct bpf_member *members[BPF_CONNS]; /* by index */
	struct chan_timer retry;
	u64 refused;		 /* connections that could not join */
	struct bpf_member *busy; /* where the last piece came from, or NULL */
	u32 idle;		 /* turns that found nothing */
	u32 talk;    /* pieces, then a connection is worth two sockets ... */
	bool adapts; /* ... if nobody slept meanwhile */
	u32 sleeps;
};

static inline struct bpf_chan *bpf_chan_of(struct chan *c)
{
	return container_of(tcp_chan_of(c), struct bpf_chan, tcp);
}

static inline struct bpf_chan *bpf_of_conn(const struct tcp_conn *k)
{
	return container_of(k->chan, struct bpf_chan, tcp);
}

static inline struct bpf_member *bpf_member_of(const struct tcp_conn *k)
{
	return k->in.joined;
}

static inline u32 bpf_index(u32 id)
{
	return id & (BPF_CONNS - 1);
}

/* place.c */
/* A free seat of this user. Negative errno, with one line in @why. */
int bpf_place_take(struct bpf_place *p, char *why, size_t why_size);
void bpf_place_leave(struct bpf_place *p);

/* join.c */
extern const struct tcp_intake bpf_intake;
/* Takes the socket's lock and lets go of it: the program, which runs with it,
 * has run for all that had arrived. */
void bpf_conn_sync(int fd);

/* recv.c */
int bpf_poll(struct chan *c);
bool bpf_arm(struct chan *c);
void bpf_disarm(struct chan *c);
int bpf_bell_ready(struct chan_watch *w, u32 events);
void bpf_retry(struct chan_timer *t);
/* The next turn looks at its socket. */
void bpf_read_soon(struct tcp_conn *k);
/* tcp_intake: see there */
int bpf_conn_recv(struct tcp_conn *k);
bool bpf_conn_took(struct tcp_conn *k, u64 n);
bool bpf_conn_waits(struct tcp_conn *k, bool closed);

#endif
