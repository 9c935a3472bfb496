/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The locks, conditions, barriers and counters that this process keeps, by kind and name;
 * made when they are first asked for, and gone with the region. All with dsm.lock.
 */
#include "dsm.h"

#include <stdlib.h>

enum kind { LOCK, CONDITION, BARRIER, COUNTER };

/* Somebody whose answer has to wait. */
struct waiting {
	struct waiting *next;
	int rank;
	u64 id;	    /* of the call; 0: it has not come to sleep yet */
	u64 ticket; /* of a condition */
	bool signalled;
};

struct object {
	struct object *next;
	u32 region;
	enum kind kind;
	u64 name;
	int64_t value;	/* lock: 1 + who has it; counter; condition: tickets */
	unsigned count; /* barrier: how many are here */
	struct waiting *first;
};

#define BINS 1024
static struct object *bins[BINS];

static struct object **bin_of(u64 name)
{
	return &bins[(name ^ name >> 12 ^ name >> 33) % BINS];
}

static struct object *object_of(u32 region, enum kind kind, u64 name)
{
	struct object **bin = bin_of(name), *o = *bin;

	while (o && (o->region != region || o->kind != kind || o->name != name))
		o = o->next;
	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->region = region;
	o->kind = kind;
	o->name = name;
	o->next = *bin;
	return *bin = o;
}

/* At the end: first come, first served. */
static struct waiting *enqueue(struct object *o, int rank, u64 id)
{
	struct waiting *w = calloc(1, sizeof(*w)), **at = &o->first;

	if (!w) {
		dsm_answer_with(rank, id, -ENOMEM);
		return NULL;
	}
	w->rank = rank;
	w->id = id;
	while (*at)
		at = &(*at)->next;
	return *at = w;
}

static void answer_first(struct object *o)
{
	struct waiting *w = o->first;

	o->first = w->next;
	dsm_answer_with(w->rank, w->id, 0);
	free(w);
}

static void lock(struct object *o, int from, const struct dsm_call *c)
{
	if (!o->value) {
		o->value = 1 + from;
		dsm_answer_with(from, c->id, 0);
	} else if (c->op == DSM_OBJ_TRYLOCK) {
		dsm_answer_with(from, c->id, -EBUSY);
	} else {
		enqueue(o, from, c->id);
	}
}

static void unlock(struct object *o, int from, const struct dsm_call *c)
{
	if (o->value != 1 + from) {
		dsm_answer_with(from, c->id, -EPERM);
		return;
	}
	o->value = o->first ? 1 + o->first->rank : 0;
	if (o->first)
		answer_first(o);
	dsm_answer_with(from, c->id, 0);
}

static void enter(struct object *o, int from, const struct dsm_call *c)
{
	struct waiting *w = enqueue(o, from, c->id);

	if (!w)
		return;
	w->id = 0;
	w->ticket = (u64)++o->value;
	dsm_answer(from, &(struct dsm_answer){ .id = c->id, .a = w->ticket });
}

static void sleep_on(struct object *o, int from, const struct dsm_call *c)
{
	struct waiting **at = &o->first, *w;

	while (*at && (*at)->ticket != c->b)
		at = &(*at)->next;
	w = *at;
	if (!w || w->rank != from) {
		dsm_answer_with(from, c->id, -EINVAL);
		return;
	}
	w->id = c->id;
	if (!w->signalled)
		return;
	*at = w->next;
	free(w);
	dsm_answer_with(from, c->id, 0);
}

/* The first that has no signal yet; it may not have come to sleep. */
static bool signal_one(struct object *o)
{
	struct waiting **at = &o->first, *w;

	while (*at && (*at)->signalled)
		at = &(*at)->next;
	w = *at;
	if (!w)
		return false;
	w->signalled = true;
	if (!w->id)
		return true;
	*at = w->next;
	dsm_answer_with(w->rank, w->id, 0);
	free(w);
	return true;
}

static void signal_cond(struct object *o, int from, const struct dsm_call *c)
{
	while (signal_one(o) && c->op == DSM_OBJ_BROADCAST)
		;
	dsm_answer_with(from, c->id, 0);
}

static void barrier(struct object *o, int from, const struct dsm_call *c)
{
	if (!enqueue(o, from, c->id) || ++o->count < c->b)
		return;
	o->count = 0;
	while (o->first)
		answer_first(o);
}

static void add(struct object *o, int from, const struct dsm_call *c)
{
	struct dsm_answer a = { .id = c->id, .a = (u64)o->value };

	o->value = (int64_t)((u64)o->value + c->b);
	dsm_answer(from, &a);
}

typedef void action(struct object *o, int from, const struct dsm_call *c);

static const struct {
	action *fn;
	enum kind kind;
} actions[] = {
	[DSM_OBJ_LOCK] = { lock, LOCK },
	[DSM_OBJ_TRYLOCK] = { lock, LOCK },
	[DSM_OBJ_UNLOCK] = { unlock, LOCK },
	[DSM_OBJ_ENTER] = { enter, CONDITION },
	[DSM_OBJ_SLEEP] = { sleep_on, CONDITION },
	[DSM_OBJ_SIGNAL] = { signal_cond, CONDITION },
	[DSM_OBJ_BROADCAST] = { signal_cond, CONDITION },
	[DSM_OBJ_BARRIER] = { barrier, BARRIER },
	[DSM_OBJ_ADD] = { add, COUNTER },
};

void dsm_objects_serve(int from, const struct dsm_call *call)
{
	struct object *o =
		object_of(call->region, actions[call->op].kind, call->a);

	if (o)
		actions[call->op].fn(o, from, call);
	else
		dsm_answer_with(from, call->id, -ENOMEM);
}

static void free_object(struct object *o)
{
	while (o->first) {
		struct waiting *w = o->first;

		o->first = w->next;
		free(w);
	}
	free(o);
}

void dsm_objects_forget(u32 region)
{
	for (unsigned i = 0; i < BINS; i++) {
		struct object **at = &bins[i];

		while (*at) {
			struct object *o = *at;

			if (o->region != region) {
				at = &o->next;
				continue;
			}
			*at = o->next;
			free_object(o);
		}
	}
}
