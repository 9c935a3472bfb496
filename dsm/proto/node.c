/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The node's side: asking for a page, getting it, giving it back.
 *
 * A node has asked for a page at most once at a time. Whatever a home grants is taken,
 * also when nobody asks for it any more: the home counts on it, and after the loss of a
 * node questions are asked again, so that two answers may come.
 */
#include "dsm_proto.h"

enum dsm_result dsm_want(struct dsm_proto *p, u32 page, enum dsm_access access,
			 bool home)
{
	struct dsm_page *pg = &p->pages[page];
	unsigned at = dsm_home(p, page);
	struct dsm_msg ask = { DSM_ASK, (u8)access, home ? DSM_HOME : 0,
			       p->self, page };

	if (pg->access >= access && (!home || at == p->self))
		return DSM_HAVE;
	if (pg->want)
		return DSM_UNDER_WAY;
	if (pg->gone || dsm_has(p->dead, at)) {
		dsm_node_gone(p, page);
		return DSM_LOST;
	}
	pg->want = access;
	if (at == p->self)
		dsm_home_ask(p, page, p->self, access, ask.flags);
	else
		p->ops->send(p->ctx, at, &ask, NULL);
	return pg->gone		    ? DSM_LOST :
	       pg->access >= access ? DSM_HAVE :
				      DSM_UNDER_WAY;
}

void dsm_node_grant(struct dsm_proto *p, unsigned from, u32 page,
		    enum dsm_access access, unsigned flags, const void *data)
{
	struct dsm_page *pg = &p->pages[page];

	if (flags & DSM_HOME)
		dsm_home_begin(p, page);
	else
		pg->home = (u8)(from + 1);
	pg->gone = 0;
	pg->access = (u8)access;
	if (pg->access >= pg->want)
		pg->want = DSM_NONE;
	p->ops->install(p->ctx, page, access, flags & (DSM_DATA | DSM_ZERO),
			data);
}

void dsm_node_gone(struct dsm_proto *p, u32 page)
{
	p->pages[page].gone = 1;
	p->pages[page].want = DSM_NONE;
	p->ops->fail(p->ctx, page);
}

/* Take it, whoever wants it back. The content, if it is to go with the answer. */
static const void *give(struct dsm_proto *p, u32 page, enum dsm_access keep,
			bool wanted)
{
	struct dsm_page *pg = &p->pages[page];

	pg->access = (u8)keep;
	if (keep == DSM_NONE)
		return p->ops->take(p->ctx, page, wanted);
	p->ops->protect(p->ctx, page);
	return wanted ? p->ops->data(p->ctx, page) : NULL;
}

static void give_to(struct dsm_proto *p, unsigned home, u32 page,
		    enum dsm_access keep)
{
	bool written = p->pages[page].access == DSM_WRITE;
	struct dsm_msg given = { DSM_GIVEN, (u8)keep, written ? DSM_DATA : 0, 0,
				 page };

	if (home == p->self)
		dsm_home_own_given(
			p, page, give(p, page, keep, dsm_home_sends(p, page)));
	else
		p->ops->send(p->ctx, home, &given,
			     give(p, page, keep, written));
}

int dsm_node_take(struct dsm_proto *p, unsigned from, u32 page,
		  enum dsm_access keep)
{
	struct dsm_page *pg = &p->pages[page];

	if (pg->access <= keep || pg->delayed)
		return -EPROTO;
	if (from != p->self)
		pg->home = (u8)(from + 1);
	if (p->ops->held(p->ctx, page)) {
		pg->delayed = 1;
		pg->keep = (u8)keep & 3;
		pg->taker = (u8)from;
		return 0;
	}
	give_to(p, from, page, keep);
	return 0;
}

void dsm_resume(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	enum dsm_access keep = pg->keep;
	unsigned taker = pg->taker;

	if (!pg->delayed)
		return;
	pg->delayed = 0;
	pg->keep = pg->taker = 0;
	give_to(p, taker, page, keep);
}
