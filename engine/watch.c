/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "watch.h"

#include "clock.h"
#include "peer.h"
#include "probe.h"
#include "req.h"

#define MS 1000000ull
#define LOOK_MS 250 /* between two looks at what is new */
#define LOOK_MAX_MS 1000
#define PARTS 8
#define MESSAGES 64

/* Short enough to go without asking, but without credit it was only announced. */
static bool lacks_room(const struct o2g_req *r)
{
	return r->kind == O2G_REQ_SEND && !(r->flags & O2G_REQF_SYNC) &&
	       r->len <= r->peer->eager_max;
}

static int stage_of(const struct o2g_req *r)
{
	switch (r->state) {
	case O2G_ST_STALLED:
		return O2G_NO_ROOM;
	case O2G_ST_WAIT:
		if (r->flags & O2G_REQF_GOT_CTS)
			return O2G_MOVING;
		return lacks_room(r) ? O2G_NO_ROOM : O2G_ANNOUNCED;
	case O2G_ST_XMIT:
	case O2G_ST_CLAIMED:
	case O2G_ST_DATA:
	case O2G_ST_FILLING:
		return O2G_MOVING;
	default:
		return O2G_UNMATCHED;
	}
}

static const int doing_of[] = {
	[O2G_REQ_SEND] = O2G_SENDS, [O2G_REQ_RECV] = O2G_RECEIVES,
	[O2G_REQ_PUT] = O2G_PUTS,   [O2G_REQ_GET] = O2G_GETS,
	[O2G_REQ_REPLY] = O2G_PUTS,
};

void o2g_look_at(const struct o2g_req *r, struct o2g_pending *p)
{
	bool recv = r->kind == O2G_REQ_RECV;

	*p = (struct o2g_pending){
		.doing = doing_of[r->kind],
		.stage = stage_of(r),
		.peer = r->peer ? (int)r->peer->rank : O2G_ANY_SOURCE,
		.tag = recv && r->state == O2G_ST_POSTED ? r->match.tag :
							   r->tag,
		.ignore = recv && r->state == O2G_ST_POSTED ? r->match.ignore :
							      0,
		.length = r->len,
		.moved = r->got,
	};
	/* The driver knows how far it is. */
	if (recv && eng_req_of(r)->in_driver) {
		p->tag = r->match.tag;
		p->ignore = r->match.ignore;
	}
}

/* --- a wait --- */

static void add(struct o2g_waits *w, struct o2g_pending *to,
		const struct o2g_req *r)
{
	if (!r || eng_is_done(r))
		return;
	if (w->n < PARTS)
		o2g_look_at(r, &to[w->n++]);
	w->total++;
}

static void look_at_probe(const struct eng_probe *p, struct o2g_pending *to)
{
	*to = (struct o2g_pending){
		.doing = O2G_PROBES,
		.peer = p->src == O2G_MATCH_ANY ? O2G_ANY_SOURCE : (int)p->src,
		.tag = p->tag,
		.ignore = p->ignore,
	};
}

/* What a condition of the library itself is about; others are passed on. */
static void explain(struct o2g_waits *w, struct o2g_pending *to)
{
	const struct eng_several *s = w->arg;

	if (w->cond == eng_req_cond) {
		add(w, to, w->arg);
	} else if (w->cond == eng_all_cond || w->cond == eng_any_cond) {
		w->any = w->cond == eng_any_cond;
		for (size_t i = 0; i < s->n; i++)
			add(w, to, s->reqs[i]);
		if (w->any && eng_any_cond(w->arg))
			w->n = 0; /* what it waits for is there */
	} else if (w->cond == eng_probe_cond) {
		look_at_probe(w->arg, to);
		w->n = w->total = 1;
	} else {
		return;
	}
	w->cond = NULL;
	w->arg = NULL;
}

