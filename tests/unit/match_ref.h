/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The naive reference for core/match.c: one array of receives in posting order,
 * one of messages in arrival order, both searched from the front.
 */
#ifndef MATCH_REF_H
#define MATCH_REF_H

#include <stdlib.h>
#include <string.h>

#include "match.h"

struct ref_item {
	struct o2g_match_entry *e; /* the entry that stands for it in the core */
	u64 tag, ignore;
	u32 src;
};

struct ref_queue {
	struct ref_item *v;
	size_t n, size;
};

struct ref {
	struct ref_queue posted, unexp;
};

static inline void ref_free(struct ref *r)
{
	free(r->posted.v);
	free(r->unexp.v);
	memset(r, 0, sizeof(*r));
}

static inline void ref_push(struct ref_queue *q, struct o2g_match_entry *e)
{
	if (q->n == q->size) {
		q->size = q->size ? 2 * q->size : 64;
		q->v = realloc(q->v, q->size * sizeof(*q->v));
		if (!q->v)
			abort();
	}
	q->v[q->n++] = (struct ref_item){ e, e->tag, e->ignore, e->src };
}

static inline struct o2g_match_entry *ref_take(struct ref_queue *q, size_t i)
{
	struct o2g_match_entry *e = q->v[i].e;

	q->n--;
	memmove(&q->v[i], &q->v[i + 1], (q->n - i) * sizeof(*q->v));
	return e;
}

static inline bool ref_fits(u32 rsrc, u64 rtag, u64 ignore, u32 src, u64 tag)
{
	if (rsrc != O2G_MATCH_ANY && rsrc != src)
		return false;
	return (rtag | ignore) == (tag | ignore);
}

/* Index of the oldest message that fits, or n. */
static inline size_t ref_peek(const struct ref *r, u32 src, u64 tag, u64 ignore)
{
	size_t i;

	for (i = 0; i < r->unexp.n; i++)
		if (ref_fits(src, tag, ignore, r->unexp.v[i].src,
			     r->unexp.v[i].tag))
			break;
	return i;
}

static inline struct o2g_match_entry *ref_post(struct ref *r,
					       struct o2g_match_entry *recv)
{
	size_t i = ref_peek(r, recv->src, recv->tag, recv->ignore);

	if (i < r->unexp.n)
		return ref_take(&r->unexp, i);
	ref_push(&r->posted, recv);
	return NULL;
}

static inline struct o2g_match_entry *ref_arrive(struct ref *r, u32 src,
						 u64 tag)
{
	for (size_t i = 0; i < r->posted.n; i++) {
		struct ref_item *p = &r->posted.v[i];

		if (ref_fits(p->src, p->tag, p->ignore, src, tag))
			return ref_take(&r->posted, i);
	}
	return NULL;
}

static inline bool ref_remove(struct ref_queue *q, struct o2g_match_entry *e)
{
	for (size_t i = 0; i < q->n; i++) {
		if (q->v[i].e == e) {
			ref_take(q, i);
			return true;
		}
	}
	return false;
}

#endif
