/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A file that hosts see through clients of their own, as of NFS.
 *
 *	file_two DIR_A DIR_B plain|atomic|write
 *
 * The first half of the ranks has it in DIR_A, the rest in DIR_B. plain: what is
 * written is seen by all after a sync, and nothing is lost where ranks write next
 * to each other. atomic: nobody sees a part of an access. write: 280 MB by all
 * together, and how long that took.
 */
#include <unistd.h>

#include "check.h"

#define BLOCK 3000 /* no page */
#define BLOCKS 40
#define PAGE (64 << 10)

static char name[4096];
static MPI_File f;

static void open_file(void)
{
	OK(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
			 MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
}

/* What one has written, all see. */
static void all_see(void)
{
	OK(MPI_File_sync(f));
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_sync(f));
}

static int byte_of(int round, int writer, int i)
{
	return (round * 31 + writer * 7 + i / 16) & 0xff;
}

/* Blocks of all ranks in turn, which no page belongs to one of. */
static void test_interleaved(int round)
{
	static unsigned char mine[BLOCK * BLOCKS], all[BLOCK * BLOCKS * 16];
	MPI_Datatype every, block;
	MPI_Status st;

	OK(MPI_Type_contiguous(BLOCK, MPI_BYTE, &block));
	OK(MPI_Type_create_resized(block, 0, BLOCK * size, &every));
	OK(MPI_Type_commit(&every));
	for (int i = 0; i < BLOCK * BLOCKS; i++)
		mine[i] = byte_of(round, rank, i);
	OK(MPI_File_set_view(f, BLOCK * rank, MPI_BYTE, every, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_write_at_all(f, 0, mine, BLOCK * BLOCKS, MPI_BYTE, &st));
	EQUAL(count_of(&st, MPI_BYTE), BLOCK * BLOCKS);
	all_see();
	OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_read_at(f, 0, all, BLOCK * BLOCKS * size, MPI_BYTE, &st));
	EQUAL(count_of(&st, MPI_BYTE), BLOCK * BLOCKS * size);
	for (int i = 0; i < BLOCK * BLOCKS * size; i++) {
		int block_no = i / BLOCK, at = i % BLOCK;

		EQUAL(all[i], byte_of(round, block_no % size,
				      block_no / size * BLOCK + at));
	}
	all_see();
	OK(MPI_Type_free(&every));
	OK(MPI_Type_free(&block));
}

/* One after the other, in one page. */
static void test_one_page(int round)
{
	unsigned char mine[100], all[100 * 16];

	memset(mine, byte_of(round, rank, 0), sizeof(mine));
	OK(MPI_File_write_at_all(f, 100 * rank, mine, 100, MPI_BYTE, IGNORE));
	all_see();
	OK(MPI_File_read_at(f, 0, all, 100 * size, MPI_BYTE, IGNORE));
	for (int i = 0; i < 100 * size; i++)
		EQUAL(all[i], byte_of(round, i / 100, 0));
	all_see();
}

/* One writes what the others have in their memory already. */
static void test_again(int round)
{
	static unsigned char page[PAGE];

	memset(page, 'a' + round, PAGE);
	if (rank == round % size)
		OK(MPI_File_write_at(f, 0, page, PAGE, MPI_BYTE, IGNORE));
	all_see();
	memset(page, 0, PAGE);
	OK(MPI_File_read_at(f, 0, page, PAGE, MPI_BYTE, IGNORE));
	for (int i = 0; i < PAGE; i++)
		EQUAL(page[i], 'a' + round);
	all_see();
}

static void test_shared_pointer(void)
{
	int record[25], seen[16] = { 0 };

	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	for (int i = 0; i < 25; i++)
		record[i] = rank;
	for (int i = 0; i < 10; i++)
		OK(MPI_File_write_ordered(f, record, 25, MPI_INT, IGNORE));
	all_see();
	for (int i = 0; i < 10 * size; i++) {
		OK(MPI_File_read_at(f, i * 100, record, 25, MPI_INT, IGNORE));
		for (int k = 0; k < 25; k++)
			EQUAL(record[k], record[0]);
		CHECK(record[0] >= 0 && record[0] < size);
		seen[record[0]]++;
	}
	for (int i = 0; i < size; i++)
		EQUAL(seen[i], 10);
}

static void plain(void)
{
	for (int round = 0; round < 3; round++) {
		test_interleaved(round);
		test_one_page(round);
		test_again(round);
	}
	OK(MPI_File_set_size(f, 0));
	test_shared_pointer();
}

/* Writers of whole pages, and readers that never see two of them at once. */
static void atomic(void)
{
	static unsigned char page[PAGE];
	int writer = rank < size / 2 || size == 1;

	OK(MPI_File_set_atomicity(f, 1));
	if (rank == 0)
		OK(MPI_File_write_at(f, 0, page, PAGE, MPI_BYTE, IGNORE));
	OK(MPI_Barrier(WORLD));
	for (int i = 1; i <= 20; i++) {
		if (writer) {
			memset(page, i, PAGE);
			OK(MPI_File_write_at(f, 0, page, PAGE, MPI_BYTE,
					     IGNORE));
			continue;
		}
		OK(MPI_File_read_at(f, 0, page, PAGE, MPI_BYTE, IGNORE));
		for (int k = 1; k < PAGE; k++)
			EQUAL(page[k], page[0]);
	}
}

/* In pieces of 10 MB, each rank its own part of the file; @total bytes. */
static void write_much(long total)
{
	const int piece = 10000000;
	long part = total / size;
	char *data = malloc(piece);
	double t;

	CHECK(data);
	memset(data, 'x', piece);
	OK(MPI_Barrier(WORLD));
	t = MPI_Wtime();
	for (long at = 0; at < part; at += piece)
		OK(MPI_File_write_at_all(f, rank * part + at, data,
					 (int)(part - at < piece ? part - at :
								   piece),
					 MPI_BYTE, IGNORE));
	OK(MPI_File_sync(f));
	t = MPI_Wtime() - t;
	if (rank == 0)
		printf("{\"by\": \"%d ranks\", \"MB\": %ld, \"s\": %.3f}\n",
		       size, part * size / 1000000, t);
	free(data);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	CHECK(argc >= 4 && size <= 16);
	snprintf(name, sizeof(name), "%s/file_two",
		 argv[rank < (size + 1) / 2 ? 1 : 2]);
	open_file();
	if (!strcmp(argv[3], "write"))
		write_much(argc > 4 ? atol(argv[4]) : 280000000);
	else if (!strcmp(argv[3], "atomic"))
		atomic();
	else
		plain();
	OK(MPI_File_close(&f));
	return finish();
}
