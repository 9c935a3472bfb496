/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Subarrays: built from the fastest dimension outwards. Each dimension repeats
 * the type of the dimensions inside it at that dimension's stride; the bounds
 * are those of the whole array. In C order the last dimension is the fastest,
 * in Fortran order the first.
 */
#include <stdlib.h>

#include "datatype/build.h"
#include "env/errors.h"

struct array {
	const char *func;
	bool large;
	int ndims, order;
	const MPI_Count *sizes, *subsizes, *starts;
};

static int check_array(const struct array *a)
{
	if (a->ndims <= 0)
		return mpii_error(NULL, MPI_ERR_ARG, a->func,
				  "ndims %d is not positive", a->ndims);
	if (a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN)
		return mpii_error(NULL, MPI_ERR_ARG, a->func,
				  "order %d is neither MPI_ORDER_C nor "
				  "MPI_ORDER_FORTRAN",
				  a->order);
	for (int i = 0; i < a->ndims; i++) {
		MPI_Count n = a->sizes[i], sub = a->subsizes[i];
		MPI_Count start = a->starts[i];

		if (sub < 1 || sub > n || start < 0 || start > n - sub)
			return mpii_error(NULL, MPI_ERR_ARG, a->func,
					  "dimension %d: %lld elements from "
					  "%lld do not lie in an array of %lld",
					  i, (long long)sub, (long long)start,
					  (long long)n);
	}
	return MPI_SUCCESS;
}

int mpii_type_wrap(struct mpii_type **inner, MPI_Aint disp, MPI_Count count,
		   MPI_Aint stride)
{
	struct mpii_build b;
	int err = mpii_build_begin(&b);

	if (err)
		return err;
	err = mpii_build_add(&b, disp, count, stride, 1, *inner);
	if (err) {
		mpii_type_put(b.t);
		return err;
	}
	mpii_build_end(&b);
	mpii_type_put(*inner);
	*inner = b.t;
	return MPI_SUCCESS;
}

/* The nest of dimensions; *result is held for the caller. */
static int build_array(const struct array *a, struct mpii_type *old,
		       struct mpii_type **result)
{
	bool c = a->order == MPI_ORDER_C;
	MPI_Aint stride = old->extent, disp = 0;
	int err;

	*result = old;
	mpii_type_hold(old);
	for (int k = 0; k < a->ndims; k++) {
		int i = c ? a->ndims - 1 - k : k;

		err = mpii_type_wrap(result, 0, a->subsizes[i], stride);
		if (err)
			goto err_put;
		disp += a->starts[i] * stride;
		stride *= a->sizes[i];
	}
	err = mpii_type_wrap(result, disp, 1, 0);
	if (err)
		goto err_put;
	mpii_type_bounds(*result, 0, stride);
	return MPI_SUCCESS;
err_put:
	mpii_type_put(*result);
	return err;
}

static struct mpii_made *record_array(const struct array *a,
				      struct mpii_type *old)
{
	struct mpii_made *m = mpii_made_create(MPI_COMBINER_SUBARRAY, a->large,
					       2, 3 * a->ndims, 0, 1);

	if (!m)
		return NULL;
	mpii_made_int(m, a->ndims);
	mpii_made_nums(m, a->ndims, a->sizes);
	mpii_made_nums(m, a->ndims, a->subsizes);
	mpii_made_nums(m, a->ndims, a->starts);
	mpii_made_int(m, a->order);
	mpii_made_type(m, old);
	return m;
}

int mpii_subarray_again(const struct mpii_made *m, struct mpii_type *old,
			struct mpii_type **result)
{
	MPI_Count n = m->ints[0], *wide = calloc(3 * n, sizeof(*wide));
	struct array a = { .ndims = (int)n, .order = m->ints[m->nints - 1] };
	int err;

	if (!wide)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	a.sizes = wide;
	a.subsizes = wide + n;
	a.starts = wide + 2 * n;
	for (MPI_Count i = 0; i < 3 * n; i++)
		wide[i] = m->large ? m->counts[i] : m->ints[1 + i];
	err = build_array(&a, old, result);
	free(wide);
	return err;
}

static int check_null(const struct array *a, const void *sizes,
		      const void *subsizes, const void *starts)
{
	if (a->ndims <= 0 || (sizes && subsizes && starts))
		return MPI_SUCCESS;
	return mpii_bad_null(NULL, a->func,
			     !sizes    ? "array_of_sizes" :
			     !subsizes ? "array_of_subsizes" :
					 "array_of_starts");
}

static int make_subarray(const struct array *a, MPI_Datatype oldtype,
			 MPI_Datatype *newtype)
{
	struct mpii_type *old, *t;
	int err = mpii_type_args(a->func, 0, oldtype, newtype, &old);

	if (!err)
		err = check_array(a);
	if (err)
		return err;
	err = build_array(a, old, &t);
	if (err)
		return mpii_raise(NULL, err, a->func);
	return mpii_type_record(a->func, t, record_array(a, old), newtype);
}

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[],
			      const int array_of_subsizes[],
			      const int array_of_starts[], int order,
			      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct array a = { .func = "MPI_Type_create_subarray",
			   .ndims = ndims,
			   .order = order };
	MPI_Count n = ndims > 0 ? ndims : 0;
	MPI_Count *wide;
	int err = check_null(&a, array_of_sizes, array_of_subsizes,
			     array_of_starts);

	if (err)
		return err;
	wide = calloc(3 * n + 1, sizeof(*wide));
	if (!wide)
		return mpii_no_mem(NULL, a.func);
	for (MPI_Count i = 0; i < n; i++) {
		wide[i] = array_of_sizes[i];
		wide[n + i] = array_of_subsizes[i];
		wide[2 * n + i] = array_of_starts[i];
	}
	a.sizes = wide;
	a.subsizes = wide + n;
	a.starts = wide + 2 * n;
	err = make_subarray(&a, oldtype, newtype);
	free(wide);
	return err;
}
MPII_ALIAS(Type_create_subarray);

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
				const MPI_Count array_of_subsizes[],
				const MPI_Count array_of_starts[], int order,
				MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct array a = { .func = "MPI_Type_create_subarray_c",
			   .large = true,
			   .ndims = ndims,
			   .order = order,
			   .sizes = array_of_sizes,
			   .subsizes = array_of_subsizes,
			   .starts = array_of_starts };
	int err = check_null(&a, a.sizes, a.subsizes, a.starts);

	return err ? err : make_subarray(&a, oldtype, newtype);
}
MPII_ALIAS(Type_create_subarray_c);
