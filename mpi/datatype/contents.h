/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The record of how a type was made, for MPI_Type_get_contents. */
#ifndef MPII_DATATYPE_CONTENTS_H
#define MPII_DATATYPE_CONTENTS_H

#include "datatype/datatype.h"

/*
 * The arguments of the constructor, as MPI_Type_get_contents gives them. After
 * a _c call (large) counts and displacements are in counts, after another one
 * in ints and addrs.
 */
struct mpii_made {
	int combiner;
	bool large;
	MPI_Count nints, naddrs, ncounts, ntypes; /* used */
	int *ints;
	MPI_Aint *addrs;
	MPI_Count *counts;
	struct mpii_type **types; /* held */
};

/*
 * Create with room for so many of each, then
 * put the arguments in their order. A `num` is an int or, in a large call, a
 * count; an `addr` is an address or, in a large call, a count.
 */
struct mpii_made *mpii_made_create(int combiner, bool large, MPI_Count ints,
				   MPI_Count nums, MPI_Count addrs,
				   MPI_Count types);
void mpii_made_int(struct mpii_made *m, int v);
void mpii_made_num(struct mpii_made *m, MPI_Count v);
void mpii_made_nums(struct mpii_made *m, MPI_Count n, const MPI_Count *v);
void mpii_made_addr(struct mpii_made *m, MPI_Count v);
void mpii_made_type(struct mpii_made *m, struct mpii_type *t);
void mpii_made_destroy(struct mpii_made *m);

#endif
