/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Routines that MPI 3.0 has removed and old programs still call. They know
 * addresses and extents as INTEGER, which is too short for an address: what
 * MPI_ADDRESS gives is good for differences, which is what it is used for.
 */
#pragma GCC visibility push(default)
#include <stdlib.h>

#include "fortran.h"

#define REMOVED(name, ...)                        \
	void pmpi_##name##_(__VA_ARGS__);         \
	MPIF_WEAK(pmpi_##name##_, mpi_##name##_); \
	void pmpi_##name##_(__VA_ARGS__)

REMOVED(address, const void *location, MPI_Fint *address, MPI_Fint *ierror)
{
	MPI_Aint a = 0;

	*ierror = PMPI_Get_address(location, &a);
	*address = (MPI_Fint)a;
}

static int bounds(MPI_Fint type, MPI_Aint *lb, MPI_Aint *extent)
{
	*lb = *extent = 0;
	return PMPI_Type_get_extent(PMPI_Type_fromint(type), lb, extent);
}

REMOVED(type_extent, const MPI_Fint *type, MPI_Fint *extent, MPI_Fint *ierror)
{
	MPI_Aint lb, ex;

	*ierror = bounds(*type, &lb, &ex);
	*extent = (MPI_Fint)ex;
}

REMOVED(type_lb, const MPI_Fint *type, MPI_Fint *disp, MPI_Fint *ierror)
{
	MPI_Aint lb, ex;

	*ierror = bounds(*type, &lb, &ex);
	*disp = (MPI_Fint)lb;
}

REMOVED(type_ub, const MPI_Fint *type, MPI_Fint *disp, MPI_Fint *ierror)
{
	MPI_Aint lb, ex;

	*ierror = bounds(*type, &lb, &ex);
	*disp = (MPI_Fint)(lb + ex);
}

static void give(int err, MPI_Datatype made, MPI_Fint *newtype,
		 MPI_Fint *ierror)
{
	if (!err)
		*newtype = PMPI_Type_toint(made);
	*ierror = err;
}

REMOVED(type_hvector, const MPI_Fint *count, const MPI_Fint *blocklength,
	const MPI_Fint *stride, const MPI_Fint *oldtype, MPI_Fint *newtype,
	MPI_Fint *ierror)
{
	MPI_Datatype made = MPI_DATATYPE_NULL;
	int err = PMPI_Type_create_hvector(*count, *blocklength, *stride,
					   PMPI_Type_fromint(*oldtype), &made);

	give(err, made, newtype, ierror);
}

/* Displacements of the longer kind; malloc'ed. */
static MPI_Aint *widen(const MPI_Fint *disps, int n)
{
	MPI_Aint *wide = malloc((n > 0 ? n : 1) * sizeof(*wide));

	for (int i = 0; wide && i < n; i++)
		wide[i] = disps[i];
	return wide;
}

REMOVED(type_hindexed, const MPI_Fint *count, const MPI_Fint *blocklengths,
	const MPI_Fint *disps, const MPI_Fint *oldtype, MPI_Fint *newtype,
	MPI_Fint *ierror)
{
	MPI_Datatype made = MPI_DATATYPE_NULL;
	MPI_Aint *wide = widen(disps, *count);
	int err = wide ? PMPI_Type_create_hindexed(*count, blocklengths, wide,
						   PMPI_Type_fromint(*oldtype),
						   &made) :
			 mpif_no_memory();

	free(wide);
	give(err, made, newtype, ierror);
}

REMOVED(type_struct, const MPI_Fint *count, const MPI_Fint *blocklengths,
	const MPI_Fint *disps, const MPI_Fint *types, MPI_Fint *newtype,
	MPI_Fint *ierror)
{
	MPI_Datatype made = MPI_DATATYPE_NULL, few[MPIF_FEW];
	MPI_Datatype *old = mpif_handles(types, *count, few);
	MPI_Aint *wide = widen(disps, *count);
	int err = wide && old ? PMPI_Type_create_struct(*count, blocklengths,
							wide, old, &made) :
				mpif_no_memory();

	free(wide);
	mpif_free_handles(old, few);
	give(err, made, newtype, ierror);
}

REMOVED(errhandler_create, mpif_routine *fn, MPI_Fint *errhandler,
	MPI_Fint *ierror)
{
	MPI_Errhandler made = MPI_ERRHANDLER_NULL;

	o2g_mpi_language(MPII_LANG_FORTRAN);
	*ierror = PMPI_Comm_create_errhandler(
		(MPI_Comm_errhandler_function *)fn, &made);
	o2g_mpi_language(MPII_LANG_C);
	if (!*ierror)
		*errhandler = PMPI_Errhandler_toint(made);
}

REMOVED(errhandler_set, const MPI_Fint *comm, const MPI_Fint *errhandler,
	MPI_Fint *ierror)
{
	*ierror = PMPI_Comm_set_errhandler(
		PMPI_Comm_fromint(*comm), PMPI_Errhandler_fromint(*errhandler));
}

REMOVED(errhandler_get, const MPI_Fint *comm, MPI_Fint *errhandler,
	MPI_Fint *ierror)
{
	MPI_Errhandler got = MPI_ERRHANDLER_NULL;

	*ierror = PMPI_Comm_get_errhandler(PMPI_Comm_fromint(*comm), &got);
	if (!*ierror)
		*errhandler = PMPI_Errhandler_toint(got);
}
