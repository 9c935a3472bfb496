// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests of other kernel modules. What is sent and short is copied at once; all else
 * is described by its pages, or, a receive in one piece of kernel memory, by its address.
 */
#include "kfront.h"

#include <linux/err.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#define LONE 192 /* bytes that may leave from the stack */

/* What is to be started. */
struct call {
	enum o2g_req_kind kind;
	u32 peer; /* O2GK_ANY: of a receive */
	u64 tag, ignore, key, offset;
	bool sync;
	const struct o2gk_msg *msg; /* a receive of this message */
	const struct o2gk_seg *segs;
	unsigned int n;
	u64 len;
	bool user; /* memory of a process is among them */
};

static bool is_atomic(const struct o2gk_request *req)
{
	return req->flags & O2GK_ATOMIC;
}

static bool sends(const struct call *c)
{
	return c->kind == O2G_REQ_SEND || c->kind == O2G_REQ_PUT;
}

/* --- memory, before the lock is taken --- */

static int prepare_pages(struct o2gk_ep *ep, const struct call *c,
			 struct o2gk_kreq *kr, gfp_t gfp)
{
	struct o2gk_req *r = &kr->req;
	struct o2gk_pin *pin = o2gk_segs_pin(ep, c->segs, c->n,
					     sends(c) ? 0 : FOLL_WRITE, gfp);

	if (IS_ERR(pin))
		return PTR_ERR(pin);
	pin->holder = kr;
	r->pin = pin;
	r->core.seg0.type = O2GK_SEG_PAGES;
	r->core.seg0.pin = pin;
	return 0;
}

/* A copy of what is sent, as the packet that it leaves in. */
static int prepare_copy(struct o2gk_ep *ep, const struct call *c,
			struct o2gk_req *r, gfp_t gfp)
{
	r->out = o2gk_ctl_alloc(ep, c->len, gfp);
	if (!r->out)
		return -ENOMEM;
	r->core.seg0.kaddr = r->out->body;
	return o2gk_segs_copy(c->segs, c->n, r->out->body);
}

static int prepare(struct o2gk_ep *ep, const struct call *c,
		   struct o2gk_kreq *kr, bool atomic)
{
	gfp_t gfp = atomic ? GFP_ATOMIC : ep->kernel->gfp;

	kr->req.core.seg0.type = O2GK_SEG_KERNEL;
	if (sends(c) && c->len <= O2GD_SMALL && !c->user)
		return prepare_copy(ep, c, &kr->req, gfp);
	if (!c->len)
		return 0;
	if (!sends(c) && c->n == 1 && c->segs->kind == O2GK_KERNEL) {
		kr->req.core.seg0.kaddr = c->segs->addr;
		return 0;
	}
	return prepare_pages(ep, c, kr, gfp);
}

static void drop(struct o2gk_req *r)
{
	kfree(r->out);
	o2gk_pin_free(r->pin);
}

/* --- starting, under ep->lock --- */

static bool is_connected(const struct o2gk_peer *p)
{
	return p && p->sk && !p->lost;
}

/* Can this be started? *@p: with whom, if it is known. */
static int may_start(struct o2gk_ep *ep, const struct call *c,
		     struct o2gk_peer **p)
{
	const struct o2gk_unexp *u = ep->kernel->telling;

	*p = NULL;
	if (ep->closing)
		return -ESHUTDOWN;
	if (c->msg) {
		if (c->msg != &ep->kernel->msg)
			return -EINVAL;
		return u && !ep->kernel->telling_freed && u->core.match.queued ?
			       0 :
			       -ENOENT;
	}
	if (c->peer == O2GK_ANY)
		return c->kind == O2G_REQ_RECV ? 0 : -EINVAL;
	*p = o2gk_peer_find(ep, c->peer);
	if (is_connected(*p))
		return 0;
	/* What a lost peer has sent can still be received. */
	if (*p && c->kind == O2G_REQ_RECV &&
	    o2g_proto_probe(&ep->core, c->peer, c->tag, c->ignore))
		return 0;
	return -ENOTCONN;
}

static void init_core(struct o2gk_ep *ep, const struct call *c,
		      struct o2gk_kreq *kr, struct o2gk_peer *p)
{
	struct o2g_req *core = &kr->req.core;

	core->owner = ep;
	core->kind = c->kind;
	core->peer = p ? &p->core : NULL;
	core->id = ++ep->kernel->next_id;
	core->flags = c->sync ? O2G_REQF_SYNC : 0;
	core->tag = c->tag;
	core->len = c->len;
	core->key = c->key;
	core->offset = c->offset;
	core->seg0.len = c->len;
	core->segs = &core->seg0;
	core->nsegs = 1;
	core->match.src = c->peer;
	core->match.tag = c->tag;
	core->match.ignore = c->ignore;
}

