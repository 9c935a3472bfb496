/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Messages: send, receive, probe, cancel. */
#include <stdlib.h>

#include "user.h"

/*
 * A request longer than this that is not over may need us while the program
 * computes: a send because its rest is still to go out, a receive if its message
 * is too long to come without asking, or if so many are under way that they fill
 * a socket which nobody reads. Others can wait until it comes back.
 */
#define ASYNC_MIN (32 << 10)
#define ASYNC_MIN_ANY (64 << 10) /* from whom is not known */
#define ASYNC_MANY 4

static bool needs_us(const struct user_ep *ep, const struct o2g_req *r)
{
	u64 eager = r->peer ? r->peer->eager_max : ASYNC_MIN_ANY;

	return r->kind != O2G_REQ_RECV || r->len > eager ||
	       ep->reqs_in_use >= ASYNC_MANY;
}

/* The peer to send to: the quick way when it is connected already. */
static inline struct user_peer *destination(struct user_ep *ep, int rank,
					    int *err)
{
	struct user_peer *p;

	if (likely((unsigned)rank < (unsigned)ep->eng.size)) {
		p = ep->peers[rank];
		if (likely(p && p->cp.chan))
			return p;
	}
	p = user_peer_connect(ep, rank, err);
	/* Unreachable is how the request ends, not how the call does; without
	 * `resolve` it would never end. */
	if (!p && *err != -EINVAL && *err != -ENOMEM && *err != -EDESTADDRREQ)
		p = ep->peers[rank];
	return p;
}

static inline void leave(struct user_ep *ep, struct user_req *r)
{
	if (unlikely(r->core.len > ASYNC_MIN) && !user_is_done(&r->core) &&
	    needs_us(ep, &r->core))
		user_async_want(ep);
	user_unlock(ep);
}

static struct user_req *start_send(struct user_ep *ep, int rank, u64 tag,
				   const struct o2g_seg *segs, unsigned nsegs,
				   unsigned flags, int *err)
{
	struct user_peer *p = destination(ep, rank, err);
	struct user_req *r;

	if (unlikely(!p))
		return NULL;
	r = user_req_alloc(ep);
	*err = -ENOMEM;
	if (unlikely(!r))
		return NULL;
	if (unlikely(user_req_set_segs(&r->core, segs, nsegs))) {
		user_req_free(ep, r);
		return NULL;
	}
	r->core.kind = O2G_REQ_SEND;
	r->core.flags = flags & O2G_SYNC ? O2G_REQF_SYNC : 0;
	r->core.peer = &p->cp.core;
	r->core.tag = tag;
	o2g_proto_send(&ep->core, &r->core);
	return r;
}

int user_isend(struct o2g_ep *o, int peer, u64 tag, const struct o2g_seg *segs,
	       unsigned nsegs, unsigned flags, struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	struct user_req *r;
	int err = 0;

	user_lock(ep);
	ep->calls++;
	r = start_send(ep, peer, tag, segs, nsegs, flags, &err);
	if (unlikely(!r)) {
		user_unlock(ep);
		return err;
	}
	*req = &r->core;
	leave(ep, r);
	return 0;
}

/* The peer, if it is connected and a message can go to it at once. */
static inline struct user_peer *ready_peer(struct user_ep *ep, int rank)
{
	struct user_peer *p;

	if (unlikely((unsigned)rank >= (unsigned)ep->eng.size))
		return NULL;
	p = ep->peers[rank];
	return likely(p && p->cp.core.inject_max) ? p : NULL;
}

int user_inject(struct o2g_ep *o, int rank, u64 tag, const void *buf,
		size_t len)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;
	int ret = -EAGAIN;

	user_lock(ep);
	ep->calls++;
	p = ready_peer(ep, rank);
	if (likely(p))
		ret = o2g_proto_inject(&ep->core, &p->cp.core, tag, buf, len);
	user_unlock(ep);
	return ret;
}

static int is_done(void *req)
{
	return user_is_done(req);
}

static int send_with_request(struct user_ep *ep, int rank, u64 tag,
			     const void *buf, size_t len, unsigned flags)
{
	struct o2g_seg seg = { (void *)buf, len };
	struct user_req *r;
	int err = 0;

	r = start_send(ep, rank, tag, &seg, 1, flags, &err);
	if (unlikely(!r))
		return err;
	if (unlikely(!user_is_done(&r->core))) {
		ep->awaited = len;
		user_wait_locked(ep, is_done, &r->core, -1);
	}
	err = r->core.status;
	user_req_free(ep, r);
	return err;
}

int user_send(struct o2g_ep *o, int rank, u64 tag, const void *buf, size_t len,
	      unsigned flags)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;
	int err;

	user_lock(ep);
	ep->calls++;
	p = flags ? NULL : ready_peer(ep, rank);
	if (unlikely(!p ||
		     o2g_proto_inject(&ep->core, &p->cp.core, tag, buf, len)))
		err = send_with_request(ep, rank, tag, buf, len, flags);
	else
		err = 0;
	user_unlock(ep);
	return err;
}

/* Fill in whom and what a receive asks for. */
static inline int set_match(struct user_ep *ep, struct o2g_req *r, int source,
			    u64 tag, u64 ignore)
{
	struct user_peer *p;

	user_req_set_recv(r, tag, ignore);
	if (source == O2G_ANY_SOURCE)
		return 0;
	if (unlikely((unsigned)source >= (unsigned)ep->eng.size))
		return -EINVAL;
	p = ep->peers[source];
	if (unlikely(!p))
		p = user_peer_get(ep, source);
	if (unlikely(!p))
		return -ENOMEM;
	r->peer = &p->cp.core;
	r->match.src = (u32)source;
	return 0;
}

