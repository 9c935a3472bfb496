/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An endpoint just good enough to drive a channel: the host functions of
 * channel.h over one epoll set, the real core above them, no threads. Several
 * live in one process and are pumped by turns.
 */
#ifndef TCP_HOST_H
#define TCP_HOST_H

#include "channel.h"

#define HOST_PEERS 40
#define HOST_REQS 4096

struct host_req {
	struct o2g_req r; /* first */
	bool used, done;
};

struct host_peer {
	struct chan_peer cp;
	struct host *host;
	bool known;
	int lost; /* times chan_peer_lost() was called */
	int lost_err;
	char why[1024];
};

struct host {
	struct o2g_core core;
	struct chan *chan;
	u32 rank;
	const char *job, *node;
	unsigned char secret[32];
	int epfd;
	struct o2g_list timers;
	void *live;
	int nlive;
	int watches;   /* added and not deleted */
	int unexp;     /* allocated and not freed */
	int packets;   /* what poll and ready returned */
	bool no_flush; /* leave batches to the channel's timer */
	struct host_peer peers[HOST_PEERS];
	struct host_req reqs[HOST_REQS];
	struct o2g_match_bin bins[256];
};

struct host *host_create(u32 rank, const struct chan_ops *ops, char *why,
			 size_t why_size);
/* Closes everything; says goodbye first when @orderly. */
void host_destroy(struct host *h, bool orderly);

/* Send or receive with @nsegs segments; the memory stays the caller's. */
struct host_req *host_send(struct host *h, u32 to, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs);
struct host_req *host_recv(struct host *h, u32 from, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs);
void host_req_free(struct host_req *q);
/* Connect @h to @to unless it is. */
int host_connect(struct host *h, struct host *to);

/* One round of everything. */
void host_pump(struct host *h);
/* Until *flag, at most @ms; false when the time is over. */
bool host_run(struct host **hosts, u32 n, const bool *flag, int ms);
/* For a time. */
void host_idle(struct host **hosts, u32 n, int ms);

#endif
