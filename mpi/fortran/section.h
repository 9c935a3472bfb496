/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Choice buffers of mpi_f08. They come with a C descriptor, so a section such as
 * a(1:n:2,:) can be seen for what it is. A contiguous one is its address. To
 * others MPI's rule applies: the elements of the section, in their order, are
 * the buffer.
 *
 * Where a count and a datatype describe the buffer alone, a datatype is built
 * that visits the elements in place. That does not help where the buffer holds
 * a block for each rank, where an operation needs predefined types, or where the
 * datatype has gaps: then a contiguous copy is used, and a request that is
 * still running takes care of it when it completes.
 */
#ifndef SECTION_H
#define SECTION_H

#include <ISO_Fortran_binding.h>

#include "fortran.h"

/* MPIF_LATER: MPI uses the buffer after the call, and nobody says until when, so
 * that a copy is no help. */
enum mpif_use { MPIF_IN = 1, MPIF_OUT = 2, MPIF_INOUT = 3, MPIF_LATER = 4 };

struct mpif_copy;

struct mpif_section {
	/* what to give to MPI */
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	/* what to undo */
	bool own_type;
	struct mpif_copy *copy;
};

/* A buffer described by count and datatype, and one that is not. MPI code. */
int mpif_typed(struct mpif_section *s, const CFI_cdesc_t *d, MPI_Count count,
	       MPI_Datatype type, enum mpif_use use);
int mpif_whole(struct mpif_section *s, const CFI_cdesc_t *d, enum mpif_use use);
/* One that can be no section: MPI_ERR_BUFFER if it is. */
int mpif_contiguous(struct mpif_section *s, const CFI_cdesc_t *d);
/* After the call: @err is what it returned, @request what it started or NULL. */
void mpif_section_end(struct mpif_section *s, int err,
		      const MPI_Request *request);

/* Frees an array of handles, malloc'ed, with the request that uses it. */
void mpif_keep_handles(void *handles, int err, const MPI_Request *request);

#endif
