/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The predefined callbacks as procedures of Fortran. When a program gives one to
 * MPI, the bindings see its address and give libmpi the ABI's constant instead;
 * a program may also call them itself.
 */
#include "fortran.h"

#define ROUTINE __attribute__((visibility("default"))) void

#define COPY_AND_DELETE(x, value)                                          \
	ROUTINE mpi_##x##null_copy_fn_(MPI_Fint *, MPI_Fint *, value *,    \
				       value *, value *, MPI_Fint *,       \
				       MPI_Fint *);                        \
	ROUTINE mpi_##x##dup_fn_(MPI_Fint *, MPI_Fint *, value *, value *, \
				 value *, MPI_Fint *, MPI_Fint *);         \
	ROUTINE mpi_##x##null_delete_fn_(MPI_Fint *, MPI_Fint *, value *,  \
					 value *, MPI_Fint *);             \
	void mpi_##x##null_copy_fn_(MPI_Fint *handle, MPI_Fint *keyval,    \
				    value *state, value *in, value *out,   \
				    MPI_Fint *flag, MPI_Fint *ierror)      \
	{                                                                  \
		*flag = 0;                                                 \
		*ierror = MPI_SUCCESS;                                     \
	}                                                                  \
	void mpi_##x##dup_fn_(MPI_Fint *handle, MPI_Fint *keyval,          \
			      value *state, value *in, value *out,         \
			      MPI_Fint *flag, MPI_Fint *ierror)            \
	{                                                                  \
		*out = *in;                                                \
		*flag = 1;                                                 \
		*ierror = MPI_SUCCESS;                                     \
	}                                                                  \
	void mpi_##x##null_delete_fn_(MPI_Fint *handle, MPI_Fint *keyval,  \
				      value *val, value *state,            \
				      MPI_Fint *ierror)                    \
	{                                                                  \
		*ierror = MPI_SUCCESS;                                     \
	}

COPY_AND_DELETE(comm_, MPI_Aint)
COPY_AND_DELETE(type_, MPI_Aint)
COPY_AND_DELETE(win_, MPI_Aint)
COPY_AND_DELETE(, MPI_Fint)

/* Stands for "no conversion": never called. */
ROUTINE mpi_conversion_fn_null_(void);
ROUTINE mpi_conversion_fn_null_c_(void);
void mpi_conversion_fn_null_(void)
{
}
void mpi_conversion_fn_null_c_(void)
{
}

#define IS(name) fn == (mpif_routine *)mpi_##name##_fn_
#define ANY(name) \
	(IS(name) || IS(comm_##name) || IS(type_##name) || IS(win_##name))

mpif_routine *mpif_callback(mpif_routine *fn)
{
	if (ANY(null_copy) || ANY(null_delete) ||
	    fn == mpi_conversion_fn_null_ || fn == mpi_conversion_fn_null_c_)
		return (mpif_routine *)MPI_COMM_NULL_COPY_FN;
	if (ANY(dup))
		return (mpif_routine *)MPI_COMM_DUP_FN;
	return fn;
}
