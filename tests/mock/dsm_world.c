/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "dsm_world.h"

#include <stdio.h>
#include <string.h>

/* What the protocol calls while a step is taken. */
struct turn {
	struct world *w;
	const struct w_rules *rules;
	unsigned self;
	struct dsm_proto proto;
	u8 taken; /* content that take() handed out */
	const char *wrong;
};

static struct w_node *me(struct turn *t)
{
	return &t->w->node[t->self];
}

static void complain(struct turn *t, const char *what)
{
	if (!t->wrong)
		t->wrong = what;
}

/* --- what an engine brings --- */

static void op_send(void *ctx, unsigned to, const struct dsm_msg *msg,
		    const void *data)
{
	struct turn *t = ctx;
	u8 *length = &t->w->length[t->self][to];

	if (to == t->self || to >= t->rules->nodes)
		return complain(t, "a message to nobody");
	if (!data != !(msg->flags & DSM_DATA))
		return complain(t, "a message says what it does not hold");
	if (t->w->node[to].killed)
		return;
	if (*length == W_QUEUE)
		return complain(t, "a queue without bound");
	t->w->queue[t->self][to][(*length)++] =
		(struct w_packet){ *msg, data ? *(const u8 *)data : 0 };
}

static void op_install(void *ctx, u32 page, enum dsm_access access,
		       unsigned flags, const void *data)
{
	struct turn *t = ctx;
	struct w_node *n = me(t);

	if (flags & DSM_DATA)
		n->content[page] = *(const u8 *)data;
	else if (flags & DSM_ZERO)
		n->content[page] = t->w->written[page] ? W_STALE : W_LATEST;
	n->woken[page] = n->waiting[page];
}

static void op_protect(void *ctx, u32 page)
{
}

static const void *op_take(void *ctx, u32 page, bool wanted)
{
	struct turn *t = ctx;

	t->taken = me(t)->content[page];
	me(t)->content[page] = W_STALE;
	return wanted ? &t->taken : NULL;
}

static const void *op_data(void *ctx, u32 page)
{
	struct turn *t = ctx;

	if (me(t)->page[page].access == DSM_NONE)
		complain(t, "content of a page that is not here");
	return &me(t)->content[page];
}

/* Threads that were woken and will find what they need. */
static bool about_to_use(const struct w_node *n, u32 page)
{
	u8 served = n->page[page].access == DSM_WRITE ? 3 :
		    n->page[page].access == DSM_READ  ? 1 :
							0;

	return n->woken[page] & served;
}

static bool op_held(void *ctx, u32 page)
{
	struct turn *t = ctx;

	return about_to_use(me(t), page);
}

static void op_fail(void *ctx, u32 page)
{
	struct turn *t = ctx;

	if (!t->rules->kill)
		complain(t, "a page is lost, but nobody has died");
	me(t)->waiting[page] = me(t)->woken[page] = 0;
}

static const struct dsm_ops ops = { op_send, op_install, op_protect, op_take,
				    op_data, op_held,	 op_fail };

static unsigned founders(const struct w_rules *rules)
{
	return rules->founders ? rules->founders : rules->nodes;
}

/* The protocol as one node has it; its table lies in the world. */
static void enter(struct turn *t, struct world *w, const struct w_rules *rules,
		  unsigned node)
{
	*t = (struct turn){ .w = w, .rules = rules, .self = node };
	t->proto =
		(struct dsm_proto){ .ops = &ops,
				    .ctx = t,
				    .pages = w->node[node].page,
				    .npages = rules->pages,
				    .founders = dsm_only(founders(rules)) - 1,
				    .dead = w->node[node].dead,
				    .self = (u8)node,
				    .move_after = (u8)rules->move_after };
}

void w_begin(struct world *w, const struct w_rules *rules)
{
	memset(w, 0, sizeof(*w));
}

/* --- steps --- */

