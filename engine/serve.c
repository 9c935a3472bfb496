/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Handlers: functions that messages call.
 *
 * The core keeps such messages apart, a list for each peer in the order of arrival.
 * A peer whose first one can be handled is put on a list of the endpoint, and a piece
 * of work (work.c) goes through that: without the endpoint's lock, by whoever makes
 * progress, one message at a time. A long message is received when it is its peer's
 * turn, into memory made for it; until it is here that peer is not looked at. So is any
 * that the driver has, which hands over one of each peer at a time.
 */
#include "serve.h"

#include <stdlib.h>

#include "carrier.h"
#include "wait.h"
#include "work.h"

_Static_assert(O2G_SERVED_MAX == O2G_SERVED_BODY_MAX, "here and in the core");

struct eng_handler {
	struct eng_handler *next;
	u64 tag, ignore;
	o2g_handler *fn;
	void *arg;
};

/* A long message on its way, or here. */
struct eng_long_msg {
	struct eng_peer *peer;
	struct eng_req *req;
	u64 tag, len;
	bool here;
	int status;
	_Alignas(16) u8 body[];
};

static const void *this_thread(void)
{
	return __builtin_thread_pointer();
}

static struct eng_handler *handler_of(const struct eng_serve *s, u64 tag)
{
	struct eng_handler *h = s->handlers;

	while (h && (h->tag ^ tag) & ~h->ignore)
		h = h->next;
	return h;
}

/* --- which peer is next --- */

static void make_ready(struct eng_peer *p)
{
	struct o2g_ep *ep = p->ep;
	struct eng_serve *s = &ep->serve;

	if (o2g_list_empty(&p->serving))
		o2g_list_add_tail(&p->serving, &s->ready);
	if (s->scheduled)
		return;
	s->scheduled = true;
	eng_work_add(ep, &s->work);
}

void eng_serve_peer(struct o2g_core *c, struct o2g_peer *p)
{
	make_ready(eng_peer_of_core(p));
}

/* --- one message --- */

static void handle(struct eng_peer *p, const struct eng_handler *h, u64 tag,
		   const void *data, size_t len)
{
	struct o2g_ep *ep = p->ep;
	struct eng_serve *s = &ep->serve;
	int number = (int)p->cp.core.rank;
	o2g_handler *fn = h->fn;
	void *arg = h->arg;

	p->taken++; /* its memory stays */
	s->running = h;
	ep_unlock(ep);
	fn(arg, number, tag, data, len);
	ep_lock(ep);
	s->running = NULL;
	p->taken--;
}

/* Its last byte is here, or will never be. With the lock. */
static void long_msg_here(void *arg)
{
	struct eng_long_msg *m = arg;

	m->here = true;
	m->status = m->req->core.status;
	make_ready(m->peer);
}

/* With a request that receives it; NULL: the peer is given up. */
static struct eng_long_msg *new_long(struct eng_peer *p, u64 tag, u64 len)
{
	struct eng_long_msg *m = malloc(sizeof(*m) + len);
	struct o2g_seg seg = { m ? m->body : NULL, len };
	struct eng_req *r = m ? eng_req_new(p->ep, &seg, 1) : NULL;

	if (!r) {
		free(m);
		eng_bye_later(p, "out of memory");
		return NULL;
	}
	*m = (struct eng_long_msg){ .peer = p,
				    .req = r,
				    .tag = tag,
				    .len = len };
	eng_req_set_recv(&r->core, m->tag, 0);
	r->detached = true;
	r->fn = long_msg_here;
	r->arg = m;
	return m;
}

static void receive_long(struct eng_peer *p, struct o2g_unexp *u)
{
	p->long_msg = new_long(p, u->match.tag, u->len);
	if (p->long_msg)
		o2g_proto_mrecv(&p->ep->core, &p->long_msg->req->core, u);
	else
		o2g_proto_drop(&p->ep->core, u);
}

void eng_serve_handed(struct eng_peer *p, u64 tag, u64 len, u64 handle)
{
	struct eng_long_msg *m = new_long(p, tag, len);

	if (!m)
		return;
	p->far_msg = m;
	m->req->core.peer = &p->cp.core; /* which stays as long */
	if (!p->ep->driver->mrecv(p->ep, m->req, handle))
		return;
	eng_req_free(p->ep, m->req);
	free(m);
	p->far_msg = NULL;
	eng_bye_later(p, "out of memory");
}

