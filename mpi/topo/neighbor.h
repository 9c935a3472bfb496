/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Neighborhood collectives: what the calls give to the one that does them. */
#ifndef NEIGHBOR_H
#define NEIGHBOR_H

#include "coll/coll.h"
#include "topo/topo.h"

/*
 * The arguments of one side as they came in. A side with one count for all
 * neighbors has neither counts; of those with arrays, v has one type and
 * displacements in extents, w has types and displacements in bytes.
 */
struct nbr_arg {
	const char *buf_name, *type_name, *counts_name, *displs_name;
	const void *buf;
	MPI_Count count;
	bool vector; /* counts and displacements are arrays */
	bool one;    /* the same block for every neighbor: allgather's send */
	const int *counts, *displs;
	const MPI_Count *counts_c;
	const MPI_Aint *displs_c;
	MPI_Datatype type;
	bool types_given; /* w */
	const MPI_Datatype *types;
};

/* The three forms of every call. */
int mpii_neighbor(const char *func, const struct nbr_arg *s,
		  const struct nbr_arg *r, MPI_Comm comm);

#endif
