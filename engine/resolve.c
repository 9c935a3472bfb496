/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Peers whose address is not known yet. Whoever knows it (attr.resolve; for MPI the
 * launcher) may take its time, and nothing of this endpoint waits for that: what is
 * for such a peer is held back, in order, and goes to whoever carries it once it is
 * reached. All else goes on.
 *
 * One address is asked for at a time. A peer that connects to us meanwhile is
 * reached without.
 */
#include "resolve.h"

#include <stdio.h>

#include "async.h"
#include "carrier.h"
#include "channels.h"

/* Between two looks for an answer: from ... to. */
#define LOOK_US 20
#define LOOK_MAX_US 5000

/* --- what is held back --- */

static int hold_send(struct o2g_ep *ep, struct eng_req *r)
{
	if (ep->driver && r->core.view) /* which it may not know */
		return -EOPNOTSUPP;
	o2g_proto_hold(&ep->core, &r->core);
	eng_async_want(ep);
	return 0;
}

static int hold_rma(struct o2g_ep *ep, struct eng_req *r)
{
	struct eng_peer *p = eng_peer_of_core(r->core.peer);

	r->core.state = O2G_ST_STALLED;
	o2g_list_init(&r->core.link);
	o2g_list_add_tail(&r->core.link, &p->held_rma);
	eng_async_want(ep);
	return 0;
}

static int hold_no_inject(struct o2g_ep *ep, struct eng_peer *p, u64 tag,
			  const void *buf, size_t len)
{
	return -EAGAIN;
}

/* Receives hold nobody up: the peer may reach us first. */
static int post_anyway(struct o2g_ep *ep, struct eng_req *r)
{
	return ep->any->post(ep, r);
}

const struct carrier holding_carrier = {
	.send = hold_send,
	.inject = hold_no_inject,
	.post = post_anyway,
	.rma = hold_rma,
};

static void begin_holding(struct o2g_ep *ep, struct eng_peer *p)
{
	p->resolving = true;
	p->carrier = &holding_carrier;
	o2g_list_add_tail(&p->asked, &ep->resolving);
}

static void end_holding(struct eng_peer *p)
{
	p->resolving = false;
	p->carrier = p->ep->driver ? NULL : &own_carrier;
	o2g_list_del(&p->asked);
}

static struct eng_req *take_first(struct o2g_list *list)
{
	struct o2g_req *r;

	if (o2g_list_empty(list))
		return NULL;
	r = o2g_list_first(list, struct o2g_req, link);
	o2g_list_del(&r->link);
	r->state = O2G_ST_NEW;
	return eng_req_of(r);
}

static void take_all(struct o2g_list *from, struct o2g_list *to)
{
	o2g_list_init(to);
	while (!o2g_list_empty(from)) {
		struct o2g_list *l = from->next;

		o2g_list_del(l);
		o2g_list_add_tail(l, to);
	}
}

/* It is reached: what was held back begins, in order. */
static void release(struct o2g_ep *ep, struct eng_peer *p)
{
	struct o2g_list sends;
	struct eng_req *r;
	int err;

	end_holding(p);
	take_all(&p->cp.core.stalled, &sends);
	while ((r = take_first(&sends))) {
		err = carrier_send(carrier_of(ep, p), ep, r);
		if (err)
			eng_req_finish(ep, r, err);
	}
	while ((r = take_first(&p->held_rma))) {
		err = carrier_of(ep, p)->rma(ep, r);
		if (err)
			eng_req_finish(ep, r, err);
	}
	if (p->nudged && p->cp.chan->ops->nudge)
		p->cp.chan->ops->nudge(p->cp.chan, &p->cp);
	p->nudged = false;
}

void eng_resolve_stop(struct eng_peer *p)
{
	struct eng_req *r;

	if (!p->resolving)
		return;
	end_holding(p); /* the core fails the sends */
	while ((r = take_first(&p->held_rma)))
		eng_req_finish(p->ep, r, -O2G_ERR_PEER);
}

/* --- asking --- */

static void unknown(struct eng_peer *p, int err)
{
	if (err == -EPIPE)
		chan_peer_lost(
			&p->cp, err,
			"its address is not known: the launcher is gone");
	else
		chan_peer_lost(&p->cp, err, "its address is not known");
}

/* -EINPROGRESS; otherwise it is connecting, or lost. */
static int ask(struct o2g_ep *ep, struct eng_peer *p)
{
	char address[O2G_ADDRESS_MAX];
	int err = ep->resolve(ep->resolve_arg, (int)p->cp.core.rank, address,
			      sizeof(address));

	if (!err)
		return eng_channels_connect(ep, p, address);
	if (err != -EINPROGRESS)
		unknown(p, err);
	return err;
}

static struct eng_peer *first_asked(struct o2g_ep *ep)
{
	return o2g_list_empty(&ep->resolving) ?
		       NULL :
		       o2g_list_first(&ep->resolving, struct eng_peer, asked);
}

/* Those that have connected to us meanwhile. */
static bool release_reached(struct o2g_ep *ep)
{
	struct o2g_list *l, *tmp;
	bool some = false;

	o2g_list_for_each_safe(l, tmp, &ep->resolving) {
		struct eng_peer *p = container_of(l, struct eng_peer, asked);

		if (!p->cp.chan)
			continue;
		release(ep, p);
		some = true;
	}
	return some;
}

static bool ask_in_turn(struct o2g_ep *ep)
{
	struct eng_peer *p;
	bool some = false;

	while ((p = first_asked(ep)) && ask(ep, p) != -EINPROGRESS) {
		if (p->resolving)
			release(ep, p);
		some = true;
	}
	return some;
}

static void look_again(struct o2g_ep *ep)
{
	chan_timer_set((struct chan_ep *)ep, &ep->resolve_timer,
		       ep->resolve_us);
}

static void look(struct chan_timer *t)
{
	struct o2g_ep *ep = container_of(t, struct o2g_ep, resolve_timer);
	bool some = release_reached(ep);

	some |= ask_in_turn(ep);
	if (some)
		ep->resolve_us = LOOK_US;
	else if (ep->resolve_us < LOOK_MAX_US)
		ep->resolve_us *= 2;
	if (first_asked(ep))
		look_again(ep);
}

int eng_resolve(struct o2g_ep *ep, struct eng_peer *p)
{
	bool first = !first_asked(ep);
	int err = first ? ask(ep, p) : -EINPROGRESS;

	if (err != -EINPROGRESS)
		return err;
	begin_holding(ep, p);
	if (first) {
		ep->resolve_us = LOOK_US;
		look_again(ep);
	}
	return 0;
}

void eng_resolve_init(struct o2g_ep *ep)
{
	o2g_list_init(&ep->resolving);
	ep->resolve_timer.fn = look;
}
