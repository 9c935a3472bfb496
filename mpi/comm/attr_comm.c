/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes of communicators: the calls, old and new, and predefined ones. */
#include "comm/attr.h"
#include "comm/comm.h"
#include "env/errcode.h"
#include "env/errors.h"
#include "process/process.h"

#define KIND MPII_ATTR_COMM

/* --- keys --- */

static int create(MPI_Comm_copy_attr_function *copy,
		  MPI_Comm_delete_attr_function *delete, int *keyval,
		  void *extra_state, const char *func)
{
	if (!keyval)
		return mpii_bad_null(NULL, func, "keyval");
	*keyval = mpii_keyval_create(KIND, (mpii_attr_copy_fn *)copy,
				     (mpii_attr_delete_fn *)delete,
				     extra_state);
	return *keyval ? MPI_SUCCESS : mpii_no_mem(NULL, func);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
			    MPI_Comm_delete_attr_function *comm_delete_attr_fn,
			    int *comm_keyval, void *extra_state)
{
	return create(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
		      extra_state, "MPI_Comm_create_keyval");
}
MPII_ALIAS(Comm_create_keyval);

int PMPI_Keyval_create(MPI_Copy_function *copy_fn,
		       MPI_Delete_function *delete_fn, int *keyval,
		       void *extra_state)
{
	return create(copy_fn, delete_fn, keyval, extra_state,
		      "MPI_Keyval_create");
}
MPII_ALIAS(Keyval_create);

static int free_keyval(int *keyval, const char *func)
{
	int err;

	if (!keyval)
		return mpii_bad_null(NULL, func, "keyval");
	err = mpii_keyval_free(KIND, *keyval);
	if (err)
		return mpii_raise(NULL, err, func);
	*keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

int PMPI_Comm_free_keyval(int *comm_keyval)
{
	return free_keyval(comm_keyval, "MPI_Comm_free_keyval");
}
MPII_ALIAS(Comm_free_keyval);

int PMPI_Keyval_free(int *keyval)
{
	return free_keyval(keyval, "MPI_Keyval_free");
}
MPII_ALIAS(Keyval_free);

/* --- predefined attributes of MPI_COMM_WORLD --- */

/* The value for @keyval, or NULL: not set, or no such key (*known false).
 * Programs get a pointer to an int. */
static int *predefined(int keyval, bool *known)
{
	static int tag_ub = INT32_MAX;
	static int any = MPI_ANY_SOURCE, no_host = MPI_PROC_NULL, no = 0;
	static __thread int lastused;

	*known = true;
	switch (keyval) {
	case MPI_TAG_UB:
		return &tag_ub;
	case MPI_IO: /* every process can do the input and output of C */
		return &any;
	case MPI_HOST:
		return &no_host;
	case MPI_WTIME_IS_GLOBAL:
		return &no;
	case MPI_APPNUM:
		return mpii.appnum >= 0 ? &mpii.appnum : NULL;
	case MPI_UNIVERSE_SIZE:
		return mpii.universe_size > 0 ? &mpii.universe_size : NULL;
	case MPI_LASTUSEDCODE:
		lastused = mpii_last_used_code();
		return &lastused;
	default:
		*known = false;
		return NULL;
	}
}

/* --- values --- */

static int get(MPI_Comm comm, int keyval, void *attribute_val, int *flag,
	       const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	bool known;
	int *p, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!attribute_val || !flag)
		return mpii_bad_null(c, func, flag ? "attribute_val" : "flag");
	p = predefined(keyval, &known);
	if (known) {
		*flag = p != NULL;
		if (p)
			mpii_attr_give_int(attribute_val, p);
		return MPI_SUCCESS;
	}
	err = mpii_attr_get(KIND, c->attrs, keyval, attribute_val, flag);
	return mpii_raise(c, err, func);
}

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val,
		       int *flag)
{
	return get(comm, comm_keyval, attribute_val, flag, "MPI_Comm_get_attr");
}
MPII_ALIAS(Comm_get_attr);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
	return get(comm, keyval, attribute_val, flag, "MPI_Attr_get");
}
MPII_ALIAS(Attr_get);

static int put(MPI_Comm comm, int keyval, void *value, const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(
		c, mpii_attr_set(KIND, c->handle, &c->attrs, keyval, value),
		func);
}

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
	return put(comm, comm_keyval, attribute_val, "MPI_Comm_set_attr");
}
MPII_ALIAS(Comm_set_attr);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
	return put(comm, keyval, attribute_val, "MPI_Attr_put");
}
MPII_ALIAS(Attr_put);

static int drop(MPI_Comm comm, int keyval, const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, func);
	return mpii_raise(
		c, mpii_attr_delete(KIND, c->handle, &c->attrs, keyval), func);
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
	return drop(comm, comm_keyval, "MPI_Comm_delete_attr");
}
MPII_ALIAS(Comm_delete_attr);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
	return drop(comm, keyval, "MPI_Attr_delete");
}
MPII_ALIAS(Attr_delete);
