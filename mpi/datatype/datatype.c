/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The constructors of chapter 5 that take numbers only: contiguous, vector,
 * resized, dup; commit and free. Those that take arrays are in indexed.c and
 * array.c. An MPI_X and its MPI_X_c are one make_ function; `large` says which of
 * the two was called, for the record.
 */
#include <stdlib.h>

#include "comm/attr.h"
#include "datatype/build.h"
#include "datatype/datatype.h"
#include "env/errors.h"

int mpii_type_args(const char *func, MPI_Count count, MPI_Datatype oldtype,
		   MPI_Datatype *newtype, struct mpii_type **old)
{
	if (count < 0)
		return mpii_error(NULL, MPI_ERR_COUNT, func,
				  "count %lld is negative", (long long)count);
	*old = mpii_type_get(oldtype);
	if (!*old)
		return mpii_error(NULL, MPI_ERR_TYPE, func,
				  "oldtype %p is not a datatype",
				  (void *)oldtype);
	if (!newtype)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "newtype is a null pointer");
	return MPI_SUCCESS;
}

int mpii_type_finish(const char *func, struct mpii_build *b, int err,
		     struct mpii_made *m, MPI_Datatype *newtype)
{
	if (!err && !m)
		err = mpii_fail(MPI_ERR_NO_MEM, "no memory for a datatype");
	if (err) {
		mpii_type_put(b->t);
		mpii_made_destroy(m);
		return mpii_raise(NULL, err, func);
	}
	mpii_build_end(b);
	return mpii_type_record(func, b->t, m, newtype);
}

int mpii_type_record(const char *func, struct mpii_type *t, struct mpii_made *m,
		     MPI_Datatype *newtype)
{
	if (!m) {
		mpii_type_put(t);
		return mpii_no_mem(NULL, func);
	}
	t->made = m;
	*newtype = t->handle;
	return MPI_SUCCESS;
}

/* --- contiguous --- */

static int make_contiguous(const char *func, bool large, MPI_Count count,
			   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct mpii_made *m;
	struct mpii_type *old;
	struct mpii_build b;
	int err = mpii_type_args(func, count, oldtype, newtype, &old);

	if (err)
		return err;
	err = mpii_build_begin(&b);
	if (err)
		return mpii_raise(NULL, err, func);
	err = mpii_build_add(&b, 0, 1, 0, count, old);
	m = mpii_made_create(MPI_COMBINER_CONTIGUOUS, large, 0, 1, 0, 1);
	if (m) {
		mpii_made_num(m, count);
		mpii_made_type(m, old);
	}
	return mpii_type_finish(func, &b, err, m, newtype);
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	return make_contiguous("MPI_Type_contiguous", false, count, oldtype,
			       newtype);
}
MPII_ALIAS(Type_contiguous);

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype,
			   MPI_Datatype *newtype)
{
	return make_contiguous("MPI_Type_contiguous_c", true, count, oldtype,
			       newtype);
}
MPII_ALIAS(Type_contiguous_c);

/* --- vector, hvector --- */

static int make_vector(const char *func, bool large, int combiner,
		       MPI_Count count, MPI_Count bl, MPI_Count stride,
		       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	bool bytes = combiner == MPI_COMBINER_HVECTOR;
	MPI_Aint step;
	struct mpii_made *m;
	struct mpii_type *old;
	struct mpii_build b;
	int err = mpii_type_args(func, count, oldtype, newtype, &old);

	if (err)
		return err;
	if (bl < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "blocklength %lld is negative",
				  (long long)bl);
	err = mpii_build_begin(&b);
	if (err)
		return mpii_raise(NULL, err, func);
	step = bytes ? stride : stride * old->extent;
	err = mpii_build_add(&b, 0, count, step, bl, old);
	m = mpii_made_create(combiner, large, 0, 3, 1, 1);
	if (m) {
		mpii_made_num(m, count);
		mpii_made_num(m, bl);
		if (bytes)
			mpii_made_addr(m, stride);
		else
			mpii_made_num(m, stride);
		mpii_made_type(m, old);
	}
	return mpii_type_finish(func, &b, err, m, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride,
		     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	return make_vector("MPI_Type_vector", false, MPI_COMBINER_VECTOR, count,
			   blocklength, stride, oldtype, newtype);
}
MPII_ALIAS(Type_vector);

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
		       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	return make_vector("MPI_Type_vector_c", true, MPI_COMBINER_VECTOR,
			   count, blocklength, stride, oldtype, newtype);
}
MPII_ALIAS(Type_vector_c);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride,
			     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	return make_vector("MPI_Type_create_hvector", false,
			   MPI_COMBINER_HVECTOR, count, blocklength, stride,
			   oldtype, newtype);
}
MPII_ALIAS(Type_create_hvector);

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength,
			       MPI_Count stride, MPI_Datatype oldtype,
			       MPI_Datatype *newtype)
{
	return make_vector("MPI_Type_create_hvector_c", true,
			   MPI_COMBINER_HVECTOR, count, blocklength, stride,
			   oldtype, newtype);
}
MPII_ALIAS(Type_create_hvector_c);

