/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Distributed arrays: the part of an array that one process of a grid has,
 * built from the fastest dimension outwards like a subarray. In a dimension a
 * process has pieces of `piece` elements, one of every psizes pieces; a block
 * distribution is one such piece per process. Processes are numbered in C
 * order, whatever the order of the array.
 */
#include <stdlib.h>

#include "datatype/build.h"
#include "env/errors.h"

struct darray {
	const char *func;
	bool large;
	int size, rank, ndims, order;
	const MPI_Count *gsizes;
	const int *distribs, *dargs, *psizes;
};

/* How many elements of dimension i lie together. */
static MPI_Count piece(const struct darray *a, int i)
{
	MPI_Count n = a->gsizes[i], p = a->psizes[i];

	if (a->distribs[i] == MPI_DISTRIBUTE_NONE)
		return n;
	if (a->dargs[i] != MPI_DISTRIBUTE_DFLT_DARG)
		return a->dargs[i];
	return a->distribs[i] == MPI_DISTRIBUTE_BLOCK ? (n + p - 1) / p : 1;
}

static const char *wrong_dimension(const struct darray *a, int i)
{
	int d = a->distribs[i], arg = a->dargs[i];

	if (a->gsizes[i] < 1 || a->psizes[i] < 1)
		return "its size or its number of processes is not positive";
	if (d == MPI_DISTRIBUTE_NONE)
		return a->psizes[i] == 1 ?
			       NULL :
			       "MPI_DISTRIBUTE_NONE needs one process";
	if (d != MPI_DISTRIBUTE_BLOCK && d != MPI_DISTRIBUTE_CYCLIC)
		return "its distribution is none of the three";
	if (arg < 1 && arg != MPI_DISTRIBUTE_DFLT_DARG)
		return "its distribution argument is not positive";
	if (d == MPI_DISTRIBUTE_BLOCK &&
	    piece(a, i) * a->psizes[i] < a->gsizes[i])
		return "its blocks do not cover the array";
	return NULL;
}

static int check_darray(const struct darray *a)
{
	long long grid = 1;

	if (a->ndims <= 0 || a->size <= 0 || a->rank < 0 || a->rank >= a->size)
		return mpii_error(NULL, MPI_ERR_ARG, a->func,
				  "ndims %d, size %d or rank %d is out of "
				  "range",
				  a->ndims, a->size, a->rank);
	if (a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN)
		return mpii_error(NULL, MPI_ERR_ARG, a->func,
				  "order %d is neither MPI_ORDER_C nor "
				  "MPI_ORDER_FORTRAN",
				  a->order);
	for (int i = 0; i < a->ndims; i++) {
		const char *wrong = wrong_dimension(a, i);

		if (wrong)
			return mpii_error(NULL, MPI_ERR_ARG, a->func,
					  "dimension %d: %s", i, wrong);
		grid *= a->psizes[i];
	}
	if (grid != a->size)
		return mpii_error(NULL, MPI_ERR_ARG, a->func,
				  "a grid of %lld processes, but size is %d",
				  grid, a->size);
	return MPI_SUCCESS;
}

/* Append @blocks blocks of @len elements, @step apart, of @inner. */
static int add_blocks(struct mpii_build *b, MPI_Aint disp, MPI_Count blocks,
		      MPI_Aint step, MPI_Count len, MPI_Aint stride,
		      struct mpii_type *inner)
{
	int err;

	if (blocks == 0 || len == 0)
		return MPI_SUCCESS;
	mpii_type_hold(inner);
	err = mpii_type_wrap(&inner, 0, len, stride);
	if (!err)
		err = mpii_build_add(b, disp, blocks, step, 1, inner);
	mpii_type_put(inner);
	return err;
}

/* Dimension @i of the process at @coord, with elements stride bytes apart. */
static int distribute(const struct darray *a, int i, int coord, MPI_Aint stride,
		      struct mpii_type **inner)
{
	MPI_Count len = piece(a, i), n = a->gsizes[i], period, whole, rest;
	struct mpii_build b;
	int err = mpii_build_begin(&b);

	if (err)
		return err;
	/* whole pieces of ours, and what there is of the last one */
	period = len * a->psizes[i];
	whole = n / period + (n % period >= (coord + 1) * len);
	rest = n - whole * period - coord * len;
	if (rest < 0 || rest >= len)
		rest = 0;
	err = add_blocks(&b, coord * len * stride, whole, period * stride, len,
			 stride, *inner);
	if (!err)
		err = add_blocks(&b, (coord * len + whole * period) * stride, 1,
				 0, rest, stride, *inner);
	if (err) {
		mpii_type_put(b.t);
		return err;
	}
	mpii_build_end(&b);
	mpii_type_put(*inner);
	*inner = b.t;
	return MPI_SUCCESS;
}

static int coordinate(const struct darray *a, int i)
{
	int below = 1;

	for (int k = i + 1; k < a->ndims; k++)
		below *= a->psizes[k];
	return a->rank / below % a->psizes[i];
}