/* The quick way, for what is short and nobody waits for: it is over then. */
static bool inject(struct o2gk_ep *ep, const struct call *c,
		   struct o2gk_kreq *kr, struct o2gk_peer *p)
{
	struct o2gk_req *r = &kr->req;

	if (c->kind != O2G_REQ_SEND || c->sync || !r->out ||
	    o2g_proto_inject(&ep->core, &p->core, c->tag, r->out->body, c->len))
		return false;
	r->out = NULL;
	r->core.state = O2G_ST_DONE;
	kr->under_way = false;
	o2gk_kernel_end(ep, kr);
	return true;
}

static void start_receive(struct o2gk_ep *ep, const struct call *c,
			  struct o2gk_kreq *kr, struct o2gk_peer *p)
{
	struct o2gk_unexp *u = ep->kernel->telling;

	if (c->msg) {
		o2g_proto_take(&ep->core, &u->core);
		o2g_proto_mrecv(&ep->core, &kr->req.core, &u->core);
		return;
	}
	list_add_tail(&kr->link, p ? &p->receives : &ep->kernel->receives);
	o2g_proto_recv(&ep->core, &kr->req.core);
}

static void start(struct o2gk_ep *ep, const struct call *c,
		  struct o2gk_kreq *kr, struct o2gk_peer *p)
{
	struct o2g_req *core = &kr->req.core;

	if (inject(ep, c, kr, p))
		return;
	switch (c->kind) {
	case O2G_REQ_SEND:
		o2g_proto_send(&ep->core, core);
		break;
	case O2G_REQ_PUT:
		o2g_proto_put(&ep->core, core);
		break;
	case O2G_REQ_GET:
		o2g_proto_get(&ep->core, core);
		break;
	default:
		start_receive(ep, c, kr, p);
	}
}

/* Numbers follow each other, and no peer chooses them. */
static void make_known(struct o2gk_ep *ep, struct o2gk_kreq *kr)
{
	kr->id.value = kr->req.core.id;
	kr->id.weight = kr->id.value * 0x9e3779b97f4a7c15ull;
	kr->known = true;
	o2g_cookies_add(&ep->kernel->ids, &kr->id);
}

static int begin(struct o2gk_ep *ep, const struct call *c, struct o2gk_kreq *kr)
{
	struct o2gk_peer *p;
	int err = may_start(ep, c, &p);

	if (err)
		return err;
	init_core(ep, c, kr, p);
	if (kr->req.pin)
		ep->stats.pinned_pages += kr->req.pin->n;
	ep->kernel->active++;
	kr->under_way = true;
	start(ep, c, kr, p);
	if (kr->under_way) /* and so nobody has heard of it yet */
		make_known(ep, kr);
	return 0;
}

/* --- what is very short, and finds nothing in line: inject.c has it for processes --- */

/* The peer, with a reference, if what is for it may be sent from here. */
static struct o2gk_peer *lone_peer(struct o2gk_ep *ep, const struct call *c)
{
	struct o2gk_peer *p;

	if (c->kind != O2G_REQ_SEND || c->sync || c->user || c->len > LONE)
		return NULL;
	p = o2gk_peer_hold(ep, c->peer);
	if (!p || (READ_ONCE(p->sk) && !READ_ONCE(p->link)))
		return p;
	o2gk_peer_put(p);
	return NULL;
}

/* With the socket's lock. The request is over before the packet has left: it has what is
 * sent. */
static bool start_lone(struct o2gk_peer *p, const struct call *c,
		       struct o2gk_kreq *kr, struct o2gk_ctl *ctl)
{
	struct o2gk_ep *ep = p->ep;
	bool sent;

	o2gk_ep_lock(ep);
	sent = !ep->closing && !p->link && is_connected(p) &&
	       o2g_list_empty(&p->txq) &&
	       !o2g_proto_inject(&ep->core, &p->core, c->tag, ctl->body,
				 c->len);
	if (sent) {
		init_core(ep, c, kr, p);
		kr->req.core.state = O2G_ST_DONE;
		ep->kernel->active++;
		o2gk_kernel_end(ep, kr);
	}
	o2gk_ep_unlock(ep, O2GK_WORKER, p);
	return sent;
}

/* False: not in this way. */
static bool send_lone(struct o2gk_peer *p, const struct call *c,
		      struct o2gk_kreq *kr)
{
	union {
		struct o2gk_ctl ctl;
		u8 room[sizeof(struct o2gk_ctl) + LONE];
	} u;
	bool sent;

