/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Data representations: external32, also where it has other sizes than memory, and
 * functions of the program.
 */
#include <stddef.h>
#include <unistd.h>

#include "check.h"

static char name[256];
static MPI_File f;

static void open_file(void)
{
	OK(MPI_File_open(WORLD, name,
			 MPI_MODE_CREATE | MPI_MODE_RDWR |
				 MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &f));
}

static void bytes_at(long at, unsigned char *to, int n)
{
	FILE *in = fopen(name, "r");

	CHECK(in);
	CHECK(!fseek(in, at, SEEK_SET));
	EQUAL(fread(to, 1, n, in), n);
	fclose(in);
}

/* Same sizes, other order of bytes. */
static void test_order(void)
{
	int v[4] = { 0x01020304, -2, 0, rank }, got[4] = { 0 };
	unsigned char raw[8];
	MPI_Datatype every;
	MPI_Request q;
	MPI_Status st;

	open_file();
	OK(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &every));
	OK(MPI_Type_commit(&every));
	OK(MPI_File_set_view(f, 4 * rank, MPI_INT, every, "external32",
			     MPI_INFO_NULL));
	OK(MPI_File_write_all(f, v, 4, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 4);
	bytes_at(4 * rank, raw, 4);
	CHECK(!memcmp(raw, "\1\2\3\4", 4));
	OK(MPI_File_read_at(f, 0, got, 4, MPI_INT, &st));
	CHECK(!memcmp(v, got, sizeof(v)));
	memset(got, 0, sizeof(got));
	OK(MPI_File_iread_at_all(f, 2, got, 4, MPI_INT, &q));
	OK(MPI_Wait(&q, &st));
	EQUAL(count_of(&st, MPI_INT), 2);
	CHECK(got[0] == v[2] && got[1] == v[3] && got[2] == 0);
	OK(MPI_File_iread_at(f, 3, got, 4, MPI_INT, &q));
	OK(MPI_Wait(&q, &st));
	EQUAL(count_of(&st, MPI_INT), 1);
	EQUAL(got[0], rank);
	OK(MPI_Type_free(&every));
	OK(MPI_File_close(&f));
}

