/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Who carries the messages of a peer: this process, with its core and a channel, or
 * the driver. The public calls fill in a request and give it to the carrier of its
 * peer, which is looked up once, when the peer has a channel. Before that, and for
 * receives from any source, either may be the one: `both_carriers`.
 *
 * Everything here runs with the endpoint's lock.
 */
#ifndef ENG_CARRIER_H
#define ENG_CARRIER_H

#include "core_ops.h"
#include "peer.h"
#include "req.h"

struct eng_probe;

struct carrier {
	/* Begin with a request that is filled in. 0; or negative, and it is the
	 * caller's again. */
	int (*send)(struct o2g_ep *ep, struct eng_req *r);
	int (*post)(struct o2g_ep *ep, struct eng_req *r);
	int (*rma)(struct o2g_ep *ep, struct eng_req *r);
	/* A small message without a request: 0, or -EAGAIN with nothing done. */
	int (*inject)(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
		      const void *buf, size_t len);

	/* The rest is for the carrier beside the process's own: ep->driver. */

	/* Its messages: -EAGAIN when it has none; and a receive of one that was
	 * taken by its handle. */
	int (*probe)(struct o2g_ep *ep, struct eng_probe *p);
	int (*mrecv)(struct o2g_ep *ep, struct eng_req *r, u64 handle);
	/* A message for a handler that it has handed over (eng_serve_handed) was
	 * handled: it may hand over the next of that peer. */
	void (*next_served)(struct o2g_ep *ep, struct eng_peer *p);
	/* Requests that it has. If the core has one as well: is it still
	 * ours to complete? */
	bool (*claim)(struct o2g_ep *ep, struct eng_req *r);
	int (*cancel)(struct o2g_ep *ep, struct eng_req *r);
	/* ... has been given a callback: */
	void (*called_back)(struct o2g_ep *ep, struct eng_req *r);
	/* ... and those of this kind that wait in vain: */
	void (*give_up)(struct o2g_ep *ep, enum o2g_req_kind kind,
			bool (*doomed)(const struct o2g_req *req, void *arg));
	/* There may be so many of them from now on. */
	int (*grow)(struct o2g_ep *ep, u32 slots);
	/* Nothing that the program has sent, and cannot wait for, is with it? */
	bool (*all_sent)(const struct o2g_ep *ep);

	int (*mem_add)(struct o2g_ep *ep, const struct o2g_mem *mem);
	void (*mem_drop)(struct o2g_ep *ep, const struct o2g_mem *mem);

	/* A peer's socket for it; does it have all it can get? And the end. */
	int (*take_socket)(struct o2g_ep *ep, struct eng_peer *p, int fd);
	bool (*has_all)(const struct o2g_ep *ep);
	void (*gone)(struct o2g_ep *ep, struct eng_peer *p);

	/* Add what it knows. */
	void (*peer_info)(struct o2g_ep *ep, const struct eng_peer *p,
			  struct o2g_peer_info *info);
	void (*ep_info)(struct o2g_ep *ep, struct o2g_ep_info *info);
};

extern const struct carrier own_carrier, both_carriers; /* own.c */
extern const struct carrier holding_carrier;		/* resolve.c */
extern const struct carrier driver_carrier;		/* kernel.c */

const struct carrier *carrier_find(const struct o2g_ep *ep, struct eng_peer *p);
static inline const struct carrier *carrier_of(const struct o2g_ep *ep,
					       struct eng_peer *p)
{
	/* Asked in this way the compiler sees that it is this one below as well. */
	if (likely(p->carrier == &own_carrier))
		return &own_carrier;
	return carrier_find(ep, p);
}

/* --- the process's own, without a call: nearly all messages go this way --- */

static inline void own_post(struct o2g_ep *ep, struct eng_req *r)
{
	o2g_proto_recv(&ep->core, &r->core);
	if (unlikely(o2g_match_wants(&ep->core.match)))
		eng_match_grow(ep);
}

static inline int carrier_send(const struct carrier *c, struct o2g_ep *ep,
			       struct eng_req *r)
{
	if (unlikely(c != &own_carrier))
		return c->send(ep, r);
	o2g_proto_send(&ep->core, &r->core);
	return 0;
}

static inline int carrier_post(const struct carrier *c, struct o2g_ep *ep,
			       struct eng_req *r)
{
	if (unlikely(c != &own_carrier))
		return c->post(ep, r);
	own_post(ep, r);
	return 0;
}

#endif
