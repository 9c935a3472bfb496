/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Operations on memory of this process. The core has those on integers; here is what
 * a kernel cannot do, and the call for whoever has mapped the memory.
 */
#include "apply.h"

_Static_assert((int)O2G_REPLACE == (int)O2G_AOP_REPLACE &&
		       (int)O2G_NO_OP == (int)O2G_AOP_NO_OP &&
		       (int)O2G_SUM == (int)O2G_AOP_SUM &&
		       (int)O2G_MAX == (int)O2G_AOP_MAX &&
		       (int)O2G_BXOR == (int)O2G_AOP_BXOR &&
		       (int)O2G_OPS == (int)O2G_AOP_CAS,
	       "operations, here and on the wire");
_Static_assert((int)O2G_I8 == (int)O2G_AT_I8 &&
		       (int)O2G_U64 == (int)O2G_AT_U64 &&
		       (int)O2G_F32 == (int)O2G_AT_F32 &&
		       (int)O2G_TYPES == (int)O2G_AT_MAX,
	       "types, here and on the wire");

/* A NaN is neither smaller nor larger, and stays. */
static double combine(u32 op, double old, double x)
{
	switch (op) {
	case O2G_AOP_REPLACE:
		return x;
	case O2G_AOP_SUM:
		return old + x;
	case O2G_AOP_PROD:
		return old * x;
	case O2G_AOP_MIN:
		return x < old || x != x ? x : old;
	case O2G_AOP_MAX:
		return x > old || x != x ? x : old;
	default:
		return old;
	}
}

static u64 value_f64(u32 op, u32 type, u64 old, u64 x)
{
	double a, b;

	memcpy(&a, &old, sizeof(a));
	memcpy(&b, &x, sizeof(b));
	a = combine(op, a, b);
	memcpy(&old, &a, sizeof(a));
	return old;
}

/* A sum or product of two floats, rounded once from double, is the float's own. */
static u64 value_f32(u32 op, u32 type, u64 old, u64 x)
{
	float a, b;

	memcpy(&a, &old, sizeof(a));
	memcpy(&b, &x, sizeof(b));
	a = (float)combine(op, a, b);
	memcpy(&old, &a, sizeof(a));
	return old;
}

o2g_atomic_value *eng_value_of(u32 type)
{
	if (type == O2G_AT_F64)
		return value_f64;
	return type == O2G_AT_F32 ? value_f32 : o2g_atomic_integer;
}

size_t o2g_type_size(enum o2g_type type)
{
	return o2g_atomic_size(type);
}

int o2g_op_exists(enum o2g_op op, enum o2g_type type)
{
	return (u32)op < O2G_OPS && o2g_atomic_exists(op, type);
}

int o2g_apply(enum o2g_op op, enum o2g_type type, void *target,
	      const void *operand, void *result, size_t n)
{
	if (!o2g_op_exists(op, type))
		return -EINVAL;
	o2g_atomic_apply(eng_value_of(type), op, type, target, operand, result,
			 n);
	return 0;
}
