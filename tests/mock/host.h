/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An endpoint just good enough to drive a channel: the host functions of
 * channel.h over one epoll set, the real core above them, no threads. Several
 * may live in one process and be pumped by turns, or one in each of several
 * processes (ranks_fixture.h).
 */
#ifndef HOST_H
#define HOST_H

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
	char card[O2G_ADDRESS_MAX]; /* how to reach it, or "" */
};

struct host {
	struct o2g_core core;
	struct chan *chan;
	u32 rank;
	const char *job, *node;
	u64 job_id;
	u64 other_job; /* whose ranks are known too, by their own numbers */
	unsigned char secret[32];
	int epfd;
	struct o2g_list timers;
	void *live;
	int nlive;
	int watches;	/* added and not deleted */
	int unexp;	/* allocated and not freed */
	int packets;	/* what poll and ready returned */
	int sleeps;	/* times it slept until something came */
	int nudges;	/* times that somebody rang */
	bool no_flush;	/* leave batches to the channel's timer */
	bool no_expose; /* memory is not offered for reading */
	bool away;	/* no thread waits in the library */
	struct host_peer peers[HOST_PEERS];
	struct host_req reqs[HOST_REQS];
	struct o2g_match_bin bins[256];
};

static inline struct chan_ep *host_ep(struct host *h)
{
	return (struct chan_ep *)h;
}

/* NULL and why, or an endpoint with an open channel; with none if @ops is NULL. */
struct host *host_create(u32 rank, const struct chan_ops *ops, char *why,
			 size_t why_size);
/* Closes everything; says goodbye first when @orderly. */
void host_destroy(struct host *h, bool orderly);

/* Send or receive with @nsegs segments; the memory stays the caller's. */
struct host_req *host_send(struct host *h, u32 to, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs);
struct host_req *host_recv(struct host *h, u32 from, u64 tag,
			   const struct o2g_seg *segs, u32 nsegs);
/* The same with a buffer of @len bytes, in one piece. */
struct host_req *host_send_buf(struct host *h, u32 to, u64 tag, const void *buf,
			       size_t len);
struct host_req *host_recv_buf(struct host *h, u32 from, u64 tag, void *buf,
			       size_t len);
/* And with a view. */
struct host_req *host_send_view(struct host *h, u32 to, u64 tag,
				const struct o2g_view *view, size_t len);
struct host_req *host_recv_view(struct host *h, u32 from, u64 tag,
				const struct o2g_view *view, size_t len);
/* A message without a request: what the channel's inject says. */
int host_inject(struct host *h, u32 to, u64 tag, const void *buf, u64 len);
void host_req_free(struct host_req *q);

/* Connect @h to @to unless it is. */
int host_connect(struct host *h, struct host *to);
/* The peer of that rank, connected by its card if need be; NULL: it cannot be. */
struct chan_peer *host_peer(struct host *h, u32 rank);

/* One round of everything. With a time it sleeps so long if there is nothing. */
int host_round(struct host *h, int timeout_ms);
void host_pump(struct host *h);
/* Until *flag, at most @ms; false when the time is over. */
bool host_run(struct host **hosts, u32 n, const bool *flag, int ms);
/* The same for one, which sleeps between rounds or polls all the time. */
bool host_until(struct host *h, const bool *flag, int ms, bool sleep);
/* For a time. */
void host_idle(struct host **hosts, u32 n, int ms);

#endif
