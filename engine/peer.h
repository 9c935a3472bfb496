/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers: known on first use, connected on first send. */
#ifndef ENG_PEER_H
#define ENG_PEER_H

#include "ep.h"

#define ENG_AWAITED_NOW 1
#define ENG_AWAITED_LONG 4 /* the bits move up with each look */

struct eng_peer {
	struct chan_peer cp; /* cp.core is the core's peer */
	struct o2g_ep *ep;
	const struct carrier *carrier; /* NULL: not known yet, carrier_of() */
	bool lost;
	bool handed;	     /* the driver has its socket */
	bool bye_pending;    /* to be given up after this round: it said BYE, */
	const char *bye_why; /* ... or else why */
	struct eng_peer *next_bye;
	u8 awaited; /* ENG_AWAITED_, see ended.c */
	char error[728];
};

static inline struct eng_peer *eng_peer_of(struct chan_peer *cp)
{
	return container_of(cp, struct eng_peer, cp);
}

/* The peer, if it is known. */
static inline struct eng_peer *eng_peer_known(const struct o2g_ep *ep, int rank)
{
	if (unlikely((unsigned)rank >= (unsigned)ep->size))
		return NULL;
	return ep->peers[rank];
}
/* ... or is made known. NULL: out of range, or of memory. */
struct eng_peer *eng_peer_get(struct o2g_ep *ep, int rank);
/* ... connected or connecting. NULL and *err when that is impossible. */
struct eng_peer *eng_peer_connect(struct o2g_ep *ep, int rank, int *err);
void eng_peers_say_bye(struct o2g_ep *ep);
void eng_peers_cleanup(struct o2g_ep *ep);
/* Give a peer up, but not from inside a call of the core. */
void eng_bye_later(struct eng_peer *p, const char *why);
void eng_byes(struct o2g_ep *ep);

#endif
