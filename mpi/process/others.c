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
#include <string.h>

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
	int looked_at;	   /* by meetings: not to be forgotten now */
	bool parting;
	uint64_t met[MPII_MET]; /* struct mpii_acquaintance */
	unsigned settled;	/* the same */
	unsigned meetings;
};

/* Chunks come and stay, so that an entry may be looked at without a lock. */
static _Atomic(struct other *) chunks[SLOTS / CHUNK];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER; /* the counts */
/* Who is made known or forgotten. Taken before libo2g's lock and the table's. */
static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_look *looks;
static atomic_bool dirty;   /* somebody may have to be forgotten */
static unsigned settled_at; /* counts what was settled; with the table's lock */

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

/* --- what we have of them --- */

bool mpii_others_any(void)
{
	bool any = false;

	pthread_mutex_lock(&table);
	for (int i = 0; i < SLOTS / CHUNK && chunks[i] && !any; i++)
		for (int j = 0; j < CHUNK && !any; j++)
			any = atomic_load(&chunks[i][j].peer) >= 0;
	pthread_mutex_unlock(&table);
	return any;
}

unsigned mpii_others_clock(void)
{
	unsigned now;

	pthread_mutex_lock(&table);
	now = settled_at;
	pthread_mutex_unlock(&table);
	return now;
}

static struct other *entry_by(const struct o2g_identity *who)
{
	for (int i = 0; i < SLOTS / CHUNK && chunks[i]; i++) {
		struct other *c = atomic_load(&chunks[i]);

		for (int j = 0; j < CHUNK; j++)
			if (atomic_load(&c[j].peer) >= 0 &&
			    atomic_load(&c[j].state) == MPII_OTHER_THERE &&
			    !mpii_identity_compare(c[j].who, *who))
				return &c[j];
	}
	return NULL;
}

/* With the table's lock, as what follows. */
static void keep(int *peer, struct other *o)
{
	*peer = atomic_load(&o->peer);
	o->looked_at++;
}

static void let_go(struct mpii_look *l)
{
	for (int i = 0; i < l->n; i++) {
		struct mpii_acquaintance *a = &l->have[i];

		if (a->peer >= 0)
			entry_of(a->peer)->looked_at--;
		if (a->instead >= 0)
			entry_of(a->instead)->looked_at--;
		*a = (struct mpii_acquaintance){ .peer = -1, .instead = -1 };
	}
	atomic_store(&dirty, true);
}

/* Those who have looked, and have seen another or nobody. */
static void tell_lookers(struct other *o)
{
	for (struct mpii_look *l = looks; l; l = l->next)
		for (int i = 0; i < l->n; i++) {
			struct mpii_acquaintance *a = &l->have[i];

			if (mpii_identity_compare(l->who[i], o->who))
				continue;
			if (a->peer < 0)
				keep(&a->peer, o);
			else if (a->instead < 0)
				keep(&a->instead, o);
		}
}

void mpii_others_look_begin(struct mpii_look *l)
{
	pthread_mutex_lock(&table);
	l->next = looks;
	looks = l;
	pthread_mutex_unlock(&table);
}

void mpii_others_look(struct mpii_look *l)
{
	pthread_mutex_lock(&table);
	let_go(l);
	for (int i = 0; i < l->n; i++) {
		struct mpii_acquaintance *a = &l->have[i];
		struct other *o = entry_by(&l->who[i]);

		if (!o)
			continue;
		keep(&a->peer, o);
		a->settled = o->settled;
		memcpy(a->met, o->met, sizeof(a->met));
	}
	pthread_mutex_unlock(&table);
}

void mpii_others_look_end(struct mpii_look *l)
{
	struct mpii_look **at = &looks;

	pthread_mutex_lock(&table);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	let_go(l);
	pthread_mutex_unlock(&table);
}

void mpii_others_settle(int peer)
{
	struct other *o;

	pthread_mutex_lock(&table);
	o = mpii_is_other(peer) ? entry_of(peer) : NULL;
	if (o && !o->settled) {
		settled_at += settled_at + 1 ? 1 : 2; /* 0 is none */
		o->settled = settled_at;
	}
	pthread_mutex_unlock(&table);
}

/* --- coming --- */

void mpii_others_begin(void)
{
	/* whoever has said goodbye is not taken for one who is there */
	o2g_progress(mpii.ep);
	pthread_mutex_lock(&meeting);
}

/* A number for a meeting, which does not tell its secret. */
static uint64_t number_of(const unsigned char *secret)
{
	uint64_t words[O2G_SECRET_SIZE / 8], sum = 1;

	memcpy(words, secret, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum = sum * UINT64_C(0x9e3779b97f4a7c15) + words[i];
	return sum ? sum : 1;
}

/* The first half stays, so that it is the same at both ends. */
static void meet(struct other *o, const unsigned char *secret)
{
	const unsigned half = MPII_MET / 2;
	unsigned n = o->meetings++;

	o->met[n < half ? n : half + n % half] = number_of(secret);
}

static int met_again(int peer, const unsigned char *secret)
{
	struct other *o;

	pthread_mutex_lock(&table);
	o = mpii_is_other(peer) ? entry_of(peer) : NULL;
	if (o)
		meet(o, secret);
	pthread_mutex_unlock(&table);
	return 0;
}

int mpii_others_add(const struct o2g_identity *who, const char *address,
		    const unsigned char *secret, int *peer)
{
	int known = o2g_peer_add(mpii.ep, who, address, secret, peer);
	struct other *o;

	if (known)
		return known < 0 ? known : met_again(*peer, secret);
	pthread_mutex_lock(&table);
	o = entry_new(*peer);
	if (o) {
		o->who = *who;
		o->groups = o->comms = o->looked_at = 0;
		o->meetings = 0;
		memset(o->met, 0, sizeof(o->met));
		meet(o, secret);
		o->settled = 0;
		o->parting = true; /* until somebody needs it */
		atomic_store(&o->state, MPII_OTHER_THERE);
		atomic_store(&o->peer, *peer);
		atomic_store(&dirty, true);
		tell_lookers(o);
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
	       !o->looked_at &&
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
