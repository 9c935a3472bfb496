/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Flattening: how the layout of a derived type grows out of those of its parts.
 *
 * Repetition becomes a longer piece, a run or a loop and costs no memory, so
 * the size of a type does not depend on the counts it was made with. Only
 * lists (indexed, struct) cost a block per entry, and entries that touch or
 * that form a regular pattern are merged. Loops inside a list, and loops beyond
 * MPII_LOOPS, are unrolled into blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "datatype/layout.h"

/* Room for how many blocks is there when n are in use? */
static size_t capacity(size_t n)
{
	size_t c = 4;

	if (n <= 1)
		return 1;
	while (c < n)
		c *= 2;
	return c;
}

static bool grow(struct mpii_type *t)
{
	size_t n = t->nblocks, cap = capacity(n);
	struct mpii_block *b;

	if (n == 0)
		t->blocks = &t->one;
	if (n < cap)
		return true;
	b = reallocarray(t->blocks == &t->one ? NULL : t->blocks,
			 capacity(n + 1), sizeof(*b));
	if (!b)
		return false;
	if (t->blocks == &t->one)
		b[0] = t->one;
	t->blocks = b;
	return true;
}

/*
 * Two last blocks of equal pieces become one run. Done when the next block
 * comes, because until then the last one may still grow.
 */
static void fold(struct mpii_type *t)
{
	struct mpii_block *p, *q;

	if (t->nblocks < 2)
		return;
	q = &t->blocks[t->nblocks - 1];
	p = q - 1;
	if (q->n != 1 || p->len != q->len)
		return;
	if (p->n > 1 && p->disp + p->n * p->stride != q->disp)
		return;
	if (p->n == 1)
		p->stride = q->disp - p->disp;
	p->n++;
	t->nblocks--;
	if (t->nblocks == 1) { /* keep the rule of capacity() */
		t->one = t->blocks[0];
		free(t->blocks);
		t->blocks = &t->one;
	}
}

static bool push(struct mpii_type *t, MPI_Aint disp, const struct mpii_block *b)
{
	struct mpii_block *p;

	disp += b->disp;
	p = t->nblocks ? &t->blocks[t->nblocks - 1] : NULL;
	if (p && p->n == 1 && b->n == 1 && p->disp + p->len == disp) {
		p->len += b->len;
		return true;
	}
	if (p && p->n > 1 && b->n > 1 && p->len == b->len &&
	    p->stride == b->stride && p->disp + p->n * p->stride == disp) {
		p->n += b->n;
		return true;
	}
	fold(t);
	if (!grow(t))
		return false;
	p = &t->blocks[t->nblocks++];
	*p = *b;
	p->disp = disp;
	return true;
}

/* Copies of the list of blocks of one, @n times, @stride apart. */
static bool push_list(struct mpii_type *t, MPI_Aint disp, MPI_Count n,
		      MPI_Aint stride, const struct mpii_type *list)
{
	for (MPI_Count i = 0; i < n; i++, disp += stride)
		for (size_t k = 0; k < list->nblocks; k++)
			if (!push(t, disp, &list->blocks[k]))
				return false;
	return true;
}

/* Unroll the innermost loop into the list. */
static bool unroll(struct mpii_type *t)
{
	struct mpii_loop *l = &t->loops[t->nloops - 1];
	struct mpii_type tmp = { .nblocks = 0 };

	if (!push_list(&tmp, 0, l->n, l->stride, t)) {
		mpii_layout_free(&tmp);
		return false;
	}
	fold(&tmp);
	mpii_layout_free(t);
	t->nblocks = tmp.nblocks;
	t->one = tmp.one;
	t->blocks = tmp.blocks == &tmp.one ? &t->one : tmp.blocks;
	t->nloops--;
	return true;
}

bool mpii_layout_repeat(struct mpii_type *t, MPI_Count n, MPI_Aint stride)
{
	MPI_Count bytes = t->size;
	struct mpii_block *b = t->blocks;
	struct mpii_loop *l = t->loops;

	t->size *= n;
	if (n == 1 || bytes == 0)
		return true;
	if (t->nloops && l->n * l->stride == stride) {
		l->n *= n;
		return true;
	}
	if (t->nloops == 0 && t->nblocks == 1) {
		if (b->n == 1 && b->len == stride) {
			b->len *= n;
			return true;
		}
		if (b->n == 1)
			b->stride = stride;
		if (b->n * b->stride == stride || b->n == 1) {
			b->n *= n;
			return true;
		}
	}
	if (t->nloops == MPII_LOOPS && !unroll(t))
		return false;
	memmove(l + 1, l, t->nloops * sizeof(*l));
	*l = (struct mpii_loop){ .n = n, .stride = stride, .bytes = bytes };
	t->nloops++;
	return true;
}

bool mpii_layout_copy(struct mpii_type *t, const struct mpii_type *from)
{
	t->size = from->size;
	t->nloops = from->nloops;
	memcpy(t->loops, from->loops, sizeof(t->loops));
	t->nblocks = 0;
	t->blocks = &t->one;
	if (from->nblocks > 1) {
		t->blocks = reallocarray(NULL, capacity(from->nblocks),
					 sizeof(*t->blocks));
		if (!t->blocks)
			return false;
	}
	if (from->nblocks)
		memcpy(t->blocks, from->blocks,
		       from->nblocks * sizeof(*t->blocks));
	t->nblocks = from->nblocks;
	return true;
}

/* Append a part, loops and all, to the list of @t. */
static bool append_nest(struct mpii_type *t, MPI_Aint disp,
			const struct mpii_type *part, int level)
{
	const struct mpii_loop *l = &part->loops[level];

	if (level == part->nloops)
		return push_list(t, disp, 1, 0, part);
	for (MPI_Count i = 0; i < l->n; i++)
		if (!append_nest(t, disp + i * l->stride, part, level + 1))
			return false;
	return true;
}

bool mpii_layout_append(struct mpii_type *t, MPI_Aint disp,
			const struct mpii_type *part)
{
	if (part->size == 0)
		return true;
	if (t->size == 0) {
		if (!mpii_layout_copy(t, part))
			return false;
		for (size_t i = 0; i < t->nblocks; i++)
			t->blocks[i].disp += disp;
		return true;
	}
	while (t->nloops)
		if (!unroll(t))
			return false;
	t->size += part->size;
	return append_nest(t, disp, part, 0);
}

void mpii_layout_end(struct mpii_type *t)
{
	MPI_Count at = 0;

	fold(t);
	t->nsegs = 0;
	for (size_t i = 0; i < t->nblocks; i++) {
		t->blocks[i].at = at;
		at += t->blocks[i].len * t->blocks[i].n;
		t->nsegs += t->blocks[i].n;
	}
	for (int i = 0; i < t->nloops; i++)
		t->nsegs *= t->loops[i].n;
}

void mpii_layout_free(struct mpii_type *t)
{
	if (t->blocks != &t->one)
		free(t->blocks);
	t->blocks = &t->one;
	t->nblocks = 0;
}
