/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers: known on first use, connected on first send. */
#ifndef ENG_PEER_H
#define ENG_PEER_H

#include "copies.h"
#include "ep.h"

#define ENG_AWAITED_NOW 1
#define ENG_AWAITED_LONG 4 /* the bits move up with each look */

struct eng_long_msg;

/* What we know of a peer of another job. */
struct eng_other {
	struct chan_other chan;
	char address[];
};

struct eng_peer {
	struct chan_peer cp;   /* cp.core is the core's peer */
	struct o2g_list known; /* ep->peers.known, or ep->retired */
	struct o2g_ep *ep;
	struct eng_other *other;       /* NULL: it is of our job */
	const struct carrier *carrier; /* NULL: not known yet, carrier_of() */
	bool lost;
	bool handed;	     /* the driver has its socket */
	bool bye_pending;    /* to be given up after this round: it said BYE, */
	const char *bye_why; /* ... or else why */
	struct eng_peer *next_bye;
	u8 awaited;	/* ENG_AWAITED_, see ended.c */
	bool resolving; /* its address is being asked for, see resolve.c: */
	bool nudged;	/* wake it up afterwards, */
	struct o2g_list asked;	  /* ... ep->resolving */
	struct o2g_list held_rma; /* ... and puts and gets that wait for it */
	unsigned taken; /* messages of it that probes or handlers have taken */
	struct o2g_list serving;       /* ep->serve.ready */
	struct eng_long_msg *long_msg; /* for a handler, on its way */
	struct eng_long_msg *far_msg;  /* the same, of the driver's */
	struct eng_copies copies;
	u8 untold; /* not reached, and nobody has asked: looks since then, ended.c */
	bool unreached; /* no connection could be made */
	char *error; /* what became of it, once it is lost; NULL: no memory */
};

static inline struct eng_peer *eng_peer_of(struct chan_peer *cp)
{
	return container_of(cp, struct eng_peer, cp);
}

static inline struct eng_peer *eng_peer_of_core(struct o2g_peer *p)
{
	return container_of(p, struct eng_peer, cp.core);
}

/* The peer, if it is known. */
static inline struct eng_peer *eng_peer_known(const struct o2g_ep *ep, int rank)
{
	return peers_get(&ep->peers, (u32)rank);
}
/* Is that the number of a peer at all? */
static inline bool eng_peer_exists(const struct o2g_ep *ep, int rank)
{
	return (unsigned)rank < (unsigned)ep->size || eng_peer_known(ep, rank);
}
/* All that are known; the body may lose the peer, but must not delete it. */
#define eng_for_each_peer(p, ep)                               \
	for (struct o2g_list *l_ = (ep)->peers.known.next;     \
	     l_ != &(ep)->peers.known &&                       \
	     ((p) = container_of(l_, struct eng_peer, known)); \
	     l_ = l_->next)
/* ... or is made known. NULL: out of range, or of memory. */
struct eng_peer *eng_peer_get(struct o2g_ep *ep, int rank);
/* ... connected, connecting, or waiting for its address: then cp.chan is NULL. NULL
 * and *err when that is impossible. */
struct eng_peer *eng_peer_connect(struct o2g_ep *ep, int rank, int *err);
/* A peer of another job, not connected yet; o is taken over. Its number is
 * cp.core.rank; NULL and *err when there can be none. */
struct eng_peer *eng_peer_add(struct o2g_ep *ep, struct eng_other *o, u32 rank,
			      int *err);
/* We say goodbye, and its number may be given to others. Not from inside a call of
 * the core or of a channel. */
void eng_peer_del(struct eng_peer *p);
void eng_peers_say_bye(struct o2g_ep *ep);
void eng_peers_cleanup(struct o2g_ep *ep);
/* Give a peer up, but not from inside a call of the core. */
void eng_bye_later(struct eng_peer *p, const char *why);
void eng_byes(struct o2g_ep *ep);

#endif
