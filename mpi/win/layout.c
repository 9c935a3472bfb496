/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The layout of a datatype on its way to a target, which keeps it. What comes in is
 * only believed as far as it is consistent: sizes are computed anew, so that packing
 * and unpacking stay within the bounds that are checked against the window.
 */
#include <stdlib.h>
#include <string.h>

#include "datatype/layout.h"
#include "win/out.h"

size_t win_layout_bytes(const struct mpii_type *t)
{
	return sizeof(struct win_wire_type) +
	       t->nloops * sizeof(struct mpii_loop) +
	       t->nblocks * sizeof(struct mpii_block);
}

void win_layout_write(const struct mpii_type *t, char *to)
{
	struct win_wire_type head = { t->size, t->extent, t->nloops,
				      t->nblocks };

	memcpy(to, &head, sizeof(head));
	to += sizeof(head);
	memcpy(to, t->loops, t->nloops * sizeof(*t->loops));
	to += t->nloops * sizeof(*t->loops);
	memcpy(to, t->blocks, t->nblocks * sizeof(*t->blocks));
}

/* The first and the last byte of the blocks, and how many bytes they are. */
static bool measure_blocks(struct mpii_type *t, MPI_Aint *lo, MPI_Aint *hi)
{
	MPI_Count at = 0, bytes;
	MPI_Aint last;

	for (size_t i = 0; i < t->nblocks; i++) {
		struct mpii_block *b = &t->blocks[i];

		if (b->len <= 0 || b->n <= 0 || b->at != at ||
		    __builtin_mul_overflow(b->len, b->n, &bytes) ||
		    __builtin_add_overflow(at, bytes, &at) ||
		    __builtin_mul_overflow(b->n - 1, b->stride, &last))
			return false;
		if (i == 0)
			*lo = *hi = b->disp;
		if (b->disp + (last < 0 ? last : 0) < *lo)
			*lo = b->disp + (last < 0 ? last : 0);
		if (b->disp + b->len + (last > 0 ? last : 0) > *hi)
			*hi = b->disp + b->len + (last > 0 ? last : 0);
	}
	t->size = at;
	return true;
}

/* The same with the loops around them, from the inside out. */
static bool measure(struct mpii_type *t)
{
	MPI_Aint lo = 0, hi = 0, last;

	if (!measure_blocks(t, &lo, &hi))
		return false;
	for (int i = t->nloops - 1; i >= 0; i--) {
		struct mpii_loop *l = &t->loops[i];

		if (l->n <= 0 || l->bytes != t->size ||
		    __builtin_mul_overflow(l->n - 1, l->stride, &last) ||
		    __builtin_mul_overflow(t->size, l->n, &t->size))
			return false;
		lo += last < 0 ? last : 0;
		hi += last > 0 ? last : 0;
	}
	t->true_lb = lo;
	t->true_extent = hi - lo;
	return t->size > 0;
}

struct mpii_type *win_layout_read(const char *from, size_t len)
{
	struct win_wire_type head;
	struct mpii_type *t;

	if (len < sizeof(head))
		return NULL;
	memcpy(&head, from, sizeof(head));
	from += sizeof(head);
	len -= sizeof(head);
	if (head.nloops > MPII_LOOPS || head.nblocks == 0 ||
	    head.nblocks > len / sizeof(*t->blocks) ||
	    len < head.nloops * sizeof(*t->loops) +
			    head.nblocks * sizeof(*t->blocks))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->obj.magic = MPII_TYPE;
	t->obj.refs = 1;
	t->committed = true;
	t->extent = head.extent;
	t->nloops = (uint8_t)head.nloops;
	t->nblocks = head.nblocks;
	t->blocks = head.nblocks > 1 ?
			    malloc(head.nblocks * sizeof(*t->blocks)) :
			    &t->one;
	memcpy(t->loops, from, head.nloops * sizeof(*t->loops));
	from += head.nloops * sizeof(*t->loops);
	if (t->blocks)
		memcpy(t->blocks, from, head.nblocks * sizeof(*t->blocks));
	if (t->blocks && measure(t) && t->size == head.size) {
		mpii_layout_end(t);
		return t;
	}
	mpii_type_put(t);
	return NULL;
}