/* It is here, and there is a handler: handled and gone. False: it has to wait. */
static bool serve_long(struct eng_peer *p, struct eng_long_msg **at)
{
	struct eng_long_msg *m = *at;
	const struct eng_handler *h = handler_of(&p->ep->serve, m->tag);

	if (!m->here || (!h && !m->status))
		return false;
	*at = NULL;
	if (!m->status)
		handle(p, h, m->tag, m->body, m->len);
	free(m);
	return true;
}

static void serve_one(struct eng_peer *p)
{
	struct o2g_core *c = &p->ep->core;
	struct o2g_unexp *u = o2g_proto_served(&p->cp.core);
	const struct eng_handler *h;

	if (p->far_msg && serve_long(p, &p->far_msg))
		p->ep->driver->next_served(p->ep, p);
	if (p->long_msg) {
		if (serve_long(p, &p->long_msg) &&
		    o2g_proto_served(&p->cp.core))
			make_ready(p);
		return;
	}
	h = u ? handler_of(&p->ep->serve, u->match.tag) : NULL;
	if (!h)
		return; /* it waits until somebody serves it */
	o2g_proto_take_served(u);
	if (u->type == O2G_PKT_RTS) {
		receive_long(p, u);
		return;
	}
	handle(p, h, u->match.tag, u->body.base, u->len);
	o2g_proto_drop(c, u);
	if (o2g_proto_served(&p->cp.core))
		make_ready(p);
}

/* Without the lock. While it runs others only add to the list. */
static void run(struct o2g_work *w)
{
	struct eng_serve *s = container_of(w, struct eng_serve, work);
	struct o2g_ep *ep = w->ep;

	ep_lock(ep);
	s->runner = this_thread();
	while (!o2g_list_empty(&s->ready)) {
		struct eng_peer *p =
			o2g_list_first(&s->ready, struct eng_peer, serving);

		o2g_list_del(&p->serving);
		serve_one(p);
	}
	s->runner = NULL;
	s->scheduled = false;
	ep_unlock(ep);
}

/* --- the calls --- */

static bool is_taken(const struct eng_serve *s, u64 tag, u64 ignore)
{
	for (const struct eng_handler *h = s->handlers; h; h = h->next)
		if (!((h->tag ^ tag) & ~(h->ignore | ignore)))
			return true;
	return false;
}

/* What has waited for it. */
static void look_again(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (p->long_msg || p->far_msg || o2g_proto_served(&p->cp.core))
			make_ready(p);
}

int o2g_serve(struct o2g_ep *ep, uint64_t tag, uint64_t ignore, o2g_handler *fn,
	      void *arg)
{
	struct eng_handler *h = malloc(sizeof(*h));
	int err = -EEXIST;

	if (!h)
		return -ENOMEM;
	if (!ep_enter(ep)) {
		free(h);
		return -O2G_ERR_FORKED;
	}
	if (is_taken(&ep->serve, tag, ignore)) {
		free(h);
		goto out;
	}
	*h = (struct eng_handler){ ep->serve.handlers, tag, ignore, fn, arg };
	ep->serve.handlers = h;
	look_again(ep);
	err = 0;
out:
	ep_unlock(ep);
	return err;
}

struct ending {
	const struct eng_serve *serve;
	const struct eng_handler *handler;
};

static int is_idle(void *arg)
{
	const struct ending *e = arg;

	return e->serve->running != e->handler;
}

void o2g_serve_end(struct o2g_ep *ep, uint64_t tag, uint64_t ignore)
{
	struct eng_serve *s = &ep->serve;
	struct eng_handler **at = &s->handlers, *h;

	if (!ep_enter(ep))
		return;
	while (*at && ((*at)->tag != tag || (*at)->ignore != ignore))
		at = &(*at)->next;
	h = *at;
	if (h) {
		struct ending e = { s, h };

		*at = h->next;
		if (s->running == h && s->runner != this_thread())
			eng_wait_locked(ep, is_idle, &e, -1);
		free(h);
	}
	ep_unlock(ep);
}

/* --- sending to them --- */

static void free_copy(void *copy)
{
	free(copy);
}

static void gather(void *to, const struct o2g_seg *segs, unsigned nsegs)
{
	const struct o2g_view *view = nsegs == O2G_VIEW ? segs->base : NULL;
	char *at = to;

	if (view) {
		view->read(view, 0, to, segs->len);
		return;
	}
	for (unsigned i = 0; i < nsegs; i++) {
		if (segs[i].len)
			memcpy(at, segs[i].base, segs[i].len);
		at += segs[i].len;
	}
}

