/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Files, call by call, as chapter 14 of the standard says: opening and its modes,
 * sizes, hints, pointers, views, statuses, errors. What accesses do to the bytes of
 * a file is tried by file_model.c.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define RW (MPI_MODE_CREATE | MPI_MODE_RDWR)

static char name[256];

static MPI_File open_new(int amode)
{
	MPI_File f;

	if (rank == 0)
		unlink(name);
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_open(WORLD, name, amode, MPI_INFO_NULL, &f));
	return f;
}

static MPI_Offset size_of(MPI_File f)
{
	MPI_Offset n;

	OK(MPI_File_get_size(f, &n));
	return n;
}

/* --- opening --- */

static void test_amodes(void)
{
	static const int bad[] = {
		0,
		MPI_MODE_CREATE,
		MPI_MODE_RDONLY | MPI_MODE_RDWR,
		MPI_MODE_RDONLY | MPI_MODE_WRONLY,
		MPI_MODE_RDWR | MPI_MODE_WRONLY,
		MPI_MODE_RDONLY | MPI_MODE_CREATE,
		MPI_MODE_RDONLY | MPI_MODE_EXCL,
		MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
		MPI_MODE_RDWR | 1 << 20,
	};
	MPI_File f;
	int amode;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		f = (MPI_File)1;
		FAILS(MPI_File_open(WORLD, name, bad[i], MPI_INFO_NULL, &f),
		      MPI_ERR_AMODE);
		CHECK(f == MPI_FILE_NULL);
	}
	/* what one rank has wrong is an error for all, of the same class */
	FAILS(MPI_File_open(WORLD, name, rank == size - 1 ? 0 : RW,
			    MPI_INFO_NULL, &f),
	      MPI_ERR_AMODE);
	if (size > 1)
		FAILS(MPI_File_open(WORLD, name,
				    rank ? RW :
					   MPI_MODE_CREATE | MPI_MODE_WRONLY,
				    MPI_INFO_NULL, &f),
		      MPI_ERR_NOT_SAME);
	f = open_new(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY |
		     MPI_MODE_UNIQUE_OPEN);
	OK(MPI_File_get_amode(f, &amode));
	EQUAL(amode, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY |
			     MPI_MODE_UNIQUE_OPEN);
	OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL);
}

static void test_open_errors(void)
{
	MPI_File f;
	char text[MPI_MAX_ERROR_STRING], path[300];
	int err, n;

	f = open_new(RW);
	OK(MPI_File_close(&f));
	FAILS(MPI_File_open(WORLD, name,
			    MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
			    MPI_INFO_NULL, &f),
	      MPI_ERR_FILE_EXISTS);
	snprintf(path, sizeof(path), "%s.none", name);
	err = MPI_File_open(WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	FAILS(err, MPI_ERR_NO_SUCH_FILE);
	OK(MPI_Error_string(err, text, &n));
	CHECK(strstr(text, path) && strstr(text, strerror(ENOENT)));
	FAILS(MPI_File_open(WORLD, "/proc/self/mem/x", RW, MPI_INFO_NULL, &f),
	      MPI_ERR_BAD_FILE);
	FAILS(MPI_File_open(WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &f),
	      MPI_ERR_BAD_FILE);
	/* a name of one rank only is of a file that others do not have */
	if (size > 1) {
		snprintf(path, sizeof(path), "%s.dir/x", name);
		FAILS(MPI_File_open(WORLD, rank == 1 ? path : name, RW,
				    MPI_INFO_NULL, &f),
		      MPI_ERR_NO_SUCH_FILE);
	}
	OK(MPI_Barrier(WORLD));
	if (rank == 0) {
		OK(MPI_File_delete(name, MPI_INFO_NULL));
		FAILS(MPI_File_delete(name, MPI_INFO_NULL),
		      MPI_ERR_NO_SUCH_FILE);
	}
	OK(MPI_Barrier(WORLD));
}

static void test_append(void)
{
	MPI_File f = open_new(RW);
	MPI_Offset at;
	int v = rank;

	OK(MPI_File_write_at(f, rank * 4, &v, 4, MPI_BYTE, IGNORE));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(WORLD, name,
			 MPI_MODE_RDWR | MPI_MODE_APPEND |
				 MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &f));
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, size * 4);
	OK(MPI_File_get_position_shared(f, &at));
	EQUAL(at, size * 4);
	/* only where it starts: what comes before can be written */
	OK(MPI_File_write_at(f, rank * 4, &v, 4, MPI_BYTE, IGNORE));
	EQUAL(size_of(f), size * 4);
	OK(MPI_File_close(&f));
	CHECK(access(name, F_OK) != 0);
}