static int build_darray(const struct darray *a, struct mpii_type *old,
			struct mpii_type **result)
{
	MPI_Aint stride = old->extent;
	int err = MPI_SUCCESS;

	*result = old;
	mpii_type_hold(old);
	for (int k = 0; k < a->ndims && !err; k++) {
		int i = a->order == MPI_ORDER_C ? a->ndims - 1 - k : k;

		err = distribute(a, i, coordinate(a, i), stride, result);
		stride *= a->gsizes[i];
	}
	if (err)
		mpii_type_put(*result);
	else
		mpii_type_bounds(*result, 0, stride);
	return err;
}

static struct mpii_made *record_darray(const struct darray *a,
				       struct mpii_type *old)
{
	struct mpii_made *m = mpii_made_create(MPI_COMBINER_DARRAY, a->large,
					       3 * a->ndims + 4, a->ndims, 0,
					       1);

	if (!m)
		return NULL;
	mpii_made_int(m, a->size);
	mpii_made_int(m, a->rank);
	mpii_made_int(m, a->ndims);
	mpii_made_nums(m, a->ndims, a->gsizes);
	for (int i = 0; i < a->ndims; i++)
		mpii_made_int(m, a->distribs[i]);
	for (int i = 0; i < a->ndims; i++)
		mpii_made_int(m, a->dargs[i]);
	for (int i = 0; i < a->ndims; i++)
		mpii_made_int(m, a->psizes[i]);
	mpii_made_int(m, a->order);
	mpii_made_type(m, old);
	return m;
}

int mpii_darray_again(const struct mpii_made *m, struct mpii_type *old,
		      struct mpii_type **result)
{
	int n = m->ints[2];
	const int *more = m->ints + 3 + (m->large ? 0 : n);
	MPI_Count *wide = calloc(n, sizeof(*wide));
	struct darray a = { .size = m->ints[0],
			    .rank = m->ints[1],
			    .ndims = n,
			    .order = more[3 * n],
			    .gsizes = wide,
			    .distribs = more,
			    .dargs = more + n,
			    .psizes = more + 2 * n };
	int err;

	if (!wide)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	for (int i = 0; i < n; i++)
		wide[i] = m->large ? m->counts[i] : m->ints[3 + i];
	err = build_darray(&a, old, result);
	free(wide);
	return err;
}

static int check_null(const struct darray *a, const void *gsizes)
{
	if (a->ndims <= 0 || (gsizes && a->distribs && a->dargs && a->psizes))
		return MPI_SUCCESS;
	return mpii_bad_null(NULL, a->func,
			     !gsizes	  ? "array_of_gsizes" :
			     !a->distribs ? "array_of_distribs" :
			     !a->dargs	  ? "array_of_dargs" :
					    "array_of_psizes");
}

static int make_darray(const struct darray *a, MPI_Datatype oldtype,
		       MPI_Datatype *newtype)
{
	struct mpii_type *old, *t;
	int err = mpii_type_args(a->func, 0, oldtype, newtype, &old);

	if (!err)
		err = check_darray(a);
	if (err)
		return err;
	err = build_darray(a, old, &t);
	if (err)
		return mpii_raise(NULL, err, a->func);
	return mpii_type_record(a->func, t, record_darray(a, old), newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims,
			    const int array_of_gsizes[],
			    const int array_of_distribs[],
			    const int array_of_dargs[],
			    const int array_of_psizes[], int order,
			    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct darray a = { .func = "MPI_Type_create_darray",
			    .size = size,
			    .rank = rank,
			    .ndims = ndims,
			    .order = order,
			    .distribs = array_of_distribs,
			    .dargs = array_of_dargs,
			    .psizes = array_of_psizes };
	MPI_Count *wide;
	int err = check_null(&a, array_of_gsizes);

	if (err)
		return err;
	wide = calloc(ndims > 0 ? ndims : 1, sizeof(*wide));
	if (!wide)
		return mpii_no_mem(NULL, a.func);
	for (int i = 0; i < ndims; i++)
		wide[i] = array_of_gsizes[i];
	a.gsizes = wide;
	err = make_darray(&a, oldtype, newtype);
	free(wide);
	return err;
}
MPII_ALIAS(Type_create_darray);

int PMPI_Type_create_darray_c(int size, int rank, int ndims,
			      const MPI_Count array_of_gsizes[],
			      const int array_of_distribs[],
			      const int array_of_dargs[],
			      const int array_of_psizes[], int order,
			      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct darray a = { .func = "MPI_Type_create_darray_c",
			    .large = true,
			    .size = size,
			    .rank = rank,
			    .ndims = ndims,
			    .order = order,
			    .gsizes = array_of_gsizes,
			    .distribs = array_of_distribs,
			    .dargs = array_of_dargs,
			    .psizes = array_of_psizes };
	int err = check_null(&a, array_of_gsizes);

	return err ? err : make_darray(&a, oldtype, newtype);
}
MPII_ALIAS(Type_create_darray_c);
