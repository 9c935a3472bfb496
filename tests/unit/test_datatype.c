/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/mock/mpi_stubs.c */
/* Datatypes of particular layouts, their contents, and wrong arguments. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../mpi/datatype/datatype.h"

static void vector__without_gap_is_contiguous(void **state)
{
	MPI_Datatype h;

	PMPI_Type_vector(10, 4, 4, MPI_DOUBLE, &h);
	assert_true(mpii_type_get(h)->contiguous);
	assert_int_equal(mpii_type_get(h)->nblocks, 1);
	PMPI_Type_free(&h);
	assert_ptr_equal(h, MPI_DATATYPE_NULL);
}

static void vector__huge_is_compact(void **state)
{
	MPI_Datatype v, vv, vvv;
	MPI_Count size;

	PMPI_Type_vector(1 << 30, 1, 2, MPI_DOUBLE, &v);
	PMPI_Type_create_hvector(1 << 20, 1, 1 << 10, v, &vv);
	PMPI_Type_create_hvector(1 << 4, 1, 24, vv, &vvv);
	assert_int_equal(mpii_type_get(vvv)->nblocks, 1);
	assert_int_equal(PMPI_Type_size_x(vvv, &size), 0);
	assert_true(size == (MPI_Count)8 << 54);
	PMPI_Type_free(&v);
	PMPI_Type_free(&vv);
	PMPI_Type_free(&vvv);
}

static void indexed__regular_is_one_run(void **state)
{
	int disp[1000], bl[1000];
	MPI_Datatype h;

	for (int i = 0; i < 1000; i++) {
		disp[i] = 5 * (i / 2) + i % 2;
		bl[i] = 1;
	}
	PMPI_Type_indexed(1000, bl, disp, MPI_INT, &h);
	assert_int_equal(mpii_type_get(h)->nblocks, 1);
	assert_int_equal(mpii_type_get(h)->blocks[0].n, 500);
	assert_int_equal(mpii_type_get(h)->blocks[0].len, 8);
	PMPI_Type_free(&h);
}

static void size__of_more_than_63_bits_is_refused(void **state)
{
	MPI_Datatype a, b = MPI_INT;

	PMPI_Type_contiguous_c((MPI_Count)1 << 60, MPI_CHAR, &a);
	assert_int_equal(PMPI_Type_contiguous(16, a, &b), MPI_ERR_COUNT);
	assert_ptr_equal(b, MPI_INT);
	PMPI_Type_free(&a);
}

static void predefined__are_what_C_says(void **state)
{
	struct {
		MPI_Datatype h;
		int size, extent;
		const char *name;
	} t[] = {
		{ MPI_CHAR, 1, 1, "MPI_CHAR" },
		{ MPI_INT, sizeof(int), sizeof(int), "MPI_INT" },
		{ MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double),
		  "MPI_LONG_DOUBLE" },
		{ MPI_DOUBLE_INT, 12, 16, "MPI_DOUBLE_INT" },
		{ MPI_SHORT_INT, 6, 8, "MPI_SHORT_INT" },
		{ MPI_LONG_DOUBLE_INT, 20, 32, "MPI_LONG_DOUBLE_INT" },
		{ MPI_2DOUBLE_PRECISION, 16, 16, "MPI_2DOUBLE_PRECISION" },
		{ MPI_COMPLEX32, 32, 32, "MPI_COMPLEX32" },
		{ MPI_REAL2, 2, 2, "MPI_REAL2" },
		{ MPI_AINT, 8, 8, "MPI_AINT" },
		{ MPI_CXX_BOOL, 1, 1, "MPI_CXX_BOOL" },
	};
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Aint lb, extent;
	int size, len;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		PMPI_Type_size(t[i].h, &size);
		PMPI_Type_get_extent(t[i].h, &lb, &extent);
		PMPI_Type_get_name(t[i].h, name, &len);
		assert_int_equal(size, t[i].size);
		assert_int_equal(lb, 0);
		assert_int_equal(extent, t[i].extent);
		assert_string_equal(name, t[i].name);
		assert_int_equal(len, strlen(name));
	}
}

static void predefined__sit_at_their_handle(void **state)
{
	int n = 0;

	for (uintptr_t v = MPII_TYPE_FIRST;
	     v < MPII_TYPE_FIRST + MPII_TYPE_COUNT; v++) {
		struct mpii_type *t = mpii_type_get((MPI_Datatype)v);

		if (!t)
			continue;
		n++;
		assert_ptr_equal(t->handle, (MPI_Datatype)v);
		assert_true(t->committed && t->predefined);
		assert_true(t->blocks == &t->one || t->nblocks == 2);
	}
	assert_int_equal(n, 70); /* values in the ABI's table */
	assert_null(mpii_type_get(MPI_DATATYPE_NULL));
	assert_null(mpii_type_get(NULL));
	assert_null(mpii_type_get((MPI_Datatype)(uintptr_t)33));
}

