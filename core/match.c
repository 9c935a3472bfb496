/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "match.h"

enum queue { NOT_QUEUED, POSTED_EXACT, POSTED_WILD, UNEXPECTED };

/* --- hashing --- */

/* The splitmix64 finaliser: every bit of the result depends on every bit. */
static u64 mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/*
 * Multiply-shift with secret odd multipliers: two given keys meet in a bin with
 * probability 2/nbins at most, whatever keys a peer chooses. The second round
 * breaks up arithmetic progressions, which an unlucky multiplier would keep
 * together. The tag's last two bits are left out and pick a bin of the group
 * instead: tags counted upwards, as programs do, share cache lines.
 */
static inline struct o2g_match_bin *bin_of(const struct o2g_match *m, u32 src,
					   u64 tag)
{
	u64 h = (tag >> 2) * m->key[0] + src * m->key[1];

	h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ull;
	return &m->bins[(h >> m->shift) ^ (tag & (O2G_MATCH_MIN_BINS - 1))];
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
	memset(bins, 0, (size_t)nbins * sizeof(*bins));
	m->bins = bins;
	m->nbins = nbins;
	m->shift = 64 - log2_of(nbins);
}

void o2g_match_init(struct o2g_match *m, struct o2g_match_bin *bins, u32 nbins,
		    u64 seed)
{
	memset(m, 0, sizeof(*m));
	set_bins(m, bins, nbins);
	m->key[0] = mix(seed + 0x9e3779b97f4a7c15ull) | 1;
	m->key[1] = mix(m->key[0] ^ seed) | 1;
	o2g_list_init(&m->wild);
	o2g_list_init(&m->arrived);
}

u32 o2g_match_best_nbins(const struct o2g_match *m)
{
	u32 nbins = m->nbins;

	while (nbins / 2 < m->nkeys && nbins < 1u << 31)
		nbins *= 2;
	return nbins == m->nbins ? 0 : nbins;
}

static void move_chain(struct o2g_match *m, struct o2g_match_entry *e,
		       bool posted)
{
	struct o2g_match_entry *next;

	for (; e; e = next) {
		struct o2g_match_bin *b = bin_of(m, e->src, e->tag);
		struct o2g_match_entry **slot = posted ? &b->posted : &b->unexp;

		next = e->chain;
		e->chain = *slot;
		*slot = e;
	}
}

struct o2g_match_bin *o2g_match_rehash(struct o2g_match *m,
				       struct o2g_match_bin *bins, u32 nbins)
{
	struct o2g_match_bin *old = m->bins;
	u32 n = m->nbins;

	set_bins(m, bins, nbins);
	for (u32 i = 0; i < n; i++) {
		move_chain(m, old[i].posted, true);
		move_chain(m, old[i].unexp, false);
	}
	return old;
}

/* --- one bin: a chain of keys, a ring of entries behind each --- */

static inline struct o2g_match_entry *next_same(struct o2g_match_entry *e)
{
	return container_of(e->same.next, struct o2g_match_entry, same);
}

/* Where the chain points at the key's oldest entry, or at its end. */
static inline struct o2g_match_entry **find(struct o2g_match_entry **slot,
					    u32 src, u64 tag)
{
	struct o2g_match_entry *e;

	while ((e = *slot) && (e->tag != tag || e->src != src))
		slot = &e->chain;
	return slot;
}

static inline void enqueue(struct o2g_match *m, struct o2g_match_entry **slot,
			   struct o2g_match_entry *e)
{
	struct o2g_match_entry *head = *find(slot, e->src, e->tag);

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
static inline void dequeue_head(struct o2g_match *m,
				struct o2g_match_entry **slot)
{
	struct o2g_match_entry *e = *slot, *next;

	if (likely(o2g_list_empty(&e->same))) {
		*slot = e->chain;
		m->nkeys--;
		return;
	}
	next = next_same(e);
	next->chain = e->chain;
	next->is_head = 1;
	*slot = next;
	o2g_list_del(&e->same);
}

static void dequeue(struct o2g_match *m, struct o2g_match_entry **slot,
		    struct o2g_match_entry *e)
{
	if (e->is_head)
		dequeue_head(m, find(slot, e->src, e->tag));
	else
		o2g_list_del(&e->same);
}

/* --- unexpected messages --- */

static inline void unlink_unexpected(struct o2g_match *m,
				     struct o2g_match_entry *e)
{
	o2g_list_del(&e->order);
	m->nunexp--;
	e->queued = NOT_QUEUED;
}

static struct o2g_match_entry *
oldest_accepted(const struct o2g_match *m, const struct o2g_match_entry *recv)
{
	struct o2g_list *pos;

	o2g_list_for_each(pos, &m->arrived) {
		struct o2g_match_entry *e =
			container_of(pos, struct o2g_match_entry, order);

		if (o2g_match_accepts(recv, e->src, e->tag))
			return e;
	}
	return NULL;
}

static struct o2g_match_entry *take_exact(struct o2g_match *m, u32 src, u64 tag)
{
	struct o2g_match_entry **slot =
		find(&bin_of(m, src, tag)->unexp, src, tag);
	struct o2g_match_entry *e = *slot;

