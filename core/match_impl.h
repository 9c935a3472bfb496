/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The bins from inside: what match.c shares with those on the path of every
 * message, where calls would cost more than they do.
 */
#ifndef O2G_MATCH_IMPL_H
#define O2G_MATCH_IMPL_H

#include "match.h"

enum match_queue {
	MATCH_NOT_QUEUED,
	MATCH_POSTED_EXACT,
	MATCH_POSTED_WILD,
	MATCH_UNEXPECTED,
	MATCH_MARK /* not an entry: how far somebody has walked */
};

/*
 * Multiply-shift with secret odd multipliers: two given keys meet in a bin with
 * probability 2/nbins at most, whatever keys a peer chooses. The second round
 * breaks up arithmetic progressions, which an unlucky multiplier would keep
 * together. The tag's last two bits are left out and pick a bin of the group
 * instead: tags counted upwards, as programs do, share cache lines.
 */
static inline struct o2g_match_bin *match_bin_of(const struct o2g_match *m,
						 u32 src, u64 tag)
{
	u64 h = (tag >> 2) * m->key[0] + src * m->key[1];

	h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
	if (unlikely(m->old)) {
		u64 i = (h >> m->old_shift) ^ (tag & (O2G_MATCH_MIN_BINS - 1));

		if (i >= m->moved)
			return &m->old[i];
	}
	return &m->bins[(h >> m->shift) ^ (tag & (O2G_MATCH_MIN_BINS - 1))];
}

/* The same, remembered: programs receive the same key many times over. */
static inline struct o2g_match_bin *match_hot_bin(struct o2g_match *m, u32 src,
						  u64 tag)
{
	if (unlikely(m->hot_tag != tag || m->hot_src != src)) {
		m->hot_tag = tag;
		m->hot_src = src;
		m->hot = match_bin_of(m, src, tag);
	}
	return m->hot;
}

/* --- one bin: a chain of keys, a ring of entries behind each --- */

static inline struct o2g_match_entry *match_next_same(struct o2g_match_entry *e)
{
	return container_of(e->same.next, struct o2g_match_entry, same);
}

/* Where the chain points at the key's oldest entry, or at its end. */
static inline struct o2g_match_entry **match_find(struct o2g_match_entry **slot,
						  u32 src, u64 tag)
{
	struct o2g_match_entry *e;

	while ((e = *slot) && (e->tag != tag || e->src != src))
		slot = &e->chain;
	return slot;
}

static inline void match_enqueue(struct o2g_match *m,
				 struct o2g_match_entry **slot,
				 struct o2g_match_entry *e)
{
	struct o2g_match_entry *head = *match_find(slot, e->src, e->tag);

	if (unlikely(head)) {
		e->is_head = 0;
		o2g_list_add_tail(&e->same, &head->same);
		return;
	}
	e->is_head = 1;
	o2g_list_init(&e->same);
	e->chain = *slot;
	*slot = e;
	m->nkeys++;
}

/* Take out the key's head, which @slot points at: the next one moves up. */
static inline void match_dequeue_head(struct o2g_match *m,
				      struct o2g_match_entry **slot)
{
	struct o2g_match_entry *e = *slot, *next;

	if (likely(o2g_list_empty(&e->same))) {
		*slot = e->chain;
		m->nkeys--;
		return;
	}
	next = match_next_same(e);
	next->chain = e->chain;
	next->is_head = 1;
	*slot = next;
	next->same.prev = e->same.prev;
	e->same.prev->next = &next->same;
}

/* --- the usual case --- */

/* o2g_match_arrive() where no receive has a wildcard. */
static inline struct o2g_match_entry *match_arrive_exact(struct o2g_match *m,
							 u32 src, u64 tag)
{
	struct o2g_match_entry **slot =
		match_find(&match_hot_bin(m, src, tag)->posted, src, tag);
	struct o2g_match_entry *e = *slot;

	if (unlikely(!e))
		return NULL;
	match_dequeue_head(m, slot);
	m->nposted--;
	e->queued = MATCH_NOT_QUEUED;
	return e;
}

static inline struct o2g_match_entry *match_arrive(struct o2g_match *m, u32 src,
						   u64 tag)
{
	return likely(o2g_list_empty(&m->wild)) ?
		       match_arrive_exact(m, src, tag) :
		       o2g_match_arrive(m, src, tag);
}

/* o2g_match_post() of a receive without a wildcard where nothing waits. */
static inline void match_post_exact(struct o2g_match *m,
				    struct o2g_match_entry *recv)
{
	recv->seq = m->next_seq++;
	m->nposted++;
	recv->queued = MATCH_POSTED_EXACT;
	match_enqueue(m, &match_hot_bin(m, recv->src, recv->tag)->posted, recv);
}

static inline bool match_is_wild(const struct o2g_match_entry *recv)
{
	return recv->src == O2G_MATCH_ANY || recv->ignore;
}

/* --- wild.c: receives with a wildcard, in m->wild as well --- */

void match_wild_add(struct o2g_match *m, struct o2g_match_entry *recv);
void match_wild_remove(struct o2g_match *m, struct o2g_match_entry *recv);
/* The oldest that accepts it, left in place. */
struct o2g_match_entry *match_wild_oldest(struct o2g_match *m, u32 src,
					  u64 tag);

#endif