/* A long has four bytes in the file. */
static void test_sizes(void)
{
	long v[6] = { 1, -1, 70000, 3, 4, 5 }, got[6] = { 0 };
	unsigned char raw[4];
	MPI_Datatype vector, pair;
	MPI_Aint extent;
	MPI_Offset at;
	MPI_Status st;
	struct {
		long l;
		char c;
	} s[3] = { { 7, 'a' }, { -8, 'b' }, { 9, 'c' } }, back[3];
	const int lens[] = { 1, 1 };
	const MPI_Aint displs[] = { offsetof(__typeof__(s[0]), l),
				    offsetof(__typeof__(s[0]), c) };
	const MPI_Datatype types[] = { MPI_LONG, MPI_CHAR };

	open_file();
	OK(MPI_Type_vector(3, 1, 2, MPI_LONG, &vector));
	OK(MPI_Type_commit(&vector));
	OK(MPI_File_set_view(f, 100 * rank, MPI_LONG, vector, "external32",
			     MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
	EQUAL(extent, 4);
	OK(MPI_File_get_type_extent(f, vector, &extent));
	EQUAL(extent, 20);
	OK(MPI_File_get_byte_offset(f, 4, &at));
	EQUAL(at, 100 * rank + 28);
	OK(MPI_File_write(f, v, 6, MPI_LONG, &st));
	EQUAL(count_of(&st, MPI_LONG), 6);
	bytes_at(100 * rank + 16, raw, 4);
	CHECK(raw[2] == 0x11 && raw[3] == 0x70);
	OK(MPI_File_read_at(f, 0, got, 6, MPI_LONG, &st));
	EQUAL(count_of(&st, MPI_LONG), 6);
	CHECK(!memcmp(v, got, sizeof(v)));
	/* memory with gaps, of types that differ */
	OK(MPI_Type_create_struct(2, lens, displs, types, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_File_set_view(f, 1000 + 15 * rank, MPI_BYTE, MPI_BYTE,
			     "external32", MPI_INFO_NULL));
	OK(MPI_File_write_at_all(f, 0, s, 3, pair, &st));
	EQUAL(count_of(&st, pair), 3);
	bytes_at(1000 + 15 * rank + 4, raw, 1);
	EQUAL(raw[0], 'a');
	memset(back, 0, sizeof(back));
	OK(MPI_File_read_at_all(f, 0, back, 3, pair, &st));
	EQUAL(count_of(&st, pair), 3);
	for (int i = 0; i < 3; i++)
		CHECK(back[i].l == s[i].l && back[i].c == s[i].c);
	OK(MPI_Type_free(&pair));
	OK(MPI_Type_free(&vector));
	OK(MPI_File_close(&f));
}

struct item {
	long l;
	char c;
};

static MPI_Datatype item_type(void)
{
	const int lens[] = { 1, 1 };
	const MPI_Aint displs[] = { offsetof(struct item, l),
				    offsetof(struct item, c) };
	const MPI_Datatype types[] = { MPI_LONG, MPI_CHAR };
	MPI_Datatype t;

	OK(MPI_Type_create_struct(2, lens, displs, types, &t));
	OK(MPI_Type_commit(&t));
	return t;
}

/* One column pair of an array of 3 x 2 * size structs, through a view: item
 * i of this rank is number @at[i] of the array, wherever that is in the file. */
static void try_columns(MPI_Datatype item, MPI_Datatype columns, const int *at)
{
	struct item out[6], in[6];
	MPI_Aint extent, whole;
	MPI_Offset byte;
	MPI_Status st;

	OK(MPI_File_set_view(f, 40, item, columns, "external32",
			     MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(f, item, &extent));
	CHECK(extent >= 9 && extent < (MPI_Aint)sizeof(struct item));
	OK(MPI_File_get_type_extent(f, columns, &whole));
	EQUAL(whole, 6 * size * extent);
	for (int i = 0; i < 6; i++) {
		OK(MPI_File_get_byte_offset(f, i, &byte));
		EQUAL(byte, 40 + at[i] * extent);
		out[i] = (struct item){ 100 * rank + i, (char)('a' + i) };
	}
	OK(MPI_File_write_at_all(f, 0, out, 6, item, &st));
	EQUAL(count_of(&st, item), 6);
	memset(in, 0, sizeof(in));
	OK(MPI_File_read_at_all(f, 0, in, 6, item, &st));
	EQUAL(count_of(&st, item), 6);
	for (int i = 0; i < 6; i++)
		CHECK(in[i].l == out[i].l && in[i].c == out[i].c);
}

/* Arrays of structs whose members have other sizes in the file. */
static void test_arrays(void)
{
	const int sizes[] = { 3, 2 * size }, subsizes[] = { 3, 2 };
	const int starts[] = { 0, 2 * rank };
	const MPI_Count large[] = { 3, 2 * size }, sub[] = { 3, 2 };
	const MPI_Count first[] = { 0, 2 * rank };
	const int distribs[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC };
	const int dargs[] = { MPI_DISTRIBUTE_DFLT_DARG, 1 };
	const int psizes[] = { 1, size };
	MPI_Datatype item = item_type(), t[4];
	int block[6], cyclic[6];

	for (int i = 0; i < 6; i++) {
		block[i] = i / 2 * 2 * size + 2 * rank + i % 2;
		cyclic[i] = i / 2 * 2 * size + rank + i % 2 * size;
	}
	OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C,
				    item, &t[0]));
	OK(MPI_Type_create_subarray_c(2, large, sub, first, MPI_ORDER_C, item,
				      &t[1]));
	OK(MPI_Type_create_darray(size, rank, 2, sizes, distribs, dargs, psizes,
				  MPI_ORDER_C, item, &t[2]));
	OK(MPI_Type_create_darray_c(size, rank, 2, large, distribs, dargs,
				    psizes, MPI_ORDER_C, item, &t[3]));
	open_file();
	for (int i = 0; i < 4; i++) {
		OK(MPI_Type_commit(&t[i]));
		try_columns(item, t[i], i < 2 ? block : cyclic);
		OK(MPI_Type_free(&t[i]));
	}
	OK(MPI_Type_free(&item));
	OK(MPI_File_close(&f));
}

/* --- functions of the program: each int is three bytes, low one first --- */

static int called[3];

static int extent_fn(MPI_Datatype t, MPI_Aint *extent, void *state)
{
	CHECK(state == called);
	called[0]++;
	*extent = t == MPI_INT ? 3 : 1;
	return MPI_SUCCESS;
}

static int read_fn(void *user, MPI_Datatype t, int count, void *file,
		   MPI_Offset position, void *state)
{
	const unsigned char *in = file;

	called[1]++;
	for (int i = 0; i < count; i++, in += 3)
		((int *)user)[position + i] = in[0] | in[1] << 8 | in[2] << 16;
	return MPI_SUCCESS;
}

static int write_fn(void *user, MPI_Datatype t, MPI_Count count, void *file,
		    MPI_Offset position, void *state)
{
	unsigned char *out = file;

	called[2]++;
	for (MPI_Count i = 0; i < count; i++) {
		int v = ((int *)user)[position + i];

		*out++ = v;
		*out++ = v >> 8;
		*out++ = v >> 16;
	}
	return MPI_SUCCESS;
}

static int write_fn_int(void *user, MPI_Datatype t, int count, void *file,
			MPI_Offset position, void *state)
{
	return write_fn(user, t, count, file, position, state);
}

static int failing(void *user, MPI_Datatype t, int count, void *file,
		   MPI_Offset position, void *state)
{
	return 77;
}

static void test_program(void)
{
	int v[5] = { 1, 2, 0x030201, 4, 5 }, got[5] = { 0 };
	unsigned char raw[3];
	MPI_Request q;
	MPI_Status st;

	OK(MPI_Register_datarep("three", read_fn, write_fn_int, extent_fn,
				called));
	FAILS(MPI_Register_datarep("three", read_fn, write_fn_int, extent_fn,
				   called),
	      MPI_ERR_DUP_DATAREP);
	FAILS(MPI_Register_datarep("native", read_fn, write_fn_int, extent_fn,
				   called),
	      MPI_ERR_DUP_DATAREP);
	OK(MPI_Register_datarep_c("same", MPI_CONVERSION_FN_NULL_C,
				  MPI_CONVERSION_FN_NULL_C, extent_fn, called));
	OK(MPI_Register_datarep("fails", failing, failing, extent_fn, called));
	open_file();
	OK(MPI_File_set_view(f, 15 * rank, MPI_INT, MPI_INT, "three",
			     MPI_INFO_NULL));
	OK(MPI_File_write_all(f, v, 5, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 5);
	bytes_at(15 * rank + 6, raw, 3);
	CHECK(raw[0] == 1 && raw[1] == 2 && raw[2] == 3);
	OK(MPI_File_iread_at(f, 0, got, 5, MPI_INT, &q));
	OK(MPI_Wait(&q, &st));
	EQUAL(count_of(&st, MPI_INT), 5);
	CHECK(!memcmp(v, got, sizeof(v)));
	CHECK(called[0] && called[1] && called[2]);
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "fails", MPI_INFO_NULL));
	FAILS(MPI_File_write_all(f, v, 5, MPI_INT, &st), MPI_ERR_CONVERSION);
	FAILS(MPI_File_read_at(f, 0, v, 1, MPI_INT, &st), MPI_ERR_CONVERSION);
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	snprintf(name, sizeof(name), "%s/o2g_file_rep.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, WORLD));
	test_order();
	test_sizes();
	test_arrays();
	test_program();
	return finish();
}
