/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The predefined datatypes, in a table indexed by the ABI's handle values.
 * Fortran types have the sizes that gfortran gives them without options.
 */
#include <complex.h>
#include <stddef.h>
#include <wchar.h>

#include "datatype/datatype.h"
#include "datatype/kinds.h"

#define AT(h) [(uintptr_t)(h)-MPII_TYPE_FIRST]
#define ENTRY(h) (&mpii_types[(uintptr_t)(h)-MPII_TYPE_FIRST])

/* A type of one piece: size of data, extent in memory, basic elements. */
#define PIECE(h, name_, kind_, class_, size_, extent_, align_, nbasic_) \
	AT(h) = {                                                       \
		.obj = { .magic = MPII_TYPE, .refs = 1 },               \
		.handle = h,                                            \
		.size = size_,                                          \
		.extent = extent_,                                      \
		.true_extent = size_,                                   \
		.contiguous = size_ == extent_,                         \
		.committed = true,                                      \
		.simple = size_ == extent_,                             \
		.predefined = true,                                     \
		.kind = kind_,                                          \
		.class = class_,                                        \
		.align = align_,                                        \
		.nblocks = 1,                                           \
		.blocks = &ENTRY(h)->one,                               \
		.one = { .len = size_, .n = 1 },                        \
		.nsegs = 1,                                             \
		.basic = h,                                             \
		.nbasic = nbasic_,                                      \
		.name = name_,                                          \
	}
#define TYPE(h, ctype, kind, class)                             \
	PIECE(h, #h, kind, class, sizeof(ctype), sizeof(ctype), \
	      _Alignof(ctype), 1)
