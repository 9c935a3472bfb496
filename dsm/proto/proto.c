/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Messages to the side that they are for; homes; the loss of a node. */
#include "dsm_proto.h"

unsigned dsm_home(const struct dsm_proto *p, u32 page)
{
	const struct dsm_page *pg = &p->pages[page];
	dsm_set left = p->founders;
	u32 skip;

	if (pg->home)
		return pg->home - 1u;
	skip = page % dsm_count(left);
	while (skip--)
		left &= left - 1;
	return dsm_first(left);
}

/* What can be seen of a message without knowing the page. */
static bool sound(const struct dsm_proto *p, const struct dsm_msg *m,
		  const void *data)
{
	if (m->page >= p->npages || m->access > DSM_WRITE ||
	    m->node >= DSM_NODES || !data != !(m->flags & DSM_DATA))
		return false;
	switch (m->type) {
	case DSM_ASK:
		return !data && m->access != DSM_NONE;
	case DSM_GRANT:
		return m->access != DSM_NONE;
	case DSM_TAKE:
		return !data && m->access != DSM_WRITE;
	default:
		return m->type >= DSM_GIVEN && m->type <= DSM_AGAIN;
	}
}

/*
 * What we have asked for may have been with a dead node, passed on to it by somebody
 * else. If it was not, a home that is asked twice answers once, or twice at worst.
 */
static void ask_again(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	enum dsm_access want = pg->want;

	pg->want = DSM_NONE;
	if (want)
		dsm_want(p, page, want, false);
}

/*
 * Ask the home that we know, and have it say who the home is if it is not. Step by step
 * that leads to the home, or to a node whose home has died; and no question is under way
 * that somebody else would answer.
 */
static void ask_directly(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	unsigned home = dsm_home(p, page);
	struct dsm_msg ask = { DSM_ASK, pg->want, DSM_DIRECT, p->self, page };

	if (dsm_has(p->dead, home))
		dsm_node_gone(p, page);
	else if (home != p->self)
		p->ops->send(p->ctx, home, &ask, NULL);
}

/*
 * Whoever says so may be at the end of the way that our question took, or know less than
 * we do by now. Only the home that we know is believed; else we ask it.
 */
static void hear_gone(struct dsm_proto *p, unsigned from,
		      const struct dsm_msg *m)
{
	if (!p->pages[m->page].want)
		return;
	if (m->flags & DSM_HOME || dsm_home(p, m->page) == from)
		dsm_node_gone(p, m->page);
	else
		ask_directly(p, m->page);
}

/* The home that we know knows a newer one, unless we have heard from that since. */
static void hear_again(struct dsm_proto *p, unsigned from,
		       const struct dsm_msg *m)
{
	struct dsm_page *pg = &p->pages[m->page];

	if (!(m->flags & DSM_HOME)) {
		ask_again(p, m->page);
		return;
	}
	if (!pg->want || dsm_home(p, m->page) == p->self)
		return;
	if (dsm_home(p, m->page) == from && m->node != p->self)
		pg->home = (u8)(m->node + 1);
	ask_directly(p, m->page);
}

int dsm_receive(struct dsm_proto *p, unsigned from, const struct dsm_msg *m,
		const void *data)
{
	if (!sound(p, m, data))
		return -EPROTO;
	switch (m->type) {
	case DSM_ASK:
		dsm_home_ask(p, m->page, m->node, m->access, m->flags);
		return 0;
	case DSM_GRANT:
		if (dsm_home(p, m->page) == p->self)
			return -EPROTO; /* who could grant it to its home? */
		dsm_node_grant(p, from, m->page, m->access, m->flags, data);
		return 0;
	case DSM_TAKE:
		return dsm_node_take(p, from, m->page, m->access);
	case DSM_GIVEN:
		return dsm_home_given(p, from, m->page, data);
	case DSM_GONE:
		hear_gone(p, from, m);
		return 0;
	default:
		hear_again(p, from, m);
		return 0;
	}
}

static void warn_passed(struct dsm_proto *p, u32 page)
{
	struct dsm_msg again = { DSM_AGAIN, DSM_NONE, 0, 0, page };
	dsm_set to = p->pages[page].passed & ~p->dead;

	p->pages[page].passed = 0;
	for (; to; to &= to - 1)
		p->ops->send(p->ctx, dsm_first(to), &again, NULL);
}

static void page_lost(struct dsm_proto *p, unsigned node, u32 page)
{
	struct dsm_page *pg = &p->pages[page];

	warn_passed(p, page);
	if (dsm_home(p, page) == p->self) {
		dsm_home_lost(p, node, page);
		return;
	}
	if (pg->delayed && pg->taker == node)
		pg->delayed = pg->keep = pg->taker = 0;
	ask_again(p, page);
}

void dsm_lost(struct dsm_proto *p, unsigned node, u32 first, u32 n)
{
	p->dead |= dsm_only(node);
	for (u32 page = first; page < first + n; page++)
		page_lost(p, node, page);
}
