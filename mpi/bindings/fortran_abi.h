/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Reductions of LOGICAL where .TRUE. and .FALSE. are not 1 and 0. */
#ifndef FORTRAN_ABI_H
#define FORTRAN_ABI_H

#include "coll/op/op_loops.h"

bool mpii_logical_unusual(const struct mpii_type *t);
/* MPII_OP_LAND, _LOR or _LXOR on values of @size bytes. */
void mpii_logical_apply(enum mpii_op_index op, int size, const void *in,
			void *inout, MPI_Count n);

#endif
