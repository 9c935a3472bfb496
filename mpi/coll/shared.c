/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See shared.h. */
#include "coll/boxes.h"
#include "coll/shared.h"
#include "coll/shared_memory.h"
#include "coll/state.h"
#include "process/gone.h"
#include "tools/state.h"

#define FIRST_CALLS 3 /* on a communicator, before it is worth it */

static inline struct coll_shared *shared_of(const struct mpii_comm *c)
{
	const struct coll_state *state = coll_state_get(c);

	return state ? state->shared : NULL;
}

bool coll_shared_use(const struct coll *k)
{
	struct coll_shared *s;

	/* A task may be continued by another thread. */
	if (k->task || mpii_unlikely(mpii.forked))
		return false;
	s = shared_of(k->c);
	if (mpii_likely(s && s->state == USED))
		return true;
	if (s && s->state == UNUSABLE)
		return false;
	if (!s && !(s = coll_shared_create(k->c)))
		return false;
	if (s->state == UNUSABLE || s->asked++ < FIRST_CALLS)
		return false;
	return !coll_shared_set_up(k, s) && s->state == USED;
}

/* --- slots --- */

/* Where the rows of this kind are that @call may use. */
static char *area(const struct coll_shared *s, int which, uint64_t call)
{
	char *at = s->memory + sizeof(struct start) + SLOTS * slot_bytes(s->n);

	if (which == 2)
		at += kinds[1].areas * area_bytes(&kinds[1], s->n);
	return at + call % kinds[which].areas * area_bytes(&kinds[which], s->n);
}

/* The length of a rank that knows already that they differ, and of a slot whose
 * ranks have given different ones. */
#define DISAGREE 0xffffffu

struct coll_slot coll_slot_take_as(const struct coll *k, MPI_Count bytes,
				   MPI_Count length)
{
	struct coll_shared *s = shared_of(k->c);
	uint64_t call = s->calls++;
	char *at = s->memory + sizeof(struct start) +
		   call % SLOTS * slot_bytes(s->n);
	char *lines = at + sizeof(struct coll_slot_counters);
	int which = (bytes > (MPI_Count)kinds[0].bytes) +
		    (bytes > (MPI_Count)kinds[1].bytes);

	return (struct coll_slot){
		.s = s,
		.c = (struct coll_slot_counters *)at,
		.lines = lines,
		.rows = which ? area(s, which, call) : lines + WORD,
		.row_bytes = which ? kinds[which].bytes : LINE,
		.areas = kinds[which].areas,
		.call = call,
		.length = coll_is_wrong(k) ? DISAGREE : (unsigned)length,
		.n = s->n,
	};
}

struct coll_slot coll_slot_take(const struct coll *k, MPI_Count bytes)
{
	return coll_slot_take_as(k, bytes, bytes);
}

static int compare(const struct coll *k, const struct coll_slot *o,
		   unsigned length)
{
	if (mpii_likely(length == o->length))
		return MPI_SUCCESS;
	return coll_mismatch(k, mpii_fail(MPI_ERR_COUNT,
					  "this rank's count and type make %u "
					  "bytes, those of others do not",
					  o->length));
}

static inline unsigned *asleep(const struct coll_shared *s)
{
	return &((struct start *)s->memory)->asleep;
}

/* Having written what they may sleep for. */
static inline void wake(const struct coll_shared *s, const int *ranks, int n)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (mpii_unlikely(__atomic_load_n(asleep(s), __ATOMIC_RELAXED)))
		o2g_nudge(mpii.ep, ranks, (size_t)n);
}

struct wait {
	atomic_uint *word;
	unsigned want, losses;
	const struct coll *k;
};

/* Others may be further already. */
static inline bool reached(atomic_uint *word, unsigned want)
{
	return (int)(atomic_load_explicit(word, memory_order_acquire) - want) >=
	       0;
}

static int there(void *arg)
{
	const struct wait *w = arg;

	return reached(w->word, w->want) ||
	       mpii_unlikely(o2g_losses(mpii.ep) != w->losses);
}

static void explain(struct o2g_state_wait *to, void *arg)
{
	const struct wait *w = arg;

	mpii_state_in_coll(to, w->k->c, (unsigned)w->k->tag);
}

void coll_shared_explain(void)
{
	mpii_state_explain(there, explain);
}

/* Somebody was lost. If it was a member nothing will come any more. */
static int look_who_died(const struct coll *k, struct coll_shared *s)
{
	struct o2g_peer_info info;
	unsigned losses = o2g_losses(mpii.ep);

	for (int i = 0; i < k->c->size; i++) {
		if (o2g_peer_info(mpii.ep, mpii_comm_peer(k->c, i), &info) ||
		    info.alive || i == k->c->rank)
			continue;
		s->state = UNUSABLE;
		return mpii_call_error(k->c, i, -O2G_ERR_PEER);
	}
	/* of the whole that this is a part of: a member may have given up */
	if (mpii_gone_latest(k->c) >= 0) {
		s->state = UNUSABLE;
		return mpii_call_error(k->c, -1, -O2G_ERR_PEER);
	}
	s->losses = losses;
	return MPI_SUCCESS;
}

