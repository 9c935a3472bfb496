/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "match_impl.h"

/* --- hashing --- */

/* The splitmix64 finaliser: every bit of the result depends on every bit. */
static u64 mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static u32 log2_of(u32 n)
{
	u32 bits = 0;

	while (n >>= 1)
		bits++;
	return bits;
}

static void set_bins(struct o2g_match *m, struct o2g_match_bin *bins, u32 nbins)
{
	env_assert(nbins >= O2G_MATCH_MIN_BINS && !(nbins & (nbins - 1)));
	m->bins = bins;
	m->nbins = nbins;
	m->shift = 64 - log2_of(nbins);
	m->hot = match_bin_of(m, m->hot_src, m->hot_tag);
}

void o2g_match_init(struct o2g_match *m, struct o2g_match_bin *bins, u32 nbins,
		    u64 seed)
{
	memset(m, 0, sizeof(*m));
	m->key[0] = mix(seed + 0x9e3779b97f4a7c15ull) | 1;
	m->key[1] = mix(m->key[0] ^ seed) | 1;
	memset(bins, 0, (size_t)nbins * sizeof(*bins));
	set_bins(m, bins, nbins);
	o2g_list_init(&m->wild);
	o2g_list_init(&m->arrived);
	o2g_list_init(&m->odd);
}

u32 o2g_match_best_nbins(const struct o2g_match *m)
{
	u32 nbins = m->nbins;

	while (nbins / 2 < m->nkeys && nbins < 1u << 31)
		nbins *= 2;
	return nbins == m->nbins || m->old ? 0 : nbins;
}

/* How many keys that were. */
static u32 move_chain(struct o2g_match *m, struct o2g_match_entry *e,
		      bool posted)
{
	struct o2g_match_entry *next;
	u32 n = 0;

	for (; e; e = next, n++) {
		struct o2g_match_bin *b = match_bin_of(m, e->src, e->tag);
		struct o2g_match_entry **slot = posted ? &b->posted : &b->unexp;

		next = e->chain;
		e->chain = *slot;
		*slot = e;
	}
	return n;
}

void o2g_match_rehash_begin(struct o2g_match *m, struct o2g_match_bin *bins,
			    u32 nbins)
{
	m->old = m->bins;
	m->old_nbins = m->nbins;
	m->old_shift = m->shift;
	m->moved = 0;
	set_bins(m, bins, nbins);
}

struct o2g_match_bin *o2g_match_rehash_some(struct o2g_match *m, u32 max)
{
	struct o2g_match_bin *old = m->old;
	u32 n = 0;

	while (n < max && m->moved < m->old_nbins) {
		struct o2g_match_bin *b = &old[m->moved++];

		n += 1 + move_chain(m, b->posted, true);
		n += move_chain(m, b->unexp, false);
	}
	if (m->moved < m->old_nbins)
		old = NULL;
	else
		m->old = NULL;
	m->hot = match_bin_of(m, m->hot_src, m->hot_tag);
	return old;
}

struct o2g_match_bin *o2g_match_rehash(struct o2g_match *m,
				       struct o2g_match_bin *bins, u32 nbins)
{
	struct o2g_match_bin *old;

	memset(bins, 0, (size_t)nbins * sizeof(*bins));
	o2g_match_rehash_begin(m, bins, nbins);
	do
		old = o2g_match_rehash_some(m, ~0u);
	while (!old);
	return old;
}

/* --- one bin --- */

static void dequeue(struct o2g_match *m, struct o2g_match_entry **slot,
		    struct o2g_match_entry *e)
{
	if (e->is_head)
		match_dequeue_head(m, match_find(slot, e->src, e->tag));
	else
		o2g_list_del(&e->same);
}

/* --- unexpected messages --- */

static inline void unlink_unexpected(struct o2g_match *m,
				     struct o2g_match_entry *e)
{
	o2g_list_del(&e->order);
	m->nunexp--;
	e->queued = MATCH_NOT_QUEUED;
}