	o2gk_ctl_init(&u.ctl, c->len);
	u.ctl.lone = true;
	o2gk_segs_copy(c->segs, c->n, u.ctl.body);
	lock_sock(p->sk);
	sent = start_lone(p, c, kr, &u.ctl);
	if (sent) {
		o2gk_tx_lone(p, &u.ctl);
		/* A callback may have sent something, and left it to us. */
		if (unlikely(!o2g_list_empty(&p->txq)))
			o2gk_tx_push(p, O2GK_CALLER);
	}
	release_sock(p->sk);
	return sent;
}

static bool submit_lone(struct o2gk_ep *ep, const struct call *c,
			struct o2gk_kreq *kr)
{
	struct o2gk_peer *p = lone_peer(ep, c);
	bool sent;

	if (!p)
		return false;
	sent = send_lone(p, c, kr);
	o2gk_peer_put(p);
	return sent;
}

/* --- submitting --- */

static int submit_any(struct o2gk_ep *ep, const struct call *c,
		      struct o2gk_kreq *kr, bool atomic)
{
	int err = prepare(ep, c, kr, atomic);

	if (!err) {
		o2gk_ep_lock(ep);
		err = begin(ep, c, kr);
		o2gk_ep_unlock(ep, atomic ? O2GK_NESTED : O2GK_CALLER, NULL);
	}
	/* Otherwise it may be over, and somebody else's. */
	if (err)
		drop(&kr->req);
	return err;
}

static int submit(struct o2gk_ep *ep, struct call *c, struct o2gk_request *req)
{
	struct o2gk_kreq *kr = o2gk_kreq_of(req);
	unsigned int alloc;
	int err = o2gk_segs_check(c->segs, c->n, &c->len, &c->user);

	if (err || (c->user && is_atomic(req)))
		return -EINVAL;
	memset(kr, 0, sizeof(*kr));
	INIT_LIST_HEAD(&kr->link);
	init_completion(&kr->ended);
	if (is_atomic(req))
		return submit_any(ep, c, kr, true);
	alloc = o2gk_alloc_enter(ep);
	o2gk_ep_housekeeping(ep);
	if (!submit_lone(ep, c, kr))
		err = submit_any(ep, c, kr, false);
	o2gk_alloc_leave(ep, alloc);
	return err;
}

/* --- the calls --- */

int o2gk_isend(struct o2gk_ep *ep, u32 peer, u64 tag,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_SEND,
			  .peer = peer,
			  .tag = tag,
			  .segs = segs,
			  .n = n };

	return submit(ep, &c, req);
}
EXPORT_SYMBOL_GPL(o2gk_isend);

int o2gk_issend(struct o2gk_ep *ep, u32 peer, u64 tag,
		const struct o2gk_seg *segs, unsigned int n,
		struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_SEND,
			  .peer = peer,
			  .tag = tag,
			  .sync = true,
			  .segs = segs,
			  .n = n };

	return submit(ep, &c, req);
}
EXPORT_SYMBOL_GPL(o2gk_issend);

int o2gk_irecv(struct o2gk_ep *ep, u32 source, u64 tag, u64 mask,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_RECV,
			  .peer = source,
			  .tag = tag,
			  .ignore = ~mask,
			  .segs = segs,
			  .n = n };

	return submit(ep, &c, req);
}
EXPORT_SYMBOL_GPL(o2gk_irecv);

int o2gk_mrecv(struct o2gk_ep *ep, const struct o2gk_msg *msg,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_RECV,
			  .peer = msg->source,
			  .tag = msg->tag,
			  .msg = msg,
			  .segs = segs,
			  .n = n };

	return is_atomic(req) ? submit(ep, &c, req) : -EINVAL;
}
EXPORT_SYMBOL_GPL(o2gk_mrecv);

int o2gk_put(struct o2gk_ep *ep, u32 peer, u64 key, u64 offset,
	     const struct o2gk_seg *segs, unsigned int n,
	     struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_PUT,
			  .peer = peer,
			  .key = key,
			  .offset = offset,
			  .segs = segs,
			  .n = n };

	return submit(ep, &c, req);
}
EXPORT_SYMBOL_GPL(o2gk_put);

int o2gk_get(struct o2gk_ep *ep, u32 peer, u64 key, u64 offset,
	     const struct o2gk_seg *segs, unsigned int n,
	     struct o2gk_request *req)
{
	struct call c = { .kind = O2G_REQ_GET,
			  .peer = peer,
			  .key = key,
			  .offset = offset,
			  .segs = segs,
			  .n = n };

	return submit(ep, &c, req);
}
EXPORT_SYMBOL_GPL(o2gk_get);

