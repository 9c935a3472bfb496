/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What predefined datatypes are made of. */
#ifndef MPII_DATATYPE_KINDS_H
#define MPII_DATATYPE_KINDS_H

/* The C type behind a predefined datatype: what a reduction loop works on. */
enum mpii_kind {
	MPII_K_NONE, /* no arithmetic: characters, MPI_PACKED */
	MPII_K_I8,
	MPII_K_U8,
	MPII_K_I16,
	MPII_K_U16,
	MPII_K_I32,
	MPII_K_U32,
	MPII_K_I64,
	MPII_K_U64,
	MPII_K_I128,
	MPII_K_F16,
	MPII_K_F32,
	MPII_K_F64,
	MPII_K_LD,
	MPII_K_F128,
	MPII_K_C16,
	MPII_K_C32,
	MPII_K_C64,
	MPII_K_CLD,
	MPII_K_C128,
	MPII_K_FLOAT_INT,
	MPII_K_DOUBLE_INT,
	MPII_K_LONG_INT,
	MPII_K_2INT,
	MPII_K_SHORT_INT,
	MPII_K_LONG_DOUBLE_INT,
	MPII_K_2FLOAT,
	MPII_K_2DOUBLE,
	MPII_K_PAIR, /* of MPI_Type_get_value_index, without a name */
	MPII_K_COUNT
};

/* The standard's groups of types that operations are defined on. */
enum mpii_class {
	MPII_C_NONE,
	MPII_C_INTEGER,
	MPII_C_FORTRAN_INTEGER,
	MPII_C_FLOAT,
	MPII_C_LOGICAL,
	MPII_C_COMPLEX,
	MPII_C_BYTE,
	MPII_C_MULTI,
	MPII_C_PAIR,
	MPII_C_COUNT
};

#endif
