/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What exists in Fortran only. */
#pragma GCC visibility push(default)
#include "section.h"

/* The descriptor knows the size of an element. */
void pmpi_sizeof_f08ts_(const CFI_cdesc_t *x, MPI_Fint *size, MPI_Fint *ierror);
void pmpi_sizeof_f08ts_(const CFI_cdesc_t *x, MPI_Fint *size, MPI_Fint *ierror)
{
	*size = (MPI_Fint)x->elem_len;
	if (ierror)
		*ierror = MPI_SUCCESS;
}
MPIF_WEAK(pmpi_sizeof_f08ts_, mpi_sizeof_f08ts_);

/* Being called is all it takes: the compiler must have stored the buffer. */
void pmpi_f_sync_reg_(void *buf);
void pmpi_f_sync_reg_(void *buf)
{
}
MPIF_ALSO(pmpi_f_sync_reg_, pmpi_f_sync_reg_f08ts_);
MPIF_WEAK(pmpi_f_sync_reg_, mpi_f_sync_reg_);
MPIF_WEAK(pmpi_f_sync_reg_, mpi_f_sync_reg_f08ts_);
