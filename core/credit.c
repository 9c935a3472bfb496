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
 *
 * Messages to handlers are paid from a grant of their own, which never changes. They are
 * handled whatever the program does, so nobody has to say that it waits for credit:
 * what is owed stays below a quarter of the grant, and whoever needs no more than half
 * of it gets that.
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
	if (unlikely(!o2g_list_empty(&p->calls)) && !p->calling)
		o2g_send_calls(c, p);
	if (!o2g_send_stalled(c, p) || p->down || o2g_list_empty(&p->stalled))
		return;
	p->said_stall = false;
	o2g_credit_say_stalled(c, p);
}

static enum o2g_proto_reason rx_served(struct o2g_core *c, struct o2g_peer *p,
				       u32 credit)
{
	if (credit > c->served_grant - p->served_credit)
		return O2G_PROTO_BAD_CREDIT;
	p->served_credit += credit;
	if (!o2g_list_empty(&p->calls) && !p->calling)
		o2g_send_calls(c, p);
	return O2G_PROTO_OK;
}

/* The credit field of any packet: of the kind that the packet itself costs. */
enum o2g_proto_reason o2g_credit_rx(struct o2g_core *c, struct o2g_peer *p,
				    const struct o2g_hdr *h)
{
	bool envelope = h->type == O2G_PKT_CREDIT &&
			h->flags & O2G_PKTF_ENVELOPE;
	u32 *to = envelope ? &p->env_credit : &p->credit;

	if (unlikely(h->flags & O2G_PKTF_SERVED))
		return rx_served(c, p, h->credit);
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

static bool charge_special(const struct o2g_core *c, struct o2g_peer *p,
			   u64 cost, enum o2g_paid paid)
{
	bool extra = paid == O2G_PAID_EXTRA;
	u32 *used = extra ? &p->extra_used : &p->served_used;

	if (cost > (extra ? p->extra : c->served_grant) - *used)
		return false;
	*used += (u32)cost;
	return true;
}

bool o2g_credit_charge(const struct o2g_core *c, struct o2g_peer *p, u64 cost,
		       enum o2g_paid paid)
{
	if (unlikely(paid != O2G_PAID_CREDIT))
		return charge_special(c, p, cost, paid);
	if (unlikely(!credit_granted(p, cost)))
		return false;
	p->used += (u32)cost;
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

/* Told when a quarter of the grant is due, unless a call or an answer to one goes
 * there before. */
static void return_served(struct o2g_core *c, struct o2g_peer *p, u64 cost)
{
	struct o2g_hdr h = { .type = O2G_PKT_CREDIT, .flags = O2G_PKTF_SERVED };

	p->served_used -= (u32)cost;
	p->served_owed += (u32)cost;
	if (p->served_owed < c->served_grant / 4)
		return;
	c->stats.credits_sent++;
	xmit(c, p, &h, NULL, 0, 0);
}

static void return_special(struct o2g_core *c, struct o2g_peer *p, u64 cost,
			   enum o2g_paid paid)
{
	if (paid == O2G_PAID_SERVED) {
		return_served(c, p, cost);
		return;
	}
	p->extra_used -= (u32)cost;
	p->extra -= (u32)cost;
	c->extra_total -= cost;
}

void o2g_credit_return(struct o2g_core *c, struct o2g_peer *p, u64 cost,
		       enum o2g_paid paid)
{
	if (p->down)
		return;
	if (unlikely(paid != O2G_PAID_CREDIT)) {
		return_special(c, p, cost, paid);
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

static void rx_stalled(struct o2g_core *c, struct o2g_peer *p)
{
	if (!p->is_stalled) {
		p->is_stalled = true;
		o2g_list_add_tail(&p->stall_link, &c->stalled_peers);
	}
	help(c, p, p->posted || c->posted_any);
}

enum o2g_proto_reason o2g_credit_rx_packet(struct o2g_core *c,
					   struct o2g_peer *p,
					   const struct o2g_hdr *h)
{
	if (h->flags & O2G_PKTF_SERVED && h->flags != O2G_PKTF_SERVED)
		return O2G_PROTO_BAD_STATE;
	if (h->flags & O2G_PKTF_STALLED)
		rx_stalled(c, p);
	return O2G_PROTO_OK;
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