/* --- errors --- */

static int handled;

static void handler(MPI_File *f, int *code, ...)
{
	handled++;
}

static void test_errhandlers(void)
{
	MPI_Errhandler e, old;
	MPI_File f, none;

	OK(MPI_File_create_errhandler(handler, &e));
	f = open_new(RW);
	OK(MPI_File_get_errhandler(f, &old));
	CHECK(old == MPI_ERRORS_RETURN);
	OK(MPI_File_set_errhandler(f, e));
	handled = 0;
	FAILS(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
	EQUAL(handled, 1);
	FAILS(MPI_File_write_all(f, &f, -1, MPI_INT, IGNORE), MPI_ERR_COUNT);
	EQUAL(handled, 2);
	/* that of MPI_FILE_NULL is for opening, and what files start with */
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, e));
	FAILS(MPI_File_open(WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &none),
	      MPI_ERR_BAD_FILE);
	EQUAL(handled, 3);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&e));
	OK(MPI_File_close(&f));
}

static void test_refusals(void)
{
	MPI_File f = open_new(MPI_MODE_CREATE | MPI_MODE_WRONLY);
	MPI_Datatype back, twice;
	MPI_Request q;
	int v[4] = { 0 }, lens[2] = { 1, 1 }, displs[2] = { 4, 0 };

	FAILS(MPI_File_read(f, v, 1, MPI_INT, IGNORE), MPI_ERR_ACCESS);
	FAILS(MPI_File_read_all(f, v, 1, MPI_INT, IGNORE), MPI_ERR_ACCESS);
	FAILS(MPI_File_iread(f, v, 1, MPI_INT, &q), MPI_ERR_ACCESS);
	OK(MPI_File_write(f, v, 1, MPI_INT, IGNORE));
	/* filetypes that go back, that overlap, that are no whole etypes */
	OK(MPI_Type_indexed(2, lens, displs, MPI_INT, &back));
	OK(MPI_Type_commit(&back));
	FAILS(MPI_File_set_view(f, 0, MPI_INT, back, "native", MPI_INFO_NULL),
	      MPI_ERR_TYPE);
	OK(MPI_Type_create_resized(MPI_INT, 0, 2, &twice));
	OK(MPI_Type_commit(&twice));
	/* instances that overlap: the first can be written */
	OK(MPI_File_set_view(f, 0, MPI_BYTE, twice, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at(f, 0, v, 1, MPI_INT, IGNORE));
	OK(MPI_File_write_at_all(f, 0, v, 1, MPI_INT, IGNORE));
	FAILS(MPI_File_write_at(f, 4, v, 1, MPI_INT, IGNORE), MPI_ERR_TYPE);
	FAILS(MPI_File_write_at_all(f, 0, v, 2, MPI_INT, IGNORE), MPI_ERR_TYPE);
	OK(MPI_File_iwrite_at(f, 1, v, 1, MPI_INT, &q));
	FAILS(MPI_Wait(&q, IGNORE), MPI_ERR_TYPE);
	FAILS(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_INT, "native",
				MPI_INFO_NULL),
	      MPI_ERR_TYPE);
	FAILS(MPI_File_set_view(f, -4, MPI_INT, MPI_INT, "native",
				MPI_INFO_NULL),
	      MPI_ERR_DISP);
	FAILS(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT,
				"native", MPI_INFO_NULL),
	      MPI_ERR_DISP);
	FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "none", MPI_INFO_NULL),
	      MPI_ERR_UNSUPPORTED_DATAREP);
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "internal",
			     MPI_INFO_NULL));
	FAILS(MPI_File_write(f, v, 3, MPI_BYTE, IGNORE), MPI_ERR_TYPE);
	OK(MPI_Type_free(&back));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	FAILS(MPI_File_write(f, v, 1, MPI_INT, IGNORE), MPI_ERR_READ_ONLY);
	FAILS(MPI_File_set_size(f, 0), MPI_ERR_READ_ONLY);
	FAILS(MPI_File_preallocate(f, 10), MPI_ERR_READ_ONLY);
	/* who only reads may read bytes twice */
	OK(MPI_File_set_view(f, 0, MPI_BYTE, twice, "native", MPI_INFO_NULL));
	OK(MPI_Type_free(&twice));
	OK(MPI_File_close(&f));
}

