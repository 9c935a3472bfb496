/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every predefined operation on every type that it is defined for: what
 * MPI_Accumulate, MPI_Get_accumulate and MPI_Fetch_and_op make of the target is what
 * MPI_Reduce_local makes of it; aligned and not, contiguous and in a vector.
 */
#include "check.h"

#define MANY 77
#define BYTES 5120 /* of twice as many, of any type */
#define ROOM 8192

static const MPI_Datatype types[] = {
	MPI_CHAR,
	MPI_SIGNED_CHAR,
	MPI_UNSIGNED_CHAR,
	MPI_SHORT,
	MPI_UNSIGNED_SHORT,
	MPI_INT,
	MPI_UNSIGNED,
	MPI_LONG,
	MPI_UNSIGNED_LONG,
	MPI_LONG_LONG,
	MPI_INT8_T,
	MPI_INT16_T,
	MPI_INT32_T,
	MPI_INT64_T,
	MPI_UINT8_T,
	MPI_UINT16_T,
	MPI_UINT32_T,
	MPI_UINT64_T,
	MPI_FLOAT,
	MPI_DOUBLE,
	MPI_LONG_DOUBLE,
	MPI_C_BOOL,
	MPI_C_FLOAT_COMPLEX,
	MPI_C_DOUBLE_COMPLEX,
	MPI_C_LONG_DOUBLE_COMPLEX,
	MPI_BYTE,
	MPI_AINT,
	MPI_COUNT,
	MPI_OFFSET,
	MPI_FLOAT_INT,
	MPI_DOUBLE_INT,
	MPI_LONG_INT,
	MPI_2INT,
	MPI_SHORT_INT,
	MPI_LONG_DOUBLE_INT,
};
static const MPI_Op ops[] = {
	MPI_SUM,    MPI_PROD,	MPI_MIN,     MPI_MAX, MPI_LAND,
	MPI_LOR,    MPI_LXOR,	MPI_BAND,    MPI_BOR, MPI_BXOR,
	MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE,
};
#define COUNT(a) ((int)(sizeof(a) / sizeof(*(a))))

static MPI_Win win;
static char *base;
static int target, elements;

/* Values that are small in every type, and no trap in any. */
static void set(void *buf, MPI_Datatype t, int n, int seed)
{
	MPI_Aint lb, extent;
	int size;

	OK(MPI_Type_get_extent(t, &lb, &extent));
	OK(MPI_Type_size(t, &size));
	memset(buf, 0, (size_t)extent * (size_t)n);
	for (int i = 0; i < n; i++) {
		void *at = (char *)buf + i * extent;
		double d = (seed + i) % 5 + 1;

		if (t == MPI_FLOAT || t == MPI_FLOAT_INT ||
		    t == MPI_C_FLOAT_COMPLEX)
			*(float *)at = (float)d;
		else if (t == MPI_DOUBLE || t == MPI_DOUBLE_INT ||
			 t == MPI_C_DOUBLE_COMPLEX)
			*(double *)at = d;
		else if (t == MPI_LONG_DOUBLE || t == MPI_LONG_DOUBLE_INT ||
			 t == MPI_C_LONG_DOUBLE_COMPLEX)
			*(long double *)at = d;
		else
			*(char *)at = (char)((seed + i) % 5 +
					     (t == MPI_C_BOOL ? 0 : 1));
		if (t == MPI_C_BOOL)
			*(char *)at = *(char *)at != 0;
	}
}

static int defined(MPI_Op op, MPI_Datatype t)
{
	_Alignas(16) char a[64] = { 0 }, b[64] = { 0 };
	int err;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	err = MPI_Reduce_local(a, b, 1, t, op);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	return err == MPI_SUCCESS;
}

/* The same elements of two buffers, without what lies between them. */
static void same(const void *a, const void *b, MPI_Datatype t, int n,
		 const char *what, MPI_Op op)
{
	char pa[BYTES], pb[BYTES], name[MPI_MAX_OBJECT_NAME];
	int la = 0, lb = 0, len;

	OK(MPI_Pack(a, n, t, pa, sizeof(pa), &la, WORLD));
	OK(MPI_Pack(b, n, t, pb, sizeof(pb), &lb, WORLD));
	if (t == MPI_LONG_DOUBLE || t == MPI_LONG_DOUBLE_INT ||
	    t == MPI_C_LONG_DOUBLE_COMPLEX)
		return; /* padding has no value: compared by check_long */
	if (la == lb && !memcmp(pa, pb, (size_t)la))
		return;
	MPI_Type_get_name(t, name, &len);
	fprintf(stderr, "%s, %s, operation %p, target %d: wrong\n", what, name,
		(void *)op, target);
	MPI_Abort(WORLD, 1);
}

