/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The home's side: who has copies, and one request at a time.
 *
 * Serving has up to three steps: copies that are in the way are taken from other nodes;
 * then our own, if that is in the way; then the asker gets what it wants. The home's own
 * copy goes last, so that the content is still here when the asker dies meanwhile. A step
 * that has to wait leaves the page busy, and the answer goes on from there.
 *
 * A home moves only along with the right to write: then the new home has the one
 * copy, nothing that the old one has granted is still under way, and what others
 * ask the old one for is passed on behind the grant.
 */
#include "dsm_proto.h"

static void grant(struct dsm_proto *p, unsigned to, u32 page,
		  enum dsm_access access, unsigned flags, const void *data)
{
	struct dsm_msg m = { DSM_GRANT, (u8)access, (u8)flags, 0, page };

	if (to == p->self)
		dsm_node_grant(p, to, page, access, flags, data);
	else
		p->ops->send(p->ctx, to, &m, flags & DSM_DATA ? data : NULL);
}

static void gone(struct dsm_proto *p, unsigned to, u32 page)
{
	bool final = dsm_home(p, page) == p->self;
	struct dsm_msg m = { DSM_GONE, DSM_NONE, final ? DSM_HOME : 0, 0,
			     page };

	if (to == p->self)
		dsm_node_gone(p, page);
	else if (!dsm_has(p->dead, to))
		p->ops->send(p->ctx, to, &m, NULL);
}

/* Has the asker what it wants, or will it when it has read what we sent? */
static bool has_enough(const struct dsm_page *pg)
{
	return dsm_has(pg->copies, pg->asker) &&
	       (pg->asked == DSM_READ || pg->alone) &&
	       pg->wisher != pg->asker + 1;
}

/* The next in turn; copies of others that are in its way are called back. */
static void begin(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	dsm_set others = pg->copies & ~dsm_only(p->self);
	struct dsm_msg take = { DSM_TAKE, DSM_NONE, 0, 0, page };

	pg->asker = pg->last =
		(u8)dsm_after(pg->readers | pg->writers, pg->last);
	pg->asked = dsm_has(pg->writers, pg->asker) ? DSM_WRITE : DSM_READ;
	pg->readers &= ~dsm_only(pg->asker);
	pg->writers &= ~dsm_only(pg->asker);
	if (has_enough(pg))
		return;
	pg->busy = 1;
	others &= ~dsm_only(pg->asker);
	if (pg->asked == DSM_READ) {
		if (!pg->alone)
			return;
		take.access = DSM_READ;
	}
	pg->pending = others;
	for (; others; others &= others - 1)
		p->ops->send(p->ctx, dsm_first(others), &take, NULL);
}

/* Must our own copy make way, and how far? False: it need not. */
static bool own_in_way(const struct dsm_proto *p, const struct dsm_page *pg,
		       enum dsm_access *keep)
{
	*keep = pg->asked == DSM_READ ? DSM_READ : DSM_NONE;
	return pg->asker != p->self && dsm_has(pg->copies, p->self) &&
	       pg->access > *keep;
}

bool dsm_home_sends(const struct dsm_proto *p, u32 page)
{
	const struct dsm_page *pg = &p->pages[page];

	return pg->asked == DSM_WRITE && pg->filled &&
	       !dsm_has(pg->copies, pg->asker);
}

/* The asker has died while others gave up their copies. */
static void abandon(struct dsm_proto *p, u32 page, const void *data)
{
	struct dsm_page *pg = &p->pages[page];

	pg->busy = 0;
	if (pg->asked == DSM_READ)
		return;
	pg->copies &= dsm_only(p->self);
	if (!data)
		return;
	pg->copies = dsm_only(p->self);
	pg->alone = 0;
	dsm_node_grant(p, p->self, page, DSM_READ, DSM_DATA, data);
}

static void pass_on(struct dsm_proto *p, u32 page, unsigned node,
		    enum dsm_access access, unsigned flags)
{
	unsigned to = dsm_home(p, page);
	struct dsm_msg ask = { DSM_ASK, (u8)access, (u8)(flags & DSM_HOME),
			       (u8)node, page };
	struct dsm_msg there = { DSM_AGAIN, DSM_NONE, DSM_HOME, (u8)to, page };

	if (dsm_has(p->dead, to)) {
		gone(p, node, page);
		return;
	}
	if (flags & DSM_DIRECT && node != p->self) {
		p->ops->send(p->ctx, node, &there, NULL);
		return;
	}
	if (node != p->self)
		p->pages[page].passed |= dsm_only(node);
	p->ops->send(p->ctx, to, &ask, NULL);
}

/* The asker is the home now; those who wait here go there. */
static void move(struct dsm_proto *p, u32 page, unsigned flags,
		 const void *data)
{
	struct dsm_page old = p->pages[page], *pg = &p->pages[page];
	dsm_set waiting = old.readers | old.writers;

	*pg = (struct dsm_page){ .access = old.access,
				 .want = old.want,
				 .passed = old.passed,
				 .home = (u8)(old.asker + 1) };
	grant(p, old.asker, page, DSM_WRITE, flags | DSM_HOME, data);
	for (; waiting; waiting &= waiting - 1) {
		unsigned node = dsm_first(waiting);

		pass_on(p, page, node,
			dsm_has(old.writers, node) ? DSM_WRITE : DSM_READ,
			old.wisher == node + 1 ? DSM_HOME : 0);
	}
}

static bool should_move(const struct dsm_proto *p, struct dsm_page *pg)
{
	if (pg->writer != pg->asker + 1) {
		pg->writer = (u8)(pg->asker + 1);
		pg->runs = 0;
	}
	if (p->move_after && pg->runs < p->move_after)
		pg->runs++;
	return pg->asker != p->self &&
	       (pg->wisher == pg->asker + 1 ||
		(p->move_after && pg->runs == p->move_after));
}

