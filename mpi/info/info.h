/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about info objects share. */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include "mpii.h"

/* The keys that the standard names, as far as we know their values, to an info
 * that no other thread knows. False: out of memory. */
bool mpii_info_describe(struct mpii_info *i, int argc, char **argv);
/* The same for this process: MPI_INFO_ENV. */
void mpii_info_describe_self(struct mpii_info *i);

#endif
