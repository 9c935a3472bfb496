/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Datatypes found by what they can hold: MPI_Type_match_size by their size,
 * MPI_Type_create_f90_* by digits and range, MPI_Type_get_value_index by the
 * parts of a pair. The kinds are those of gfortran.
 */
#include <stdlib.h>

#include "bindings/handle_int.h"
#include "coll/op/op_loops.h"
#include "datatype/build.h"
#include "env/errors.h"

/* --- by size --- */

struct sized {
	int class, size;
	MPI_Datatype type;
};

static const struct sized sizes[] = {
	{ MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1 },
	{ MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2 },
	{ MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },
	{ MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8 },
	{ MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16 },
	{ MPI_TYPECLASS_REAL, 2, MPI_REAL2 },
	{ MPI_TYPECLASS_REAL, 4, MPI_REAL4 },
	{ MPI_TYPECLASS_REAL, 8, MPI_REAL8 },
	{ MPI_TYPECLASS_REAL, 16, MPI_REAL16 },
	{ MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4 },
	{ MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },
	{ MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16 },
	{ MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32 },
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
	static const char func[] = "MPI_Type_match_size";

	if (!datatype)
		return mpii_bad_null(NULL, func, "datatype");
	if (typeclass < MPI_TYPECLASS_INTEGER ||
	    typeclass > MPI_TYPECLASS_COMPLEX)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "typeclass is %d, but must be one of "
				  "MPI_TYPECLASS_INTEGER, _REAL and _COMPLEX",
				  typeclass);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (sizes[i].class == typeclass && sizes[i].size == size) {
			*datatype = sizes[i].type;
			return MPI_SUCCESS;
		}
	}
	return mpii_error(NULL, MPI_ERR_ARG, func,
			  "no type of that class has %d bytes", size);
}
MPII_ALIAS(Type_match_size);

/* --- by digits and range --- */

/* What selected_int_kind and selected_real_kind choose from. */
struct kind {
	int p, r; /* decimal digits, decimal exponent range */
	MPI_Datatype type, complex;
};

static const struct kind integers[] = {
	{ 0, 2, MPI_INTEGER1, 0 },   { 0, 4, MPI_INTEGER2, 0 },
	{ 0, 9, MPI_INTEGER4, 0 },   { 0, 18, MPI_INTEGER8, 0 },
	{ 0, 38, MPI_INTEGER16, 0 },
};
static const struct kind reals[] = {
	{ 6, 37, MPI_REAL4, MPI_COMPLEX8 },
	{ 15, 307, MPI_REAL8, MPI_COMPLEX16 },
	{ 18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX },
	{ 33, 4931, MPI_REAL16, MPI_COMPLEX32 },
};

static const struct kind *choose(const struct kind *k, size_t n, int p, int r)
{
	for (; n; n--, k++)
		if ((p == MPI_UNDEFINED || p <= k->p) &&
		    (r == MPI_UNDEFINED || r <= k->r))
			return k;
	return NULL;
}

/* The types handed out: the same arguments give the same handle. */
struct given {
	int combiner, p, r;
	struct mpii_type *t;
	struct given *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct given *all;

/* A predefined type without a name, which behaves as @base does. */
static struct mpii_type *unnamed(const struct mpii_type *base, int combiner,
				 int p, int r)
{
	int nints = combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2;
	struct mpii_type *t = malloc(sizeof(*t));
	struct mpii_made *m = mpii_made_create(combiner, false, nints, 0, 0, 0);

	if (!t || !m) {
		free(t);
		mpii_made_destroy(m);
		return NULL;
	}
	if (nints == 2)
		mpii_made_int(m, p);
	mpii_made_int(m, r);
	*t = *base;
	atomic_init(&t->obj.number, 0);
	t->handle = (MPI_Datatype)t;
	t->blocks = &t->one;
	t->name = NULL;
	t->renamed = false;
	t->attrs = NULL;
	t->made = m;
	return t;
}

/* With the lock. */
static struct mpii_type *find(int combiner, int p, int r)
{
	for (struct given *g = all; g; g = g->next)
		if (g->combiner == combiner && g->p == p && g->r == r)
			return g->t;
	return NULL;
}

/* With the lock: @t is for these arguments from now on. False: no memory. */
static bool remember(int combiner, int p, int r, struct mpii_type *t)
{
	struct given *g = malloc(sizeof(*g));

	if (!g)
		return false;
	*g = (struct given){ combiner, p, r, t, all };
	all = g;
	return true;
}

/* With the lock. NULL: out of memory. */
static struct mpii_type *find_or_make(MPI_Datatype base, int combiner, int p,
				      int r)
{
	struct mpii_type *t = find(combiner, p, r);

	if (t)
		return t;
	t = unnamed(mpii_type_get(base), combiner, p, r);
	if (t && !remember(combiner, p, r, t)) {
		mpii_made_destroy(t->made);
		free(t);
		return NULL;
	}
	return t;
}

static int create_f90(const char *func, const struct kind *k, int combiner,
		      int p, int r, MPI_Datatype *newtype)
{
	struct mpii_type *t;

	if (!newtype)
		return mpii_bad_null(NULL, func, "newtype");
	if (!k)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "no kind has that many digits or that range");
	pthread_mutex_lock(&lock);
	t = find_or_make(combiner == MPI_COMBINER_F90_COMPLEX ? k->complex :
								k->type,
			 combiner, p, r);
	pthread_mutex_unlock(&lock);
	if (!t)
		return mpii_no_mem(NULL, func);
	*newtype = t->handle;
	return MPI_SUCCESS;
}

