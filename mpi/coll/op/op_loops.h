/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Predefined operations: their order in the tables, and their loops. */
#ifndef MPII_COLL_OP_OP_LOOPS_H
#define MPII_COLL_OP_OP_LOOPS_H

#include "datatype/datatype.h"
#include "datatype/kinds.h"

enum mpii_op_index {
	MPII_OP_SUM,
	MPII_OP_PROD,
	MPII_OP_MIN,
	MPII_OP_MAX,
	MPII_OP_LAND,
	MPII_OP_LOR,
	MPII_OP_LXOR,
	MPII_OP_BAND,
	MPII_OP_BOR,
	MPII_OP_BXOR,
	MPII_OP_MINLOC,
	MPII_OP_MAXLOC,
	MPII_OP_REPLACE,
	MPII_OP_NO_OP,
	MPII_OP_INDEX_COUNT
};

/* inout[i] = in[i] op inout[i] for i < n */
typedef void mpii_op_loop(const void *in, void *inout, MPI_Count n);

/* NULL: not defined on that kind. Not for REPLACE and NO_OP. */
extern mpii_op_loop *const mpii_op_loops[MPII_OP_INDEX_COUNT][MPII_K_COUNT];

/* For pairs without a name. NULL: not of these two, which are numbers. */
mpii_op_loop *mpii_op_pair(bool max, const struct mpii_type *value,
			   const struct mpii_type *index);

#endif
