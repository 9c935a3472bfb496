/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Receives with a wildcard. Those that ignore the same are of one kind, and sit in a
 * tree by what they do not ignore; a program has few kinds, MPI three of them. So a
 * message is looked for once in each kind, however many receives there are. Receives
 * of one key queue behind the oldest, as those without a wildcard do.
 *
 * The trees are treaps: the weight of a key is a hash of it that peers and programs do
 * not know, so they stay flat. A receive of a kind for which there is no place any
 * more is odd: those are in a list, and a message is compared with each.
 */
#include "match_impl.h"

static u64 tag_of(const struct o2g_match_entry *e)
{
	return e->tag & ~e->ignore;
}

/* --- trees --- */

/* Left of it, right of it, or the same key: negative, positive, 0. */
static int compare(u32 src, u64 tag, const struct o2g_match_entry *e)
{
	u64 other = tag_of(e);

	if (tag != other)
		return tag < other ? -1 : 1;
	return src == e->src ? 0 : src < e->src ? -1 : 1;
}

static u64 weight_of(const struct o2g_match *m, const struct o2g_match_entry *e)
{
	u64 h = tag_of(e) * m->key[0] + e->src * m->key[1];

	h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

static struct o2g_match_entry **find(struct o2g_match_entry **slot, u32 src,
				     u64 tag)
{
	int side;

	while (*slot && (side = compare(src, tag, *slot)) != 0)
		slot = side < 0 ? &(*slot)->chain : &(*slot)->right;
	return slot;
}

/* What is below @at goes to the left and the right of @e, whose key is not there. */
static void split(struct o2g_match_entry *at, struct o2g_match_entry *e)
{
	struct o2g_match_entry **left = &e->chain, **right = &e->right;

	while (at) {
		if (compare(at->src, tag_of(at), e) < 0) {
			*left = at;
			left = &at->right;
			at = at->right;
		} else {
			*right = at;
			right = &at->chain;
			at = at->chain;
		}
	}
	*left = NULL;
	*right = NULL;
}

static void merge(const struct o2g_match *m, struct o2g_match_entry **slot,
		  struct o2g_match_entry *left, struct o2g_match_entry *right)
{
	while (left && right) {
		if (weight_of(m, left) >= weight_of(m, right)) {
			*slot = left;
			slot = &left->right;
			left = left->right;
		} else {
			*slot = right;
			slot = &right->chain;
			right = right->chain;
		}
	}
	*slot = left ? left : right;
}

static void tree_add(const struct o2g_match *m, struct o2g_match_entry **slot,
		     struct o2g_match_entry *e)
{
	struct o2g_match_entry *head = *find(slot, e->src, tag_of(e));
	u64 weight;

	if (head) {
		e->is_head = 0;
		o2g_list_add_tail(&e->same, &head->same);
		return;
	}
	e->is_head = 1;
	o2g_list_init(&e->same);
	weight = weight_of(m, e);
	while (*slot && weight_of(m, *slot) >= weight)
		slot = compare(e->src, tag_of(e), *slot) < 0 ? &(*slot)->chain :
							       &(*slot)->right;
	split(*slot, e);
	*slot = e;
}

static void tree_remove(const struct o2g_match *m,
			struct o2g_match_entry **slot,
			struct o2g_match_entry *e)
{
	struct o2g_match_entry *next;

	if (!e->is_head) {
		o2g_list_del(&e->same);
		return;
	}
	slot = find(slot, e->src, tag_of(e));
	if (o2g_list_empty(&e->same)) {
		merge(m, slot, e->chain, e->right);
		return;
	}
	next = match_next_same(e); /* of the same weight */
	next->chain = e->chain;
	next->right = e->right;
	next->is_head = 1;
	*slot = next;
	o2g_list_del(&e->same);
}

/* --- kinds --- */

static bool is_kind(const struct o2g_match_kind *k,
		    const struct o2g_match_entry *e)
{
	return k->ignore == e->ignore && k->any == (e->src == O2G_MATCH_ANY);
}

/* Its kind, or a place for it; O2G_MATCH_KINDS: there is none. */
static u32 kind_of(const struct o2g_match *m, const struct o2g_match_entry *e)
{
	u32 place = O2G_MATCH_KINDS;

	for (u32 i = 0; i < m->nkinds; i++) {
		if (is_kind(&m->kinds[i], e))
			return i;
		if (!m->kinds[i].n)
			place = i;
	}
	return place < O2G_MATCH_KINDS ? place : m->nkinds;
}

bool o2g_match_is_odd(const struct o2g_match *m, u32 src, u64 ignore)
{
	const struct o2g_match_entry e = { .src = src, .ignore = ignore };

	return match_is_wild(&e) && kind_of(m, &e) == O2G_MATCH_KINDS;
}

void match_wild_add(struct o2g_match *m, struct o2g_match_entry *e)
{
	u32 i = kind_of(m, e);
	struct o2g_match_kind *k = &m->kinds[i];

	o2g_list_add_tail(&e->order, &m->wild);
	e->kind = (u8)i;
	if (i == O2G_MATCH_KINDS) {
		o2g_list_add_tail(&e->same, &m->odd);
		m->nodd++;
		return;
	}
	if (i == m->nkinds)
		m->nkinds++;
	k->ignore = e->ignore;
	k->any = e->src == O2G_MATCH_ANY;
	k->n++;
	tree_add(m, &k->root, e);
}

void match_wild_remove(struct o2g_match *m, struct o2g_match_entry *e)
{
	o2g_list_del(&e->order);
	if (e->kind == O2G_MATCH_KINDS) {
		o2g_list_del(&e->same);
		m->nodd--;
		return;
	}
	m->kinds[e->kind].n--;
	tree_remove(m, &m->kinds[e->kind].root, e);
}

/* --- a message arrives --- */

static struct o2g_match_entry *oldest_odd(const struct o2g_match *m, u32 src,
					  u64 tag)
{
	struct o2g_list *pos;

	o2g_list_for_each(pos, &m->odd) {
		struct o2g_match_entry *e =
			container_of(pos, struct o2g_match_entry, same);

		if (o2g_match_accepts(e, src, tag))
			return e;
	}
	return NULL;
}

struct o2g_match_entry *match_wild_oldest(struct o2g_match *m, u32 src, u64 tag)
{
	struct o2g_match_entry *oldest = NULL, *e;

	if (unlikely(m->nodd))
		oldest = oldest_odd(m, src, tag);
	for (u32 i = 0; i < m->nkinds; i++) {
		struct o2g_match_kind *k = &m->kinds[i];

		e = k->n ? *find(&k->root, k->any ? O2G_MATCH_ANY : src,
				 tag & ~k->ignore) :
			   NULL;
		if (e && (!oldest || e->seq < oldest->seq))
			oldest = e;
	}
	return oldest;
}