static void used(struct turn *t, u32 page, bool writes)
{
	struct world *w = t->w;

	if (!writes) {
		if (me(t)->content[page] != W_LATEST)
			complain(t, "a read does not see the latest write");
		return;
	}
	for (unsigned i = 0; i < W_NODES; i++) {
		w->node[i].content[page] = W_STALE;
		for (unsigned j = 0; j < W_NODES; j++)
			for (unsigned k = 0; k < w->length[i][j]; k++)
				if (w->queue[i][j][k].msg.page == page)
					w->queue[i][j][k].content = W_STALE;
	}
	me(t)->content[page] = W_LATEST;
	w->written[page] = 1;
}

/* A thread reads or writes: it does, or waits until it is woken. */
static void touch(struct turn *t, u32 page, bool writes)
{
	u8 bit = writes ? 2 : 1;
	enum dsm_access need = writes ? DSM_WRITE : DSM_READ;

	me(t)->waiting[page] &= ~bit;
	me(t)->woken[page] &= ~bit;
	if (me(t)->page[page].access < need) {
		me(t)->waiting[page] |= bit;
		if (dsm_want(&t->proto, page, need, false) != DSM_HAVE)
			return;
		/* It was woken at once, and tries again. */
		me(t)->woken[page] |= bit;
		return;
	}
	used(t, page, writes);
}

static void deliver(struct turn *t, unsigned from)
{
	struct w_packet *q = t->w->queue[from][t->self], packet = q[0];
	u8 *length = &t->w->length[from][t->self];

	(*length)--;
	memmove(q, q + 1, *length * sizeof(*q));
	memset(&q[*length], 0, sizeof(*q));
	if (dsm_receive(&t->proto, from, &packet.msg,
			packet.msg.flags & DSM_DATA ? &packet.content : NULL))
		complain(t, "a message that nobody should have sent");
}

static void cut(struct world *w, unsigned from, unsigned to)
{
	w->length[from][to] = 0;
	memset(w->queue[from][to], 0, sizeof(w->queue[from][to]));
}

/* It stops; what it has sent is still under way. */
static void kill_node(struct world *w, unsigned node)
{
	memset(&w->node[node], 0, sizeof(w->node[node]));
	w->node[node].killed = 1;
	for (unsigned i = 0; i < W_NODES; i++)
		cut(w, i, node);
}

static void notice(struct turn *t, unsigned dead)
{
	cut(t->w, dead, t->self);
	me(t)->dead |= dsm_only(dead);
	dsm_lost(&t->proto, dead, 0, t->rules->pages);
}

const char *w_take(struct world *w, const struct w_rules *rules,
		   struct w_step step)
{
	struct turn t;

	enter(&t, w, rules, step.kind == W_DELIVER ? step.to : step.node);
	if (step.kind <= W_HOME && rules->operations)
		me(&t)->began++;
	switch (step.kind) {
	case W_READ:
	case W_WRITE:
		touch(&t, step.page, step.kind == W_WRITE);
		break;
	case W_HOME:
		dsm_want(&t.proto, step.page, DSM_WRITE, true);
		break;
	case W_RETRY:
		touch(&t, step.page, step.to);
		break;
	case W_DELIVER:
		deliver(&t, step.node);
		break;
	case W_RESUME:
		dsm_resume(&t.proto, step.page);
		break;
	case W_KILL:
		kill_node(w, step.node);
		break;
	case W_NOTICE:
		notice(&t, step.to);
		break;
	}
	return t.wrong ? t.wrong : w_wrong(w, rules);
}

/* --- which steps there are --- */

struct list {
	struct w_step *steps;
	unsigned n;
};

static void add(struct list *l, enum w_kind kind, unsigned node, unsigned to,
		u32 page)
{
	if (l->n < W_STEPS)
		l->steps[l->n++] =
			(struct w_step){ (u8)kind, (u8)node, (u8)to, (u8)page };
}

static void page_steps(struct list *l, const struct w_node *n,
		       const struct w_rules *rules, unsigned node, u32 page)
{
	bool more = !rules->operations || n->began < rules->operations;

	if (more && !(n->waiting[page] & 1))
		add(l, W_READ, node, 0, page);
	if (more && !(n->waiting[page] & 2))
		add(l, W_WRITE, node, 0, page);
	if (more && rules->homes)
		add(l, W_HOME, node, 0, page);
	if (n->woken[page] & 1)
		add(l, W_RETRY, node, 0, page);
	if (n->woken[page] & 2)
		add(l, W_RETRY, node, 1, page);
	if (n->page[page].delayed &&
	    (rules->impatient || !about_to_use(n, page)))
		add(l, W_RESUME, node, 0, page);
}

