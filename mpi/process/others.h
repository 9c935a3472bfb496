/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Processes of other jobs. Groups know them by peer numbers, as those of our own job;
 * here is counted who needs them, so that they are forgotten when nobody does.
 */
#ifndef MPII_PROCESS_OTHERS_H
#define MPII_PROCESS_OTHERS_H

#include "process/process.h"

struct mpii_group;

static inline bool mpii_is_other(int peer)
{
	return peer >= mpii.size;
}
/* Who a peer is, everywhere: the same at all who know it. */
struct o2g_identity mpii_identity(int peer);
/* <0, 0, >0: an order of processes that all agree on. */
int mpii_identity_compare(struct o2g_identity a, struct o2g_identity b);

/* A process that others have told us of, by its address; it must be told of us as
 * well, with the same secret. Between begin and end, in which its group is made:
 * then nobody forgets it in between. Negative errno. */
void mpii_others_begin(void);
int mpii_others_add(const struct o2g_identity *who, const char *address,
		    const unsigned char *secret, int *peer);
void mpii_others_end(void);

/* What we have of a process that is there: meetings in which we heard of it, the first
 * and the latest ones. It is settled when one of them is over. */
#define MPII_MET 8
struct mpii_acquaintance {
	int peer;		/* -1: we do not know it; */
	int instead;		/* ... if it was lost: who it is now, or -1 */
	uint64_t met[MPII_MET]; /* 0: none */
	unsigned settled;	/* when, by mpii_others_clock(); 0: not yet */
};
bool mpii_others_any(void);
unsigned mpii_others_clock(void);
/* A meeting that looks at some of them: until it is through with that none is forgotten,
 * those included that others add meanwhile. It may look several times. */
struct mpii_look {
	struct mpii_look *next;
	int n;
	struct o2g_identity *who;
	struct mpii_acquaintance *have;
};
void mpii_others_look(struct mpii_look *l);
void mpii_others_look_begin(struct mpii_look *l);
void mpii_others_look_end(struct mpii_look *l);
/* Its meeting is over, one way or the other. */
void mpii_others_settle(int peer);

/* A group's members are needed by one more group, or one more communicator; or one
 * less, and @parting: that was disconnected. May be called with libo2g's lock. */
void mpii_others_hold(const struct mpii_group *g, bool by_comm);
void mpii_others_put(const struct mpii_group *g, bool by_comm, bool parting);
/* Forget those that nobody needs any more. */
void mpii_others_sweep(void);

/* Peers that are gone (gone.c); these may be called with libo2g's lock. */
enum mpii_other_state {
	MPII_OTHER_THERE,
	MPII_OTHER_FINISHED,
	MPII_OTHER_DEAD
};
void mpii_others_lost(int peer, bool finished);
enum mpii_other_state mpii_others_state(int peer);
/* Those that communicators need: their numbers, malloc'ed. -1: out of memory. */
int mpii_others_connected(int **peers);

#endif