int o2gk_cancel(struct o2gk_ep *ep, struct o2gk_request *req)
{
	struct o2gk_kreq *kr = o2gk_kreq_of(req);
	enum o2gk_context context = is_atomic(req) ? O2GK_NESTED : O2GK_CALLER;
	int err = -EBUSY;

	o2gk_ep_lock(ep);
	if (kr->under_way)
		err = o2g_proto_cancel(&ep->core, &kr->req.core);
	o2gk_ep_unlock(ep, context, NULL);
	return err;
}
EXPORT_SYMBOL_GPL(o2gk_cancel);

int o2gk_wait(struct o2gk_ep *ep, struct o2gk_request *req, long timeout)
{
	struct o2gk_kreq *kr = o2gk_kreq_of(req);
	long left = wait_for_completion_killable_timeout(&kr->ended, timeout);

	if (left < 0)
		return -EINTR;
	return left ? req->status : -ETIME;
}
EXPORT_SYMBOL_GPL(o2gk_wait);

int o2gk_wait_end(struct o2gk_ep *ep, struct o2gk_request *req)
{
	wait_for_completion(&o2gk_kreq_of(req)->ended);
	return req->status;
}
EXPORT_SYMBOL_GPL(o2gk_wait_end);

bool o2gk_probe(struct o2gk_ep *ep, u32 source, u64 tag, u64 mask,
		struct o2gk_msg *msg)
{
	const struct o2g_unexp *u;

	o2gk_ep_lock(ep);
	u = o2g_proto_probe(&ep->core, source, tag, ~mask);
	if (u)
		*msg = (struct o2gk_msg){ .source = u->peer->rank,
					  .tag = u->match.tag,
					  .length = u->len };
	o2gk_ep_unlock(ep, O2GK_NESTED, NULL);
	return u;
}
EXPORT_SYMBOL_GPL(o2gk_probe);

u64 o2gk_queued(struct o2gk_ep *ep, u32 peer)
{
	struct o2gk_peer *p;
	u64 n = 0;

	o2gk_ep_lock(ep);
	p = o2gk_peer_find(ep, peer);
	if (p)
		n = p->txq_len;
	o2gk_ep_unlock(ep, O2GK_NESTED, NULL);
	return n;
}
EXPORT_SYMBOL_GPL(o2gk_queued);

/* --- registered memory --- */

static u64 add(struct o2gk_ep *ep, struct o2gk_mem *m)
{
	u64 key;

	o2gk_ep_lock(ep);
	do { /* until it is nobody's */
		key = get_random_u64();
		m->key.value = key;
	} while (!key || o2gk_mem_link(ep, m));
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	return key;
}

/* See pin_registered() in mem.c. */
static struct o2gk_pin *pin_registered(struct o2gk_ep *ep,
				       const struct o2gk_seg *segs,
				       unsigned int n, bool write)
{
	bool as_if = !write && !O2GK_READ_PINS_LAST;
	unsigned int foll = FOLL_LONGTERM | (write || as_if ? FOLL_WRITE : 0);
	gfp_t gfp = ep->kernel->gfp;
	struct o2gk_pin *pin = o2gk_segs_pin(ep, segs, n, foll, gfp);

	if (as_if && IS_ERR(pin) && PTR_ERR(pin) == -EFAULT)
		pin = o2gk_segs_pin(ep, segs, n, FOLL_LONGTERM, gfp);
	if (!IS_ERR(pin))
		pin->write = write;
	return pin;
}

int o2gk_reg(struct o2gk_ep *ep, const struct o2gk_seg *segs, unsigned int n,
	     u32 access, u64 *key)
{
	struct o2gk_mem *m;
	bool user;
	int err;

	BUILD_BUG_ON((int)O2GK_READ != (int)O2GD_READ ||
		     (int)O2GK_WRITE != (int)O2GD_WRITE);
	if (!access || access & ~(O2GK_READ | O2GK_WRITE))
		return -EINVAL;
	m = o2gk_alloc(ep, sizeof(*m), ep->kernel->gfp);
	if (!m)
		return -ENOMEM;
	memset(m, 0, sizeof(*m));
	err = o2gk_segs_check(segs, n, &m->len, &user);
	if (err)
		goto err_mem;
	m->pin = pin_registered(ep, segs, n, access & O2GK_WRITE);
	err = PTR_ERR_OR_ZERO(m->pin);
	if (err)
		goto err_mem;
	m->access = access;
	m->refs = 1;
	m->key.weight = get_random_u64();
	*key = add(ep, m);
	return 0;

err_mem:
	kfree(m);
	return err;
}
EXPORT_SYMBOL_GPL(o2gk_reg);

int o2gk_dereg(struct o2gk_ep *ep, u64 key)
{
	DECLARE_COMPLETION_ONSTACK(gone);
	int err = o2gk_mem_drop(ep, key, &gone);

	if (!err)
		wait_for_completion(&gone);
	return err;
}
EXPORT_SYMBOL_GPL(o2gk_dereg);
