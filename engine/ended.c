/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Peers that have ended without our being connected to them.
 *
 * A connection tells when its other end is gone. Whoever waits for a message of a
 * peer that has never sent one has no connection to it, and nothing would tell.
 * So twice a second, as long as somebody looks at the endpoint at all, we ask
 * whoever has opened it who has ended (attr.ended: MPI asks the launcher).
 *
 * Where nobody can say, a peer that is waited for from one look to the next is
 * connected to: if it has ended nobody is there, and if it ends later the
 * connection breaks. A receive from any source waits for all, and makes
 * connections to all of them in jobs of up to ANY_MAX ranks.
 *
 * Nobody can ever say it of peers of other jobs. As long as there are no more than
 * ANY_MAX of them we connect to all, so that whoever waits for somebody else, who
 * waits for one of those, learns of its death as well.
 *
 * Then there is what waits for others in vain, because they have given up or will:
 * only whoever has opened the endpoint can tell (attr.doomed). It is asked when a peer
 * is lost, and from then on with each look, about what has come since.
 *
 * Last, whoever cannot be reached, and whose error the program does not see.
 *
 * None of this is on the way of a message: receives know nothing of it.
 */
#include "ended.h"

#include <stdio.h>

#include "carrier.h"
#include "log.h"
#include "progress.h"

#define LOOK_US 500000
#define SOON_US 1000 /* an answer is on its way; twice as long each time */
#define ANY_MAX 64

/* What its connections carry still counts, and they tell by themselves. */
static void mourn(struct o2g_ep *ep, const struct o2g_ended *e)
{
	struct eng_peer *p = eng_peer_get(ep, e->rank);

	if (!p || p->lost || p->cp.link || e->rank == ep->rank)
		return;
	snprintf(p->cp.host, sizeof(p->cp.host), "%s", e->host);
	p->cp.core.said_bye |= e->finished;
	chan_peer_lost(&p->cp, -O2G_ERR_PEER, "%s", e->how);
}

/* True: the answer is on its way. */
static bool ask(struct o2g_ep *ep)
{
	struct o2g_ended e;
	int err;

	while (!(err = ep->ended(ep->resolve_arg, &e)))
		mourn(ep, &e);
	return err == -EINPROGRESS;
}

static void await(struct o2g_ep *ep, int rank)
{
	struct eng_peer *p;

	if (rank < ep->size && (ep->ended || !ep->resolve))
		return;
	p = eng_peer_get(ep, rank);
	if (p && !p->cp.chan)
		p->awaited |= ENG_AWAITED_NOW;
}

static void await_posted(struct o2g_match_entry *e, void *arg)
{
	if (e->src != O2G_MATCH_ANY)
		await(arg, (int)e->src);
}

static bool waits_for_any(const struct o2g_ep *ep)
{
	return (ep->core.posted_any || ep->probed_any) && ep->size <= ANY_MAX;
}

static void find_awaited(struct o2g_ep *ep)
{
	o2g_match_each_posted(&ep->core.match, await_posted, ep);
	for (int i = 0; waits_for_any(ep) && i < ep->size; i++)
		await(ep, i);
	ep->probed_any = false;
}

static void await_others(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (p->other && !p->cp.chan && !p->lost)
			p->awaited |= ENG_AWAITED_LONG >> 1; /* now */
}

static void reach(struct o2g_ep *ep, struct eng_peer *p)
{
	int err;

	p->awaited <<= 1;
	if (!(p->awaited & ENG_AWAITED_LONG) || p->cp.chan || p->lost)
		return;
	p->awaited = 0;
	eng_peer_connect(ep, (int)p->cp.core.rank, &err);
}

static void reach_awaited(struct o2g_ep *ep)
{
	struct eng_peer *p;

	if (!ep->peers.nothers && (ep->ended || !ep->resolve))
		return;
	find_awaited(ep);
	if (ep->peers.nothers <= ANY_MAX)
		await_others(ep);
	eng_for_each_peer(p, ep)
		if (p->awaited)
			reach(ep, p);
}

/* --- what is doomed --- */

/*
 * Of a death one receive from any source is told: not one that the driver has a
 * message for by now. So that is asked of the driver in between.
 */
static bool any_is_doomed(struct o2g_ep *ep, const struct o2g_req *req)
{
	struct eng_req *r = eng_req_of(req);

	if (r->in_driver &&
	    (!ep->doomed(ep->resolve_arg, req->tag, O2G_DOOMED_ANY_ASK) ||
	     !ep->driver->claim(ep, r)))
		return false;
	return ep->doomed(ep->resolve_arg, req->tag, O2G_DOOMED_ANY);
}

