/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory of a region. The first of those who made it keeps a list of pieces, ordered by
 * address, free ones and others; it is not in the region, so looking moves no pages. First
 * fit. Neighbours that are free become one. All with dsm.lock.
 */
#include "dsm.h"

#include <stdlib.h>

#define SMALLEST 64 /* and aligned so: a cache line */

struct piece {
	struct piece *next;
	u64 at, bytes; /* offset in the region */
	bool used;
};

struct heap {
	struct heap *next;
	u32 region;
	struct piece *first;
};

static struct heap *heaps;

static struct heap *new_heap(u32 region)
{
	struct o2g_dsm *r = dsm_region_find(region);
	struct heap *h = calloc(1, sizeof(*h));
	struct piece *all = calloc(1, sizeof(*all));

	if (!r || !h || !all) {
		free(h);
		free(all);
		return NULL;
	}
	all->bytes = r->bytes;
	h->region = region;
	h->first = all;
	h->next = heaps;
	heaps = h;
	return h;
}

static struct heap *heap_of(u32 region)
{
	struct heap *h = heaps;

	while (h && h->region != region)
		h = h->next;
	return h ? h : new_heap(region);
}

/* Cut a piece after so many bytes. */
static bool cut(struct piece *p, u64 bytes)
{
	struct piece *rest;

	if (p->bytes == bytes)
		return true;
	rest = calloc(1, sizeof(*rest));
	if (!rest)
		return false;
	rest->at = p->at + bytes;
	rest->bytes = p->bytes - bytes;
	rest->next = p->next;
	p->next = rest;
	p->bytes = bytes;
	return true;
}

static u64 round_up(u64 n, u64 to)
{
	return (n + to - 1) / to * to;
}

/* The offset, or negative. */
static int64_t allocate(struct heap *h, u64 bytes, u64 align)
{
	for (struct piece *p = h->first; p; p = p->next) {
		u64 skip = round_up(p->at, align) - p->at;

		if (p->used || p->bytes < skip || p->bytes - skip < bytes)
			continue;
		if (skip) {
			if (!cut(p, skip))
				return -ENOMEM;
			p = p->next;
		}
		if (!cut(p, bytes))
			return -ENOMEM;
		p->used = true;
		return (int64_t)p->at;
	}
	return -ENOMEM;
}

static void merge(struct piece *p)
{
	while (!p->used && p->next && !p->next->used) {
		struct piece *gone = p->next;

		p->bytes += gone->bytes;
		p->next = gone->next;
		free(gone);
	}
}

static int release(struct heap *h, u64 at)
{
	struct piece *before = NULL, *p = h->first;

	while (p && p->at != at) {
		before = p;
		p = p->next;
	}
	if (!p || !p->used)
		return -EINVAL;
	p->used = false;
	merge(p);
	if (before)
		merge(before);
	return 0;
}

void dsm_heap_serve(int from, const struct dsm_call *call)
{
	struct heap *h = heap_of(call->region);
	struct dsm_answer a = { .id = call->id };
	int64_t at;

	if (!h) {
		a.result = -ENOMEM;
	} else if (call->op == DSM_HEAP_FREE) {
		a.result = release(h, call->a);
	} else {
		at = allocate(h, call->a, call->b);
		a.result = at < 0 ? at : 0;
		a.a = (u64)at;
	}
	dsm_answer(from, &a);
}

void dsm_heap_forget(u32 region)
{
	struct heap **at = &heaps, *h;

	while (*at && (*at)->region != region)
		at = &(*at)->next;
	h = *at;
	if (!h)
		return;
	*at = h->next;
	while (h->first) {
		struct piece *p = h->first;

		h->first = p->next;
		free(p);
	}
	free(h);
}

/* --- the calls --- */

int o2g_dsm_alloc(struct o2g_dsm *r, size_t size, size_t align, void **memory)
{
	struct dsm_call call = { .op = DSM_HEAP_ALLOC };
	u64 least = size >= DSM_PAGE_SIZE ? DSM_PAGE_SIZE : SMALLEST;
	struct dsm_answer a;
	int err = dsm_region_check(r);

	if (err)
		return err;
	if (align & (align - 1))
		return -EINVAL;
	if (size > r->bytes)
		return -ENOMEM;
	call.a = round_up(size ? size : 1, least);
	call.b = align > least ? align : least;
	err = dsm_ask(r, (int)dsm_first(r->founders), &call, &a);
	if (!err)
		*memory = r->base + a.a;
	return err;
}

int o2g_dsm_free(struct o2g_dsm *r, void *memory)
{
	struct dsm_call call = { .op = DSM_HEAP_FREE };
	int err = dsm_region_check(r);

	if (err || !memory)
		return err;
	call.a = (u64)((char *)memory - r->base);
	return dsm_ask(r, (int)dsm_first(r->founders), &call, NULL);
}
