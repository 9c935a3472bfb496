/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Reduction operations. */
#ifndef MPII_COLL_OP_OP_H
#define MPII_COLL_OP_OP_H

#include "datatype/datatype.h"

struct mpii_op {
	struct mpii_obj obj;
	MPI_Op handle;
	bool commutes, predefined;
	uint8_t lang;		   /* user-defined: enum mpii_language */
	uint8_t index;		   /* predefined: enum mpii_op_index */
	MPI_User_function *fn;	   /* user-defined, int count */
	MPI_User_function_c *fn_c; /* user-defined, large count */
};

#define MPII_OP_FIRST 32
#define MPII_OP_COUNT 32
extern struct mpii_op mpii_ops[MPII_OP_COUNT];

/* NULL: not an operation */
static inline struct mpii_op *mpii_op_get(MPI_Op h)
{
	uintptr_t v = (uintptr_t)h;
	struct mpii_op *op = (struct mpii_op *)h;

	if (v - MPII_OP_FIRST < MPII_OP_COUNT)
		op = &mpii_ops[v - MPII_OP_FIRST];
	else if (v >= MPII_PREDEFINED_END)
		return mpii_is_object(h, MPII_OP) ? op : NULL;
	else
		return NULL;
	return op->obj.magic == MPII_OP ? op : NULL;
}
void mpii_op_hold(struct mpii_op *op);
void mpii_op_put(struct mpii_op *op);
/* MPI_SUCCESS, or MPI_ERR_OP when it is not defined on the type. */
int mpii_op_check(const struct mpii_op *op, const struct mpii_type *t);
/* inout[i] = in[i] op inout[i] */
void mpii_op_apply(const struct mpii_op *op, const void *in, void *inout,
		   MPI_Count count, const struct mpii_type *t);

#endif