static void contents__give_the_arguments_back(void **state)
{
	int bl[] = { 2, 3 }, ints[8], ni, na, nd, combiner;
	MPI_Aint disp[] = { 0, 40 }, addrs[4];
	MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, got[4], h, d;

	PMPI_Type_create_struct(2, bl, disp, types, &h);
	PMPI_Type_get_envelope(h, &ni, &na, &nd, &combiner);
	assert_int_equal(ni, 3);
	assert_int_equal(na, 2);
	assert_int_equal(nd, 2);
	assert_int_equal(combiner, MPI_COMBINER_STRUCT);
	PMPI_Type_get_contents(h, 8, 4, 4, ints, addrs, got);
	assert_int_equal(ints[0], 2);
	assert_int_equal(ints[2], 3);
	assert_int_equal(addrs[1], 40);
	assert_ptr_equal(got[1], MPI_DOUBLE);
	assert_int_equal(PMPI_Type_get_contents(h, 2, 4, 4, ints, addrs, got),
			 MPI_ERR_ARG);
	PMPI_Type_dup(h, &d);
	PMPI_Type_free(&h);
	PMPI_Type_get_contents(d, 0, 0, 1, ints, addrs, got);
	assert_non_null(mpii_type_get(got[0]));
	PMPI_Type_free(&got[0]);
	PMPI_Type_free(&d);
}

/* Without blocks there may be no arrays, and there is nothing in it. */
static void contents__of_an_empty_struct(void **state)
{
	MPI_Count ni, na, nc, nd;
	int i, j, k, combiner;
	MPI_Datatype h;

	assert_int_equal(PMPI_Type_create_struct(0, NULL, NULL, NULL, &h),
			 MPI_SUCCESS);
	PMPI_Type_get_envelope(h, &i, &j, &k, &combiner);
	assert_int_equal(combiner, MPI_COMBINER_STRUCT);
	assert_true(i == 1 && j == 0 && k == 0);
	PMPI_Type_free(&h);
	assert_int_equal(PMPI_Type_create_struct_c(0, NULL, NULL, NULL, &h),
			 MPI_SUCCESS);
	PMPI_Type_get_envelope_c(h, &ni, &na, &nc, &nd, &combiner);
	assert_true(ni == 0 && na == 0 && nc == 1 && nd == 0);
	PMPI_Type_free(&h);
}

static void contents__of_large_calls_are_counts(void **state)
{
	MPI_Count ni, na, nc, nd, counts[4];
	MPI_Datatype h, got;
	int combiner, i, j, k;

	PMPI_Type_create_hvector_c(3, 2, 100, MPI_INT, &h);
	PMPI_Type_get_envelope_c(h, &ni, &na, &nc, &nd, &combiner);
	assert_int_equal(combiner, MPI_COMBINER_HVECTOR);
	assert_true(ni == 0 && na == 0 && nc == 3 && nd == 1);
	PMPI_Type_get_contents_c(h, 0, 0, 4, 1, NULL, NULL, counts, &got);
	assert_true(counts[0] == 3 && counts[1] == 2 && counts[2] == 100);
	assert_int_equal(PMPI_Type_get_envelope(h, &i, &j, &k, &combiner),
			 MPI_ERR_TYPE);
	PMPI_Type_free(&h);
}