static struct o2g_match_entry *
oldest_accepted(const struct o2g_match *m, const struct o2g_match_entry *recv)
{
	struct o2g_list *pos = m->skip ? m->skip->next : m->arrived.next;

	for (; pos != &m->arrived; pos = pos->next) {
		struct o2g_match_entry *e =
			container_of(pos, struct o2g_match_entry, order);

		if (o2g_match_accepts(recv, e->src, e->tag) &&
		    e->queued != MATCH_MARK)
			return e;
	}
	return NULL;
}

static struct o2g_match_entry *take_exact(struct o2g_match *m, u32 src, u64 tag)
{
	struct o2g_match_entry **slot =
		match_find(&match_bin_of(m, src, tag)->unexp, src, tag);
	struct o2g_match_entry *e = *slot;

	if (!e)
		return NULL;
	match_dequeue_head(m, slot);
	unlink_unexpected(m, e);
	return e;
}

static struct o2g_match_entry *take_wild(struct o2g_match *m,
					 const struct o2g_match_entry *recv)
{
	struct o2g_match_entry *e = oldest_accepted(m, recv);

	if (e)
		o2g_match_remove(m, e);
	return e;
}

void o2g_match_add_unexpected(struct o2g_match *m, struct o2g_match_entry *msg)
{
	msg->ignore = 0;
	msg->seq = m->next_seq++;
	msg->queued = MATCH_UNEXPECTED;
	match_enqueue(m, &match_bin_of(m, msg->src, msg->tag)->unexp, msg);
	o2g_list_add_tail(&msg->order, &m->arrived);
	m->nunexp++;
}

struct o2g_match_entry *o2g_match_peek(const struct o2g_match *m, u32 src,
				       u64 tag, u64 ignore)
{
	const struct o2g_match_entry recv = { .src = src,
					      .tag = tag,
					      .ignore = ignore };

	if (!m->nunexp)
		return NULL;
	if (src == O2G_MATCH_ANY || ignore)
		return oldest_accepted(m, &recv);
	return *match_find(&match_bin_of(m, src, tag)->unexp, src, tag);
}

/* --- receives --- */

struct o2g_match_entry *o2g_match_post(struct o2g_match *m,
				       struct o2g_match_entry *recv)
{
	bool wild = match_is_wild(recv);

	recv->queued = MATCH_NOT_QUEUED;
	if (m->nunexp) {
		struct o2g_match_entry *msg =
			wild ? take_wild(m, recv) :
			       take_exact(m, recv->src, recv->tag);

		if (msg)
			return msg;
	}
	if (likely(!wild)) {
		match_post_exact(m, recv);
		return NULL;
	}
	recv->seq = m->next_seq++;
	m->nposted++;
	recv->queued = MATCH_POSTED_WILD;
	match_wild_add(m, recv);
	return NULL;
}

struct o2g_match_entry *o2g_match_arrive(struct o2g_match *m, u32 src, u64 tag)
{
	struct o2g_match_entry *e, *w;

	if (!m->nposted)
		return NULL;
	if (likely(o2g_list_empty(&m->wild)))
		return match_arrive_exact(m, src, tag);
	e = *match_find(&match_bin_of(m, src, tag)->posted, src, tag);
	w = match_wild_oldest(m, src, tag);
	if (!w || (e && e->seq < w->seq))
		return match_arrive_exact(m, src, tag);
	o2g_match_remove(m, w);
	return w;
}

/* --- both --- */

bool o2g_match_remove(struct o2g_match *m, struct o2g_match_entry *e)
{
	struct o2g_match_bin *b;

	switch (e->queued) {
	case MATCH_POSTED_WILD:
		match_wild_remove(m, e);
		m->nposted--;
		break;
	case MATCH_POSTED_EXACT:
		b = match_bin_of(m, e->src, e->tag);
		dequeue(m, &b->posted, e);
		m->nposted--;
		break;
	case MATCH_UNEXPECTED:
		b = match_bin_of(m, e->src, e->tag);
		dequeue(m, &b->unexp, e);
		unlink_unexpected(m, e);
		break;
	default:
		return false;
	}
	e->queued = MATCH_NOT_QUEUED;
	return true;
}

