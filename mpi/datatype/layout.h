/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Layout: only size, loops and blocks of the types are read and written. False:
 * out of memory.
 */
#ifndef MPII_DATATYPE_LAYOUT_H
#define MPII_DATATYPE_LAYOUT_H

#include "datatype/datatype.h"

bool mpii_layout_repeat(struct mpii_type *t, MPI_Count n, MPI_Aint stride);
bool mpii_layout_append(struct mpii_type *t, MPI_Aint disp,
			const struct mpii_type *part);
bool mpii_layout_copy(struct mpii_type *t, const struct mpii_type *from);
void mpii_layout_end(struct mpii_type *t);
void mpii_layout_free(struct mpii_type *t);

#endif