/* --- resized, dup --- */

static int make_resized(const char *func, bool large, MPI_Datatype oldtype,
			MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
	struct mpii_made *m;
	struct mpii_type *old;
	struct mpii_build b;
	int err = mpii_type_args(func, 1, oldtype, newtype, &old);

	if (err)
		return err;
	err = mpii_build_begin(&b);
	if (err)
		return mpii_raise(NULL, err, func);
	err = mpii_build_add(&b, 0, 1, 0, 1, old);
	m = mpii_made_create(MPI_COMBINER_RESIZED, large, 0, 0, 2, 1);
	if (m) {
		mpii_made_addr(m, lb);
		mpii_made_addr(m, extent);
		mpii_made_type(m, old);
	}
	err = mpii_type_finish(func, &b, err, m, newtype);
	if (!err)
		mpii_type_bounds(b.t, lb, extent);
	return err;
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
			     MPI_Datatype *newtype)
{
	return make_resized("MPI_Type_create_resized", false, oldtype, lb,
			    extent, newtype);
}
MPII_ALIAS(Type_create_resized);

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb,
			       MPI_Count extent, MPI_Datatype *newtype)
{
	return make_resized("MPI_Type_create_resized_c", true, oldtype, lb,
			    extent, newtype);
}
MPII_ALIAS(Type_create_resized_c);

/* The last step of MPI_Type_dup: a copy function may refuse. */
static int copy_attributes(const char *func, struct mpii_type *t,
			   struct mpii_type *old, MPI_Datatype *newtype)
{
	int err = mpii_attr_copy_all(MPII_ATTR_TYPE, old->handle, old->attrs,
				     &t->attrs);

	if (!err)
		return err;
	mpii_attr_delete_all(MPII_ATTR_TYPE, t->handle, &t->attrs);
	mpii_type_put(t);
	*newtype = MPI_DATATYPE_NULL;
	return mpii_raise(NULL, err, func);
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	const char *func = "MPI_Type_dup";
	struct mpii_made *m;
	struct mpii_type *old;
	struct mpii_build b;
	int err = mpii_type_args(func, 1, oldtype, newtype, &old);

	if (err)
		return err;
	err = mpii_build_begin(&b);
	if (err)
		return mpii_raise(NULL, err, func);
	err = mpii_build_add(&b, 0, 1, 0, 1, old);
	m = mpii_made_create(MPI_COMBINER_DUP, false, 0, 0, 0, 1);
	if (m)
		mpii_made_type(m, old);
	err = mpii_type_finish(func, &b, err, m, newtype);
	if (err)
		return err;
	/* exactly the old bounds, and set ones only if they were set */
	mpii_type_bounds(b.t, old->lb, old->extent);
	b.t->marked = old->marked;
	b.t->committed = old->committed;
	b.t->simple = old->simple;
	return copy_attributes(func, b.t, old, newtype);
}
MPII_ALIAS(Type_dup);

/* --- commit, free --- */

int PMPI_Type_commit(MPI_Datatype *datatype)
{
	const char *func = "MPI_Type_commit";
	struct mpii_type *t;

	if (!datatype)
		return mpii_bad_null(NULL, func, "datatype");
	t = mpii_type_get(*datatype);
	if (!t)
		return mpii_bad_type(NULL, *datatype, func, "datatype");
	t->committed = true;
	t->simple = t->contiguous;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_commit);

int PMPI_Type_free(MPI_Datatype *datatype)
{
	const char *func = "MPI_Type_free";
	struct mpii_type *t;
	int err;

	if (!datatype)
		return mpii_bad_null(NULL, func, "datatype");
	t = mpii_type_get(*datatype);
	if (!t)
		return mpii_bad_type(NULL, *datatype, func, "datatype");
	if (t->predefined)
		return mpii_error(NULL, MPI_ERR_TYPE, func,
				  "%s is predefined and cannot be freed",
				  t->name ? t->name :
					    "a type of "
					    "MPI_Type_create_f90_*");
	err = mpii_attr_delete_all(MPII_ATTR_TYPE, t->handle, &t->attrs);
	if (err)
		return mpii_raise(NULL, err, func);
	mpii_type_put(t);
	*datatype = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_free);