/* The one copy has died with a writer. Or nobody has one, after somebody has lied. */
static void perish(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	dsm_set asking = pg->readers | pg->writers;

	if (pg->busy)
		asking |= dsm_only(pg->asker);
	pg->gone = 1;
	pg->alone = pg->busy = 0;
	pg->pending = pg->readers = pg->writers = 0;
	for (; asking; asking &= asking - 1)
		gone(p, dsm_first(asking), page);
}

static void finish_write(struct dsm_proto *p, u32 page, const void *data)
{
	struct dsm_page *pg = &p->pages[page];
	unsigned flags = dsm_has(pg->copies, pg->asker) ? 0 :
			 pg->filled			? DSM_DATA :
							  DSM_ZERO;
	bool moves;

	if (flags & DSM_DATA && !data) {
		perish(p, page);
		return;
	}
	moves = should_move(p, pg);
	pg->busy = 0;
	pg->filled = pg->alone = 1;
	pg->copies = dsm_only(pg->asker);
	if (moves) {
		move(p, page, flags, data);
		return;
	}
	if (pg->wisher == pg->asker + 1)
		pg->wisher = 0;
	grant(p, pg->asker, page, DSM_WRITE, flags, data);
}

static void finish_read(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];

	pg->busy = 0;
	pg->alone = 0;
	if (dsm_has(pg->copies, pg->asker))
		return; /* our own, which came from the writer */
	pg->copies |= dsm_only(pg->asker);
	if (pg->filled)
		grant(p, pg->asker, page, DSM_READ, DSM_DATA,
		      p->ops->data(p->ctx, page));
	else
		grant(p, pg->asker, page, DSM_READ, DSM_ZERO, NULL);
}

static void finish(struct dsm_proto *p, u32 page, const void *data)
{
	if (p->pages[page].asked == DSM_WRITE)
		finish_write(p, page, data);
	else
		finish_read(p, page);
}

static bool is_home(const struct dsm_proto *p, u32 page)
{
	return dsm_home(p, page) == p->self;
}

/* As far as it goes without waiting. @data is what the last answer brought. */
static void run(struct dsm_proto *p, u32 page, const void *data)
{
	struct dsm_page *pg = &p->pages[page];
	enum dsm_access keep;

	while (is_home(p, page) && (pg->busy || pg->readers | pg->writers)) {
		if (!pg->busy) {
			begin(p, page);
			data = NULL;
			continue;
		}
		if (pg->pending)
			return;
		if (dsm_has(p->dead, pg->asker)) {
			abandon(p, page, data);
		} else if (own_in_way(p, pg, &keep)) {
			pg->pending = dsm_only(p->self);
			dsm_node_take(p, p->self, page, keep);
			return; /* it went on, or goes on later */
		} else {
			finish(p, page, data);
		}
	}
}

void dsm_home_own_given(struct dsm_proto *p, u32 page, const void *data)
{
	p->pages[page].pending = 0;
	finish(p, page, data);
	run(p, page, NULL);
}

void dsm_home_begin(struct dsm_proto *p, u32 page)
{
	struct dsm_page *pg = &p->pages[page];

	pg->home = (u8)(p->self + 1);
	pg->filled = pg->alone = 1;
	pg->copies = dsm_only(p->self);
}

void dsm_home_ask(struct dsm_proto *p, u32 page, unsigned node,
		  enum dsm_access access, unsigned flags)
{
	struct dsm_page *pg = &p->pages[page];

	if (dsm_has(p->dead, node))
		return;
	if (!is_home(p, page)) {
		pass_on(p, page, node, access, flags);
		return;
	}
	if (pg->gone) {
		gone(p, node, page);
		return;
	}
	if (pg->busy && pg->asker == node && access <= pg->asked)
		return; /* asked again, after a loss */
	if (flags & DSM_HOME)
		pg->wisher = (u8)(node + 1);
	if (access == DSM_WRITE)
		pg->writers |= dsm_only(node);
	else
		pg->readers |= dsm_only(node);
	run(p, page, NULL);
}

int dsm_home_given(struct dsm_proto *p, unsigned from, u32 page,
		   const void *data)
{
	struct dsm_page *pg = &p->pages[page];

	if (!pg->busy || from == p->self || !dsm_has(pg->pending, from) ||
	    !data != !pg->alone)
		return -EPROTO;
	pg->pending &= ~dsm_only(from);
	if (pg->asked == DSM_READ) {
		pg->alone = 0;
		pg->copies |= dsm_only(p->self);
		dsm_node_grant(p, p->self, page, DSM_READ, DSM_DATA, data);
	} else {
		pg->copies &= ~dsm_only(from);
	}
	run(p, page, data);
	return 0;
}

void dsm_home_lost(struct dsm_proto *p, unsigned node, u32 page)
{
	struct dsm_page *pg = &p->pages[page];
	bool had = dsm_has(pg->copies, node);

	pg->readers &= ~dsm_only(node);
	pg->writers &= ~dsm_only(node);
	pg->pending &= ~dsm_only(node);
	pg->copies &= ~dsm_only(node);
	if (pg->wisher == node + 1)
		pg->wisher = 0;
	if (had && pg->alone) {
		perish(p, page);
		return;
	}
	if (pg->busy && pg->asker == node && dsm_has(pg->pending, p->self)) {
		pg->delayed = 0; /* nobody wants our own copy any more */
		pg->keep = pg->taker = 0;
		pg->pending = 0;
	}
	run(p, page, NULL);
}
