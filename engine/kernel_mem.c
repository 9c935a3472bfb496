/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Put, get and what to tell of peers, where the driver is involved. */
#include <stdio.h>

#include "kernel.h"
#include "uapi/o2g.h"

/* Registered with both, under one key: peers may come either way. */
int kern_mem_register(struct o2g_ep *o, void *base, size_t len, unsigned access,
		      struct o2g_mem **mem, struct o2g_key *key)
{
	struct user_ep *ep = user_of(o);
	struct o2gd_mem m = { .addr = (uintptr_t)base, .len = len };
	int err;

	user_lock(ep);
	err = user_mem_register(o, base, len, access, mem, key);
	if (!err) {
		m.key = key->key;
		m.access = (access & O2G_READ ? O2GD_READ : 0) |
			   (access & O2G_WRITE ? O2GD_WRITE : 0);
		err = kern_call(ep->kern, O2GD_MEM_ADD, &m);
		if (err)
			user_mem_deregister(*mem);
	}
	user_unlock(ep);
	return err;
}

void kern_mem_deregister(struct o2g_mem *mem)
{
	struct user_ep *ep = (struct user_ep *)mem->part.ep;
	__u64 key = mem->key;

	user_lock(ep);
	kern_call(ep->kern, O2GD_MEM_DROP, &key);
	user_mem_deregister(mem);
	user_unlock(ep);
}

static int start_rma(struct user_ep *ep, bool put, struct user_peer *p,
		     const struct o2g_seg *segs, unsigned nsegs,
		     const struct o2g_key *key, u64 offset,
		     struct o2g_req **req)
{
	struct o2gd_sqe e = { .op = put ? O2GD_OP_PUT : O2GD_OP_GET,
			      .peer = p->cp.core.rank,
			      .key = key->key,
			      .offset = offset };
	struct user_req *r = user_req_alloc(ep);
	int err = r ? user_req_set_segs(&r->core, segs, nsegs) : -ENOMEM;

	if (!err && (offset > key->len || r->core.len > key->len - offset))
		err = -ERANGE;
	if (!err) {
		r->core.kind = put ? O2G_REQ_PUT : O2G_REQ_GET;
		r->core.peer = &p->cp.core;
		r->core.tag = 0;
		e.slot = r->slot;
		kern_set_buffer(&e, &r->core);
		err = kern_submit(ep, r, &e);
	}
	if (!err)
		*req = &r->core;
	else if (r)
		user_req_free(ep, r);
	return err;
}

int kern_rma(struct o2g_ep *o, bool put, int rank, const struct o2g_seg *segs,
	     unsigned nsegs, const struct o2g_key *key, u64 offset,
	     struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;
	int err;

	user_lock(ep);
	ep->calls++;
	p = user_peer_connect(ep, rank, &err);
	if (p && kern_carries(ep, p))
		err = start_rma(ep, put, p, segs, nsegs, key, offset, req);
	else if (p)
		err = user_rma(o, put, rank, segs, nsegs, key, offset, req);
	user_unlock(ep);
	return err;
}

int kern_peer_info(struct o2g_ep *o, int rank, struct o2g_peer_info *info)
{
	struct user_ep *ep = user_of(o);
	struct o2gd_peer_info d = { .peer = (u32)rank };
	int err;

	user_lock(ep);
	err = user_peer_info(o, rank, info);
	if (!err && !kern_call(ep->kern, O2GD_PEER_INFO, &d)) {
		info->messages_sent += d.messages_sent;
		info->bytes_sent += d.bytes_sent;
		info->messages_received += d.messages_received;
		info->bytes_received += d.bytes_received;
	}
	user_unlock(ep);
	return err;
}

int kern_ep_info(struct o2g_ep *o, struct o2g_ep_info *info)
{
	struct user_ep *ep = user_of(o);
	struct o2gd_info d;
	int err;

	user_lock(ep);
	err = user_ep_info(o, info);
	if (!err && !kern_call(ep->kern, O2GD_INFO, &d)) {
		info->posted += d.posted;
		info->unexpected += d.unexpected;
		info->unexpected_bytes += d.unexpected_bytes;
		info->unexpected_peak += d.unexpected_peak;
	}
	user_unlock(ep);
	return err;
}