static int neither(const char *func)
{
	return mpii_error(NULL, MPI_ERR_ARG, func,
			  "p and r cannot both be MPI_UNDEFINED");
}

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
	return create_f90("MPI_Type_create_f90_integer",
			  choose(integers, COUNT(integers), MPI_UNDEFINED, r),
			  MPI_COMBINER_F90_INTEGER, 0, r, newtype);
}
MPII_ALIAS(Type_create_f90_integer);

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
	static const char func[] = "MPI_Type_create_f90_real";

	if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
		return neither(func);
	return create_f90(func, choose(reals, COUNT(reals), p, r),
			  MPI_COMBINER_F90_REAL, p, r, newtype);
}
MPII_ALIAS(Type_create_f90_real);

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
	static const char func[] = "MPI_Type_create_f90_complex";

	if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
		return neither(func);
	return create_f90(func, choose(reals, COUNT(reals), p, r),
			  MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}
MPII_ALIAS(Type_create_f90_complex);

/* --- pairs --- */

static const MPI_Datatype pairs[][3] = {
	{ MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
	{ MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
	{ MPI_LONG, MPI_INT, MPI_LONG_INT },
	{ MPI_INT, MPI_INT, MPI_2INT },
	{ MPI_SHORT, MPI_INT, MPI_SHORT_INT },
	{ MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
	{ MPI_REAL, MPI_REAL, MPI_2REAL },
	{ MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
	{ MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
};

static bool is_number(const struct mpii_type *t)
{
	return t->predefined &&
	       (t->class == MPII_C_INTEGER || t->class == MPII_C_MULTI ||
		t->class == MPII_C_FORTRAN_INTEGER || t->class == MPII_C_FLOAT);
}

/* As the members of a struct: a value, and an index where it is aligned. */
static int build_pair(struct mpii_type *value, struct mpii_type *index,
		      struct mpii_type **made)
{
	MPI_Aint at =
		(value->size + index->align - 1) / index->align * index->align;
	struct mpii_made *m;
	struct mpii_build b;
	int err = mpii_build_begin(&b);

	if (err)
		return err;
	err = mpii_build_add(&b, 0, 1, 0, 1, value);
	if (!err)
		err = mpii_build_add(&b, at, 1, 0, 1, index);
	m = mpii_made_create(MPI_COMBINER_VALUE_INDEX, false, 0, 0, 0, 2);
	if (err || !m) {
		mpii_type_put(b.t);
		mpii_made_destroy(m);
		return err ? err : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	mpii_made_type(m, value);
	mpii_made_type(m, index);
	mpii_build_end(&b);
	b.t->made = m;
	*made = b.t;
	return MPI_SUCCESS;
}

/* A pair that has no name; *pair stays as it is if there is no such. */
static int unnamed_pair(struct mpii_type *value, struct mpii_type *index,
			MPI_Datatype *pair)
{
	int v = mpii_handle_to_int(value->handle);
	int i = mpii_handle_to_int(index->handle), err = MPI_SUCCESS;
	struct mpii_type *t;

	if (!is_number(value) || !is_number(index) ||
	    !mpii_op_pair(false, value, index))
		return MPI_SUCCESS;
	pthread_mutex_lock(&lock);
	t = find(MPI_COMBINER_VALUE_INDEX, v, i);
	if (!t) {
		err = build_pair(value, index, &t);
		if (!err && !remember(MPI_COMBINER_VALUE_INDEX, v, i, t)) {
			mpii_type_put(t);
			err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
		}
		if (!err) {
			t->predefined = t->committed = true;
			t->simple = t->contiguous;
			t->kind = MPII_K_PAIR;
			t->class = MPII_C_PAIR;
			t->basic = t->handle;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!err)
		*pair = t->handle;
	return err;
}

static int find_pair(MPI_Datatype value_type, MPI_Datatype index_type,
		     struct mpii_type *value, struct mpii_type *index,
		     MPI_Datatype *pair_type)
{
	*pair_type = MPI_DATATYPE_NULL;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		if (pairs[i][0] == value_type && pairs[i][1] == index_type) {
			*pair_type = pairs[i][2];
			return MPI_SUCCESS;
		}
	}
	return unnamed_pair(value, index, pair_type);
}

MPI_Datatype mpii_type_pair(MPI_Datatype value_type, MPI_Datatype index_type)
{
	struct mpii_type *value = mpii_type_get(value_type);
	struct mpii_type *index = mpii_type_get(index_type);
	MPI_Datatype pair = MPI_DATATYPE_NULL;

	if (value && index)
		find_pair(value_type, index_type, value, index, &pair);
	return pair;
}

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
			      MPI_Datatype *pair_type)
{
	static const char func[] = "MPI_Type_get_value_index";
	struct mpii_type *value = mpii_type_get(value_type);
	struct mpii_type *index = mpii_type_get(index_type);

	if (!pair_type)
		return mpii_bad_null(NULL, func, "pair_type");
	if (!value)
		return mpii_bad_type(NULL, value_type, func, "value_type");
	if (!index)
		return mpii_bad_type(NULL, index_type, func, "index_type");
	return mpii_raise(NULL,
			  find_pair(value_type, index_type, value, index,
				    pair_type),
			  func);
}
MPII_ALIAS(Type_get_value_index);
