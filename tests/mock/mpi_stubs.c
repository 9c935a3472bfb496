/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/datatype/datatype.c mpi/datatype/array.c mpi/datatype/build.c */
/* sources: mpi/datatype/contents.c mpi/datatype/darray.c */
/* sources: mpi/datatype/indexed.c mpi/datatype/layout.c mpi/datatype/pack.c */
/* sources: mpi/datatype/packed.c mpi/datatype/query.c mpi/datatype/table.c */
/* sources: mpi/bindings/handle_int.c */
/*
 * The rest of the MPI library, as far as datatypes need it: errors are their
 * codes, and no type has attributes.
 */
#include <assert.h>

#include "../../mpi/comm/attr.h"
#include "../../mpi/comm/comm.h"
#include "../../mpi/datatype/datatype.h"
#include "../../mpi/env/errors.h"

struct mpii_comm mpii_world = { .obj = { .magic = MPII_COMM } }, mpii_self;

int mpii_error(struct mpii_comm *c, int code, const char *func, const char *fmt,
	       ...)
{
	return code;
}

int mpii_raise(struct mpii_comm *c, int code, const char *func)
{
	return code;
}

int mpii_fail(int code, const char *fmt, ...)
{
	return code;
}

int mpii_no_mem(struct mpii_comm *c, const char *func)
{
	return MPI_ERR_NO_MEM;
}

int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg)
{
	return MPI_ERR_ARG;
}

int mpii_bad_comm(MPI_Comm comm, const char *func)
{
	return MPI_ERR_COMM;
}

int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg)
{
	return MPI_ERR_TYPE;
}

int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg)
{
	return MPI_ERR_COUNT;
}

int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to)
{
	assert(!from); /* no type here has attributes */
	return MPI_SUCCESS;
}

int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list)
{
	assert(!*list);
	return MPI_SUCCESS;
}