static inline struct user_req *start_recv(struct user_ep *ep, int source,
					  u64 tag, u64 ignore,
					  const struct o2g_seg *segs,
					  unsigned nsegs, int *err)
{
	struct user_req *r = user_req_alloc(ep);

	*err = -ENOMEM;
	if (unlikely(!r))
		return NULL;
	*err = set_match(ep, &r->core, source, tag, ignore);
	if (likely(!*err))
		*err = user_req_set_segs(&r->core, segs, nsegs);
	if (unlikely(*err)) {
		r->core.nsegs = 0;
		user_req_free(ep, r);
		return NULL;
	}
	o2g_proto_recv(&ep->core, &r->core);
	if (unlikely(o2g_match_wants(&ep->core.match)))
		user_match_grow(ep);
	return r;
}

int user_irecv(struct o2g_ep *o, int source, u64 tag, u64 ignore,
	       const struct o2g_seg *segs, unsigned nsegs, struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	struct user_req *r;
	int err;

	user_lock(ep);
	ep->calls++;
	r = start_recv(ep, source, tag, ignore, segs, nsegs, &err);
	if (unlikely(!r)) {
		user_unlock(ep);
		return err;
	}
	*req = &r->core;
	leave(ep, r);
	return 0;
}

int user_recv(struct o2g_ep *o, int source, u64 tag, u64 ignore, void *buf,
	      size_t len, struct o2g_status *status)
{
	struct user_ep *ep = user_of(o);
	struct o2g_seg seg = { buf, len };
	struct user_req *r;
	int err;

	user_lock(ep);
	r = start_recv(ep, source, tag, ignore, &seg, 1, &err);
	if (likely(r)) {
		if (!user_is_done(&r->core)) {
			ep->awaited = len;
			user_wait_locked(ep, is_done, &r->core, -1);
		}
		err = r->core.status;
		if (status)
			user_req_status(r, status);
		user_req_free(ep, r);
	}
	user_unlock(ep);
	return err;
}

int user_cancel(struct o2g_req *req)
{
	struct user_ep *ep = user_ep_of_req(req);
	int ret = -EBUSY;

	user_lock(ep);
	if (!user_is_done(req))
		ret = o2g_proto_cancel(&ep->core, req);
	user_unlock(ep);
	return ret == -EINPROGRESS ? 0 : ret;
}

/* --- probing --- */

struct probe {
	struct user_ep *ep;
	u32 src;
	u64 tag, ignore;
	bool take, lost;
	struct o2g_unexp *found;
};

static int probe_cond(void *arg)
{
	struct probe *p = arg;
	struct o2g_core *c = &p->ep->core;

	p->found = p->take ? o2g_proto_mprobe(c, p->src, p->tag, p->ignore) :
			     o2g_proto_probe(c, p->src, p->tag, p->ignore);
	if (p->found)
		return 1;
	if (p->src == O2G_MATCH_ANY)
		p->lost = user_any_doomed(p->ep, p->tag);
	else
		p->lost = p->ep->peers[p->src] && p->ep->peers[p->src]->lost;
	return p->lost;
}

static void probe_status(const struct o2g_unexp *u, struct o2g_status *s)
{
	s->error = 0;
	s->source = (int)u->peer->rank;
	s->tag = u->match.tag;
	s->length = u->len;
	s->message_length = u->len;
}

static int probe_locked(struct user_ep *ep, struct probe *p, bool block)
{
	if (!probe_cond(p)) {
		user_ended_probed(ep, p->src);
		user_flush(ep);
		if (block) {
			user_wait_locked(ep, probe_cond, p, -1);
		} else {
			user_look(ep);
			user_settle(ep);
			probe_cond(p);
		}
	}
	if (p->found)
		return 0;
	return p->lost ? -O2G_ERR_PEER : -EAGAIN;
}

int user_probe(struct o2g_ep *o, int source, u64 tag, u64 ignore, bool block,
	       struct o2g_msg **msg, struct o2g_status *status)
{
	struct user_ep *ep = user_of(o);
	struct probe p = { .ep = ep,
			   .src = O2G_MATCH_ANY,
			   .tag = tag,
			   .ignore = ignore,
			   .take = msg != NULL };
	struct o2g_msg *m = NULL;
	int err;

	if (source != O2G_ANY_SOURCE) {
		if (source < 0 || source >= ep->eng.size)
			return -EINVAL;
		p.src = (u32)source;
	}
	if (msg) {
		m = malloc(sizeof(*m));
		if (!m)
			return -ENOMEM;
	}
	user_lock(ep);
	ep->calls++;
	err = probe_locked(ep, &p, block);
	if (!err && status)
		probe_status(p.found, status);
	user_unlock(ep);
	if (!m)
		return err;
	if (err) {
		free(m);
		return err;
	}
	m->part.ep = &ep->eng;
	m->unexp = p.found;
	*msg = m;
	return 0;
}

int user_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
		struct o2g_req **req)
{
	struct user_ep *ep = (struct user_ep *)msg->part.ep;
	struct user_req *r;

	user_lock(ep);
	ep->calls++;
	r = user_req_alloc(ep);
	if (!r || user_req_set_segs(&r->core, segs, nsegs)) {
		if (r)
			user_req_free(ep, r);
		user_unlock(ep);
		return -ENOMEM;
	}
	r->core.kind = O2G_REQ_RECV;
	o2g_proto_mrecv(&ep->core, &r->core, msg->unexp);
	free(msg);
	*req = &r->core;
	leave(ep, r);
	return 0;
}