static void arguments__wrong_ones_are_named(void **state)
{
	MPI_Datatype h = MPI_INT;
	int neg[] = { -1 }, zero[] = { 0 }, one[] = { 1 }, size, pos = 0;
	char buf[8], packed[11];

	assert_int_equal(PMPI_Type_contiguous(-1, MPI_INT, &h), MPI_ERR_COUNT);
	assert_int_equal(PMPI_Type_contiguous(1, MPI_DATATYPE_NULL, &h),
			 MPI_ERR_TYPE);
	assert_int_equal(PMPI_Type_vector(1, -1, 1, MPI_INT, &h), MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_indexed(1, neg, zero, MPI_INT, &h),
			 MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_create_subarray(1, one, one, one,
						   MPI_ORDER_C, MPI_INT, &h),
			 MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_create_subarray(1, one, one, zero, 3,
						   MPI_INT, &h),
			 MPI_ERR_ARG);
	assert_int_equal(PMPI_Type_free(&h), MPI_ERR_TYPE);
	assert_int_equal(PMPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &size),
			 MPI_ERR_TYPE);
	assert_int_equal(PMPI_Pack(buf, 3, MPI_INT, packed, 11, &pos,
				   MPI_COMM_WORLD),
			 MPI_ERR_TRUNCATE);
	PMPI_Type_contiguous(2, MPI_INT, &h);
	assert_int_equal(PMPI_Pack(buf, 1, h, packed, 11, &pos, MPI_COMM_WORLD),
			 MPI_ERR_TYPE);
	PMPI_Type_free(&h);
}

static void pack__goes_on_where_it_was(void **state)
{
	double d[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
	char buf[64];
	int i = 7, j = 0, pos = 0, size;
	MPI_Datatype h;

	PMPI_Type_vector(2, 1, 2, MPI_DOUBLE, &h);
	PMPI_Type_commit(&h);
	PMPI_Pack_size(1, h, MPI_COMM_WORLD, &size);
	assert_int_equal(size, 16);
	PMPI_Pack(&i, 1, MPI_INT, buf, sizeof(buf), &pos, MPI_COMM_WORLD);
	PMPI_Pack(d, 1, h, buf, sizeof(buf), &pos, MPI_COMM_WORLD);
	assert_int_equal(pos, 20);
	pos = 0;
	PMPI_Unpack(buf, 20, &pos, &j, 1, MPI_INT, MPI_COMM_WORLD);
	PMPI_Unpack(buf, 20, &pos, back, 1, h, MPI_COMM_WORLD);
	assert_int_equal(pos, 20);
	assert_int_equal(j, 7);
	assert_true(back[0] == 1 && back[1] == 0 && back[2] == 3);
	PMPI_Type_free(&h);
}

static void copy__between_layouts(void **state)
{
	static int from[60000], to[60000];
	MPI_Datatype a, b;

	for (int i = 0; i < 60000; i++)
		from[i] = i;
	PMPI_Type_vector(10000, 2, 5, MPI_INT, &a);
	PMPI_Type_vector(20000, 1, 3, MPI_INT, &b);
	mpii_copy(from, 1, mpii_type_get(a), to, 1, mpii_type_get(b));
	for (int i = 0; i < 20000; i++)
		assert_int_equal(to[3 * i], i / 2 * 5 + i % 2);
	PMPI_Type_free(&a);
	PMPI_Type_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(vector__without_gap_is_contiguous),
		T(vector__huge_is_compact),
		T(indexed__regular_is_one_run),
		T(size__of_more_than_63_bits_is_refused),
		T(predefined__are_what_C_says),
		T(predefined__sit_at_their_handle),
		T(contents__give_the_arguments_back),
		T(contents__of_an_empty_struct),
		T(contents__of_large_calls_are_counts),
		T(arguments__wrong_ones_are_named),
		T(pack__goes_on_where_it_was),
		T(copy__between_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
