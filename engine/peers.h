/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The table of an endpoint's peers, by peer number.
 *
 * 0 to size-1 name the ranks of the own job. Memory is for those that we have to do
 * with: a directory points to chunks of the table, which are made when a rank in them
 * is met. The directory of a job of 100,000 ranks takes 12 KiB.
 *
 * Numbers from PEERS_OTHERS on are handed out to peers of other jobs, and given back
 * when such a peer is gone. A number has a generation in it that changes with every
 * use of its slot, so one that was given back names nobody; it comes again after its
 * slot has been used PEERS_GENERATIONS times, and the slot that has been free for
 * longest is taken first.
 */
#ifndef ENG_PEERS_H
#define ENG_PEERS_H

#include "list.h"

struct eng_peer;

#define PEERS_CHUNK 64
#define PEERS_OTHERS (1u << 30)
#define PEERS_SLOTS (1u << 20) /* peers of other jobs at a time */
#define PEERS_GENERATIONS 1024u

struct peers_slot {
	struct eng_peer *peer; /* NULL: free */
	u32 generation;
	u32 next_free;
};

struct eng_peers {
	u32 own;		   /* ranks of the own job */
	struct eng_peer ***chunks; /* never NULL: an empty one is shared */
	struct o2g_list known;	   /* all of them, as they became known */
	struct peers_slot *others;
	u32 nslots;
	u32 nothers;		   /* that are not free */
	u32 first_free, last_free; /* slots, in the order of their release */
};

extern struct eng_peer *const peers_nobody[PEERS_CHUNK];

int peers_init(struct eng_peers *t, u32 own);
/* The table itself; the peers are the caller's. */
void peers_cleanup(struct eng_peers *t);

struct eng_peer *peers_other(const struct eng_peers *t, u32 number);

/* The peer of that number; NULL: not known, or no such number. */
static inline struct eng_peer *peers_get(const struct eng_peers *t, u32 number)
{
	if (unlikely(number >= t->own))
		return peers_other(t, number);
	return t->chunks[number / PEERS_CHUNK][number % PEERS_CHUNK];
}

/* Make a rank of the own job known: 0 or -ENOMEM. */
int peers_set(struct eng_peers *t, u32 rank, struct eng_peer *p);
/* A number for a peer of another job: 0, -ENOMEM, or -ENFILE: there are too many. */
int peers_add(struct eng_peers *t, struct eng_peer *p, u32 *number);
/* Give it back. */
void peers_del(struct eng_peers *t, u32 number);

#endif
