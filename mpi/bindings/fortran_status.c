/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Statuses of C, of mpif.h and of mpi_f08. All three are eight integers in the
 * same order, so that a conversion is a copy.
 */
#include <string.h>

#include "env/errors.h"

/*
 * What MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of Fortran look like from C.
 * The Fortran library, when there is one, stores the addresses of its variables
 * here; without it nothing in Fortran can give them.
 */
#pragma GCC visibility push(default)
static MPI_F08_status nobody[2];
MPI_Fint *MPI_F_STATUS_IGNORE = (MPI_Fint *)&nobody[0];
MPI_Fint *MPI_F_STATUSES_IGNORE = (MPI_Fint *)&nobody[1];
MPI_F08_status *MPI_F08_STATUS_IGNORE = &nobody[0];
MPI_F08_status *MPI_F08_STATUSES_IGNORE = &nobody[1];
#pragma GCC visibility pop

_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint) &&
		       sizeof(MPI_F08_status) == sizeof(MPI_Status),
	       "a status has one size in all languages");

static bool ignored(const void *status)
{
	return !status || status == MPI_F_STATUS_IGNORE ||
	       status == MPI_F_STATUSES_IGNORE ||
	       status == MPI_F08_STATUS_IGNORE ||
	       status == MPI_F08_STATUSES_IGNORE;
}

static int convert(const char *func, const void *from, void *to)
{
	if (ignored(from))
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "the status to convert is a null pointer or "
				  "MPI_STATUS_IGNORE");
	if (ignored(to))
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "the status to fill is a null pointer or "
				  "MPI_STATUS_IGNORE");
	memmove(to, from, sizeof(MPI_Status));
	return MPI_SUCCESS;
}

#define CONVERSION(name, from_type, to_type)                       \
	int PMPI_Status_##name(const from_type *from, to_type *to) \
	{                                                          \
		return convert("MPI_Status_" #name, from, to);     \
	}                                                          \
	MPII_ALIAS(Status_##name)

CONVERSION(c2f, MPI_Status, MPI_Fint);
CONVERSION(f2c, MPI_Fint, MPI_Status);
CONVERSION(c2f08, MPI_Status, MPI_F08_status);
CONVERSION(f082c, MPI_F08_status, MPI_Status);
CONVERSION(f2f08, MPI_Fint, MPI_F08_status);
CONVERSION(f082f, MPI_F08_status, MPI_Fint);