/* One rank's mistake is an error of a collective access at all, and no hang. */
static void test_one_fails(void)
{
	MPI_File f = open_new(RW);
	MPI_Request q = MPI_REQUEST_NULL;
	int v = 1, last = rank == size - 1, err;

	FAILS(MPI_File_write_all(f, &v, last ? -1 : 1, MPI_INT, IGNORE),
	      MPI_ERR_COUNT);
	FAILS(MPI_File_read_at_all(f, last ? -1 : 0, &v, 1, MPI_INT, IGNORE),
	      MPI_ERR_ARG);
	FAILS(MPI_File_write_ordered(
		      f, &v, 1, last ? MPI_DATATYPE_NULL : MPI_INT, IGNORE),
	      MPI_ERR_TYPE);
	err = MPI_File_iwrite_at_all(f, 0, &v, last ? -1 : 1, MPI_INT, &q);
	if (last) {
		FAILS(err, MPI_ERR_COUNT);
	} else {
		OK(err);
		FAILS(MPI_Wait(&q, IGNORE), MPI_ERR_COUNT);
	}
	FAILS(MPI_File_set_size(f, last ? -1 : 1), MPI_ERR_ARG);
	if (size > 1) {
		FAILS(MPI_File_set_size(f, rank), MPI_ERR_NOT_SAME);
		FAILS(MPI_File_seek_shared(f, rank, MPI_SEEK_SET),
		      MPI_ERR_NOT_SAME);
		FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT,
					last ? "internal" : "native",
					MPI_INFO_NULL),
		      MPI_ERR_NOT_SAME);
		FAILS(MPI_File_set_view(f, 0, last ? MPI_INT : MPI_DOUBLE,
					MPI_DOUBLE, "native", MPI_INFO_NULL),
		      MPI_ERR_NOT_SAME);
	}
	/* and everything still works */
	OK(MPI_File_write_at_all(f, rank * 4, &v, 1, MPI_INT, IGNORE));
	EQUAL(size_of(f), size * 4);
	OK(MPI_File_close(&f));
}

/* --- the file as a whole --- */

static void test_sizes(void)
{
	MPI_File f = open_new(RW);
	char byte = 7;

	EQUAL(size_of(f), 0);
	OK(MPI_File_preallocate(f, 0));
	EQUAL(size_of(f), 0);
	OK(MPI_File_preallocate(f, 1000));
	EQUAL(size_of(f), 1000);
	OK(MPI_File_preallocate(f, 10));
	EQUAL(size_of(f), 1000);
	OK(MPI_File_set_size(f, 100));
	EQUAL(size_of(f), 100);
	OK(MPI_Barrier(WORLD));
	if (rank == 0)
		OK(MPI_File_write_at(f, 5000000000, &byte, 1, MPI_BYTE,
				     IGNORE));
	OK(MPI_Barrier(WORLD));
	EQUAL(size_of(f), 5000000001);
	byte = 0;
	OK(MPI_File_read_at_all(f, 5000000000, &byte, 1, MPI_BYTE, IGNORE));
	EQUAL(byte, 7);
	OK(MPI_File_set_size(f, 0));
	OK(MPI_File_sync(f));
	EQUAL(size_of(f), 0);
	OK(MPI_File_close(&f));
}

