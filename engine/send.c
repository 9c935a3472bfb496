/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sending: with a request, or without where a small message can leave at once. */
#include "carrier.h"
#include "quick.h"
#include "wait.h"

/* The peer to send to: the quick way when it is connected already. */
static inline struct eng_peer *destination(struct o2g_ep *ep, int rank,
					   int *err)
{
	struct eng_peer *p = eng_peer_known(ep, rank);

	if (likely(p && p->cp.chan))
		return p;
	p = eng_peer_connect(ep, rank, err);
	/* Unreachable is how the request ends, not how the call does; without
	 * `resolve` it would never end. */
	if (!p && *err != -EINVAL && *err != -ENOMEM && *err != -EDESTADDRREQ)
		p = eng_peer_known(ep, rank);
	return p;
}

static inline struct eng_req *start_send(struct o2g_ep *ep, int rank, u64 tag,
					 const struct o2g_seg *segs,
					 unsigned nsegs, unsigned flags,
					 int *err)
{
	struct eng_peer *p = destination(ep, rank, err);
	struct eng_req *r;

	if (unlikely(!p))
		return NULL;
	r = eng_req_new(ep, segs, nsegs);
	*err = -ENOMEM;
	if (unlikely(!r))
		return NULL;
	if (unlikely(flags & O2G_SERVED && r->core.len > O2G_SERVED_MAX)) {
		*err = -EMSGSIZE;
		eng_req_free(ep, r);
		return NULL;
	}
	r->core.kind = O2G_REQ_SEND;
	r->core.flags = !flags		   ? 0 :
			flags & O2G_SERVED ? O2G_REQF_SERVED :
					     O2G_REQF_SYNC;
	r->core.peer = &p->cp.core;
	r->core.tag = tag;
	*err = carrier_send(carrier_of(ep, p), ep, r);
	if (likely(!*err))
		return r;
	eng_req_free(ep, r);
	return NULL;
}

int o2g_isend(struct o2g_ep *ep, int peer, uint64_t tag,
	      const struct o2g_seg *segs, unsigned nsegs, unsigned flags,
	      struct o2g_req **req)
{
	struct eng_req *r;
	int err = 0;

	if (unlikely(flags > O2G_SERVED)) /* nor both */
		return -EINVAL;
	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	r = start_send(ep, peer, tag, segs, nsegs, flags, &err);
	if (likely(r)) {
		*req = &r->core;
		eng_req_left(ep, r);
	}
	ep_unlock(ep);
	return err;
}

static inline int inject(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
			 const void *buf, size_t len)
{
	if (likely(p->carrier == &own_carrier))
		return quick_inject(&ep->core, &p->cp.core, tag, buf, len);
	return p->carrier ? p->carrier->inject(ep, p, tag, buf, len) : -EAGAIN;
}

int o2g_inject(struct o2g_ep *ep, int rank, uint64_t tag, const void *buf,
	       size_t len)
{
	struct eng_peer *p;
	int ret = -EAGAIN;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = eng_peer_known(ep, rank);
	if (likely(p))
		ret = inject(ep, p, tag, buf, len);
	ep_unlock(ep);
	return ret;
}

static noinline int send_with_request(struct o2g_ep *ep, int rank, u64 tag,
				      const void *buf, size_t len,
				      unsigned flags)
{
	struct o2g_seg seg = { (void *)buf, len };
	struct eng_req *r;
	int err = 0;

	r = start_send(ep, rank, tag, &seg, 1, flags, &err);
	if (unlikely(!r))
		return err;
	if (unlikely(!eng_is_done(&r->core))) {
		ep->awaited = len;
		eng_wait_locked(ep, eng_req_cond, &r->core, -1);
	}
	err = r->core.status;
	eng_req_free(ep, r);
	return err;
}

int o2g_send(struct o2g_ep *ep, int rank, uint64_t tag, const void *buf,
	     size_t len, unsigned flags)
{
	struct eng_peer *p;
	int err = 0;

	if (unlikely(flags > O2G_SERVED)) /* nor both */
		return -EINVAL;
	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = flags ? NULL : eng_peer_known(ep, rank);
	if (unlikely(!p || inject(ep, p, tag, buf, len)))
		err = send_with_request(ep, rank, tag, buf, len, flags);
	ep_unlock(ep);
	return err;
}
