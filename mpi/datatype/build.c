/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Life of a derived datatype: building it from its parts, references, freeing.
 *
 * Bounds follow the standard: the least and the greatest byte of the type map,
 * or, once any part has bounds that were set (resized), only those that were
 * set. Without set bounds the extent is rounded up to the strictest alignment
 * of the basic types.
 */
#include <stdlib.h>

#include "datatype/build.h"
#include "datatype/layout.h"
#include "env/errors.h"

int mpii_build_begin(struct mpii_build *b)
{
	struct mpii_type *t = calloc(1, sizeof(*t));

	if (!t)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	t->obj.magic = MPII_TYPE;
	atomic_init(&t->obj.refs, 1);
	t->handle = (MPI_Datatype)t;
	t->blocks = &t->one;
	t->align = 1;
	*b = (struct mpii_build){ .t = t };
	return MPI_SUCCESS;
}

/* The least and the greatest displacement of n copies, step bytes apart. */
static void spread(MPI_Count n, MPI_Aint step, MPI_Aint *low, MPI_Aint *high)
{
	MPI_Aint far = (n - 1) * step;

	if (far < 0)
		*low += far;
	else
		*high += far;
}

static void widen(bool *valid, MPI_Aint *lo, MPI_Aint *hi, MPI_Aint a,
		  MPI_Aint b)
{
	if (!*valid || a < *lo)
		*lo = a;
	if (!*valid || b > *hi)
		*hi = b;
	*valid = true;
}

static void add_bounds(struct mpii_build *b, MPI_Aint low, MPI_Aint high,
		       const struct mpii_type *old)
{
	if (old->size)
		widen(&b->data, &b->true_lb, &b->true_ub, low + old->true_lb,
		      high + old->true_lb + old->true_extent);
	if (!old->size && !old->marked)
		return;
	if (b->marked && !old->marked)
		return;
	if (old->marked && !b->marked)
		b->bounds = false; /* only bounds that were set count now */
	b->marked |= old->marked;
	widen(&b->bounds, &b->lb, &b->ub, low + old->lb,
	      high + old->lb + old->extent);
}

static void add_basic(struct mpii_build *b, MPI_Count n,
		      const struct mpii_type *old)
{
	struct mpii_type *t = b->t;

	if (old->size == 0)
		return;
	if (t->size == 0)
		t->basic = old->basic;
	else if (t->basic != old->basic)
		t->basic = NULL;
	t->nbasic += n * old->nbasic;
	if (old->align > t->align)
		t->align = old->align;
}

static bool add_layout(struct mpii_type *t, MPI_Aint disp, MPI_Count count,
		       MPI_Aint stride, MPI_Count bl,
		       const struct mpii_type *old)
{
	struct mpii_type part = { .nblocks = 0 };
	bool ok;

	ok = mpii_layout_copy(&part, old) &&
	     mpii_layout_repeat(&part, bl, old->extent) &&
	     mpii_layout_repeat(&part, count, stride) &&
	     mpii_layout_append(t, disp, &part);
	mpii_layout_free(&part);
	return ok;
}

int mpii_build_add(struct mpii_build *b, MPI_Aint disp, MPI_Count count,
		   MPI_Aint stride, MPI_Count bl, const struct mpii_type *old)
{
	MPI_Aint low = disp, high = disp;
	MPI_Count n, bytes;

	if (count == 0 || bl == 0)
		return MPI_SUCCESS;
	if (__builtin_mul_overflow(count, bl, &n) ||
	    __builtin_mul_overflow(n, old->size, &bytes) ||
	    __builtin_add_overflow(bytes, b->t->size, &bytes))
		return mpii_fail(MPI_ERR_COUNT,
				 "the size of the datatype does not fit in "
				 "63 bits");
	spread(bl, old->extent, &low, &high);
	spread(count, stride, &low, &high);
	add_bounds(b, low, high, old);
	add_basic(b, n, old);
	if (!add_layout(b->t, disp, count, stride, bl, old))
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	return MPI_SUCCESS;
}

static void find_contiguous(struct mpii_type *t)
{
	t->contiguous = t->size == 0 ||
			(t->nsegs == 1 && t->blocks[0].disp == 0 &&
			 t->blocks[0].len == t->extent);
}

void mpii_build_end(struct mpii_build *b)
{
	struct mpii_type *t = b->t;
	MPI_Aint over;

	mpii_layout_end(t);
	if (b->bounds) {
		t->lb = b->lb;
		t->extent = b->ub - b->lb;
	}
	if (b->data) {
		t->true_lb = b->true_lb;
		t->true_extent = b->true_ub - b->true_lb;
	}
	t->marked = b->marked;
	over = t->extent % t->align;
	if (!t->marked && over > 0)
		t->extent += t->align - over;
	find_contiguous(t);
}

void mpii_type_bounds(struct mpii_type *t, MPI_Aint lb, MPI_Aint extent)
{
	t->lb = lb;
	t->extent = extent;
	t->marked = true;
	find_contiguous(t);
}

void mpii_type_hold(struct mpii_type *t)
{
	if (!t->predefined)
		mpii_obj_hold(&t->obj);
}

void mpii_type_put(struct mpii_type *t)
{
	if (t->predefined || !mpii_obj_drop(&t->obj))
		return;
	mpii_obj_end(&t->obj);
	mpii_layout_free(t);
	mpii_made_destroy(t->made);
	free(t->name);
	free(t);
}
