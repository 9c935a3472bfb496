/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A small endpoint for testing channels: the real core over one channel, a
 * table of requests, epoll and timers, no threads.
 */
#ifndef CHAN_HOST_H
#define CHAN_HOST_H

#include "channel.h"

#define HOST_PEERS 8
#define HOST_REQS 4096

struct host_req {
	struct o2g_req req;
	bool done;
	struct o2g_seg seg;
};

struct chan_ep {
	struct o2g_core core;
	struct chan *chan;
	u32 size;
	const char *node;
	struct chan_peer peers[HOST_PEERS];
	bool known[HOST_PEERS];
	char lost[HOST_PEERS][256]; /* why, when it was */
	int lost_err[HOST_PEERS];
	struct host_req *reqs[HOST_REQS];
	struct o2g_match_bin bins[64];
	int epoll;
	struct o2g_list timers;
	char cards[HOST_PEERS][1024];
	char why[256];
	u64 sleeps; /* times that host_until slept */
	bool no_expose;
};

/* 0 or what the channel's open said. */
int host_open(struct chan_ep *ep, const struct chan_ops *ops, u32 rank,
	      u32 size);
void host_close(struct chan_ep *ep);
/* Connect if needed. */
struct chan_peer *host_peer(struct chan_ep *ep, u32 rank);

void host_isend(struct chan_ep *ep, struct host_req *r, u32 to, u64 tag,
		const struct o2g_seg *segs, u32 nsegs);
void host_irecv(struct chan_ep *ep, struct host_req *r, u32 from, u64 tag,
		const struct o2g_seg *segs, u32 nsegs);

/* Makes progress until *flag; false after @ms milliseconds. Sleeps between
 * rounds when @sleep. */
bool host_until(struct chan_ep *ep, const bool *flag, int ms, bool sleep);
/* One round of everything: poll, descriptors, timers. */
int host_round(struct chan_ep *ep, int timeout_ms);

#endif
