/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_MINLOC and MPI_MAXLOC on the pairs of MPI_Type_get_value_index that have
 * no name: any number with an index of 32 or 64 bits.
 */
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

#include "coll/op/op_locate.h"
#include "coll/op/op_loops.h"
#include "float_types.h"

#define PAIR(k, V, I, bits)                            \
	struct k##_##bits {                            \
		V v;                                   \
		I i;                                   \
	};                                             \
	LOCATE(min_##k##_##bits, struct k##_##bits, <) \
	LOCATE(max_##k##_##bits, struct k##_##bits, >)
#define PAIRS(k, V) PAIR(k, V, int32_t, 32) PAIR(k, V, int64_t, 64)

PAIRS(I8, int8_t)
PAIRS(U8, uint8_t)
PAIRS(I16, int16_t)
PAIRS(U16, uint16_t)
PAIRS(I32, int32_t)
PAIRS(U32, uint32_t)
PAIRS(I64, int64_t)
PAIRS(U64, uint64_t)
PAIRS(F32, float)
PAIRS(F64, double)
PAIRS(LD, long double)
PAIRS(F128, MPII_FLOAT128)

#define ENTRY(k)                                         \
	[MPII_K_##k] = { { min_##k##_32, min_##k##_64 }, \
			 { max_##k##_32, max_##k##_64 } }

static mpii_op_loop *const loops[MPII_K_COUNT][2][2] = {
	ENTRY(I8),  ENTRY(U8),	ENTRY(I16), ENTRY(U16), ENTRY(I32), ENTRY(U32),
	ENTRY(I64), ENTRY(U64), ENTRY(F32), ENTRY(F64), ENTRY(LD),  ENTRY(F128),
};

mpii_op_loop *mpii_op_pair(bool max, const struct mpii_type *value,
			   const struct mpii_type *index)
{
	bool wide = index->kind == MPII_K_I64;

	if (!wide && index->kind != MPII_K_I32)
		return NULL;
	return loops[value->kind][max][wide];
}