/* By number of bytes: Fortran types that C may lack. */
#define SIZED(h, bytes, align, kind, class) \
	PIECE(h, #h, kind, class, bytes, bytes, align, 1)
/* A value and its index, without a gap between them. */
#define PAIR(h, vtype, itype, kind)                                    \
	PIECE(h, #h, kind, MPII_C_PAIR, sizeof(vtype) + sizeof(itype), \
	      sizeof(struct {                                          \
		      vtype v;                                         \
		      itype i;                                         \
	      }),                                                      \
	      _Alignof(struct {                                        \
		      vtype v;                                         \
		      itype i;                                         \
	      }),                                                      \
	      2)

struct short_int {
	short v;
	int i;
};

/* The one that has a gap. */
static struct mpii_block short_int_blocks[2] = {
	{ .disp = 0, .len = sizeof(short), .n = 1 },
	{ .disp = offsetof(struct short_int, i),
	  .len = sizeof(int),
	  .n = 1,
	  .at = sizeof(short) },
};

#define I_(bits) MPII_K_I##bits
#define U_(bits) MPII_K_U##bits

struct mpii_type mpii_types[MPII_TYPE_COUNT] = {
	TYPE(MPI_AINT, MPI_Aint, I_(64), MPII_C_MULTI),
	TYPE(MPI_COUNT, MPI_Count, I_(64), MPII_C_MULTI),
	TYPE(MPI_OFFSET, MPI_Offset, I_(64), MPII_C_MULTI),
	TYPE(MPI_PACKED, char, MPII_K_NONE, MPII_C_NONE),
	TYPE(MPI_BYTE, unsigned char, U_(8), MPII_C_BYTE),

	TYPE(MPI_SHORT, short, I_(16), MPII_C_INTEGER),
	TYPE(MPI_INT, int, I_(32), MPII_C_INTEGER),
	TYPE(MPI_LONG, long, I_(64), MPII_C_INTEGER),
	TYPE(MPI_LONG_LONG_INT, long long, I_(64), MPII_C_INTEGER),
	TYPE(MPI_UNSIGNED_SHORT, unsigned short, U_(16), MPII_C_INTEGER),
	TYPE(MPI_UNSIGNED, unsigned, U_(32), MPII_C_INTEGER),
	TYPE(MPI_UNSIGNED_LONG, unsigned long, U_(64), MPII_C_INTEGER),
	TYPE(MPI_UNSIGNED_LONG_LONG, unsigned long long, U_(64),
	     MPII_C_INTEGER),
	TYPE(MPI_SIGNED_CHAR, signed char, I_(8), MPII_C_INTEGER),
	TYPE(MPI_UNSIGNED_CHAR, unsigned char, U_(8), MPII_C_INTEGER),
	TYPE(MPI_INT8_T, int8_t, I_(8), MPII_C_INTEGER),
	TYPE(MPI_INT16_T, int16_t, I_(16), MPII_C_INTEGER),
	TYPE(MPI_INT32_T, int32_t, I_(32), MPII_C_INTEGER),
	TYPE(MPI_INT64_T, int64_t, I_(64), MPII_C_INTEGER),
	TYPE(MPI_UINT8_T, uint8_t, U_(8), MPII_C_INTEGER),
	TYPE(MPI_UINT16_T, uint16_t, U_(16), MPII_C_INTEGER),
	TYPE(MPI_UINT32_T, uint32_t, U_(32), MPII_C_INTEGER),
	TYPE(MPI_UINT64_T, uint64_t, U_(64), MPII_C_INTEGER),
	/* A character in the standard, a number in many a program. */
	TYPE(MPI_CHAR, char, (char)-1 < 0 ? I_(8) : U_(8), MPII_C_INTEGER),
	TYPE(MPI_WCHAR, wchar_t, MPII_K_NONE, MPII_C_NONE),
	TYPE(MPI_C_BOOL, _Bool, U_(8), MPII_C_LOGICAL),
	TYPE(MPI_CXX_BOOL, _Bool, U_(8), MPII_C_LOGICAL),

	TYPE(MPI_FLOAT, float, MPII_K_F32, MPII_C_FLOAT),
	TYPE(MPI_DOUBLE, double, MPII_K_F64, MPII_C_FLOAT),
	TYPE(MPI_LONG_DOUBLE, long double, MPII_K_LD, MPII_C_FLOAT),
	TYPE(MPI_C_COMPLEX, float complex, MPII_K_C32, MPII_C_COMPLEX),
	TYPE(MPI_C_DOUBLE_COMPLEX, double complex, MPII_K_C64, MPII_C_COMPLEX),
	TYPE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, MPII_K_CLD,
	     MPII_C_COMPLEX),
	TYPE(MPI_CXX_FLOAT_COMPLEX, float complex, MPII_K_C32, MPII_C_COMPLEX),
	TYPE(MPI_CXX_DOUBLE_COMPLEX, double complex, MPII_K_C64,
	     MPII_C_COMPLEX),
	TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex, MPII_K_CLD,
	     MPII_C_COMPLEX),

	TYPE(MPI_CHARACTER, char, MPII_K_NONE, MPII_C_NONE),
	TYPE(MPI_LOGICAL, int32_t, I_(32), MPII_C_LOGICAL),
	TYPE(MPI_INTEGER, int32_t, I_(32), MPII_C_FORTRAN_INTEGER),
	TYPE(MPI_REAL, float, MPII_K_F32, MPII_C_FLOAT),
	TYPE(MPI_DOUBLE_PRECISION, double, MPII_K_F64, MPII_C_FLOAT),
	TYPE(MPI_COMPLEX, float complex, MPII_K_C32, MPII_C_COMPLEX),
	TYPE(MPI_DOUBLE_COMPLEX, double complex, MPII_K_C64, MPII_C_COMPLEX),
	TYPE(MPI_LOGICAL1, int8_t, I_(8), MPII_C_LOGICAL),
	TYPE(MPI_LOGICAL2, int16_t, I_(16), MPII_C_LOGICAL),
	TYPE(MPI_LOGICAL4, int32_t, I_(32), MPII_C_LOGICAL),
	TYPE(MPI_LOGICAL8, int64_t, I_(64), MPII_C_LOGICAL),
	TYPE(MPI_LOGICAL16, __int128, I_(128), MPII_C_LOGICAL),
	TYPE(MPI_INTEGER1, int8_t, I_(8), MPII_C_FORTRAN_INTEGER),
	TYPE(MPI_INTEGER2, int16_t, I_(16), MPII_C_FORTRAN_INTEGER),
	TYPE(MPI_INTEGER4, int32_t, I_(32), MPII_C_FORTRAN_INTEGER),
	TYPE(MPI_INTEGER8, int64_t, I_(64), MPII_C_FORTRAN_INTEGER),
	TYPE(MPI_INTEGER16, __int128, I_(128), MPII_C_FORTRAN_INTEGER),
	SIZED(MPI_REAL2, 2, 2, MPII_K_F16, MPII_C_FLOAT),
	TYPE(MPI_REAL4, float, MPII_K_F32, MPII_C_FLOAT),
	TYPE(MPI_REAL8, double, MPII_K_F64, MPII_C_FLOAT),
	SIZED(MPI_REAL16, 16, 16, MPII_K_F128, MPII_C_FLOAT),
	SIZED(MPI_COMPLEX4, 4, 2, MPII_K_C16, MPII_C_COMPLEX),
	TYPE(MPI_COMPLEX8, float complex, MPII_K_C32, MPII_C_COMPLEX),
	TYPE(MPI_COMPLEX16, double complex, MPII_K_C64, MPII_C_COMPLEX),
	SIZED(MPI_COMPLEX32, 32, 16, MPII_K_C128, MPII_C_COMPLEX),

	PAIR(MPI_FLOAT_INT, float, int, MPII_K_FLOAT_INT),
	PAIR(MPI_DOUBLE_INT, double, int, MPII_K_DOUBLE_INT),
	PAIR(MPI_LONG_INT, long, int, MPII_K_LONG_INT),
	PAIR(MPI_2INT, int, int, MPII_K_2INT),
	PAIR(MPI_LONG_DOUBLE_INT, long double, int, MPII_K_LONG_DOUBLE_INT),
	PAIR(MPI_2REAL, float, float, MPII_K_2FLOAT),
	PAIR(MPI_2DOUBLE_PRECISION, double, double, MPII_K_2DOUBLE),
	PAIR(MPI_2INTEGER, int32_t, int32_t, MPII_K_2INT),
	AT(MPI_SHORT_INT) = {
		.obj = { .magic = MPII_TYPE, .refs = 1 },
		.handle = MPI_SHORT_INT,
		.size = sizeof(short) + sizeof(int),
		.extent = sizeof(struct short_int),
		.true_extent = sizeof(struct short_int),
		.committed = true, .predefined = true,
		.kind = MPII_K_SHORT_INT, .class = MPII_C_PAIR,
		.align = _Alignof(struct short_int),
		.nblocks = 2, .blocks = short_int_blocks, .nsegs = 2,
		.basic = MPI_SHORT_INT, .nbasic = 2, .name = "MPI_SHORT_INT",
	},
};
