/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Rank 0 knows all regions by name and gives each its place. Those who make a region
 * are answered when all of them have mapped it, and those who close it when all who have
 * it do.
 */
#include "dsm.h"

#include <stdlib.h>
#include <string.h>

#include "settings.h"

#define GAP ((u64)1 << 30)   /* between regions */
#define TOP ((u64)112 << 40) /* above are libraries and stacks */
#define IDS 0xffff	     /* as many as the module knows */

struct name {
	struct name *next;
	u32 id;
	char name[O2G_DSM_NAME_MAX + 1];
	u64 base, bytes;
	dsm_set founders, mapped; /* who makes it; who has it mapped */
	dsm_set members, closing;
	int error; /* somebody could not map it */
	bool ready;
	u64 waits[DSM_NODES]; /* ids of calls, by rank */
};

static struct name *names;
static u32 last_id;
static u64 next_base;

static struct name *by_name(const char *name)
{
	struct name *n = names;

	while (n && strcmp(n->name, name))
		n = n->next;
	return n;
}

static struct name *by_id(u32 id)
{
	struct name *n = names;

	while (n && n->id != id)
		n = n->next;
	return n;
}

static void forget(struct name *gone)
{
	struct name **at = &names;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free(gone);
}

static void describe(int to, u64 id, const struct name *n)
{
	struct dsm_answer a = { .id = id,
				.a = n->id,
				.b = n->base,
				.c = n->bytes,
				.d = n->founders };

	dsm_answer(to, &a);
}

static dsm_set all_ranks(void)
{
	return dsm.size == DSM_NODES ? ~(dsm_set)0 :
				       dsm_only((unsigned)dsm.size) - 1;
}

/* In turn, so that a number comes again as late as possible. 0: all are in use. */
static u32 free_id(void)
{
	for (u32 i = 0; i < IDS; i++) {
		last_id = last_id % IDS + 1;
		if (!by_id(last_id))
			return last_id;
	}
	return 0;
}

static u64 room(u64 bytes)
{
	return (bytes + 2 * GAP - 1) / GAP * GAP;
}

/* The region that lies where another would, if there is one. */
static const struct name *in_way(u64 base, u64 bytes)
{
	const struct name *n = names;

	while (n && (n->base + room(n->bytes) <= base ||
		     base + room(bytes) <= n->base))
		n = n->next;
	return n;
}

/* From the last one upwards, then from below. 0: there is no place. */
static u64 free_place(u64 bytes)
{
	u64 first = o2g_settings()->dsm_base;
	u64 top = first < TOP ? TOP : first + TOP;
	u64 at = next_base ? next_base : first;
	const struct name *other;
	bool again = false;

	for (;;) {
		if (bytes > top - first || at > top - room(bytes)) {
			if (again || at == first)
				return 0;
			again = true;
			at = first;
		}
		other = in_way(at, bytes);
		if (!other)
			break;
		at = other->base + room(other->bytes);
	}
	next_base = at + room(bytes);
	return at;
}

static struct name *make(int from, const struct dsm_call *call)
{
	struct name *n = calloc(1, sizeof(*n));

	if (n) {
		n->id = free_id();
		n->base = free_place(call->a);
	}
	if (!n || !n->id || !n->base) {
		free(n);
		return NULL;
	}
	memcpy(n->name, call->name, sizeof(n->name));
	n->bytes = call->a;
	n->founders = call->b & O2G_DSM_ALONE ? dsm_only((unsigned)from) :
						all_ranks();
	n->next = names;
	names = n;
	return n;
}

static void create(int from, const struct dsm_call *call)
{
	struct name *n = by_name(call->name);

	if (!n)
		n = make(from, call);
	else if (dsm_has(n->members, (unsigned)from) || n->ready ||
		 !dsm_has(n->founders, (unsigned)from) || n->bytes != call->a)
		return dsm_answer_with(from, call->id,
				       n->bytes == call->a ? -EEXIST : -EINVAL);
	if (!n)
		return dsm_answer_with(from, call->id, -ENOMEM);
	n->members |= dsm_only((unsigned)from);
	describe(from, call->id, n);
}

/* All whose calls wait hear the same. */
static void answer_all(struct name *n, dsm_set whom, int result)
{
	for (; whom; whom &= whom - 1)
		dsm_answer_with((int)dsm_first(whom), n->waits[dsm_first(whom)],
				result);
}

static void mapped(int from, const struct dsm_call *call)
{
	struct name *n = by_id((u32)call->a);

	if (!n)
		return dsm_answer_with(from, call->id, -ENOENT);
	if ((int64_t)call->b < 0)
		n->error = (int)(int64_t)call->b;
	n->waits[from] = call->id;
	n->mapped |= dsm_only((unsigned)from);
	if (n->ready)
		return dsm_answer_with(from, call->id, n->error);
	if (n->founders & ~n->mapped)
		return;
	n->ready = true;
	answer_all(n, n->founders, n->error);
	if (n->error)
		forget(n);
}

static void join(int from, const struct dsm_call *call)
{
	struct name *n = by_name(call->name);

	if (!n || !n->ready)
		return dsm_answer_with(from, call->id, -ENOENT);
	if (dsm_has(n->members, (unsigned)from))
		return dsm_answer_with(from, call->id, -EEXIST);
	n->members |= dsm_only((unsigned)from);
	describe(from, call->id, n);
}

static void closing(int from, const struct dsm_call *call)
{
	struct name *n = by_id((u32)call->a);

	if (!n)
		return dsm_answer_with(from, call->id, -ENOENT);
	n->waits[from] = call->id;
	n->closing |= dsm_only((unsigned)from);
	if (n->members & ~n->closing)
		return;
	answer_all(n, n->closing, 0);
	forget(n);
}

void dsm_names_serve(int from, const struct dsm_call *call)
{
	switch (call->op) {
	case DSM_NAME_CREATE:
		create(from, call);
		break;
	case DSM_NAME_READY:
		mapped(from, call);
		break;
	case DSM_NAME_JOIN:
		join(from, call);
		break;
	default:
		closing(from, call);
	}
}
