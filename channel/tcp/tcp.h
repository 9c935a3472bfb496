/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* An open TCP channel. What it is made of has headers of its own. */
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include "addr.h"
#include "burst.h"
#include "channel.h"
#include "hello.h"
#include "lend.h"
#include "listen.h"

#define TCP_STAGE_MIN 4096
#define TCP_STAGE_MAX 65536
#define TCP_VIEW (128u << 10) /* of a view, in one call */
#define TCP_IOV 32
#define TCP_HOT 2

struct tcp_conn;
struct tcp_intake;

struct tcp_chan {
	struct chan chan; /* first */
	struct o2g_core *core;
	const struct tcp_intake *intake; /* of connections that can join it */
	bool splits; /* busy connections get a socket for each direction */
	char host[64];
	struct tcp_addr addrs[TCP_ADDRS];
	u32 naddrs;
	bool anywhere; /* every address of this host will do */
	u16 port;
	bool slow_said; /* that a peer is slow at first contact */
	struct tcp_hello_key key;

	/* listening */
	struct chan_watch listener;
	struct chan_timer accept_timer;
	bool accept_waits; /* for a free slot */
	int reserve_fd; /* given up to refuse a connection when none is left */
	struct tcp_slot *slots; /* NULL: nobody has called so far */
	u32 nslots;
	struct o2g_list slots_free, slots_used, slots_marked;
	struct chan_timer slot_timer;
	bool crowd_said;    /* that strangers take all slots */
	u64 crowd_until_us; /* they have, and may again */
	u64 strangers; /* connections dropped before they proved anything */
	u64 stranger_log_us, fd_log_us;

	/* connections */
	struct o2g_list conns;
	u32 nconns;		       /* in it */
	struct tcp_conn *hot[TCP_HOT]; /* last active first; may be NULL */
	bool armed; /* somebody sleeps: everything is watched */
	struct o2g_list more, dirty;
	struct chan_timer flush_timer;
	struct o2g_batch batch; /* the oldest, and this timer */
	bool in_recv;		/* the staging area is in use */
	u64 turn;		/* counts poll and flush: they end a burst */

	struct chan_timer alive_timer; /* looks for silent hosts ... */
	bool alive_set;		       /* ... while there are connections */
	struct o2g_list lingering;
	struct chan_timer linger_timer;

	struct tcp_lender lender;

	u8 stage[TCP_STAGE_MAX];
	u8 view[TCP_VIEW]; /* what goes out of one */
};

static inline struct tcp_chan *tcp_chan_of(struct chan *c)
{
	return container_of(c, struct tcp_chan, chan);
}

/* For channels that begin with a tcp_chan. */
/* On an error one line is in @why and nothing is left to clean up. */
int tcp_chan_init(struct tcp_chan *c, const struct chan_ops *ops,
		  struct chan_ep *ep, char *why, size_t why_size);
void tcp_chan_cleanup(struct tcp_chan *c);
/* This host's addresses that are worth offering: how many, or negative errno with
 * one line in @why. And its name, as cards have it. */
int tcp_find_addresses(struct tcp_addr addrs[TCP_ADDRS], char *why,
		       size_t why_size);
void tcp_host_name(char *buf, size_t size);
int tcp_card(struct chan *chan, char *buf, size_t size);
bool tcp_reaches(struct chan *chan, const char *text);

#endif
