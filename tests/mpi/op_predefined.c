/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every predefined operation on every predefined datatype: where the standard
 * defines it (section 6.9.2), the result of MPI_Allreduce and MPI_Reduce_local
 * is that of C; elsewhere the answer is MPI_ERR_OP.
 */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

#ifdef __clang__
#define _Float128 __float128
#endif

#define N 37

static int rank, size, checks;

static void fail(const char *type, const char *op, const char *what)
{
	fprintf(stderr, "op_predefined: rank %d: %s on %s: %s\n", rank, op,
		type, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Small values, so that products of all ranks stay exact in every type. */
static int value(int r, int i)
{
	return (r * 5 + i * 3) % 3 + (r % 4 == 0);
}

#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LAND(a, b) ((a) && (b))
#define LOR(a, b) ((a) || (b))
#define LXOR(a, b) (!(a) != !(b))
#define BAND(a, b) ((a) & (b))
#define BOR(a, b) ((a) | (b))
#define BXOR(a, b) ((a) ^ (b))

#define RUN(h, T, op)                                                       \
	do {                                                                \
		T in[N], out[N], want[N];                                   \
		for (int i = 0; i < N; i++) {                               \
			in[i] = (T)value(rank, i);                          \
			want[i] = (T)value(0, i);                           \
			for (int r = 1; r < size; r++)                      \
				want[i] = (T)op(want[i], (T)value(r, i));   \
		}                                                           \
		if (MPI_Allreduce(in, out, N, h, MPI_##op, MPI_COMM_WORLD)) \
			fail(#h, #op, "refused");                           \
		for (int i = 0; i < N; i++)                                 \
			if (out[i] != want[i])                              \
				fail(#h, #op, "wrong result");              \
		for (int i = 0; i < N; i++) {                               \
			out[i] = (T)value(rank + 1, i);                     \
			want[i] = (T)op(in[i], out[i]);                     \
		}                                                           \
		MPI_Reduce_local(in, out, N, h, MPI_##op);                  \
		for (int i = 0; i < N; i++)                                 \
			if (out[i] != want[i])                              \
				fail(#h, #op, "wrong local result");        \
		checks++;                                                   \
	} while (0)

#define REFUSED(h, op)                                                 \
	do {                                                           \
		char in[64 * N] = { 0 }, out[64 * N];                  \
		int class;                                             \
		MPI_Error_class(MPI_Allreduce(in, out, N, h, MPI_##op, \
					      MPI_COMM_WORLD),         \
				&class);                               \
		if (class != MPI_ERR_OP)                               \
			fail(#h, #op, "not refused");                  \
		checks++;                                              \
	} while (0)

#define REFUSED_LOGIC(h)  \
	REFUSED(h, LAND); \
	REFUSED(h, LOR);  \
	REFUSED(h, LXOR)
#define REFUSED_BITS(h)   \
	REFUSED(h, BAND); \
	REFUSED(h, BOR);  \
	REFUSED(h, BXOR)
#define REFUSED_ORDER(h) \
	REFUSED(h, MIN); \
	REFUSED(h, MAX)
#define REFUSED_SUMS(h)  \
	REFUSED(h, SUM); \
	REFUSED(h, PROD)
#define REFUSED_LOC(h)      \
	REFUSED(h, MINLOC); \
	REFUSED(h, MAXLOC)

#define NUMBERS(h, T)    \
	RUN(h, T, SUM);  \
	RUN(h, T, PROD); \
	RUN(h, T, MIN);  \
	RUN(h, T, MAX);  \
	REFUSED_LOC(h)
#define BITS(h, T)       \
	RUN(h, T, BAND); \
	RUN(h, T, BOR);  \
	RUN(h, T, BXOR)
#define LOGIC(h, T)      \
	RUN(h, T, LAND); \
	RUN(h, T, LOR);  \
	RUN(h, T, LXOR)

static void c_integers(void)
{
#define INTEGER(h, T)  \
	NUMBERS(h, T); \
	BITS(h, T);    \
	LOGIC(h, T)
	INTEGER(MPI_INT, int);
	INTEGER(MPI_LONG, long);
	INTEGER(MPI_SHORT, short);
	INTEGER(MPI_UNSIGNED_SHORT, unsigned short);
	INTEGER(MPI_UNSIGNED, unsigned);
	INTEGER(MPI_UNSIGNED_LONG, unsigned long);
	INTEGER(MPI_LONG_LONG_INT, long long);
	INTEGER(MPI_LONG_LONG, long long);
	INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long);
	INTEGER(MPI_CHAR, char); /* not in the standard, but in programs */
	INTEGER(MPI_SIGNED_CHAR, signed char);
	INTEGER(MPI_UNSIGNED_CHAR, unsigned char);
	INTEGER(MPI_INT8_T, int8_t);
	INTEGER(MPI_INT16_T, int16_t);
	INTEGER(MPI_INT32_T, int32_t);
	INTEGER(MPI_INT64_T, int64_t);
	INTEGER(MPI_UINT8_T, uint8_t);
	INTEGER(MPI_UINT16_T, uint16_t);
	INTEGER(MPI_UINT32_T, uint32_t);
	INTEGER(MPI_UINT64_T, uint64_t);
}

static void fortran_integers(void)
{
#define FORTRAN(h, T)  \
	NUMBERS(h, T); \
	BITS(h, T);    \
	LOGIC(h, T)
	FORTRAN(MPI_INTEGER, int32_t);
	FORTRAN(MPI_INTEGER1, int8_t);
	FORTRAN(MPI_INTEGER2, int16_t);
	FORTRAN(MPI_INTEGER4, int32_t);
	FORTRAN(MPI_INTEGER8, int64_t);
	FORTRAN(MPI_INTEGER16, __int128);
	/* multi-language types are the same in this */
	FORTRAN(MPI_AINT, MPI_Aint);
	FORTRAN(MPI_OFFSET, MPI_Offset);
	FORTRAN(MPI_COUNT, MPI_Count);
}

static void floats(void)
{
#define REAL(h, T)       \
	NUMBERS(h, T);   \
	REFUSED_BITS(h); \
	REFUSED_LOGIC(h)
	REAL(MPI_FLOAT, float);
	REAL(MPI_DOUBLE, double);
	REAL(MPI_LONG_DOUBLE, long double);
	REAL(MPI_REAL, float);
	REAL(MPI_DOUBLE_PRECISION, double);
	REAL(MPI_REAL4, float);
	REAL(MPI_REAL8, double);
	REAL(MPI_REAL16, _Float128);
#define COMPLEX(h, T)     \
	RUN(h, T, SUM);   \
	RUN(h, T, PROD);  \
	REFUSED_ORDER(h); \
	REFUSED_BITS(h);  \
	REFUSED_LOGIC(h)
	COMPLEX(MPI_C_COMPLEX, float complex);
	COMPLEX(MPI_C_FLOAT_COMPLEX, float complex);
	COMPLEX(MPI_C_DOUBLE_COMPLEX, double complex);
	COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
	COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double complex);
	COMPLEX(MPI_COMPLEX, float complex);
	COMPLEX(MPI_DOUBLE_COMPLEX, double complex);
	COMPLEX(MPI_COMPLEX8, float complex);
	COMPLEX(MPI_COMPLEX16, double complex);
}

static void others(void)
{
#define TRUTH(h, T)       \
	LOGIC(h, T);      \
	REFUSED_SUMS(h);  \
	REFUSED_ORDER(h); \
	REFUSED_BITS(h)
	TRUTH(MPI_C_BOOL, _Bool);
	TRUTH(MPI_CXX_BOOL, _Bool);
	TRUTH(MPI_LOGICAL, int32_t);
	TRUTH(MPI_LOGICAL1, int8_t);
	TRUTH(MPI_LOGICAL2, int16_t);
	TRUTH(MPI_LOGICAL4, int32_t);
	TRUTH(MPI_LOGICAL8, int64_t);
	BITS(MPI_BYTE, unsigned char);
	REFUSED_SUMS(MPI_BYTE);
	REFUSED_LOGIC(MPI_BYTE);
#define TEXT(h)           \
	REFUSED_SUMS(h);  \
	REFUSED_ORDER(h); \
	REFUSED_BITS(h);  \
	REFUSED_LOGIC(h)
	TEXT(MPI_WCHAR);
	TEXT(MPI_CHARACTER);
	TEXT(MPI_PACKED);
}

/* The largest (or smallest) value, and the least rank among its owners. */
#define LOCATE(h, V, I)                                                  \
	do {                                                             \
		struct {                                                 \
			V v;                                             \
			I i;                                             \
		} in[N], lo[N], hi[N];                                   \
		for (int i = 0; i < N; i++) {                            \
			in[i].v = (V)value(rank, i);                     \
			in[i].i = (I)rank;                               \
		}                                                        \
		MPI_Allreduce(in, lo, N, h, MPI_MINLOC, MPI_COMM_WORLD); \
		MPI_Allreduce(in, hi, N, h, MPI_MAXLOC, MPI_COMM_WORLD); \
		for (int i = 0; i < N; i++) {                            \
			int least = 0, most = 0;                         \
			for (int r = 1; r < size; r++) {                 \
				if (value(r, i) < value(least, i))       \
					least = r;                       \
				if (value(r, i) > value(most, i))        \
					most = r;                        \
			}                                                \
			if (lo[i].v != (V)value(least, i) ||             \
			    lo[i].i != (I)least)                         \
				fail(#h, "MPI_MINLOC", "wrong result");  \
			if (hi[i].v != (V)value(most, i) ||              \
			    hi[i].i != (I)most)                          \
				fail(#h, "MPI_MAXLOC", "wrong result");  \
		}                                                        \
		REFUSED_SUMS(h);                                         \
		checks++;                                                \
	} while (0)

static void pairs(void)
{
	LOCATE(MPI_FLOAT_INT, float, int);
	LOCATE(MPI_DOUBLE_INT, double, int);
	LOCATE(MPI_LONG_INT, long, int);
	LOCATE(MPI_2INT, int, int);
	LOCATE(MPI_SHORT_INT, short, int);
	LOCATE(MPI_LONG_DOUBLE_INT, long double, int);
	LOCATE(MPI_2REAL, float, float);
	LOCATE(MPI_2DOUBLE_PRECISION, double, double);
	LOCATE(MPI_2INTEGER, int32_t, int32_t);
}

/* --- user-defined operations and handles --- */

static MPI_Datatype seen;
static int calls;

static void user_fn(void *in, void *inout, int *len, MPI_Datatype *dt)
{
	int *a = in, *b = inout;

	seen = *dt;
	calls++;
	for (int i = 0; i < *len; i++)
		b[i] += a[i];
}

static void user_ops(void)
{
	int in[3] = { 1, 2, 3 }, out[3], flag, class;
	MPI_Datatype dup;
	MPI_Op op;

	MPI_Op_create(user_fn, 1, &op);
	MPI_Op_commutative(op, &flag);
	if (!flag)
		fail("MPI_INT", "user", "does not commute");
	MPI_Op_commutative(MPI_REPLACE, &flag);
	if (flag)
		fail("MPI_INT", "MPI_REPLACE", "commutes");
	MPI_Op_commutative(MPI_SUM, &flag);
	if (!flag)
		fail("MPI_INT", "MPI_SUM", "does not commute");
	MPI_Type_dup(MPI_INT, &dup);
	MPI_Allreduce(in, out, 3, dup, op, MPI_COMM_WORLD);
	if (calls && seen != dup)
		fail("dup of MPI_INT", "user", "got another datatype");
	if (out[0] != size || out[2] != 3 * size)
		fail("dup of MPI_INT", "user", "wrong result");
	calls = 0;
	MPI_Reduce_local(in, out, 3, dup, op);
	if (calls != 1 || seen != dup || out[0] != size + 1)
		fail("dup of MPI_INT", "user", "wrong in MPI_Reduce_local");
	MPI_Allreduce(in, out, 3, dup, MPI_SUM, MPI_COMM_WORLD);
	if (out[1] != 2 * size)
		fail("dup of MPI_INT", "MPI_SUM", "wrong result");
	MPI_Type_free(&dup);
	MPI_Op_free(&op);
	if (op != MPI_OP_NULL)
		fail("", "user", "handle not reset");
	op = MPI_SUM;
	MPI_Error_class(MPI_Op_free(&op), &class);
	if (class != MPI_ERR_OP || op != MPI_SUM)
		fail("", "MPI_SUM", "could be freed");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	c_integers();
	fortran_integers();
	floats();
	others();
	pairs();
	user_ops();
	if (checks < 600)
		fail("", "", "too few combinations were tried");
	MPI_Finalize();
	return 0;
}
