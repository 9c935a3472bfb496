/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The rings that are shared with the driver: small receives are posted and
 * completions are taken without a system call. include/uapi/o2g.h has the rules.
 */
#include "kernel.h"

#include "uapi/o2g.h"
#include "wire.h"

static inline u32 load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(__u32 *word, u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* --- posting --- */

static void kick(const struct kern *k)
{
	kern_call(k, O2GD_KICK, NULL);
}

void kern_post_small(struct o2g_ep *ep, const struct o2gd_sqe *e, bool now)
{
	struct kern *k = ep->kern;

	if (unlikely(k->sq_tail - load(&k->shared->sq_head) > k->sq_mask))
		kick(k);
	k->sq[k->sq_tail & k->sq_mask] = *e;
	store(&k->shared->sq_tail, ++k->sq_tail);
	/* Either we see that messages wait, or the driver sees this receive. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(now || load(&k->shared->unexpected))) {
		kick(k);
		kern_poll(ep);
	}
}

void kern_left(struct o2g_ep *ep, struct eng_req *r)
{
	r->in_driver = false;
	if (r->counted)
		ep->kern->callbacks--;
	r->counted = false;
}

static void complete(struct o2g_ep *ep, struct eng_req *r)
{
	kern_left(ep, r);
	if (r->core.flags & O2G_REQF_SHARED)
		o2g_proto_withdraw(&ep->core, &r->core);
	r->core.state = O2G_ST_DONE;
	ep->core.ops->complete(&ep->core, &r->core);
}

int kern_submit(struct o2g_ep *ep, struct eng_req *r, const struct o2gd_sqe *e)
{
	struct o2gd_sqe copy = *e;
	int ret = kern_batch_flush(ep);

	if (unlikely(ret))
		return ret;
	r->in_driver = true;
	ret = kern_call(ep->kern, O2GD_SUBMIT, &copy);
	if (unlikely(ret < 0)) {
		r->in_driver = false;
		return ret;
	}
	if (ret) {
		r->core.status = 0;
		complete(ep, r);
	} else {
		kern_poll(ep);
	}
	return 0;
}

/* The device is closed, and nobody will complete what it had. */
void kern_end_all(struct o2g_ep *ep)
{
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < ENG_SLAB; j++) {
			struct eng_req *r = &ep->slabs[i][j];

			if (!r->in_driver)
				continue;
			r->core.status = -O2G_ERR_PEER;
			complete(ep, r);
		}
}

bool kern_claim(struct o2g_ep *ep, struct eng_req *r)
{
	u32 slot = r->slot;

	if (!r->in_driver)
		return true;
	if (kern_call(ep->kern, O2GD_CANCEL, &slot))
		return false;
	kern_left(ep, r);
	return true;
}

/* --- completions --- */

/* struct o2g_seg is a struct iovec. */
static void fetch(struct kern *k, struct eng_req *r, const struct o2g_sink *to)
{
	struct o2gd_fetch f = { .slot = r->slot, .len = to->room };

	if (to->nsegs == 1) {
		f.addr = (uintptr_t)to->segs->base;
	} else {
		f.addr = (uintptr_t)to->segs;
		f.nsegs = to->nsegs;
	}
	if (kern_call(k, O2GD_FETCH, &f))
		r->core.status = -EIO;
}

static void take_body(struct kern *k, struct eng_req *r,
		      const struct o2gd_cqe *c)
{
	struct o2g_sink to = { .segs = r->core.segs,
			       .nsegs = r->core.nsegs,
			       .room = r->core.len };

	if (r->core.kind == O2G_REQ_ATOMIC) {
		to.segs = r->core.result_segs;
		to.nsegs = r->core.n_result_segs;
		to.room = c->length;
	}

	if (c->where == O2GD_AT_INLINE)
		chan_sink_write(&to, c->data, c->length);
	else if (c->where == O2GD_AT_DUMP)
		chan_sink_write(&to, k->dump + c->off, c->length);
	else if (c->where == O2GD_AT_DRIVER)
		fetch(k, r, &to);
}

static void peer_event(struct o2g_ep *ep, const struct o2gd_cqe *c)
{
	struct eng_peer *p = eng_peer_get(ep, (int)c->source);

	/* Receives that were posted meanwhile: nothing will arrive for them. */
	kick(ep->kern);
	if (!p)
		return;
	switch (c->tag) {
	case O2GD_LOST_BYE:
		p->cp.core.said_bye = true;
		chan_peer_lost(&p->cp, -O2G_ERR_PEER, "it has finished");
		break;
	case O2GD_LOST_ERROR:
		chan_peer_lost(&p->cp, -O2G_ERR_PEER, "connection lost: %s",
			       strerror((int)c->length));
		break;
	case O2GD_LOST_HEADER:
		chan_peer_lost(&p->cp, -EBADMSG, "malformed packet: %s",
			       o2g_wire_reason_name(c->length));
		break;
	case O2GD_LOST_PACKET:
		chan_peer_lost(&p->cp, -EBADMSG, "malformed packet: %s",
			       o2g_proto_reason_name(c->length));
		break;
	case O2GD_LOST_MEMORY:
		chan_peer_lost(&p->cp, -O2G_ERR_PEER,
			       "the driver is out of memory");
		break;
	default:
		chan_peer_lost(&p->cp, -O2G_ERR_PEER,
			       "connection closed by peer");
	}
}

static void request_event(struct o2g_ep *ep, const struct o2gd_cqe *c)
{
	struct eng_req *r;

	if (c->slot >= ep->nslabs * ENG_SLAB)
		return;
	r = &ep->slabs[c->slot / ENG_SLAB][c->slot % ENG_SLAB];
	if (!r->in_driver)
		return;
	r->core.status = c->status;
	if (c->where)
		take_body(ep->kern, r, c);
	if (r->core.kind == O2G_REQ_RECV) {
		struct eng_peer *p = eng_peer_get(ep, (int)c->source);

		r->core.tag = c->tag;
		r->core.got = c->length;
		r->core.msg_len = c->msg_len;
		/* Counted where it was posted: leave that before it changes. */
		if (r->core.flags & O2G_REQF_SHARED)
			o2g_proto_withdraw(&ep->core, &r->core);
		if (p)
			r->core.peer = &p->cp.core;
	}
	complete(ep, r);
}

static int take_all(struct o2g_ep *ep)
{
	struct kern *k = ep->kern;
	int n = 0;

	for (;; n++) {
		const struct o2gd_cqe *c = &k->cq[k->cq_head & k->cq_mask];

		if (load(&c->seq) != k->cq_head + 1)
			break;
		/* Before it is handled: that may come back here. */
		k->cq_head++;
		if (unlikely(c->slot == O2GD_SLOT_PEER))
			peer_event(ep, c);
		else if (unlikely(c->slot == O2GD_SLOT_SERVED))
			while (kern_serve(ep, O2GD_ANY))
				;
		else
			request_event(ep, c);
		store(&k->shared->cq_head, k->cq_head);
	}
	return n;
}

int kern_poll(struct o2g_ep *ep)
{
	int n = take_all(ep);

	while (unlikely(load(&ep->kern->shared->overflow))) {
		kick(ep->kern);
		n += take_all(ep);
	}
	return n;
}

/* --- as a channel: polled, slept on --- */

static struct kern *kern_of(struct chan *c)
{
	return container_of(c, struct kern, chan);
}

static int chan_poll(struct chan *c)
{
	kern_of(c)->batch.turn++;
	return kern_poll(ep_of_chan(c->ep));
}

static void chan_flush(struct chan *c)
{
	kern_batch_flush(ep_of_chan(c->ep));
}

/* Have messages come that nobody has asked for? Only the first time. */
static bool news(struct kern *k)
{
	u32 arrived = load(&k->shared->arrived);

	if (arrived == k->shared->seen)
		return false;
	store(&k->shared->seen, arrived);
	return true;
}

/*
 * The program computes: completions can wait until it comes back, unless
 * something is to happen on them, or handlers are to be called.
 */
static bool chan_arm(struct chan *c)
{
	struct o2g_ep *ep = ep_of_chan(c->ep);
	struct kern *k = kern_of(c);

	if (!ep->inside && !ep->user_fd_used && !k->callbacks && !ep->works &&
	    !ep->serve.handlers)
		return false;
	store(&k->shared->armed, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (news(k))
		return true;
	return load(&k->cq[k->cq_head & k->cq_mask].seq) == k->cq_head + 1 ||
	       load(&k->shared->overflow);
}

static void chan_disarm(struct chan *c)
{
	store(&kern_of(c)->shared->armed, 0);
}

static void chan_close(struct chan *c)
{
}

int kern_ready(struct chan_watch *w, u32 events)
{
	struct kern *k = container_of(w, struct kern, watch);

	news(k); /* whoever waits for them looks again now */
	return kern_poll(ep_of_chan(k->chan.ep));
}

const struct chan_ops kern_chan_ops = {
	.name = "driver",
	.close = chan_close,
	.poll = chan_poll,
	.flush = chan_flush,
	.arm = chan_arm,
	.disarm = chan_disarm,
};
