/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A datatype as it lies in a file whose basic types have other sizes.
 *
 * It is made again, from the record of how it was made. A type all of whose
 * distances are multiples of one basic type is not, but has all of them
 * multiplied: those are the common ones, and arrays of any kind are among them.
 */
#include "datatype/build.h"
#include "datatype/layout.h"
#include "env/errors.h"
#include "io/layout.h"

/* Made of one basic type, with nothing given in bytes? */
static bool uniform(const struct mpii_type *t)
{
	const struct mpii_made *m = t->made;

	if (t->predefined)
		return t->size == t->extent;
	switch (m->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_SUBARRAY:
	case MPI_COMBINER_DARRAY:
		return uniform(m->types[0]);
	default:
		return false;
	}
}

static void scale(MPI_Aint *v, MPI_Count from, MPI_Count to)
{
	*v = *v / from * to;
}

/* Of @from bytes each in memory, and @to in the file. */
static int scaled(const struct mpii_type *t, MPI_Count from, MPI_Count to,
		  struct mpii_type **layout)
{
	struct mpii_build b;
	struct mpii_type *n;
	int err = mpii_build_begin(&b);

	if (err)
		return err;
	n = b.t;
	if (!mpii_layout_copy(n, t)) {
		mpii_type_put(n);
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	}
	scale(&n->size, from, to);
	for (int i = 0; i < n->nloops; i++) {
		scale(&n->loops[i].stride, from, to);
		scale(&n->loops[i].bytes, from, to);
	}
	for (size_t i = 0; i < n->nblocks; i++) {
		scale(&n->blocks[i].disp, from, to);
		scale(&n->blocks[i].len, from, to);
		scale(&n->blocks[i].stride, from, to);
	}
	mpii_layout_end(n);
	mpii_type_bounds(n, t->lb / from * to, t->extent / from * to);
	n->true_lb = t->true_lb / from * to;
	n->true_extent = t->true_extent / from * to;
	n->marked = t->marked; /* or a struct would go by this member only */
	n->committed = true;
	*layout = n;
	return MPI_SUCCESS;
}

/* --- made again --- */

/* Number i of the arguments that are counts, in whichever form. */
static MPI_Count num(const struct mpii_made *m, MPI_Count i)
{
	return m->large ? m->counts[i] : m->ints[i];
}

/* Number i of those in bytes, which follow @nums counts. */
static MPI_Aint addr(const struct mpii_made *m, MPI_Count nums, MPI_Count i)
{
	return m->large ? m->counts[nums + i] : m->addrs[i];
}

static int add_vector(struct mpii_build *b, const struct mpii_made *m,
		      const struct mpii_type *old)
{
	MPI_Aint stride = m->combiner == MPI_COMBINER_HVECTOR ?
				  addr(m, 2, 0) :
				  num(m, 2) * old->extent;

	return mpii_build_add(b, 0, num(m, 0), stride, num(m, 1), old);
}

static int add_indexed(struct mpii_build *b, const struct mpii_made *m,
		       const struct mpii_type *old)
{
	bool block = m->combiner == MPI_COMBINER_INDEXED_BLOCK ||
		     m->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	bool bytes = m->combiner == MPI_COMBINER_HINDEXED ||
		     m->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	MPI_Count n = num(m, 0), nums = block ? 2 : 1 + n;
	int err = MPI_SUCCESS;

	for (MPI_Count i = 0; i < n && !err; i++)
		err = mpii_build_add(b,
				     bytes ? addr(m, nums, i) :
					     num(m, nums + i) * old->extent,
				     1, 0, num(m, block ? 1 : 1 + i), old);
	return err;
}

static int add_struct(const struct io_sizes *s, struct mpii_build *b,
		      const struct mpii_made *m)
{
	MPI_Count n = num(m, 0);
	struct mpii_type *old;
	int err = MPI_SUCCESS;

	for (MPI_Count i = 0; i < n && !err; i++) {
		err = io_layout_make(s, m->types[i], &old);
		if (err)
			break;
		err = mpii_build_add(b, addr(m, 1 + n, i), 1, 0, num(m, 1 + i),
				     old);
		mpii_type_put(old);
	}
	return err;
}

