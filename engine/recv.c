/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Receiving, also a message that a probe has taken; cancelling. */
#include <stdlib.h>

#include "carrier.h"
#include "probe.h"
#include "wait.h"

/*
 * Fill in whom and what a receive asks for. The carrier, or NULL and *err.
 */
static inline const struct carrier *set_match(struct o2g_ep *ep,
					      struct o2g_req *r, int source,
					      u64 tag, u64 ignore, int *err)
{
	struct eng_peer *p;

	eng_req_set_recv(r, tag, ignore);
	if (source == O2G_ANY_SOURCE)
		return ep->any;
	p = eng_peer_known(ep, source);
	if (unlikely(!p)) {
		*err = eng_peer_exists(ep, source) ? -ENOMEM : -EINVAL;
		p = eng_peer_get(ep, source);
		if (!p)
			return NULL;
	}
	r->peer = &p->cp.core;
	r->match.src = (u32)source;
	return carrier_of(ep, p);
}

static inline struct eng_req *start_recv(struct o2g_ep *ep, int source, u64 tag,
					 u64 ignore, const struct o2g_seg *segs,
					 unsigned nsegs, int *err)
{
	struct eng_req *r = eng_req_new(ep, segs, nsegs);
	const struct carrier *c;

	*err = -ENOMEM;
	if (unlikely(!r))
		return NULL;
	c = set_match(ep, &r->core, source, tag, ignore, err);
	if (likely(c))
		*err = carrier_post(c, ep, r);
	if (likely(!*err))
		return r;
	eng_req_free(ep, r);
	return NULL;
}

int o2g_irecv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      const struct o2g_seg *segs, unsigned nsegs, struct o2g_req **req)
{
	struct eng_req *r;
	int err;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	r = start_recv(ep, source, tag, ignore, segs, nsegs, &err);
	if (likely(r)) {
		*req = &r->core;
		eng_req_left(ep, r);
	}
	ep_unlock(ep);
	return err;
}

int o2g_recv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	     void *buf, size_t len, struct o2g_status *status)
{
	struct o2g_seg seg = { buf, len };
	struct eng_req *r;
	int err;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	r = start_recv(ep, source, tag, ignore, &seg, 1, &err);
	if (likely(r)) {
		if (!eng_is_done(&r->core)) {
			ep->awaited = len;
			eng_wait_locked(ep, eng_req_cond, &r->core, -1);
		}
		err = r->core.status;
		if (status)
			eng_req_status(r, status);
		eng_req_free(ep, r);
	}
	ep_unlock(ep);
	return err;
}

static int start_mrecv(struct o2g_ep *ep, struct eng_req *r,
		       const struct o2g_msg *msg)
{
	eng_req_set_recv(&r->core, 0, 0);
	if (!msg->unexp)
		return ep->driver->mrecv(ep, r, msg->handle);
	eng_peer_of_core(msg->unexp->peer)->taken--;
	o2g_proto_mrecv(&ep->core, &r->core, msg->unexp);
	return 0;
}

int o2g_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
	       struct o2g_req **req)
{
	struct o2g_ep *ep = msg->ep;
	struct eng_req *r;
	int err;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	r = eng_req_new(ep, segs, nsegs);
	err = r ? start_mrecv(ep, r, msg) : -ENOMEM;
	if (!err) {
		free(msg);
		*req = &r->core;
		eng_req_left(ep, r);
	} else if (r) {
		eng_req_free(ep, r);
	}
	ep_unlock(ep);
	return err;
}

int o2g_cancel(struct o2g_req *req)
{
	struct o2g_ep *ep = ep_of_req(req);
	struct eng_req *r = eng_req_of(req);
	int ret = -EBUSY;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	if (r->in_driver)
		ret = ep->driver->cancel(ep, r);
	else if (!eng_is_done(req))
		ret = o2g_proto_cancel(&ep->core, req);
	ep_unlock(ep);
	return ret == -EINPROGRESS ? 0 : ret;
}
