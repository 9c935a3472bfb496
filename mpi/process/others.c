/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An entry for each process of another job, by the slot that its peer number names:
 * the low 20 bits (engine/peers.h).
 *
 * A process is disconnected when its last communicator goes by MPI_Comm_disconnect,
 * which all of them enter. One that went by MPI_Comm_free may still be in use at the
 * other end: then the process stays until it says goodbye itself, and if both jobs meet
 * again before, they go on with the connection that they have.
 *
 * Groups may end with libo2g's lock held, where it must not be called. So what is to be
 * forgotten is only noted there, and mpii_others_sweep() does it.
 */
#include <errno.h>
#include <stdlib.h>

#include "comm/group.h"
#include "process/end_others.h"
#include "process/others.h"

#define SLOTS (1 << 20)
#define CHUNK 256

struct other {
	atomic_int peer; /* -1: free */
	atomic_int state;
	struct o2g_identity who;
	int groups, comms; /* that need it */
	bool parting;
};

/* Chunks come and stay, so that an entry may be looked at without a lock. */
static _Atomic(struct other *) chunks[SLOTS / CHUNK];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; /* the counts */
/* Who is made known or forgotten. Taken before libo2g's lock and the table's. */
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool dirty; /* somebody may have to be forgotten */

static struct other *entry_of(int peer)
{
	struct other *c = atomic_load(&chunks[peer % SLOTS / CHUNK]);
	struct other *o = c ? &c[peer % CHUNK] : NULL;

	return o && atomic_load(&o->peer) == peer ? o : NULL;
}

static struct other *entry_new(int peer)
{
	_Atomic(struct other *) *at = &chunks[peer % SLOTS / CHUNK];
	struct other *c = atomic_load(at);

	if (!c) {
		c = calloc(CHUNK, sizeof(*c));
		for (int i = 0; c && i < CHUNK; i++)
			atomic_init(&c[i].peer, -1);
		atomic_store(at, c);
	}
	return c ? &c[peer % CHUNK] : NULL;
}

struct o2g_identity mpii_identity(int peer)
{
	struct o2g_identity who;
	const struct other *o;

	o2g_identify(mpii.ep, &who);
	who.rank = peer;
	o = mpii_is_other(peer) ? entry_of(peer) : NULL;
	return o ? o->who : who;
}

int mpii_identity_compare(struct o2g_identity a, struct o2g_identity b)
{
	if (a.job != b.job)
		return a.job < b.job ? -1 : 1;
	return (a.rank > b.rank) - (a.rank < b.rank);
}

/* --- coming --- */

void mpii_others_begin(void)
{
	/* whoever has said goodbye is not taken for one who is there */
	o2g_progress(mpii.ep);
	pthread_mutex_lock(&meeting);
}

int mpii_others_add(const struct o2g_identity *who, const char *address,
		    const unsigned char *secret, int *peer)
{
	int known = o2g_peer_add(mpii.ep, who, address, secret, peer);
	struct other *o;

	if (known)
		return known < 0 ? known : 0;
	pthread_mutex_lock(&table);
	o = entry_new(*peer);
	if (o) {
		o->who = *who;
		o->groups = o->comms = 0;
		o->parting = true; /* until somebody needs it */
		atomic_store(&o->state, MPII_OTHER_THERE);
		atomic_store(&o->peer, *peer);
		atomic_store(&dirty, true);
	}
	pthread_mutex_unlock(&table);
	if (o)
		mpii_end_listen(*peer);
	else
		o2g_peer_del(mpii.ep, *peer);
	return o ? 0 : -ENOMEM;
}

void mpii_others_end(void)
{
	pthread_mutex_unlock(&meeting);
}

/* --- being needed --- */

static void count(int peer, int by, bool by_comm, bool parting)
{
	struct other *o = mpii_is_other(peer) ? entry_of(peer) : NULL;

	if (!o)
		return;
	if (by_comm)
		o->comms += by;
	else
		o->groups += by;
	if (by > 0)
		o->parting = false;
	else if (by_comm && parting && !o->comms)
		o->parting = true;
	if (!o->groups && !o->comms)
		atomic_store(&dirty, true);
}

static void count_all(const struct mpii_group *g, int by, bool by_comm,
		      bool parting)
{
	if (mpii_likely(!g->others))
		return;
	pthread_mutex_lock(&table);
	for (int i = 0; i < g->size; i++)
		count(mpii_group_peer(g, i), by, by_comm, parting);
	pthread_mutex_unlock(&table);
}

void mpii_others_hold(const struct mpii_group *g, bool by_comm)
{
	count_all(g, 1, by_comm, false);
}

void mpii_others_put(const struct mpii_group *g, bool by_comm, bool parting)
{
	count_all(g, -1, by_comm, parting);
}

/* --- going --- */

static bool is_over(const struct other *o)
{
	return atomic_load(&o->peer) >= 0 && !o->groups && !o->comms &&
	       (o->parting || atomic_load(&o->state) != MPII_OTHER_THERE);
}

/* The next one to be forgotten, which has no entry any more; -1. */
static int take_one(int *from)
{
	int found = -1;

	pthread_mutex_lock(&table);
	for (; *from < SLOTS / CHUNK && found < 0; ++*from) {
		struct other *c = atomic_load(&chunks[*from]);

		if (!c)
			break; /* slots are used in order */
		for (int i = 0; i < CHUNK && found < 0; i++)
			if (is_over(&c[i]))
				found = atomic_exchange(&c[i].peer, -1);
		if (found >= 0)
			break; /* there may be more in this one */
	}
	pthread_mutex_unlock(&table);
	return found;
}

void mpii_others_sweep(void)
{
	int peer, from = 0;

	if (mpii_likely(!atomic_load_explicit(&dirty, memory_order_relaxed)))
		return;
	pthread_mutex_lock(&meeting);
	atomic_store(&dirty, false);
	while ((peer = take_one(&from)) >= 0)
		o2g_peer_del(mpii.ep, peer);
	pthread_mutex_unlock(&meeting);
}

void mpii_others_lost(int peer, bool finished)
{
	struct other *o = entry_of(peer);

	if (o)
		atomic_store(&o->state,
			     finished ? MPII_OTHER_FINISHED : MPII_OTHER_DEAD);
	atomic_store(&dirty, true);
}

enum mpii_other_state mpii_others_state(int peer)
{
	const struct other *o = entry_of(peer);

	return o ? (enum mpii_other_state)atomic_load(&o->state) :
		   MPII_OTHER_FINISHED;
}

static bool is_connected(const struct other *o)
{
	return atomic_load(&o->peer) >= 0 && o->comms &&
	       atomic_load(&o->state) == MPII_OTHER_THERE;
}

int mpii_others_connected(int **peers)
{
	int n = 0, room = 0;

	*peers = NULL;
	pthread_mutex_lock(&table);
	for (int i = 0; i < SLOTS / CHUNK && chunks[i]; i++) {
		struct other *c = atomic_load(&chunks[i]);

		for (int j = 0; j < CHUNK; j++) {
			if (!is_connected(&c[j]))
				continue;
			if (n == room) {
				int *more;

				room = room ? 2 * room : 16;
				more = realloc(*peers, room * sizeof(*more));
				if (!more)
					goto out;
				*peers = more;
			}
			(*peers)[n++] = atomic_load(&c[j].peer);
		}
	}
out:
	pthread_mutex_unlock(&table);
	return n;
}
