/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Types found by size, by digits and range, and by the parts of a pair; what
 * the library says about Fortran, and LOGICAL with unusual values.
 */
#include "check.h"

static void match(int class, int size, MPI_Datatype want)
{
	MPI_Datatype type = MPI_DATATYPE_NULL;

	OK(MPI_Type_match_size(class, size, &type));
	CHECK(type == want);
}

static void match_size(void)
{
	MPI_Datatype type;

	match(MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1);
	match(MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16);
	match(MPI_TYPECLASS_REAL, 4, MPI_REAL4);
	match(MPI_TYPECLASS_REAL, 16, MPI_REAL16);
	match(MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8);
	FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
	FAILS(MPI_Type_match_size(7, 4, &type), MPI_ERR_ARG);
}

/* Size, envelope and contents, and that asking twice gives the same. */
static void made(MPI_Datatype type, MPI_Datatype again, int size, int combiner,
		 int nints, int p, int r)
{
	int ni, na, nt, c, ints[2], n, len;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Datatype none[1];
	MPI_Aint addrs[1];

	CHECK(type == again);
	MPI_Type_size(type, &n);
	EQUAL(n, size);
	OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &c));
	EQUAL(ni, nints);
	EQUAL(na + nt, 0);
	EQUAL(c, combiner);
	OK(MPI_Type_get_contents(type, ni, na, nt, ints, addrs, none));
	if (nints == 2)
		EQUAL(ints[0], p);
	EQUAL(ints[nints - 1], r);
	FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
	OK(MPI_Type_get_name(again, name, &len));
	EQUAL(len, 0);
}

static void real_kind(int p, int r, int size)
{
	MPI_Datatype a, b;

	OK(MPI_Type_create_f90_real(p, r, &a));
	OK(MPI_Type_create_f90_real(p, r, &b));
	made(a, b, size, MPI_COMBINER_F90_REAL, 2, p, r);
	OK(MPI_Type_create_f90_complex(p, r, &a));
	OK(MPI_Type_create_f90_complex(p, r, &b));
	made(a, b, 2 * size, MPI_COMBINER_F90_COMPLEX, 2, p, r);
}

static void integer_kind(int r, int size)
{
	MPI_Datatype a, b;

	OK(MPI_Type_create_f90_integer(r, &a));
	OK(MPI_Type_create_f90_integer(r, &b));
	made(a, b, size, MPI_COMBINER_F90_INTEGER, 1, 0, r);
}

static void f90(void)
{
	MPI_Datatype a, b;
	double in = 2, sum = 0;

	real_kind(6, MPI_UNDEFINED, 4);
	real_kind(MPI_UNDEFINED, 100, 8);
	real_kind(15, 307, 8);
	real_kind(18, 10, 16);
	real_kind(30, 10, 16);
	integer_kind(2, 1);
	integer_kind(3, 2);
	integer_kind(9, 4);
	integer_kind(10, 8);
	integer_kind(30, 16);
	OK(MPI_Type_create_f90_real(15, 307, &a));
	OK(MPI_Type_create_f90_real(14, 307, &b));
	CHECK(a != b);
	FAILS(MPI_Type_create_f90_real(99, 10, &a), MPI_ERR_ARG);
	FAILS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &b),
	      MPI_ERR_ARG);
	FAILS(MPI_Type_create_f90_integer(99, &b), MPI_ERR_ARG);
	OK(MPI_Type_create_f90_real(15, 307, &a));
	OK(MPI_Allreduce(&in, &sum, 1, a, MPI_SUM, WORLD));
	EQUAL(sum, 2 * size);
}