static bool anybody_killed(const struct world *w)
{
	for (unsigned i = 0; i < W_NODES; i++)
		if (w->node[i].killed)
			return true;
	return false;
}

unsigned w_steps(const struct world *w, const struct w_rules *rules,
		 struct w_step steps[W_STEPS])
{
	struct list l = { steps, 0 };
	bool kill = rules->kill && !anybody_killed(w);

	for (unsigned i = 0; i < rules->nodes; i++) {
		if (w->node[i].killed)
			continue;
		for (u32 page = 0; page < rules->pages; page++)
			page_steps(&l, &w->node[i], rules, i, page);
		for (unsigned j = 0; j < rules->nodes; j++) {
			if (w->length[j][i])
				add(&l, W_DELIVER, j, i, 0);
			if (w->node[j].killed && !dsm_has(w->node[i].dead, j))
				add(&l, W_NOTICE, i, j, 0);
		}
		if (kill)
			add(&l, W_KILL, i, 0, 0);
	}
	return l.n;
}

/* --- what must always hold --- */

bool w_quiet(const struct world *w, const struct w_rules *rules)
{
	struct w_step steps[W_STEPS];
	unsigned n = w_steps(w, rules, steps);

	for (unsigned i = 0; i < n; i++)
		if (steps[i].kind > W_HOME && steps[i].kind != W_KILL)
			return false;
	return true;
}

static const char *page_wrong(const struct world *w,
			      const struct w_rules *rules, u32 page)
{
	unsigned readers = 0, writers = 0, homes = 0;

	for (unsigned i = 0; i < rules->nodes; i++) {
		const struct dsm_page *pg = &w->node[i].page[page];

		if (w->node[i].killed)
			continue;
		readers += pg->access == DSM_READ;
		writers += pg->access == DSM_WRITE;
		homes += pg->busy;
	}
	if (writers > 1 || (writers && readers))
		return "more than one writer, or a writer beside readers";
	if (homes > 1)
		return "two homes of one page";
	return NULL;
}

const char *w_wrong(const struct world *w, const struct w_rules *rules)
{
	const char *wrong = NULL;

	for (u32 page = 0; page < rules->pages && !wrong; page++)
		wrong = page_wrong(w, rules, page);
	if (wrong || !w_quiet(w, rules))
		return wrong;
	for (unsigned i = 0; i < rules->nodes; i++)
		for (u32 page = 0; page < rules->pages; page++) {
			if (w->node[i].waiting[page])
				return "nothing happens, and somebody waits";
			if (!w->node[i].killed && w->node[i].page[page].want)
				return "nothing happens, and a page is wanted";
		}
	return NULL;
}

void w_print(struct w_step s)
{
	static const char *const what[] = {
		"reads",	"writes",
		"wants home",	"tries again",
		"was heard by", "resumes",
		"is killed",	"learns of the death of"
	};

	fprintf(stderr, "  node %u %s %u, page %u\n", s.node, what[s.kind],
		s.to, s.page);
}

void w_show(const struct world *w, const struct w_rules *rules)
{
	for (unsigned i = 0; i < rules->nodes; i++)
		for (u32 page = 0; page < rules->pages; page++) {
			const struct w_node *n = &w->node[i];
			const struct dsm_page *pg = &n->page[page];

			fprintf(stderr,
				"  node %u page %u: access %u want %u home %u waiting %u woken %u delayed %u gone %u | copies %llx pending %llx readers %llx writers %llx busy %u asker %u asked %u alone %u wisher %u\n",
				i, page, pg->access, pg->want, pg->home,
				n->waiting[page], n->woken[page], pg->delayed,
				pg->gone, (unsigned long long)pg->copies,
				(unsigned long long)pg->pending,
				(unsigned long long)pg->readers,
				(unsigned long long)pg->writers, pg->busy,
				pg->asker, pg->asked, pg->alone, pg->wisher);
		}
}
