/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a datatype is: size, bounds, name. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "datatype/build.h"
#include "env/errors.h"

int mpii_type_arg(const char *func, MPI_Datatype h, struct mpii_type **t)
{
	*t = mpii_type_get(h);
	if (*t)
		return MPI_SUCCESS;
	return mpii_error(NULL, MPI_ERR_TYPE, func,
			  "datatype %p is not a datatype", (void *)h);
}

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
	struct mpii_type *t;
	int err = mpii_type_arg("MPI_Type_size", datatype, &t);

	if (err)
		return err;
	if (!size)
		return mpii_bad_null(NULL, "MPI_Type_size", "size");
	*size = t->size > INT_MAX ? MPI_UNDEFINED : t->size;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_size);

static int get_size(const char *func, MPI_Datatype datatype, MPI_Count *size)
{
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (err)
		return err;
	if (!size)
		return mpii_bad_null(NULL, func, "size");
	*size = t->size;
	return MPI_SUCCESS;
}

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
	return get_size("MPI_Type_size_c", datatype, size);
}
MPII_ALIAS(Type_size_c);

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
	return get_size("MPI_Type_size_x", datatype, size);
}
MPII_ALIAS(Type_size_x);

/* MPI_Aint and MPI_Count are both 64 bits wide: one function serves both. */
static int get_extent(const char *func, bool exact, MPI_Datatype datatype,
		      int64_t *lb, int64_t *extent)
{
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (err)
		return err;
	if (!lb || !extent)
		return mpii_bad_null(NULL, func, lb ? "extent" : "lb");
	*lb = exact ? t->true_lb : t->lb;
	*extent = exact ? t->true_extent : t->extent;
	return MPI_SUCCESS;
}

_Static_assert(sizeof(MPI_Aint) == sizeof(int64_t), "a 64-bit ABI");

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
	return get_extent("MPI_Type_get_extent", false, datatype, lb, extent);
}
MPII_ALIAS(Type_get_extent);

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb,
			   MPI_Count *extent)
{
	return get_extent("MPI_Type_get_extent_c", false, datatype, lb, extent);
}
MPII_ALIAS(Type_get_extent_c);

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb,
			   MPI_Count *extent)
{
	return get_extent("MPI_Type_get_extent_x", false, datatype, lb, extent);
}
MPII_ALIAS(Type_get_extent_x);

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb,
			      MPI_Aint *true_extent)
{
	return get_extent("MPI_Type_get_true_extent", true, datatype, true_lb,
			  true_extent);
}
MPII_ALIAS(Type_get_true_extent);

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb,
				MPI_Count *true_extent)
{
	return get_extent("MPI_Type_get_true_extent_c", true, datatype, true_lb,
			  true_extent);
}
MPII_ALIAS(Type_get_true_extent_c);

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb,
				MPI_Count *true_extent)
{
	return get_extent("MPI_Type_get_true_extent_x", true, datatype, true_lb,
			  true_extent);
}
MPII_ALIAS(Type_get_true_extent_x);

/* --- names --- */

int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
	const char *func = "MPI_Type_set_name";
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);
	char *name;

	if (err)
		return err;
	if (!type_name)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "type_name is a null pointer");
	name = strndup(type_name, MPI_MAX_OBJECT_NAME - 1);
	if (!name)
		return mpii_error(NULL, MPI_ERR_NO_MEM, func,
				  "no memory for a name");
	if (!t->predefined || t->renamed)
		free(t->name);
	t->renamed = true;
	t->name = name;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_set_name);

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
	const char *func = "MPI_Type_get_name", *name;
	struct mpii_type *t;
	int err;

	if (!type_name || !resultlen)
		return mpii_bad_null(NULL, func,
				     type_name ? "resultlen" : "type_name");
	if (datatype == MPI_DATATYPE_NULL) {
		name = "MPI_DATATYPE_NULL";
	} else {
		err = mpii_type_arg(func, datatype, &t);
		if (err)
			return err;
		name = t->name ? t->name : "";
	}
	*resultlen = strlen(name);
	memcpy(type_name, name, *resultlen + 1);
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_get_name);
