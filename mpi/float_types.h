/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Numbers of 16 and 128 bits. As macros, since _Complex takes no typedef. */
#ifndef MPII_FLOAT_TYPES_H
#define MPII_FLOAT_TYPES_H

/* clang knows the wide one by its older name. */
#ifdef __clang__
#define MPII_FLOAT128 __float128
#else
#define MPII_FLOAT128 _Float128
#endif

/* Older compilers have none for this machine: then operations on it are refused. */
#ifdef __FLT16_MAX__
#define MPII_FLOAT16 _Float16
#endif

#endif