void eng_watch_tell(struct o2g_ep *ep, struct eng_waiting *w,
		    int (*cond)(void *), void *arg)
{
	const struct o2g_watch *watch = ep->watch;
	struct o2g_waits waits = { .cond = cond, .arg = arg };
	struct o2g_pending pending[PARTS];
	u64 now = o2g_now_ns();

	if (!w->since_ns)
		w->since_ns = now - w->slept_us * 1000;
	if (now - w->since_ns < ENG_WATCH_MS * MS ||
	    now - w->told_ns < ENG_WATCH_MS * MS)
		return;
	if (!w->mine) {
		/* It looks where in the program we are, and may take its time. */
		ep_unlock(ep);
		w->mine = watch->begins(watch->arg);
		ep_lock(ep);
		if (!w->mine || ep->watch != watch)
			return;
	}
	waits.pending = pending;
	waits.since_ns = w->since_ns;
	explain(&waits, pending);
	if (!waits.cond && !waits.n)
		return; /* it is over */
	watch->waits(watch->arg, w->mine, &waits);
	w->told_ns = now;
	w->fresh = true;
	eng_watch_tick(ep);
}

void eng_watch_end(struct o2g_ep *ep, struct eng_waiting *w)
{
	if (ep->watch)
		ep->watch->ends(ep->watch->arg, w->mine);
	w->mine = NULL;
}

/* --- how things stand --- */

struct gathering {
	struct o2g_unexpected to[MESSAGES];
	struct o2g_looked l;
};

static void gather_message(struct o2g_match_entry *e, void *arg)
{
	const struct o2g_unexp *u = container_of(e, struct o2g_unexp, match);
	struct gathering *g = arg;

	if (g->l.n == MESSAGES)
		return;
	g->to[g->l.n++] = (struct o2g_unexpected){
		.source = (int)u->peer->rank,
		.tag = u->match.tag,
		.length = u->len,
		.announced = u->type == O2G_PKT_RTS,
	};
}

/* The oldest first: those are what somebody has forgotten. */
static void gather_messages(struct o2g_ep *ep, struct gathering *g)
{
	struct o2g_list *pos;

	o2g_list_for_each(pos, &ep->core.match.arrived) {
		gather_message(container_of(pos, struct o2g_match_entry, order),
			       g);
		if (g->l.n == MESSAGES)
			break;
	}
	g->l.unexpected = ep->core.match.nunexp;
	g->l.unexpected_bytes = ep->unexp_bytes;
}

static void look(struct o2g_ep *ep, u64 now)
{
	struct gathering g = { .l = { .calls = ep->calls } };
	unsigned news = __atomic_load_n(ep->watch->news, __ATOMIC_RELAXED);
	struct eng_peer *p;

	eng_for_each_peer(p, ep) {
		const struct o2g_peer *c = &p->cp.core;

		g.l.sent += c->msgs_sent;
		g.l.received += c->msgs_recv;
		g.l.bytes += c->bytes_sent + c->bytes_recv;
	}
	gather_messages(ep, &g);
	g.l.messages = g.to;
	ep->watch->look(ep->watch->arg, &g.l);
	ep->looked_ns = now;
	ep->looked_news = news;
	ep->looked_calls = ep->calls;
	ep->looked_arrived = ep->core.stats.unexpected;
	ep->looked_unexp = ep->core.match.nunexp;
}

static bool is_news(const struct o2g_ep *ep)
{
	return !ep->looked_ns ||
	       __atomic_load_n(ep->watch->news, __ATOMIC_RELAXED) !=
		       ep->looked_news ||
	       ep->calls != ep->looked_calls ||
	       ep->core.stats.unexpected != ep->looked_arrived ||
	       ep->core.match.nunexp != ep->looked_unexp;
}

void eng_watch_tick(struct o2g_ep *ep)
{
	u64 now;

	if (!ep->watch || !is_news(ep))
		return;
	now = o2g_now_ns();
	if (now - ep->looked_ns >= LOOK_MS * MS)
		look(ep, now);
}

int eng_watch_due(const struct o2g_ep *ep)
{
	if (!ep->watch)
		return -1;
	/* What the watch has new wakes nobody. */
	return is_news(ep) ? LOOK_MS : LOOK_MAX_MS;
}

void o2g_watch(struct o2g_ep *ep, const struct o2g_watch *watch)
{
	if (!ep_enter(ep))
		return;
	ep->watch = watch;
	ep_unlock(ep);
}