static void test_hints(void)
{
	char value[64];
	MPI_Info info, used;
	MPI_Group group, world;
	MPI_File f;
	int flag, same, atomic;

	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_buffer_size", "65536"));
	OK(MPI_Info_set(info, "cb_nodes", "1"));
	OK(MPI_Info_set(info, "file_perm", "600"));
	OK(MPI_Info_set(info, "romio_cb_write", "nonsense"));
	OK(MPI_Info_set(info, "unknown", "x"));
	OK(MPI_Info_set(info, "access_style", "random,write_once,quickly"));
	if (rank == 0)
		unlink(name);
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_open(WORLD, name, RW, info, &f));
	OK(MPI_File_get_info(f, &used));
	OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
	CHECK(flag && !strcmp(value, "65536"));
	OK(MPI_Info_get(used, "cb_nodes", 63, value, &flag));
	CHECK(flag && !strcmp(value, "1"));
	OK(MPI_Info_get(used, "romio_cb_write", 63, value, &flag));
	CHECK(flag && !strcmp(value, "automatic"));
	OK(MPI_Info_get(used, "unknown", 63, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_get(used, "access_style", 63, value, &flag));
	CHECK(flag && !strcmp(value, "random,write_once"));
	OK(MPI_Info_free(&used));
	OK(MPI_Info_set(info, "cb_buffer_size", "131072"));
	OK(MPI_File_set_info(f, info));
	OK(MPI_File_get_info(f, &used));
	OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
	CHECK(flag && !strcmp(value, "131072"));
	OK(MPI_Info_free(&used));
	/* a view may bring others */
	OK(MPI_Info_set(info, "access_style", "sequential"));
	OK(MPI_Info_set(info, "cb_buffer_size", "262144"));
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", info));
	OK(MPI_File_get_info(f, &used));
	OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
	CHECK(flag && !strcmp(value, "262144"));
	OK(MPI_Info_get(used, "access_style", 63, value, &flag));
	CHECK(flag && !strcmp(value, "sequential"));
	OK(MPI_Info_free(&used));
	OK(MPI_Info_free(&info));
	OK(MPI_File_get_group(f, &group));
	OK(MPI_Comm_group(WORLD, &world));
	OK(MPI_Group_compare(group, world, &same));
	EQUAL(same, MPI_IDENT);
	OK(MPI_Group_free(&group));
	OK(MPI_Group_free(&world));
	OK(MPI_File_get_atomicity(f, &atomic));
	EQUAL(atomic, 0);
	OK(MPI_File_set_atomicity(f, 1));
	OK(MPI_File_get_atomicity(f, &atomic));
	EQUAL(atomic, 1);
	OK(MPI_File_close(&f));
}

/* --- pointers and views --- */

static void test_pointers(void)
{
	MPI_File f = open_new(RW);
	int v[10] = { 0 }, n;
	MPI_Datatype e, t, every2, view;
	char rep[MPI_MAX_DATAREP_STRING];
	MPI_Offset at;
	MPI_Aint extent;
	MPI_Status st;

	OK(MPI_Type_create_resized(MPI_INT, 0, 8, &every2));
	OK(MPI_Type_commit(&every2));
	OK(MPI_File_set_view(f, 100, MPI_INT, every2, "native", MPI_INFO_NULL));
	OK(MPI_File_get_view(f, &at, &e, &view, rep));
	EQUAL(at, 100);
	CHECK(e == MPI_INT && !strcmp(rep, "native"));
	OK(MPI_Type_get_extent(view, &(MPI_Aint){ 0 }, &extent));
	EQUAL(extent, 8);
	OK(MPI_Type_free(&view));
	OK(MPI_File_get_type_extent(f, MPI_DOUBLE, &extent));
	EQUAL(extent, 8);
	OK(MPI_File_get_byte_offset(f, 3, &at));
	EQUAL(at, 124);
	OK(MPI_File_seek(f, 0, MPI_SEEK_END));
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, 0);
	OK(MPI_Barrier(WORLD));
	if (rank == 0)
		OK(MPI_File_write(f, v, 10, MPI_INT, IGNORE));
	OK(MPI_Barrier(WORLD));
	EQUAL(size_of(f), 100 + 9 * 8 + 4);
	OK(MPI_File_seek(f, -2, MPI_SEEK_END));
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, 8);
	/* a short read tells what came, and stays at the end */
	OK(MPI_File_read(f, v, 10, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 2);
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, 10);
	OK(MPI_File_read(f, v, 1, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 0);
	OK(MPI_File_seek(f, -3, MPI_SEEK_CUR));
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, 7);
	FAILS(MPI_File_seek(f, -8, MPI_SEEK_CUR), MPI_ERR_ARG);
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, 7);
	/* elements of a type that was cut */
	OK(MPI_Type_contiguous(4, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_read_at(f, 7, v, 1, t, &st));
	EQUAL(count_of(&st, t), MPI_UNDEFINED);
	OK(MPI_Get_elements(&st, t, &n));
	EQUAL(n, 3);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&every2));
	OK(MPI_File_seek_shared(f, 4, MPI_SEEK_SET));
	OK(MPI_File_seek_shared(f, 1, MPI_SEEK_CUR));
	OK(MPI_File_get_position_shared(f, &at));
	EQUAL(at, 5);
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_close(&f));
}

/* Places that no file reaches, and counts of bytes that no number tells: nothing is
 * written anywhere else instead. */
