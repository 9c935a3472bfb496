/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The kernel engine's probes: which of the two has the message? */
#include <stdlib.h>

#include "kernel.h"
#include "uapi/o2g.h"

struct probe {
	struct user_ep *ep;
	struct o2gd_probe args;
	bool take;
	int result;		 /* -EAGAIN while there is nothing */
	struct o2g_unexp *found; /* NULL: in the driver, args says what */
};

/* The user engine first; then the driver, if it has anything at all. */
static int probe_cond(void *arg)
{
	struct probe *p = arg;
	struct user_ep *ep = p->ep;
	u32 src = p->args.source;

	p->found = p->take ? o2g_proto_mprobe(&ep->core, src, p->args.tag,
					      p->args.ignore) :
			     o2g_proto_probe(&ep->core, src, p->args.tag,
					     p->args.ignore);
	p->result = 0;
	if (p->found)
		return 1;
	p->result = -EAGAIN;
	if (__atomic_load_n(&ep->kern->shared->unexpected, __ATOMIC_ACQUIRE))
		p->result = kern_call(ep->kern, O2GD_PROBE, &p->args);
	if (p->result == -EAGAIN && src == O2G_MATCH_ANY &&
	    user_any_doomed(ep, p->args.tag))
		p->result = -O2G_ERR_PEER;
	if (p->result == -EAGAIN && src != O2G_MATCH_ANY && ep->peers[src] &&
	    ep->peers[src]->lost)
		p->result = -O2G_ERR_PEER;
	if (p->result == -ENOTCONN)
		p->result = -O2G_ERR_PEER;
	return p->result != -EAGAIN;
}

static void probe_status(const struct probe *p, struct o2g_status *s)
{
	const struct o2g_unexp *u = p->found;

	s->error = 0;
	s->source = (int)(u ? u->peer->rank : p->args.from);
	s->tag = u ? u->match.tag : p->args.msg_tag;
	s->length = u ? u->len : p->args.length;
	s->message_length = s->length;
}

static void probe_locked(struct user_ep *ep, struct probe *p, bool block)
{
	if (probe_cond(p))
		return;
	user_ended_probed(ep, p->args.source);
	user_flush(ep);
	if (block) {
		user_wait_locked(ep, probe_cond, p, -1);
		return;
	}
	user_look(ep);
	probe_cond(p);
}

int kern_probe(struct o2g_ep *o, int source, u64 tag, u64 ignore, bool block,
	       struct o2g_msg **msg, struct o2g_status *status)
{
	struct user_ep *ep = user_of(o);
	struct probe p = { .ep = ep,
			   .take = msg != NULL,
			   .args = { .source = O2GD_ANY,
				     .take = msg != NULL,
				     .tag = tag,
				     .ignore = ignore } };
	struct o2g_msg *m = NULL;

	if (source != O2G_ANY_SOURCE) {
		if (source < 0 || source >= ep->eng.size)
			return -EINVAL;
		p.args.source = (u32)source;
	}
	if (msg) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
	}
	user_lock(ep);
	ep->calls++;
	probe_locked(ep, &p, block);
	if (!p.result && status)
		probe_status(&p, status);
	user_unlock(ep);
	if (!m)
		return p.result;
	if (p.result) {
		free(m);
		return p.result;
	}
	m->part.ep = &ep->eng;
	m->unexp = p.found;
	m->handle = p.args.handle;
	*msg = m;
	return 0;
}

int kern_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
		struct o2g_req **req)
{
	struct user_ep *ep = (struct user_ep *)msg->part.ep;
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV, .key = msg->handle };
	struct user_req *r;
	int err;

	if (msg->unexp)
		return user_imrecv(msg, segs, nsegs, req);
	user_lock(ep);
	ep->calls++;
	r = kern_req_alloc(ep, segs, nsegs, &err);
	if (r) {
		kern_set_recv(ep, &r->core, O2G_ANY_SOURCE, 0, 0);
		e.slot = r->slot;
		kern_set_buffer(&e, &r->core);
		err = kern_submit(ep, r, &e);
		if (err)
			user_req_free(ep, r);
	}
	if (!err) {
		free(msg);
		*req = &r->core;
	}
	user_unlock(ep);
	return err;
}
