/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Operations on elements of memory: what ATOMIC packets ask for.
 *
 * An element that is naturally aligned is read and written by one instruction, or by
 * a loop around compare-and-exchange, so all who do the same agree: other threads and
 * processes, the driver. One that is not is updated by plain reads and writes, which
 * only its owner may do, in its own order.
 *
 * Here are integers. Floating point is the engine's (engine/apply.c), since a kernel
 * has none.
 */
#ifndef O2G_ATOMIC_H
#define O2G_ATOMIC_H

#include "env.h"

/* Numbers on the wire, and those of enum o2g_op in o2g.h. */
enum o2g_atomic_op {
	O2G_AOP_REPLACE,
	O2G_AOP_NO_OP,
	O2G_AOP_SUM,
	O2G_AOP_PROD,
	O2G_AOP_MIN,
	O2G_AOP_MAX,
	O2G_AOP_LAND,
	O2G_AOP_LOR,
	O2G_AOP_LXOR,
	O2G_AOP_BAND,
	O2G_AOP_BOR,
	O2G_AOP_BXOR,
	O2G_AOP_CAS, /* two operands: what to compare with, what to put there */
	O2G_AOP_MAX_OP
};

/* The same for enum o2g_type. */
enum o2g_atomic_type {
	O2G_AT_I8,
	O2G_AT_U8,
	O2G_AT_I16,
	O2G_AT_U16,
	O2G_AT_I32,
	O2G_AT_U32,
	O2G_AT_I64,
	O2G_AT_U64,
	O2G_AT_F32,
	O2G_AT_F64,
	O2G_AT_MAX
};

/* Bytes of an element, 0: no such type. */
static inline u32 o2g_atomic_size(u32 type)
{
	if (type < O2G_AT_F32)
		return 1u << (type / 2);
	return type == O2G_AT_F32 ? 4 : type == O2G_AT_F64 ? 8 : 0;
}

static inline bool o2g_atomic_is_float(u32 type)
{
	return type >= O2G_AT_F32;
}

/* Is there such an operation? */
static inline bool o2g_atomic_exists(u32 op, u32 type)
{
	if (op >= O2G_AOP_MAX_OP || type >= O2G_AT_MAX)
		return false;
	return !o2g_atomic_is_float(type) || op <= O2G_AOP_MAX ||
	       op == O2G_AOP_CAS;
}

/* What becomes of an element: its bits from before, and the operand's, in the low bytes. */
typedef u64 o2g_atomic_value(u32 op, u32 type, u64 old, u64 x);
o2g_atomic_value o2g_atomic_integer;

/*
 * Do @op, which is not CAS, to @n elements at @target. Operands and results need not be
 * aligned; @result is NULL or gets the values from before, and may be @operand.
 */
void o2g_atomic_apply(o2g_atomic_value *value, u32 op, u32 type, void *target,
		      const void *operand, void *result, size_t n);
/* One element of any type, bit by bit; the value from before, in the low bytes. */
u64 o2g_atomic_cas(u32 type, void *target, u64 compare, u64 swap);

/* The bits of an element, wherever it is. */
static inline u64 o2g_atomic_read(const void *from, u32 size)
{
	u64 x = 0;

	memcpy(&x, from, size); /* little-endian, as the wire is */
	return x;
}

#endif
