/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The special values: variables in common blocks whose address is all that
 * counts. A program has them in its own common blocks; the linker makes both
 * one, so sizes are those that mpif.h says.
 */
#include "fortran.h"

#define SPECIAL __attribute__((aligned(64), visibility("default")))

SPECIAL MPI_Fint mpi_fortran_bottom_[1];
SPECIAL MPI_Fint mpi_fortran_in_place_[1];
SPECIAL MPI_Fint mpi_fortran_buffer_automatic_[1];
SPECIAL MPI_Fint mpi_fortran_errcodes_ignore_[1];
SPECIAL MPI_Fint mpi_fortran_unweighted_[1];
SPECIAL MPI_Fint mpi_fortran_weights_empty_[1];
SPECIAL MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
SPECIAL MPI_Fint mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
SPECIAL char mpi_fortran_argv_null_[1];
SPECIAL char mpi_fortran_argvs_null_[1];
SPECIAL MPI_Status mpi_f08_status_ignore_[1];
SPECIAL MPI_Status mpi_f08_statuses_ignore_[1];

/* Lets C programs give them as well, and says what LOGICAL looks like. */
__attribute__((constructor)) static void introduce(void)
{
	MPI_Fint yes = 1, no = 0;

	MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
	MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
	MPI_F08_STATUS_IGNORE = mpi_f08_status_ignore_;
	MPI_F08_STATUSES_IGNORE = mpi_f08_statuses_ignore_;
	PMPI_Abi_set_fortran_booleans(sizeof(yes), &yes, &no);
}

int mpif_no_memory(void)
{
	PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
	return MPI_ERR_NO_MEM;
}

int mpif_bad_buffer(void)
{
	PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_BUFFER);
	return MPI_ERR_BUFFER;
}

bool mpif_completed(int err)
{
	int class = err;

	if (err)
		PMPI_Error_class(err, &class);
	return !class || class == MPI_ERR_IN_STATUS;
}
