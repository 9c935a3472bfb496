/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * More than 2 GiB in one call, in every manner: what is written goes to /dev/null
 * from memory that is never touched, so it costs next to nothing; what is read comes
 * from a file of holes. And places behind 4 GiB of a file, with real bytes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define MUCH (((MPI_Count)5 << 30) / 2 + 12)

static char name[256], *memory;

static void count_all(const MPI_Status *st)
{
	MPI_Count n;
	int few;

	OK(MPI_Get_count_c(st, MPI_BYTE, &n));
	EQUAL(n, MUCH);
	OK(MPI_Get_elements_c(st, MPI_INT, &n));
	EQUAL(n, MUCH / 4);
	OK(MPI_Get_count(st, MPI_BYTE, &few));
	EQUAL(few, MPI_UNDEFINED);
	OK(MPI_Get_count(st, MPI_INT, &few));
	EQUAL(few, MUCH / 4);
}

static MPI_File open_null(const char *collective)
{
	MPI_Info info;
	MPI_File f;

	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "romio_cb_write", collective));
	OK(MPI_File_open(WORLD, "/dev/null", MPI_MODE_WRONLY, info, &f));
	OK(MPI_Info_free(&info));
	return f;
}

static void test_write(void)
{
	MPI_File f = open_null("disable");
	MPI_Offset at;
	MPI_Request q;
	MPI_Status st;

	OK(MPI_File_write_at_c(f, 3, memory, MUCH, MPI_BYTE, &st));
	count_all(&st);
	OK(MPI_File_write_at(f, 3, memory, (int)(MUCH / 4), MPI_INT, &st));
	count_all(&st);
	OK(MPI_File_iwrite_c(f, memory, MUCH, MPI_BYTE, &q));
	OK(MPI_Wait(&q, &st));
	count_all(&st);
	OK(MPI_File_get_position(f, &at));
	EQUAL(at, MUCH);
	OK(MPI_File_write_at_all_c(f, rank * MUCH, memory, MUCH, MPI_BYTE,
				   &st));
	count_all(&st);
	OK(MPI_File_write_ordered_c(f, memory, MUCH, MPI_BYTE, &st));
	count_all(&st);
	OK(MPI_File_iwrite_all_c(f, memory, MUCH, MPI_BYTE, &q));
	OK(MPI_Wait(&q, &st));
	count_all(&st);
	OK(MPI_File_get_position_shared(f, &at));
	EQUAL(at, size * MUCH);
	OK(MPI_File_close(&f));
}

/* Through aggregators, every other block of each rank. */
static void test_exchange(void)
{
	MPI_File f = open_null("enable");
	MPI_Datatype block, t;
	MPI_Status st;

	OK(MPI_Type_contiguous(1 << 20, MPI_BYTE, &block));
	OK(MPI_Type_create_resized(block, 0, (MPI_Aint)size << 20, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, (MPI_Offset)rank << 20, MPI_BYTE, t, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_write_all_c(f, memory, MUCH, MPI_BYTE, &st));
	count_all(&st);
	OK(MPI_Type_free(&block));
	OK(MPI_Type_free(&t));
	OK(MPI_File_close(&f));
}

/* The same MiB of memory, again and again: all that comes is zero. */
static void test_read(void)
{
	static char some[1 << 20];
	MPI_Datatype again, parts[2], t;
	const MPI_Aint at[2] = { 0, 0 };
	const int n[2] = { 1, 12 };
	MPI_Status st;
	MPI_File f;

	OK(MPI_Type_create_hvector((int)(MUCH >> 20), 1 << 20, 0, MPI_BYTE,
				   &again));
	parts[0] = again;
	parts[1] = MPI_BYTE;
	OK(MPI_Type_create_struct(2, n, at, parts, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_open(WORLD, name,
			 MPI_MODE_CREATE | MPI_MODE_RDWR |
				 MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, MUCH));
	memset(some, 1, sizeof(some));
	OK(MPI_File_read_at(f, 0, some, 1, t, &st));
	count_all(&st);
	CHECK(!some[0] && !some[sizeof(some) - 1]);
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&again));
	OK(MPI_Type_free(&t));
}

/* One int of each rank every 3 GiB. */
static void test_far(void)
{
	MPI_Datatype t;
	int v[3], got[3];
	MPI_Offset n;
	MPI_File f;

	OK(MPI_File_open(WORLD, name,
			 MPI_MODE_CREATE | MPI_MODE_RDWR |
				 MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &f));
	OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)3 << 30, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL));
	for (int i = 0; i < 3; i++)
		v[i] = 1000 * i + rank;
	OK(MPI_File_write_all(f, v, 3, MPI_INT, IGNORE));
	OK(MPI_File_read_at_all(f, 0, got, 3, MPI_INT, IGNORE));
	CHECK(!memcmp(v, got, sizeof(v)));
	OK(MPI_File_get_size(f, &n));
	EQUAL(n, ((MPI_Offset)6 << 30) + 4 * size);
	OK(MPI_File_set_view(f, (MPI_Offset)6 << 30, MPI_INT, MPI_INT, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_read_at_all(f, size - 1, got, 3, MPI_INT, IGNORE));
	EQUAL(got[0], 2000 + size - 1);
	OK(MPI_Type_free(&t));
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	snprintf(name, sizeof(name), "%s/o2g_file_large.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, WORLD));
	memory = mmap(NULL, MUCH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(memory != MAP_FAILED);
	test_write();
	test_exchange();
	test_read();
	test_far();
	return finish();
}
