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

#define FAR         \
	(INT64_C(1) \
	 << 61) /* no memory reaches so far: sums of two are numbers */

static bool is_near(MPI_Aint at)
{
	return at > -FAR && at < FAR;
}

/* @n pieces from @lo to @hi, @stride apart: where the first of them begins and the
 * last ends. */
static bool repeat(MPI_Count n, MPI_Aint stride, MPI_Aint *lo, MPI_Aint *hi)
{
	MPI_Aint last;

	if (__builtin_mul_overflow(n - 1, stride, &last) || !is_near(last))
		return false;
	*lo += last < 0 ? last : 0;
	*hi += last > 0 ? last : 0;
	return is_near(*lo) && is_near(*hi);
}

static bool measure_block(const struct mpii_block *b, MPI_Aint *lo,
			  MPI_Aint *hi)
{
	if (b->len <= 0 || b->n <= 0 || !is_near(b->disp) || !is_near(b->len))
		return false;
	*lo = b->disp;
	*hi = b->disp + b->len;
	return repeat(b->n, b->stride, lo, hi);
}

/* The first and the last byte of the blocks, and how many bytes they are. */
static bool measure_blocks(struct mpii_type *t, MPI_Aint *lo, MPI_Aint *hi)
{
	MPI_Count at = 0, bytes;
	MPI_Aint from, to;

	for (size_t i = 0; i < t->nblocks; i++) {
		const struct mpii_block *b = &t->blocks[i];

		if (b->at != at || !measure_block(b, &from, &to) ||
		    __builtin_mul_overflow(b->len, b->n, &bytes) ||
		    __builtin_add_overflow(at, bytes, &at))
			return false;
		if (i == 0 || from < *lo)
			*lo = from;
		if (i == 0 || to > *hi)
			*hi = to;
	}
	t->size = at;
	return true;
}

/* The same with the loops around them, from the inside out. */
static bool measure(struct mpii_type *t)
{
	MPI_Aint lo = 0, hi = 0;

	if (!measure_blocks(t, &lo, &hi))
		return false;
	for (int i = t->nloops - 1; i >= 0; i--) {
		struct mpii_loop *l = &t->loops[i];

		if (l->n <= 0 || l->bytes != t->size ||
		    !repeat(l->n, l->stride, &lo, &hi) ||
		    __builtin_mul_overflow(t->size, l->n, &t->size))
			return false;
	}
	t->true_lb = lo;
	t->true_extent = hi - lo;
	return t->size > 0 && is_near(t->extent);
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