static void check_long(const void *a, const void *b, MPI_Datatype t, int n)
{
	MPI_Aint lb, extent;

	if (t != MPI_LONG_DOUBLE && t != MPI_LONG_DOUBLE_INT &&
	    t != MPI_C_LONG_DOUBLE_COMPLEX)
		return;
	OK(MPI_Type_get_extent(t, &lb, &extent));
	for (int i = 0; i < n; i++) {
		const void *x = (const char *)a + i * extent;
		const void *y = (const char *)b + i * extent;

		CHECK(*(const long double *)x == *(const long double *)y);
	}
}

static void read_target(MPI_Aint at, void *buf, MPI_Datatype t, int n)
{
	OK(MPI_Get(buf, n, t, target, at, n, t, win));
	OK(MPI_Win_flush(target, win));
}

/* One operation at one place, n elements, by all calls that can do it. */
static void try_at(MPI_Op op, MPI_Datatype t, MPI_Aint at)
{
	_Alignas(16) char before[BYTES], operand[BYTES], want[BYTES],
		now[BYTES], old[BYTES];

	set(before, t, elements, 3);
	set(operand, t, elements, 5);
	memcpy(want, before, sizeof(want));
	if (op == MPI_REPLACE)
		memcpy(want, operand, sizeof(want));
	else
		OK(MPI_Reduce_local(operand, want, elements, t, op));

	OK(MPI_Put(before, elements, t, target, at, elements, t, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Accumulate(operand, elements, t, target, at, elements, t, op,
			  win));
	OK(MPI_Win_flush(target, win));
	read_target(at, now, t, elements);
	same(now, want, t, elements, "MPI_Accumulate", op);
	check_long(now, want, t, elements);

	OK(MPI_Put(before, elements, t, target, at, elements, t, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Get_accumulate(operand, elements, t, old, elements, t, target,
			      at, elements, t, op, win));
	OK(MPI_Win_flush(target, win));
	same(old, before, t, elements, "MPI_Get_accumulate, before", op);
	check_long(old, before, t, elements);
	OK(MPI_Get_accumulate(NULL, 0, t, now, elements, t, target, at,
			      elements, t, MPI_NO_OP, win));
	OK(MPI_Win_flush(target, win));
	same(now, want, t, elements, "MPI_Get_accumulate, after", op);
	check_long(now, want, t, elements);

	OK(MPI_Put(before, 1, t, target, at, 1, t, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Fetch_and_op(operand, old, t, target, at, op, win));
	OK(MPI_Win_flush(target, win));
	same(old, before, t, 1, "MPI_Fetch_and_op, before", op);
	OK(MPI_Fetch_and_op(NULL, now, t, target, at, MPI_NO_OP, win));
	OK(MPI_Win_flush(target, win));
	same(now, want, t, 1, "MPI_Fetch_and_op, after", op);
	check_long(now, want, t, 1);
}

/* Every other element at the target, from a vector of the origin. */
static void try_vector(MPI_Op op, MPI_Datatype t)
{
	_Alignas(16) char before[BYTES], operand[BYTES], want[BYTES],
		now[BYTES];
	MPI_Aint lb, extent;
	MPI_Datatype v;

	OK(MPI_Type_get_extent(t, &lb, &extent));
	OK(MPI_Type_create_hvector(elements, 1, 2 * extent, t, &v));
	OK(MPI_Type_commit(&v));
	set(before, t, 2 * elements, 3);
	set(operand, t, 2 * elements, 5);
	memcpy(want, before, sizeof(want));
	for (int i = 0; i < elements; i++) {
		char *to = want + 2 * i * extent, *from = operand + i * extent;

		if (op == MPI_REPLACE)
			memcpy(to, from, (size_t)extent);
		else
			OK(MPI_Reduce_local(from, to, 1, t, op));
	}
	OK(MPI_Put(before, 2 * elements, t, target, 0, 2 * elements, t, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Accumulate(operand, elements, t, target, 0, 1, v, op, win));
	OK(MPI_Win_flush(target, win));
	read_target(0, now, t, 2 * elements);
	same(now, want, t, 2 * elements, "a vector", op);
	check_long(now, want, t, 2 * elements);
	OK(MPI_Type_free(&v));
}

static void try_all(void)
{
	MPI_Aint lb, extent;

	for (int i = 0; i < COUNT(types); i++) {
		OK(MPI_Type_get_extent(types[i], &lb, &extent));
		for (int k = 0; k < COUNT(ops); k++) {
			if (!defined(ops[k], types[i]))
				continue;
			try_at(ops[k], types[i], 0);
			try_at(ops[k], types[i], extent);
			try_vector(ops[k], types[i]);
			if (k < 2 && extent > 1) /* misaligned */
				try_at(ops[k], types[i], 1);
		}
	}
}

/* MPI_Type_get_value_index makes pairs that have no name. */
static void try_unnamed_pair(void)
{
	struct {
		double v;
		long i;
	} in = { 3, 7 }, before = { 5, 9 }, now;
	MPI_Datatype pair;

	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &pair));
	CHECK(pair != MPI_DATATYPE_NULL);
	OK(MPI_Put(&before, 1, pair, target, 0, 1, pair, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Accumulate(&in, 1, pair, target, 0, 1, pair, MPI_MINLOC, win));
	OK(MPI_Win_flush(target, win));
	read_target(0, &now, pair, 1);
	CHECK(now.v == 3 && now.i == 7);
}

static void compare_and_swap(MPI_Datatype t, int bytes)
{
	_Alignas(8) char a[8] = { 1 }, b[8] = { 2 }, c[8] = { 3 }, old[8];

	OK(MPI_Put(a, 1, t, target, 0, 1, t, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Compare_and_swap(b, c, old, t, target, 0, win)); /* no */
	OK(MPI_Win_flush(target, win));
	CHECK(!memcmp(old, a, (size_t)bytes));
	OK(MPI_Compare_and_swap(b, a, old, t, target, 0, win)); /* yes */
	OK(MPI_Win_flush(target, win));
	CHECK(!memcmp(old, a, (size_t)bytes));
	read_target(0, old, t, 1);
	CHECK(!memcmp(old, b, (size_t)bytes));
}

/* Types without bytes are made of no predefined type; all calls take them. */
static void nothing(void)
{
	MPI_Datatype none, structure;
	int a = 1, b = 2;

	OK(MPI_Type_contiguous(0, MPI_INT, &none));
	OK(MPI_Type_commit(&none));
	OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &structure));
	OK(MPI_Type_commit(&structure));
	OK(MPI_Put(&a, 3, none, target, 0, 2, structure, win));
	OK(MPI_Get(NULL, 0, MPI_INT, target, 0, 1, structure, win));
	OK(MPI_Accumulate(&a, 1, structure, target, 0, 1, none, MPI_SUM, win));
	OK(MPI_Accumulate(&a, 0, MPI_INT, target, 0, 7, structure, MPI_SUM,
			  win));
	OK(MPI_Get_accumulate(&a, 0, MPI_DOUBLE, &b, 1, none, target, 0, 1,
			      structure, MPI_REPLACE, win));
	OK(MPI_Get_accumulate(&a, 1, none, &b, 0, MPI_DOUBLE, target, 0, 0,
			      MPI_INT, MPI_SUM, win));
	OK(MPI_Win_flush(target, win));
	EQUAL(b, 2);
	OK(MPI_Type_free(&none));
	OK(MPI_Type_free(&structure));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	for (int kind = 0; kind < 2; kind++) {
		if (kind == 0) {
			OK(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, WORLD,
					    &base, &win));
		} else {
			base = malloc(ROOM);
			OK(MPI_Win_create(base, ROOM, 1, MPI_INFO_NULL, WORLD,
					  &win));
		}
		target = (rank + 1) % size;
		OK(MPI_Win_lock_all(0, win));
		for (int few = 0; few < 2; few++) {
			elements = few ? 5 : MANY;
			try_all();
		}
		try_unnamed_pair();
		nothing();
		compare_and_swap(MPI_BYTE, 1);
		compare_and_swap(MPI_SHORT, 2);
		compare_and_swap(MPI_INT, 4);
		compare_and_swap(MPI_LONG, 8);
		compare_and_swap(MPI_C_BOOL, 1);
		OK(MPI_Win_unlock_all(win));
		OK(MPI_Win_free(&win));
		if (kind == 1)
			free(base);
	}
	return finish();
}
