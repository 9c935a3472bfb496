/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Matching: posted receives and unexpected messages.
 *
 * Exact receives (one source, no ignored bits) sit in hash bins by (source,
 * tag); receives with a wildcard sit in trees (wild.c). An arriving message takes
 * the older of the first exact receive of its key and the first wildcard that
 * accepts it: posting numbers decide, so MPI's order holds.
 * Unexpected messages sit in bins of the same shape and, besides, in one list
 * in arrival order, which wildcard receives and probes walk.
 *
 * A bin chains the first entry of every key; later entries of the same key
 * queue behind it. So neither many keys (the table grows) nor many messages of
 * one key make an exact match slower. The hash is keyed with a seed that peers
 * do not know.
 *
 * The caller owns all memory: entries are embedded in its objects, and the bin
 * table is handed in. o2g_match_wants() says when a larger one would help.
 * No locks: the caller serialises.
 */
#ifndef O2G_MATCH_H
#define O2G_MATCH_H

#include "list.h"

#define O2G_MATCH_ANY 0xffffffffu /* source wildcard */
#define O2G_MATCH_MIN_BINS 4	  /* one cache line of them */
#define O2G_MATCH_KINDS 8

/* What an exact match touches comes first: it fits one cache line. */
struct o2g_match_entry {
	struct o2g_match_entry *chain; /* next key in the bin (key heads only) */
	struct o2g_list same; /* ring of one key's entries, oldest is the head */
	u64 tag;
	u64 seq;	       /* posting or arrival number */
	u32 src;	       /* may be O2G_MATCH_ANY for a receive */
	u8 queued;	       /* 0 not queued, else which queue it is in */
	u8 is_head;	       /* it is the entry its bin chains */
	u8 kind;	       /* with a wildcard: of m->kinds */
	u64 ignore;	       /* bits of tag not compared; 0 for messages */
	struct o2g_list order; /* wildcard list, or arrival list */
	struct o2g_match_entry *right; /* with a wildcard; chain is left */
};

/* Both queues of a key share a bin, so that one cache line serves both. */
struct o2g_match_bin {
	struct o2g_match_entry *posted;
	struct o2g_match_entry *unexp;
};

/* Receives that ignore the same. */
struct o2g_match_kind {
	u64 ignore;
	bool any; /* source */
	u32 n;	  /* 0: the place is free */
	struct o2g_match_entry *root;
};

struct o2g_match {
	struct o2g_match_bin *bins;
	u32 nbins;  /* power of two */
	u32 shift;  /* 64 - log2(nbins): the hash's top bits are the index */
	u64 key[2]; /* hash multipliers, from the seed */
	struct o2g_match_bin *hot; /* the bin of the key used last: */
	u64 hot_tag;
	u32 hot_src;
	u64 next_seq;
	/* what is not in bins yet: bins from `moved` on of a smaller table */
	struct o2g_match_bin *old;
	u32 old_nbins, old_shift, moved;
	u64 nposted, nunexp;
	u32 nkeys;		 /* distinct keys chained, both sides */
	struct o2g_list wild;	 /* posted receives with a wildcard */
	struct o2g_list arrived; /* unexpected messages, oldest first */
	struct o2g_list *skip; /* ... but for those up to here: o2g_match_skip */
	u32 nkinds, nodd;
	struct o2g_list odd; /* of wild: receives of further kinds */
	struct o2g_match_kind kinds[O2G_MATCH_KINDS];
};

/* @nbins is a power of two, O2G_MATCH_MIN_BINS at least; clears the table. */
void o2g_match_init(struct o2g_match *m, struct o2g_match_bin *bins, u32 nbins,
		    u64 seed);

/* The smallest table with two bins per key; 0 when that large already. */
u32 o2g_match_best_nbins(const struct o2g_match *m);
/* 0, or the number of bins that would keep chains short. */
static inline u32 o2g_match_wants(const struct o2g_match *m)
{
	return likely(m->nkeys <= m->nbins) ? 0 : o2g_match_best_nbins(m);
}
/*
 * Move everything to a new table, which is cleared here; the old one is the
 * caller's again.
 */
struct o2g_match_bin *o2g_match_rehash(struct o2g_match *m,
				       struct o2g_match_bin *bins, u32 nbins);
/*
 * The same in portions: a table that is larger and clear; then @max bins and keys
 * at a time, until the old table is returned. All else goes on meanwhile.
 */
void o2g_match_rehash_begin(struct o2g_match *m, struct o2g_match_bin *bins,
			    u32 nbins);
struct o2g_match_bin *o2g_match_rehash_some(struct o2g_match *m, u32 max);

/* Does a receive (src, tag, ignore) accept a message (src, tag)? */
static inline bool o2g_match_accepts(const struct o2g_match_entry *r, u32 src,
				     u64 tag)
{
	return (r->src == O2G_MATCH_ANY || r->src == src) &&
	       ((r->tag ^ tag) & ~r->ignore) == 0;
}

/*
 * A receive: returns the oldest unexpected message it accepts, unlinked, or
 * NULL after queueing the receive. Caller fills src, tag, ignore.
 */
struct o2g_match_entry *o2g_match_post(struct o2g_match *m,
				       struct o2g_match_entry *recv);

/* A message arrives: unlinks and returns the receive it belongs to, or NULL. */
struct o2g_match_entry *o2g_match_arrive(struct o2g_match *m, u32 src, u64 tag);

/* Queue a message for which arrive found no receive. Caller fills src, tag. */
void o2g_match_add_unexpected(struct o2g_match *m, struct o2g_match_entry *msg);

/* The oldest unexpected message that fits, left in place; NULL if none. */
struct o2g_match_entry *o2g_match_peek(const struct o2g_match *m, u32 src,
				       u64 tag, u64 ignore);

/*
 * There is no place for receives of this kind: a message is compared with each of
 * them, of which there are m->nodd.
 */
bool o2g_match_is_odd(const struct o2g_match *m, u32 src, u64 ignore);

/* Unlink a queued receive or message. False when it was not queued. */
bool o2g_match_remove(struct o2g_match *m, struct o2g_match_entry *e);

/*
 * Walk all posted receives / unexpected messages in no particular order (a
 * dead peer, a queue dump). The callback may remove the entry it is given and
 * no other.
 */
void o2g_match_each_posted(struct o2g_match *m,
			   void (*fn)(struct o2g_match_entry *, void *),
			   void *arg);
void o2g_match_each_unexpected(struct o2g_match *m,
			       void (*fn)(struct o2g_match_entry *, void *),
			       void *arg);

/*
 * Walk the unexpected messages in order of arrival, @max at a time, while others come
 * and go: a mark in their list says how far. True: that was the last.
 */
struct o2g_match_walk {
	struct o2g_match_entry mark;
};
void o2g_match_walk_begin(struct o2g_match *m, struct o2g_match_walk *w);
bool o2g_match_walk(struct o2g_match *m, struct o2g_match_walk *w, u32 max,
		    void (*fn)(struct o2g_match_entry *, void *), void *arg);

/*
 * A receive or a probe with a wildcard is compared with unexpected messages one by one.
 * In portions: pass over those that it does not accept, up to *@max of them, which is
 * what is left then. True: the next one is accepted, or there is none; then m->skip is
 * set to &w->mark.order while it is posted, and the walk is ended.
 */
bool o2g_match_skip(struct o2g_match *m, struct o2g_match_walk *w, u32 src,
		    u64 tag, u64 ignore, u32 *max);
void o2g_match_walk_end(struct o2g_match_walk *w);

#endif