	if (!e)
		return NULL;
	dequeue_head(m, slot);
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
	msg->queued = UNEXPECTED;
	enqueue(m, &bin_of(m, msg->src, msg->tag)->unexp, msg);
	o2g_list_add_tail(&msg->order, &m->arrived);
	m->nunexp++;
}

struct o2g_match_entry *o2g_match_peek(const struct o2g_match *m, u32 src,
				       u64 tag, u64 ignore)
{
	const struct o2g_match_entry recv = {
		.src = src, .tag = tag, .ignore = ignore
	};

	if (!m->nunexp)
		return NULL;
	if (src == O2G_MATCH_ANY || ignore)
		return oldest_accepted(m, &recv);
	return *find(&bin_of(m, src, tag)->unexp, src, tag);
}

/* --- receives --- */

static inline bool is_wild(const struct o2g_match_entry *recv)
{
	return recv->src == O2G_MATCH_ANY || recv->ignore;
}

struct o2g_match_entry *o2g_match_post(struct o2g_match *m,
				       struct o2g_match_entry *recv)
{
	bool wild = is_wild(recv);

	recv->queued = NOT_QUEUED;
	if (m->nunexp) {
		struct o2g_match_entry *msg =
			wild ? take_wild(m, recv) :
			       take_exact(m, recv->src, recv->tag);

		if (msg)
			return msg;
	}
	recv->seq = m->next_seq++;
	m->nposted++;
	if (unlikely(wild)) {
		recv->queued = POSTED_WILD;
		o2g_list_add_tail(&recv->order, &m->wild);
		return NULL;
	}
	recv->queued = POSTED_EXACT;
	enqueue(m, &bin_of(m, recv->src, recv->tag)->posted, recv);
	return NULL;
}

/* The first wildcard that accepts the message and is older than @exact. */
static struct o2g_match_entry *
older_wild(const struct o2g_match *m, const struct o2g_match_entry *exact,
	   u32 src, u64 tag)
{
	struct o2g_list *pos;

	o2g_list_for_each(pos, &m->wild) {
		struct o2g_match_entry *w =
			container_of(pos, struct o2g_match_entry, order);

		if (exact && exact->seq < w->seq)
			return NULL;
		if (o2g_match_accepts(w, src, tag))
			return w;
	}
	return NULL;
}

struct o2g_match_entry *o2g_match_arrive(struct o2g_match *m, u32 src, u64 tag)
{
	struct o2g_match_entry **slot, *e;

	if (!m->nposted)
		return NULL;
	slot = find(&bin_of(m, src, tag)->posted, src, tag);
	e = *slot;
	if (unlikely(!o2g_list_empty(&m->wild))) {
		struct o2g_match_entry *w = older_wild(m, e, src, tag);

		if (w) {
			o2g_match_remove(m, w);
			return w;
		}
	}
	if (!e)
		return NULL;
	dequeue_head(m, slot);
	m->nposted--;
	e->queued = NOT_QUEUED;
	return e;
}

/* --- both --- */

bool o2g_match_remove(struct o2g_match *m, struct o2g_match_entry *e)
{
	struct o2g_match_bin *b;

	switch (e->queued) {
	case POSTED_WILD:
		o2g_list_del(&e->order);
		m->nposted--;
		break;
	case POSTED_EXACT:
		b = bin_of(m, e->src, e->tag);
		dequeue(m, &b->posted, e);
		m->nposted--;
		break;
	case UNEXPECTED:
		b = bin_of(m, e->src, e->tag);
		dequeue(m, &b->unexp, e);
		unlink_unexpected(m, e);
		break;
	default:
		return false;
	}
	e->queued = NOT_QUEUED;
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
		next = next_same(e);
		fn(e, arg);
	} while (e != last);
}

static void each_in_list(struct o2g_list *head,
			 void (*fn)(struct o2g_match_entry *, void *),
			 void *arg)
{
	struct o2g_list *pos, *tmp;

	o2g_list_for_each_safe(pos, tmp, head)
		fn(container_of(pos, struct o2g_match_entry, order), arg);
}

void o2g_match_each_posted(struct o2g_match *m,
			   void (*fn)(struct o2g_match_entry *, void *),
			   void *arg)
{
	struct o2g_match_entry *e, *next;

	for (u32 i = 0; i < m->nbins; i++) {
		for (e = m->bins[i].posted; e; e = next) {
			next = e->chain;
			each_of_key(e, fn, arg);
		}
	}
	each_in_list(&m->wild, fn, arg);
}

void o2g_match_each_unexpected(struct o2g_match *m,
			       void (*fn)(struct o2g_match_entry *, void *),
			       void *arg)
{
	each_in_list(&m->arrived, fn, arg);
}