static void each_of_key(struct o2g_match_entry *head,
			void (*fn)(struct o2g_match_entry *, void *), void *arg)
{
	struct o2g_match_entry *last =
		container_of(head->same.prev, struct o2g_match_entry, same);
	struct o2g_match_entry *e, *next = head;

	/* The entry may be gone after fn; its successor and the last stay. */
	do {
		e = next;
		next = match_next_same(e);
		fn(e, arg);
	} while (e != last);
}

static void each_in_list(struct o2g_list *head,
			 void (*fn)(struct o2g_match_entry *, void *),
			 void *arg)
{
	struct o2g_list *pos, *tmp;

	o2g_list_for_each_safe(pos, tmp, head) {
		struct o2g_match_entry *e =
			container_of(pos, struct o2g_match_entry, order);

		if (e->queued != MATCH_MARK)
			fn(e, arg);
	}
}

static void each_in_bins(const struct o2g_match_bin *bins, u32 from, u32 nbins,
			 void (*fn)(struct o2g_match_entry *, void *),
			 void *arg)
{
	struct o2g_match_entry *e, *next;

	for (u32 i = from; i < nbins; i++) {
		for (e = bins[i].posted; e; e = next) {
			next = e->chain;
			each_of_key(e, fn, arg);
		}
	}
}

void o2g_match_each_posted(struct o2g_match *m,
			   void (*fn)(struct o2g_match_entry *, void *),
			   void *arg)
{
	if (m->old)
		each_in_bins(m->old, m->moved, m->old_nbins, fn, arg);
	each_in_bins(m->bins, 0, m->nbins, fn, arg);
	each_in_list(&m->wild, fn, arg);
}

void o2g_match_each_unexpected(struct o2g_match *m,
			       void (*fn)(struct o2g_match_entry *, void *),
			       void *arg)
{
	each_in_list(&m->arrived, fn, arg);
}

void o2g_match_walk_begin(struct o2g_match *m, struct o2g_match_walk *w)
{
	w->mark.queued = MATCH_MARK;
	o2g_list_add_tail(&w->mark.order, m->arrived.next);
}

void o2g_match_walk_end(struct o2g_match_walk *w)
{
	o2g_list_del(&w->mark.order);
}

static struct o2g_match_entry *next_of(const struct o2g_match_walk *w)
{
	return container_of(w->mark.order.next, struct o2g_match_entry, order);
}

static void pass(struct o2g_match_walk *w)
{
	struct o2g_list *mark = &w->mark.order, *next = mark->next;

	o2g_list_del(mark);
	o2g_list_add_tail(mark, next->next);
}

static bool at_end(const struct o2g_match *m, const struct o2g_match_walk *w)
{
	return w->mark.order.next == &m->arrived;
}

bool o2g_match_walk(struct o2g_match *m, struct o2g_match_walk *w, u32 max,
		    void (*fn)(struct o2g_match_entry *, void *), void *arg)
{
	for (; max && !at_end(m, w); max--) {
		struct o2g_match_entry *e = next_of(w);

		pass(w);
		if (e->queued != MATCH_MARK)
			fn(e, arg);
	}
	if (!at_end(m, w))
		return false;
	o2g_match_walk_end(w);
	return true;
}

bool o2g_match_skip(struct o2g_match *m, struct o2g_match_walk *w, u32 src,
		    u64 tag, u64 ignore, u32 *max)
{
	const struct o2g_match_entry recv = { .src = src,
					      .tag = tag,
					      .ignore = ignore };

	for (; *max && !at_end(m, w); --*max) {
		struct o2g_match_entry *e = next_of(w);

		if (e->queued != MATCH_MARK &&
		    o2g_match_accepts(&recv, e->src, e->tag))
			return true;
		pass(w);
	}
	return at_end(m, w);
}
