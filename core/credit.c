/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Credit: what a sender may leave in a receiver's unexpected memory.
 *
 * At any moment, for one direction of one pair,
 *
 *	credit at the sender + charges and returns in flight + used + owed
 *		= granted
 *
 * so the receiver never holds more than it granted. A grant starts at
 * O2G_CREDIT_INIT. It doubles each time a quarter of it has been consumed, up to
 * O2G_CREDIT_FLOW, so that a peer that talks a lot can keep its connection busy;
 * and each time the peer stalls, up to a fair share of the budget. A peer that
 * does neither costs next to nothing.
 *
 * Extra credit is for envelopes beyond the budget (see proto.h) and is used
 * up, not given back.
 */
#include "proto_impl.h"

/* --- sender --- */

bool o2g_credit_take_envelope(struct o2g_peer *p, u8 *flags)
{
	if (p->credit >= O2G_COST) {
		p->credit -= O2G_COST;
		return true;
	}
	if (p->env_credit < O2G_COST)
		return false;
	p->env_credit -= O2G_COST;
	*flags |= O2G_PKTF_ENVELOPE;
	return true;
}

void o2g_credit_say_stalled(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2g_hdr h = { .type = O2G_PKT_CREDIT,
			     .flags = O2G_PKTF_STALLED };

	if (p->said_stall)
		return;
	p->said_stall = true;
	c->stats.stalls++;
	xmit(c, p, &h, NULL, 0, 0);
}

void o2g_proto_go_on(struct o2g_core *c, struct o2g_peer *p)
{
	if (!o2g_send_stalled(c, p) || p->down || o2g_list_empty(&p->stalled))
		return;
	p->said_stall = false;
	o2g_credit_say_stalled(c, p);
}

/* The credit field of any packet. */
enum o2g_proto_reason o2g_credit_rx(struct o2g_core *c, struct o2g_peer *p,
				    const struct o2g_hdr *h)
{
	bool envelope = h->type == O2G_PKT_CREDIT &&
			h->flags & O2G_PKTF_ENVELOPE;
	u32 *to = envelope ? &p->env_credit : &p->credit;

	if (h->credit > (u32)~0 - *to)
		return O2G_PROTO_BAD_CREDIT;
	*to += h->credit;
	if (likely(o2g_list_empty(&p->stalled))) {
		/* All were cancelled? The next stall is news to the peer. */
		p->said_stall = false;
		return O2G_PROTO_OK;
	}
	if (!p->starting)
		o2g_proto_go_on(c, p);
	return O2G_PROTO_OK;
}

/* --- receiver --- */

bool o2g_credit_charge(struct o2g_peer *p, u64 cost, bool extra)
{
	if (unlikely(extra ? cost > p->extra - p->extra_used :
			     !credit_granted(p, cost)))
		return false;
	*(extra ? &p->extra_used : &p->used) += (u32)cost;
	return true;
}

static void not_stalled(struct o2g_peer *p)
{
	p->is_stalled = false;
	o2g_list_del(&p->stall_link);
}

static void send_credit(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2g_hdr h = { .type = O2G_PKT_CREDIT };

	not_stalled(p);
	c->stats.credits_sent++;
	xmit(c, p, &h, NULL, 0, 0);
}

/* Double the grant, up to @limit, if a fair share and the total allow. */
static bool grow(struct o2g_core *c, struct o2g_peer *p, u64 limit)
{
	u64 share = c->budget_total / (c->npeers_alive ? c->npeers_alive : 1);
	u64 more;

	limit = min_u64(limit, min_u64(c->budget_peer, share));
	if (p->granted >= limit)
		return false;
	more = min_u64(p->granted, limit - p->granted);
	if (c->granted_total + more > c->budget_total)
		return false;
	c->granted_total += more;
	p->granted += (u32)more;
	p->owed += (u32)more;
	return true;
}

void o2g_credit_return(struct o2g_core *c, struct o2g_peer *p, u64 cost,
		       bool extra)
{
	if (p->down)
		return;
	if (unlikely(extra)) {
		p->extra_used -= (u32)cost;
		p->extra -= (u32)cost;
		c->extra_total -= cost;
		return;
	}
	p->used -= (u32)cost;
	p->owed += (u32)cost;
	if (likely(!credit_due(p, p->owed)))
		return;
	grow(c, p, p->is_stalled ? c->budget_peer : O2G_CREDIT_FLOW);
	send_credit(c, p);
}

/* Let a stalled peer send envelopes beyond the budget. */
static void grant_extra(struct o2g_core *c, struct o2g_peer *p, u32 extra)
{
	struct o2g_hdr h = { .type = O2G_PKT_CREDIT,
			     .flags = O2G_PKTF_ENVELOPE,
			     .credit = extra,
			     .src = c->rank,
			     .dst = p->wire_rank };

	not_stalled(p);
	c->extra_total += extra;
	p->extra += extra;
	c->stats.extra_grants++;
	/* Not by xmit(): what is owed is of the other kind and stays. */
	c->ops->xmit(c, p, &h, NULL, 0, 0);
}

/*
 * A peer that says it is stalled has used up what it was granted before; one that
 * only says so gets no more. And there is an end to them, for all peers together.
 */
static bool may_grant_extra(const struct o2g_core *c, const struct o2g_peer *p)
{
	return p->extra - p->extra_used < O2G_COST &&
	       c->extra_total + O2G_CREDIT_EXTRA <= c->extra_max;
}

/*
 * More room, or what was consumed; without either a few envelopes, so that the
 * peer falls back to rendezvous; and as many as it takes when a message is
 * wanted that it may be holding back.
 */
static void help(struct o2g_core *c, struct o2g_peer *p, bool wanted)
{
	if (!p->is_stalled || p->down)
		return;
	if (grow(c, p, c->budget_peer) || p->owed)
		send_credit(c, p);
	else if (!may_grant_extra(c, p))
		return;
	else if (wanted)
		grant_extra(c, p, O2G_CREDIT_EXTRA);
	else if (!p->extra)
		grant_extra(c, p, O2G_CREDIT_RESERVE);
}

void o2g_credit_rx_stalled(struct o2g_core *c, struct o2g_peer *p)
{
	if (!p->is_stalled) {
		p->is_stalled = true;
		o2g_list_add_tail(&p->stall_link, &c->stalled_peers);
	}
	help(c, p, p->posted || c->posted_any);
}

void o2g_credit_wanted(struct o2g_core *c, struct o2g_peer *p)
{
	struct o2g_list *l, *tmp;

	if (p) {
		help(c, p, true);
		return;
	}
	o2g_list_for_each_safe(l, tmp, &c->stalled_peers)
		help(c, container_of(l, struct o2g_peer, stall_link), true);
}