static int wait_for(const struct coll *k, struct coll_shared *s,
		    atomic_uint *word, unsigned want)
{
	struct wait w = { word, want, s->losses, k };
	int err = MPI_SUCCESS;

	while (!err && !reached(word, want)) {
		o2g_wait_shared(mpii.ep, there, &w, asleep(s));
		if (!reached(word, want)) {
			err = look_who_died(k, s);
			w.losses = s->losses;
		}
	}
	return err;
}

/* How often a slot was used before this call. */
static inline unsigned turn_of(uint64_t call)
{
	return (unsigned)(call / SLOTS);
}

/* All have left the call that had these rows before; so they have left earlier
 * ones, one of which had this slot. */
int coll_slot_enter(const struct coll *k, const struct coll_slot *o)
{
	uint64_t before = o->call - o->areas;
	struct coll_slot_counters *c;
	unsigned left;

	if (mpii_unlikely(o->call < o->areas))
		return MPI_SUCCESS;
	c = (struct coll_slot_counters *)(o->s->memory + sizeof(struct start) +
					  before % SLOTS * slot_bytes(o->n));
	left = (turn_of(before) + 1) * (unsigned)o->n;
	return mpii_likely(reached(&c->left, left)) ?
		       MPI_SUCCESS :
		       wait_for(k, o->s, &c->left, left);
}

/* Ranks below, of which there are at most COLL_SHARED_RANKS. Above what is made of
 * their lengths: sums of lengths could be the same though ranks disagree. */
#define ARRIVED_BITS 8

static inline unsigned arrival(unsigned length)
{
	unsigned mixed = length * 0x9e3779b1u;

	mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
	return (mixed & ~((1u << ARRIVED_BITS) - 1)) | 1;
}

bool coll_slot_arrive(const struct coll *k, struct coll_slot *o)
{
	unsigned one = arrival(o->length);
	unsigned sum = one + atomic_fetch_add_explicit(&o->c->arrived, one,
						       memory_order_acq_rel);

	if (sum % (1 << ARRIVED_BITS) < (unsigned)o->n)
		return false;
	/* for the next use, which begins when all have left this one */
	atomic_store_explicit(&o->c->arrived, 0, memory_order_relaxed);
	if (mpii_unlikely(sum != one * (unsigned)o->n)) {
		compare(k, o, DISAGREE);
		o->length = DISAGREE;
	}
	return true;
}

void coll_slot_release(const struct coll_slot *o)
{
	o->c->length = o->length;
	atomic_store_explicit(&o->c->released, (unsigned)o->call + 1,
			      memory_order_release);
	wake(o->s, o->s->others, o->n - 1);
}

int coll_slot_wait(const struct coll *k, const struct coll_slot *o)
{
	int err = wait_for(k, o->s, &o->c->released, (unsigned)o->call + 1);

	return err ? err : compare(k, o, o->c->length);
}

void coll_slot_leave(const struct coll_slot *o)
{
	unsigned before = atomic_fetch_add(&o->c->left, 1);

	if (before + 1 == (turn_of(o->call) + 1) * (unsigned)o->n)
		wake(o->s, o->s->others, o->n - 1);
}

int coll_slot_wait_left(const struct coll *k, const struct coll_slot *o)
{
	return wait_for(k, o->s, &o->c->left,
			(turn_of(o->call) + 1) * (unsigned)o->n);
}

struct row_word {
	atomic_uint published;
	unsigned length;
};

static struct row_word *word_of(const struct coll_slot *o, int rank)
{
	return (struct row_word *)(o->lines + (size_t)rank * LINE);
}

void coll_slot_publish(const struct coll *k, const struct coll_slot *o,
		       int reader)
{
	struct row_word *w = word_of(o, k->c->rank);
	int peer = mpii_comm_peer(k->c, reader);

	w->length = o->length;
	atomic_store_explicit(&w->published, (unsigned)o->call + 1,
			      memory_order_release);
	wake(o->s, &peer, 1);
}

int coll_slot_await(const struct coll *k, const struct coll_slot *o, int rank)
{
	struct row_word *w = word_of(o, rank);
	int err = wait_for(k, o->s, &w->published, (unsigned)o->call + 1);

	return err ? err : compare(k, o, w->length);
}

/* --- for boxes.c --- */

char *coll_shared_boxes(const struct coll *k, unsigned **turns)
{
	struct coll_shared *s = shared_of(k->c);

	*turns = s->turns;
	return s->memory + s->boxes;
}

int coll_shared_await(const struct coll *k, atomic_uint *word, unsigned want)
{
	return wait_for(k, shared_of(k->c), word, want);
}

void coll_shared_wake(const struct coll *k, int reader)
{
	int peer = mpii_comm_peer(k->c, reader);

	wake(shared_of(k->c), &peer, 1);
}
