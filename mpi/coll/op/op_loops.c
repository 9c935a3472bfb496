/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The loops of the predefined operations, one per operation and C type,
 * written so that the compiler makes vector code of them. Sums and products of
 * signed integers run as unsigned ones: the bits are the same and overflow is
 * defined.
 */
#ifndef __clang__
#pragma GCC optimize("O3")
#endif

#include <complex.h>

#include "coll/op/op_locate.h"
#include "coll/op/op_loops.h"
#include "float_types.h"

#define LOOP(name, T, expr)                                        \
	static void name(const void *in, void *inout, MPI_Count n) \
	{                                                          \
		const T *restrict a = in;                          \
		T *restrict b = inout;                             \
                                                                   \
		for (MPI_Count i = 0; i < n; i++)                  \
			b[i] = (expr);                             \
	}

#define ARITH(k, T)                   \
	LOOP(sum_##k, T, a[i] + b[i]) \
	LOOP(prod_##k, T, a[i] * b[i])
#define ARITH_U(k, T)                      \
	LOOP(sum_##k, T, (T)(a[i] + b[i])) \
	LOOP(prod_##k, T, (T)(1u * a[i] * b[i]))
#define ORDER(k, T)                                 \
	LOOP(min_##k, T, a[i] < b[i] ? a[i] : b[i]) \
	LOOP(max_##k, T, a[i] > b[i] ? a[i] : b[i])
#define LOGIC(k, T)                                  \
	LOOP(land_##k, T, (a[i] != 0) & (b[i] != 0)) \
	LOOP(lor_##k, T, (a[i] != 0) | (b[i] != 0))  \
	LOOP(lxor_##k, T, (a[i] != 0) ^ (b[i] != 0))
#define BITS(k, T)                     \
	LOOP(band_##k, T, a[i] & b[i]) \
	LOOP(bor_##k, T, a[i] | b[i])  \
	LOOP(bxor_##k, T, a[i] ^ b[i])

#define UNSIGNED(k, T) ARITH_U(k, T) LOGIC(k, T) BITS(k, T)

UNSIGNED(u8, uint8_t)
UNSIGNED(u16, uint16_t)
UNSIGNED(u32, uint32_t)
UNSIGNED(u64, uint64_t)
UNSIGNED(u128, unsigned __int128)
ORDER(u8, uint8_t)
ORDER(u16, uint16_t)
ORDER(u32, uint32_t)
ORDER(u64, uint64_t)
ORDER(i8, int8_t)
ORDER(i16, int16_t)
ORDER(i32, int32_t)
ORDER(i64, int64_t)
ORDER(i128, __int128)

#define REAL(k, T) ARITH(k, T) ORDER(k, T)
REAL(f32, float)
REAL(f64, double)
REAL(ld, long double)
REAL(f128, MPII_FLOAT128)
ARITH(c32, float complex)
ARITH(c64, double complex)
ARITH(cld, long double complex)
ARITH(c128, _Complex MPII_FLOAT128)
#ifdef MPII_FLOAT16
REAL(f16, MPII_FLOAT16)
ARITH(c16, _Complex MPII_FLOAT16)
#define ROW_F16(op) [MPII_K_F16] = op##_f16
#define ROW_C16(op) [MPII_K_C16] = op##_c16
#else
#define ROW_F16(op) [MPII_K_F16] = NULL
#define ROW_C16(op) [MPII_K_C16] = NULL
#endif

#define PAIR(k, V, I)                   \
	struct k {                      \
		V v;                    \
		I i;                    \
	};                              \
	LOCATE(minloc_##k, struct k, <) \
	LOCATE(maxloc_##k, struct k, >)

PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(int_int, int, int)
PAIR(short_int, short, int)
PAIR(long_double_int, long double, int)
PAIR(float_float, float, float)
PAIR(double_double, double, double)

#define ROW_INTEGER(op)                                                        \
	[MPII_K_I8] = op##_u8, [MPII_K_U8] = op##_u8, [MPII_K_I16] = op##_u16, \
	[MPII_K_U16] = op##_u16, [MPII_K_I32] = op##_u32,                      \
	[MPII_K_U32] = op##_u32, [MPII_K_I64] = op##_u64,                      \
	[MPII_K_U64] = op##_u64, [MPII_K_I128] = op##_u128
#define ROW_ORDER(op)                                                          \
	[MPII_K_I8] = op##_i8, [MPII_K_U8] = op##_u8, [MPII_K_I16] = op##_i16, \
	[MPII_K_U16] = op##_u16, [MPII_K_I32] = op##_i32,                      \
	[MPII_K_U32] = op##_u32, [MPII_K_I64] = op##_i64,                      \
	[MPII_K_U64] = op##_u64, [MPII_K_I128] = op##_i128
#define ROW_REAL(op)                                                   \
	ROW_F16(op), [MPII_K_F32] = op##_f32, [MPII_K_F64] = op##_f64, \
		     [MPII_K_LD] = op##_ld, [MPII_K_F128] = op##_f128
#define ROW_COMPLEX(op)                                                \
	ROW_C16(op), [MPII_K_C32] = op##_c32, [MPII_K_C64] = op##_c64, \
		     [MPII_K_CLD] = op##_cld, [MPII_K_C128] = op##_c128
#define ROW_PAIR(op)                                                              \
	[MPII_K_FLOAT_INT] = op##_float_int,                                      \
	[MPII_K_DOUBLE_INT] = op##_double_int, [MPII_K_LONG_INT] = op##_long_int, \
	[MPII_K_2INT] = op##_int_int, [MPII_K_SHORT_INT] = op##_short_int,        \
	[MPII_K_LONG_DOUBLE_INT] = op##_long_double_int,                          \
	[MPII_K_2FLOAT] = op##_float_float, [MPII_K_2DOUBLE] = op##_double_double

mpii_op_loop *const mpii_op_loops[MPII_OP_INDEX_COUNT][MPII_K_COUNT] = {
	[MPII_OP_SUM] = { ROW_INTEGER(sum), ROW_REAL(sum), ROW_COMPLEX(sum) },
	[MPII_OP_PROD] = { ROW_INTEGER(prod), ROW_REAL(prod),
			   ROW_COMPLEX(prod) },
	[MPII_OP_MIN] = { ROW_ORDER(min), ROW_REAL(min) },
	[MPII_OP_MAX] = { ROW_ORDER(max), ROW_REAL(max) },
	[MPII_OP_LAND] = { ROW_INTEGER(land) },
	[MPII_OP_LOR] = { ROW_INTEGER(lor) },
	[MPII_OP_LXOR] = { ROW_INTEGER(lxor) },
	[MPII_OP_BAND] = { ROW_INTEGER(band) },
	[MPII_OP_BOR] = { ROW_INTEGER(bor) },
	[MPII_OP_BXOR] = { ROW_INTEGER(bxor) },
	[MPII_OP_MINLOC] = { ROW_PAIR(minloc) },
	[MPII_OP_MAXLOC] = { ROW_PAIR(maxloc) },
};