static bool is_doomed(const struct o2g_req *req, void *arg)
{
	struct o2g_ep *ep = arg;

	if (req->kind == O2G_REQ_RECV && req->match.src == O2G_MATCH_ANY)
		return any_is_doomed(ep, req);
	if (req->flags & O2G_REQF_SERVED) /* its tag is none of a message */
		return false;
	return ep->doomed(ep->resolve_arg, req->tag, O2G_DOOMED_ONE);
}

static bool may_be_doomed(struct o2g_ep *ep)
{
	return ep->doomed && atomic_load(&ep->losses);
}

bool eng_any_doomed(struct o2g_ep *ep, u64 tag)
{
	return may_be_doomed(ep) &&
	       ep->doomed(ep->resolve_arg, tag, O2G_DOOMED_ANY);
}

void eng_ended_give_up(struct o2g_ep *ep)
{
	if (!may_be_doomed(ep))
		return;
	o2g_proto_give_up(&ep->core, is_doomed, ep, -O2G_ERR_PEER);
	if (ep->driver)
		ep->driver->give_up(ep, O2G_REQ_RECV, is_doomed);
}

static void give_up_sends(struct o2g_ep *ep)
{
	struct eng_peer *p;

	if (!may_be_doomed(ep))
		return;
	eng_for_each_peer(p, ep)
		if (!p->lost)
			o2g_proto_give_up_sends(&ep->core, &p->cp.core,
						is_doomed, ep);
	if (ep->driver)
		ep->driver->give_up(ep, O2G_REQ_SEND, is_doomed);
}

/* --- what the program has not been told --- */

/*
 * A send to a peer that cannot be reached has failed, but the program waits for
 * something else: for an answer to it, or in a loop around MPI_Test. Then nobody would
 * ever say why the job stands still.
 */
#define UNTOLD_LOOKS 3

void eng_ended_untold(struct eng_peer *p)
{
	p->untold = 1;
	p->ep->untold++;
}

void eng_ended_told(struct eng_peer *p)
{
	p->ep->untold -= p->untold != 0;
	p->untold = 0;
}

static void say(struct eng_peer *p, const char *and)
{
	o2g_warn("lost %s; %s", p->error ? p->error : "a peer", and);
	eng_ended_told(p);
}

static void tell(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (p->untold && p->untold++ >= UNTOLD_LOOKS)
			say(p, "the program goes on waiting");
}

void eng_ended_last_words(struct o2g_ep *ep)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep)
		if (p->unreached && p->cp.core.msgs_sent)
			say(p, "what was sent to it did not arrive");
}

/* --- looking --- */

/* The program computes, and waits for nothing: then it need not know. */
static bool nobody_asks(struct o2g_ep *ep)
{
	bool same = ep->calls == ep->calls_looked;

	ep->calls_looked = ep->calls;
	return same && !ep->inside && !ep->reqs_in_use && !ep->works;
}

static bool look_for_ended(struct o2g_ep *ep)
{
	bool soon = false;

	/* Rings may hold the first word of somebody who has ended since. */
	eng_poll(ep);
	if (ep->ended)
		soon = ask(ep);
	reach_awaited(ep);
	eng_ended_give_up(ep);
	give_up_sends(ep);
	if (ep->untold)
		tell(ep);
	return soon;
}

static void look(struct chan_timer *t)
{
	struct o2g_ep *ep = container_of(t, struct o2g_ep, ended_timer);

	u32 us = LOOK_US;

	if (ep->ended_us || !nobody_asks(ep)) {
		if (look_for_ended(ep))
			us = ep->ended_us ? ep->ended_us * 2 : SOON_US;
	}
	ep->ended_us = us < LOOK_US ? us : 0;
	chan_timer_set((struct chan_ep *)ep, t, us < LOOK_US ? us : LOOK_US);
}

void eng_ended_probed(struct o2g_ep *ep, u32 source)
{
	if (source == O2G_MATCH_ANY)
		ep->probed_any = true;
	else
		await(ep, (int)source);
}

void eng_ended_start(struct o2g_ep *ep)
{
	ep->ended_timer.fn = look;
	if (ep->size > 1)
		eng_ended_look(ep);
}

void eng_ended_look(struct o2g_ep *ep)
{
	chan_timer_set((struct chan_ep *)ep, &ep->ended_timer, LOOK_US);
}
