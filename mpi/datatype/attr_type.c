/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes of datatypes. MPI_Type_dup copies them, MPI_Type_free ends them. */
#include "comm/attr.h"
#include "datatype/build.h"
#include "env/errors.h"

#define KIND MPII_ATTR_TYPE

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
			    MPI_Type_delete_attr_function *type_delete_attr_fn,
			    int *type_keyval, void *extra_state)
{
	static const char func[] = "MPI_Type_create_keyval";

	if (!type_keyval)
		return mpii_bad_null(NULL, func, "type_keyval");
	*type_keyval = mpii_keyval_create(
		KIND, (mpii_attr_copy_fn *)type_copy_attr_fn,
		(mpii_attr_delete_fn *)type_delete_attr_fn, extra_state);
	return *type_keyval ? MPI_SUCCESS : mpii_no_mem(NULL, func);
}
MPII_ALIAS(Type_create_keyval);

int PMPI_Type_free_keyval(int *type_keyval)
{
	static const char func[] = "MPI_Type_free_keyval";
	int err;

	if (!type_keyval)
		return mpii_bad_null(NULL, func, "type_keyval");
	err = mpii_keyval_free(KIND, *type_keyval);
	if (err)
		return mpii_raise(NULL, err, func);
	*type_keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_free_keyval);

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval,
		       void *attribute_val)
{
	static const char func[] = "MPI_Type_set_attr";
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (err)
		return err;
	return mpii_raise(NULL,
			  mpii_attr_set(KIND, t->handle, &t->attrs, type_keyval,
					attribute_val),
			  func);
}
MPII_ALIAS(Type_set_attr);

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval,
		       void *attribute_val, int *flag)
{
	static const char func[] = "MPI_Type_get_attr";
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (err)
		return err;
	if (!attribute_val || !flag)
		return mpii_bad_null(NULL, func,
				     flag ? "attribute_val" : "flag");
	return mpii_raise(NULL,
			  mpii_attr_get(KIND, t->attrs, type_keyval,
					attribute_val, flag),
			  func);
}
MPII_ALIAS(Type_get_attr);

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
	static const char func[] = "MPI_Type_delete_attr";
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (err)
		return err;
	return mpii_raise(
		NULL, mpii_attr_delete(KIND, t->handle, &t->attrs, type_keyval),
		func);
}
MPII_ALIAS(Type_delete_attr);
