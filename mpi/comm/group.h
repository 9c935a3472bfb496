/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about groups share. */
#ifndef MPI_GROUP_H
#define MPI_GROUP_H

#include "mpii.h"

/* For each world rank its rank in @g, or -1. NULL: out of memory. */
int *mpii_group_inverse(const struct mpii_group *g);
int mpii_bad_group(MPI_Group h, const char *func, const char *arg);
/* arg[i] is @rank, which @g has not. */
int mpii_bad_member(const struct mpii_group *g, int rank, const char *func,
		    const char *arg, int i);

#endif