/* A pair without a name: layout, contents, and where the largest value is. */
static void unnamed_pair(void)
{
	struct {
		signed char v;
		int64_t i;
	} in = { (signed char)(rank % 3), 100 + rank }, out;
	int ni, na, nt, c, packed = 0, n;
	MPI_Datatype type, again, parts[2];
	char buf[64];
	MPI_Aint lb, extent, addrs[1];
	int ints[1];

	OK(MPI_Type_get_value_index(MPI_SIGNED_CHAR, MPI_INT64_T, &type));
	OK(MPI_Type_get_value_index(MPI_SIGNED_CHAR, MPI_INT64_T, &again));
	CHECK(type != MPI_DATATYPE_NULL && type == again);
	MPI_Type_size(type, &n);
	EQUAL(n, 9);
	MPI_Type_get_extent(type, &lb, &extent);
	EQUAL(extent, sizeof(in));
	OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &c));
	EQUAL(c, MPI_COMBINER_VALUE_INDEX);
	EQUAL(nt, 2);
	OK(MPI_Type_get_contents(type, ni, na, nt, ints, addrs, parts));
	CHECK(parts[0] == MPI_SIGNED_CHAR && parts[1] == MPI_INT64_T);
	OK(MPI_Pack(&in, 1, type, buf, sizeof(buf), &packed, WORLD));
	EQUAL(packed, 9);
	OK(MPI_Allreduce(&in, &out, 1, type, MPI_MAXLOC, WORLD));
	EQUAL(out.v, size >= 3 ? 2 : size - 1);
	EQUAL(out.i, 100 + out.v);
	OK(MPI_Allreduce(&in, &out, 1, type, MPI_MINLOC, WORLD));
	EQUAL(out.i, 100);
	FAILS(MPI_Allreduce(&in, &out, 1, type, MPI_SUM, WORLD), MPI_ERR_OP);
	FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_COUNT, &type));
	CHECK(type != MPI_DATATYPE_NULL);
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_DOUBLE, &type));
	CHECK(type == MPI_DATATYPE_NULL);
}

static void value_index(void)
{
	MPI_Datatype type;

	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
	CHECK(type == MPI_DOUBLE_INT);
	OK(MPI_Type_get_value_index(MPI_INTEGER, MPI_INTEGER, &type));
	CHECK(type == MPI_2INTEGER);
	unnamed_pair();
	OK(MPI_Type_get_value_index(MPI_WCHAR, MPI_INT, &type));
	CHECK(type == MPI_DATATYPE_NULL);
	FAILS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &type),
	      MPI_ERR_TYPE);
}

static void fortran_info(void)
{
	char value[16];
	int len = sizeof(value), flag;
	MPI_Info info;

	OK(MPI_Abi_get_fortran_info(&info));
	OK(MPI_Info_get_string(info, "mpi_integer_size", &len, value, &flag));
	CHECK(flag);
	EQUAL(atoi(value), 4);
	OK(MPI_Abi_set_fortran_info(info));
	FAILS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
	MPI_Info_set(info, "mpi_integer_size", "8");
	FAILS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
	MPI_Info_free(&info);
}

static void booleans(void)
{
	int set = -1, t = -1, f = 0, got_t = 0, got_f = 9;
	int in[3] = { -1, 0, -1 }, out[3];
	short short_t = 0, short_f = 0;

	OK(MPI_Abi_get_fortran_booleans(4, &got_t, &got_f, &set));
	EQUAL(set, 0);
	FAILS(MPI_Abi_set_fortran_booleans(3, &t, &f), MPI_ERR_ARG);
	OK(MPI_Abi_set_fortran_booleans(4, &t, &f));
	FAILS(MPI_Abi_set_fortran_booleans(4, &t, &f), MPI_ERR_ABI);
	OK(MPI_Abi_get_fortran_booleans(4, &got_t, &got_f, &set));
	EQUAL(set, 1);
	EQUAL(got_t, -1);
	EQUAL(got_f, 0);
	OK(MPI_Abi_get_fortran_booleans(2, &short_t, &short_f, &set));
	EQUAL(short_t, -1);

	in[2] = rank == 0 ? -1 : 0;
	OK(MPI_Allreduce(in, out, 3, MPI_LOGICAL, MPI_LAND, WORLD));
	EQUAL(out[0], -1);
	EQUAL(out[1], 0);
	EQUAL(out[2], size == 1 ? -1 : 0);
	OK(MPI_Allreduce(in, out, 3, MPI_LOGICAL, MPI_LOR, WORLD));
	EQUAL(out[2], -1);
	OK(MPI_Allreduce(in, out, 3, MPI_LOGICAL4, MPI_LXOR, WORLD));
	EQUAL(out[0], size % 2 ? -1 : 0);
	EQUAL(out[2], -1);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	match_size();
	f90();
	value_index();
	fortran_info();
	booleans();
	return finish();
}