static int add_one(struct mpii_build *b, const struct mpii_made *m,
		   const struct mpii_type *old)
{
	switch (m->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return mpii_build_add(b, 0, 1, 0, 1, old);
	case MPI_COMBINER_CONTIGUOUS:
		return mpii_build_add(b, 0, 1, 0, num(m, 0), old);
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		return add_vector(b, m, old);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return add_indexed(b, m, old);
	default:
		return mpii_fail(MPI_ERR_INTERN,
				 "a datatype of combiner %d cannot be laid out",
				 m->combiner);
	}
}

/* Arrays are built by those who know how. */
static int again_array(const struct io_sizes *s, const struct mpii_made *m,
		       struct mpii_type **layout)
{
	struct mpii_type *old;
	int err = io_layout_make(s, m->types[0], &old);

	if (err)
		return err;
	err = m->combiner == MPI_COMBINER_SUBARRAY ?
		      mpii_subarray_again(m, old, layout) :
		      mpii_darray_again(m, old, layout);
	mpii_type_put(old);
	if (!err)
		(*layout)->committed = true;
	return err;
}

static int add_parts(const struct io_sizes *s, struct mpii_build *b,
		     const struct mpii_made *m)
{
	struct mpii_type *old;
	int err;

	if (m->combiner == MPI_COMBINER_STRUCT)
		return add_struct(s, b, m);
	err = io_layout_make(s, m->types[0], &old);
	if (err)
		return err;
	err = add_one(b, m, old);
	mpii_type_put(old);
	return err;
}

static int again(const struct io_sizes *s, const struct mpii_made *m,
		 struct mpii_type **layout)
{
	struct mpii_build b;
	int err;

	if (m->combiner == MPI_COMBINER_SUBARRAY ||
	    m->combiner == MPI_COMBINER_DARRAY)
		return again_array(s, m, layout);
	err = mpii_build_begin(&b);
	if (err)
		return err;
	err = add_parts(s, &b, m);
	if (err) {
		mpii_type_put(b.t);
		return err;
	}
	mpii_build_end(&b);
	if (m->combiner == MPI_COMBINER_RESIZED)
		mpii_type_bounds(b.t, addr(m, 0, 0), addr(m, 0, 1));
	b.t->committed = true;
	*layout = b.t;
	return MPI_SUCCESS;
}

/* --- any type --- */

/* Do all its basic types have the size that they have in memory? */
static int same_sizes(const struct io_sizes *s, struct mpii_type *t, bool *same)
{
	struct mpii_type *basic = t->basic ? mpii_type_get(t->basic) : NULL;
	MPI_Count bytes;
	int err = MPI_SUCCESS;

	if (t->predefined)
		basic = t;
	if (basic) {
		err = s->size(s, basic, &bytes);
		*same = !err && bytes == basic->size;
		return err;
	}
	*same = true;
	for (MPI_Count i = 0; t->size && i < t->made->ntypes && *same && !err;
	     i++)
		err = same_sizes(s, t->made->types[i], same);
	return err;
}

int io_layout_make(const struct io_sizes *s, struct mpii_type *t,
		   struct mpii_type **layout)
{
	struct mpii_type *basic = t->basic ? mpii_type_get(t->basic) : t;
	MPI_Count bytes;
	bool same;
	int err = same_sizes(s, t, &same);

	if (err)
		return err;
	if (same) {
		mpii_type_hold(t);
		*layout = t;
		return MPI_SUCCESS;
	}
	if (!t->predefined && !uniform(t))
		return again(s, t->made, layout);
	if (t->predefined)
		basic = t;
	err = s->size(s, basic, &bytes);
	if (err)
		return err;
	/* A pair has a gap in memory, and none in the file. */
	if (t->predefined) {
		basic = mpii_type_get(MPI_BYTE);
		return scaled(basic, 1, bytes, layout);
	}
	return scaled(t, basic->size, bytes, layout);
}
