/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What an engine is: the calls of o2g.h, as a table. The user engine
 * (engine/user.h) does the work in this process; another one may have it done
 * elsewhere. engine/o2g.c is the public face and knows only this.
 */
#ifndef ENG_ENGINE_H
#define ENG_ENGINE_H

#include "env.h"

struct eng_ops {
	const char *name;
	void (*close)(struct o2g_ep *ep);
	int (*address)(struct o2g_ep *ep, char *address, size_t size);
	void (*set_secret)(struct o2g_ep *ep, const unsigned char *secret);
	int (*isend)(struct o2g_ep *ep, int peer, u64 tag,
		     const struct o2g_seg *segs, unsigned nsegs, unsigned flags,
		     struct o2g_req **req);
	int (*inject)(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		      size_t len);
	int (*send)(struct o2g_ep *ep, int peer, u64 tag, const void *buf,
		    size_t len, unsigned flags);
	int (*irecv)(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		     const struct o2g_seg *segs, unsigned nsegs,
		     struct o2g_req **req);
	int (*recv)(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		    void *buf, size_t len, struct o2g_status *status);
	int (*cancel)(struct o2g_req *req);
	/* msg NULL: plain probe. block: wait for one. */
	int (*probe)(struct o2g_ep *ep, int source, u64 tag, u64 ignore,
		     bool block, struct o2g_msg **msg,
		     struct o2g_status *status);
	int (*imrecv)(struct o2g_msg *msg, const struct o2g_seg *segs,
		      unsigned nsegs, struct o2g_req **req);
	int (*test)(struct o2g_req *req, struct o2g_status *status);
	int (*is_done)(const struct o2g_req *req);
	void (*peek_status)(const struct o2g_req *req,
			    struct o2g_status *status);
	void (*detach)(struct o2g_req *req);
	int (*wait)(struct o2g_req *req, struct o2g_status *status);
	int (*wait_all)(struct o2g_ep *ep, struct o2g_req *const *reqs,
			size_t n, struct o2g_status *statuses);
	int (*wait_errors)(struct o2g_ep *ep, struct o2g_req *const *reqs,
			   size_t n, struct o2g_status *statuses);
	int (*wait_until)(struct o2g_ep *ep, int (*cond)(void *), void *arg,
			  int64_t timeout_us);
	int (*wait_shared)(struct o2g_ep *ep, int (*cond)(void *), void *arg,
			   unsigned *asleep);
	void (*on_done)(struct o2g_req *req, void (*fn)(void *), void *arg);
	int (*after)(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		     struct o2g_work *work);
	int (*nudge)(struct o2g_ep *ep, const int *peers, size_t n);
	unsigned (*losses)(const struct o2g_ep *ep);
	int (*progress)(struct o2g_ep *ep);
	int (*fd)(struct o2g_ep *ep);
	void (*fd_clear)(struct o2g_ep *ep);
	int (*mem_register)(struct o2g_ep *ep, void *base, size_t len,
			    unsigned access, struct o2g_mem **mem,
			    struct o2g_key *key);
	void (*mem_deregister)(struct o2g_mem *mem);
	int (*rma)(struct o2g_ep *ep, bool put, int peer,
		   const struct o2g_seg *segs, unsigned nsegs,
		   const struct o2g_key *key, u64 offset, struct o2g_req **req);
	int (*peer_info)(struct o2g_ep *ep, int peer,
			 struct o2g_peer_info *info);
	int (*ep_info)(struct o2g_ep *ep, struct o2g_ep_info *info);
	int (*peer_error)(struct o2g_ep *ep, int peer, char *text, size_t size);
};

/* First in every engine's endpoint. Requests, messages and memory start with a
 * pointer to their endpoint (struct eng_part). */
struct eng_ep {
	const struct eng_ops *ops;
	int rank, size;
};

struct eng_part {
	struct eng_ep *ep;
};

int user_open(const struct o2g_attr *attr, struct o2g_ep **ep);
int kern_open(const struct o2g_attr *attr, struct o2g_ep **ep);

#endif
