/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the C code behind the Fortran bindings shares. The routines themselves
 * are made from the table by mpi/bindings/fortran_c.py; each turns its
 * arguments into those of C, calls the PMPI_ function and turns the results
 * back. INTEGER is int, LOGICAL is int with 1 and 0, a status is the same in
 * both languages, and INTEGER arrays are passed on as they are.
 */
#ifndef FORTRAN_H
#define FORTRAN_H

#include "bindings/lang.h"

/*
 * Every routine is defined under its PMPI name and has the MPI name too, weak,
 * so that a tool can put its own in front.
 */
#define MPIF_ALSO(of, name) \
	extern __typeof__(of) name __attribute__((alias(#of)))
#define MPIF_WEAK(of, name) \
	extern __typeof__(of) name __attribute__((weak, alias(#of)))

/* --- special values, recognised by their address (special.c) --- */

extern MPI_Fint mpi_fortran_bottom_[], mpi_fortran_in_place_[],
	mpi_fortran_buffer_automatic_[], mpi_fortran_errcodes_ignore_[],
	mpi_fortran_unweighted_[], mpi_fortran_weights_empty_[],
	mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
extern char mpi_fortran_argv_null_[], mpi_fortran_argvs_null_[];
extern MPI_Status mpi_f08_status_ignore_[], mpi_f08_statuses_ignore_[];

static inline void *mpif_buffer(const void *p)
{
	if (mpii_unlikely(p == mpi_fortran_in_place_))
		return MPI_IN_PLACE;
	if (mpii_unlikely(p == mpi_fortran_bottom_))
		return MPI_BOTTOM;
	if (mpii_unlikely(p == mpi_fortran_buffer_automatic_))
		return MPI_BUFFER_AUTOMATIC;
	return (void *)p;
}

/* One or an array. */
static inline MPI_Status *mpif_status(const void *p)
{
	if (p == mpi_fortran_status_ignore_ || p == mpi_f08_status_ignore_ ||
	    p == mpi_fortran_statuses_ignore_ || p == mpi_f08_statuses_ignore_)
		return MPI_STATUS_IGNORE;
	return (MPI_Status *)p;
}

static inline int *mpif_weights(const MPI_Fint *p)
{
	if (p == mpi_fortran_unweighted_)
		return MPI_UNWEIGHTED;
	if (p == mpi_fortran_weights_empty_)
		return MPI_WEIGHTS_EMPTY;
	return (int *)p;
}

static inline int *mpif_errcodes(MPI_Fint *p)
{
	return p == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : p;
}

/* --- errors --- */

/* Raises and returns MPI_ERR_NO_MEM. */
int mpif_no_memory(void);
/* The same for a section that cannot be a buffer of this call. */
int mpif_bad_buffer(void);
/* Did the call complete requests, even if some of them failed? */
bool mpif_completed(int err);

/* --- strings (string.c) --- */

/* Without the blanks at its end; malloc'ed, or NULL. */
char *mpif_string(const char *f, size_t len);
/* Also without those in front, as keys and values of an info want. */
char *mpif_word(const char *f, size_t len);
/* Fills @f, with blanks where @c has ended. */
void mpif_give(char *f, size_t len, const char *c);
/* An array of strings of @len characters each: @n of them, or up to a blank one
 * if @n is negative, @step strings apart. One malloc'ed block, NULL at its end. */
char **mpif_strings(const char *f, size_t len, int n, int step);
/* Those of MPI_Comm_spawn_multiple: an array (n, *), freed with mpif_free_argvs. */
char ***mpif_argvs(const char *f, size_t len, int n);
void mpif_free_argvs(char ***argvs, int n);

/* --- arrays of handles (array.c) --- */

#define MPIF_FEW 16

/* @n handles, in @few if it is not NULL and they fit; NULL: out of memory. */
void *mpif_handles(const MPI_Fint *f, MPI_Count n, void *few);
/* The same, with nothing but @null in it. */
void *mpif_no_handles(void *null, MPI_Count n, void *few);
/* Back to Fortran; @null ones are left out if it is not NULL. */
void mpif_give_handles(MPI_Fint *f, MPI_Count n, const void *handles,
		       void *null);
void mpif_free_handles(void *handles, void *few);
/* How many datatypes MPI_Alltoallw and its neighborhood form take. */
int mpif_peers(MPI_Comm comm);
int mpif_neighbors(MPI_Comm comm, bool sends);

/* --- callbacks that the standard defines (predefined.c) --- */

typedef void mpif_routine(void);
mpif_routine *mpif_callback(mpif_routine *fn);

#endif