static void test_far(void)
{
	const MPI_Offset far = (MPI_Offset)1 << 62;
	MPI_File f = open_new(RW | MPI_MODE_DELETE_ON_CLOSE);
	MPI_Datatype t;
	MPI_Offset at;
	MPI_Request q;
	int v = 1;

	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (int i = 0; i < 2; i++) {
		FAILS(MPI_File_write_at(f, far >> i, &v, 1, MPI_INT, IGNORE),
		      MPI_ERR_ARG);
		FAILS(MPI_File_write_at_all(f, rank ? 0 : far >> i, &v, 1,
					    MPI_INT, IGNORE),
		      MPI_ERR_ARG);
		FAILS(MPI_File_read_at(f, far >> i, &v, 1, MPI_INT, IGNORE),
		      MPI_ERR_ARG);
		FAILS(MPI_File_iwrite_at(f, far >> i, &v, 1, MPI_INT, &q),
		      MPI_ERR_ARG);
		FAILS(MPI_File_get_byte_offset(f, far >> i, &at), MPI_ERR_ARG);
	}
	FAILS(MPI_File_write_at_c(f, 0, &v, far, MPI_INT, IGNORE),
	      MPI_ERR_COUNT);
	FAILS(MPI_File_write_at_all_c(f, 0, &v, rank ? 1 : far, MPI_INT,
				      IGNORE),
	      MPI_ERR_COUNT);
	OK(MPI_File_seek(f, far, MPI_SEEK_SET));
	FAILS(MPI_File_seek(f, far, MPI_SEEK_CUR), MPI_ERR_ARG);
	FAILS(MPI_File_write(f, &v, 1, MPI_INT, IGNORE), MPI_ERR_ARG);
	OK(MPI_File_seek_shared(f, far, MPI_SEEK_SET));
	FAILS(MPI_File_write_shared(f, &v, 1, MPI_INT, IGNORE), MPI_ERR_ARG);
	FAILS(MPI_File_write_ordered(f, &v, 1, MPI_INT, IGNORE), MPI_ERR_ARG);
	OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 60, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL));
	FAILS(MPI_File_write_at(f, 8, &v, 1, MPI_INT, IGNORE), MPI_ERR_ARG);
	FAILS(MPI_File_get_byte_offset(f, 8, &at), MPI_ERR_ARG);
	OK(MPI_File_get_byte_offset(f, 7, &at));
	EQUAL(at, (MPI_Offset)7 << 60);
	OK(MPI_Type_free(&t));
	OK(MPI_Barrier(WORLD));
	EQUAL(size_of(f), 0);
	OK(MPI_File_close(&f));
}

/* Each record is somewhere once, and the pointer is behind the last. */
static void test_shared(void)
{
	MPI_File f = open_new(RW);
	int record[256], n = 20, *seen = calloc(size, sizeof(*seen));
	MPI_Request q;
	MPI_Offset at;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 256; k++)
			record[k] = rank;
		if (i % 2) {
			OK(MPI_File_iwrite_shared(f, record, 256, MPI_INT, &q));
			OK(MPI_Wait(&q, IGNORE));
		} else {
			OK(MPI_File_write_shared(f, record, 256, MPI_INT,
						 IGNORE));
		}
	}
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_get_position_shared(f, &at));
	EQUAL(at, (MPI_Offset)size * n * 1024);
	EQUAL(size_of(f), at);
	for (int i = 0; i < size * n; i++) {
		OK(MPI_File_read_at(f, i * 1024, record, 256, MPI_INT, IGNORE));
		for (int k = 1; k < 256; k++)
			EQUAL(record[k], record[0]);
		seen[record[0]]++;
	}
	for (int r = 0; r < size; r++)
		EQUAL(seen[r], n);
	free(seen);
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	OK(MPI_File_read_shared(f, record, 256, MPI_INT, IGNORE));
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_get_position_shared(f, &at));
	EQUAL(at, size * 1024);
	OK(MPI_File_close(&f));
}

static void test_sequential(void)
{
	MPI_File f = open_new(MPI_MODE_CREATE | MPI_MODE_WRONLY |
			      MPI_MODE_SEQUENTIAL);
	int v = rank, got = -1;
	MPI_Offset at;

	FAILS(MPI_File_write(f, &v, 1, MPI_INT, IGNORE),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	FAILS(MPI_File_write_at_all(f, 0, &v, 1, MPI_INT, IGNORE),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	FAILS(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
	OK(MPI_File_write_ordered(f, &v, 1, MPI_INT, IGNORE));
	FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native",
				MPI_INFO_NULL),
	      MPI_ERR_DISP);
	OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT,
			     "native", MPI_INFO_NULL));
	OK(MPI_File_get_view(f, &at, &(MPI_Datatype){ 0 }, &(MPI_Datatype){ 0 },
			     (char[MPI_MAX_DATAREP_STRING]){ 0 }));
	EQUAL(at, 4 * size);
	OK(MPI_File_write_ordered(f, &v, 1, MPI_INT, IGNORE));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	for (int i = 0; i < 2; i++) {
		OK(MPI_File_read_ordered(f, &got, 1, MPI_INT, IGNORE));
		EQUAL(got, rank);
	}
	OK(MPI_File_close(&f));
}