static struct eng_req *new_call(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
				void *data, size_t len)
{
	struct o2g_seg seg = { data, len };
	struct eng_req *r = eng_req_new(ep, &seg, 1);

	if (!r)
		return NULL;
	r->core.kind = O2G_REQ_SEND;
	r->core.flags = O2G_REQF_SERVED;
	r->core.peer = &p->cp.core;
	r->core.tag = tag;
	return r;
}

/* From a copy, which goes when it has been sent. */
static int call_from_copy(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
			  const struct o2g_seg *segs, unsigned nsegs, u64 len)
{
	void *copy = malloc(len ? len : 1);
	struct eng_req *r = copy ? new_call(ep, p, tag, copy, len) : NULL;
	int err;

	if (!r) {
		free(copy);
		return -ENOMEM;
	}
	gather(copy, segs, nsegs);
	r->detached = true;
	r->fn = free_copy;
	r->arg = copy;
	err = carrier_send(carrier_of(ep, p), ep, r);
	if (err) {
		free(copy);
		eng_req_free(ep, r);
	}
	return err;
}

#define CALL_SHORT 1024
static const u8 nothing[CALL_SHORT]; /* for a peer that is being given up */

/*
 * A short one mostly leaves at once, and needs no copy. If it does not, it is
 * copied before the caller goes on: nobody has been told where it is, since it is too
 * short to be read by the peer.
 */
static int call_short(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
		      const struct o2g_seg *segs, unsigned nsegs, u64 len)
{
	u8 flat[CALL_SHORT];
	void *data = flat, *copy;
	struct eng_req *r;

	if (nsegs == 1)
		data = segs->base;
	else
		gather(flat, segs, nsegs);
	r = new_call(ep, p, tag, data, len);
	if (!r)
		return -ENOMEM;
	r->unwatched = true; /* we look ourselves, and need not be woken */
	o2g_proto_send(&ep->core, &r->core);
	if (likely(eng_is_done(&r->core))) {
		int err = r->core.status;

		eng_req_free(ep, r);
		return err;
	}
	copy = malloc(len ? len : 1);
	if (copy && len)
		memcpy(copy, data, len);
	if (!copy)
		eng_bye_later(p, "out of memory");
	r->core.seg0.base = copy ? copy : (void *)nothing;
	r->unwatched = false;
	r->detached = true;
	r->fn = free_copy;
	r->arg = copy;
	return 0;
}

static bool leaves_at_once(const struct o2g_ep *ep, struct eng_peer *p, u64 len)
{
	return len <= CALL_SHORT && carrier_of(ep, p) == &own_carrier &&
	       len <= p->cp.core.eager_max &&
	       (!p->cp.core.can_get || len < p->cp.core.get_min);
}

int o2g_call(struct o2g_ep *ep, int peer, uint64_t tag,
	     const struct o2g_seg *segs, unsigned nsegs)
{
	struct eng_peer *p;
	u64 len = 0;
	int err = 0;

	if (nsegs == O2G_VIEW)
		len = segs->len;
	for (unsigned i = 0; nsegs != O2G_VIEW && i < nsegs; i++)
		len += segs[i].len;
	if (len > O2G_SERVED_MAX)
		return -EMSGSIZE;
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = eng_peer_known(ep, peer);
	if (unlikely(!p || !p->cp.chan))
		p = eng_peer_connect(ep, peer, &err);
	if (likely(p))
		err = likely(leaves_at_once(ep, p, len)) ?
			      call_short(ep, p, tag, segs, nsegs, len) :
			      call_from_copy(ep, p, tag, segs, nsegs, len);
	ep_unlock(ep);
	return err;
}

/* --- beginning and end --- */

void eng_serve_init(struct o2g_ep *ep)
{
	o2g_list_init(&ep->serve.ready);
	ep->serve.work.fn = run;
	ep->serve.work.ep = ep;
}

static void forget_long(struct eng_long_msg **at)
{
	if (!*at || !(*at)->here)
		return;
	free(*at);
	*at = NULL;
}

void eng_serve_forget(struct eng_peer *p)
{
	struct o2g_list *served = &p->cp.core.served;

	o2g_list_del(&p->serving);
	while (!o2g_list_empty(served)) {
		struct o2g_unexp *u =
			o2g_list_first(served, struct o2g_unexp, served);

		o2g_list_del(&u->served);
		o2g_list_del(&u->link);
		p->ep->core.ops->unexp_free(&p->ep->core, u);
	}
	forget_long(&p->long_msg);
	forget_long(&p->far_msg);
}

void eng_serve_cleanup(struct o2g_ep *ep)
{
	struct eng_handler *h;

	while ((h = ep->serve.handlers)) {
		ep->serve.handlers = h->next;
		free(h);
	}
}