/* --- split collectives, and several accesses at a time --- */

static void test_split(void)
{
	MPI_File f = open_new(RW);
	int v = rank, got = -1;
	MPI_Status st;

	FAILS(MPI_File_write_all_end(f, &v, &st),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	OK(MPI_File_write_at_all_begin(f, rank * 4, &v, 1, MPI_INT));
	FAILS(MPI_File_write_all_end(f, &v, &st),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	FAILS(MPI_File_write_all_begin(f, &v, 1, MPI_INT),
	      MPI_ERR_UNSUPPORTED_OPERATION);
	FAILS(MPI_File_close(&f), MPI_ERR_FILE);
	/* accesses of a rank alone are allowed meanwhile */
	OK(MPI_File_read_at(f, 1 << 20, &got, 1, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 0);
	OK(MPI_File_write_at_all_end(f, &v, &st));
	EQUAL(count_of(&st, MPI_INT), 1);
	OK(MPI_File_read_at_all_begin(f, rank * 4, &got, 1, MPI_INT));
	OK(MPI_File_read_at_all_end(f, &got, &st));
	EQUAL(got, rank);
	OK(MPI_File_close(&f));
}

static void test_many(void)
{
	enum { N = 16, LEN = 1000 };
	static int out[N][LEN], in[N][LEN];
	MPI_File f = open_new(RW);
	MPI_Request q[N];
	MPI_Status st[N];
	MPI_Datatype t;

	OK(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, rank * 4, MPI_INT, t, "native", MPI_INFO_NULL));
	OK(MPI_Type_free(&t));
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < LEN; k++)
			out[i][k] = rank * 100000 + i * LEN + k;
		OK(MPI_File_iwrite_all(f, out[i], LEN, MPI_INT, &q[i]));
	}
	OK(MPI_Waitall(N, q, st));
	for (int i = 0; i < N; i++)
		EQUAL(count_of(&st[i], MPI_INT), LEN);
	OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
	for (int i = 0; i < N; i++)
		OK(i % 2 ? MPI_File_iread_all(f, in[i], LEN, MPI_INT, &q[i]) :
			   MPI_File_iread(f, in[i], LEN, MPI_INT, &q[i]));
	OK(MPI_Waitall(N, q, st));
	CHECK(!memcmp(in, out, sizeof(in)));
	/* a request that is given up is still done */
	OK(MPI_File_iwrite_at(f, 0, out[1], LEN, MPI_INT, &q[0]));
	OK(MPI_Request_free(&q[0]));
	OK(MPI_File_sync(f));
	OK(MPI_File_read_at(f, 0, in[0], LEN, MPI_INT, IGNORE));
	CHECK(!memcmp(in[0], out[1], sizeof(in[0])));
	OK(MPI_File_close(&f));
}

/* MPI_COMM_SELF, and a file that two communicators have open. */
static void test_self(void)
{
	MPI_File f, all = open_new(RW);
	int v = rank;

	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL,
			 &f));
	OK(MPI_File_write_at_all(f, rank * 4, &v, 1, MPI_INT, IGNORE));
	OK(MPI_File_close(&f));
	OK(MPI_Barrier(WORLD));
	v = -1;
	OK(MPI_File_read_at_all(all, (rank + 1) % size * 4, &v, 1, MPI_INT,
				IGNORE));
	EQUAL(v, (rank + 1) % size);
	OK(MPI_File_close(&all));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	snprintf(name, sizeof(name), "%s/o2g_file_calls.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, WORLD));
	test_amodes();
	test_open_errors();
	test_append();
	test_errhandlers();
	test_refusals();
	test_one_fails();
	test_sizes();
	test_hints();
	test_pointers();
	test_far();
	test_shared();
	test_sequential();
	test_split();
	test_many();
	test_self();
	OK(MPI_Barrier(WORLD));
	if (rank == 0)
		unlink(name);
	return finish();
}
