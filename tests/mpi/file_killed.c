/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * file_killed NAME MICROSECONDS VICTIM: ranks access a file together in every way,
 * until one of them is killed by its timer. Then all others get an error from
 * whatever they are in, and end; and the file has what the last sync that succeeded
 * had covered. Run by tests/system/file_killed.sh.
 */
#include <sys/time.h>

#include "check.h"

#define LEN 20000
static int data[LEN], got[LEN];

/* Blocks of all ranks, one int each in turn, at a place of the step's parity. */
static int write_step(MPI_File f, int step)
{
	MPI_Offset at = (MPI_Offset)(step % 2) * LEN;
	MPI_Request q;
	int err;

	for (int i = 0; i < LEN; i++)
		data[i] = step * 1000 + rank;
	switch (step % 4) {
	case 0:
		return MPI_File_write_at_all(f, at, data, LEN, MPI_INT, IGNORE);
	case 1:
		err = MPI_File_iwrite_at_all(f, at, data, LEN, MPI_INT, &q);
		return err ? err : MPI_Wait(&q, IGNORE);
	case 2:
		err = MPI_File_write_at_all_begin(f, at, data, LEN, MPI_INT);
		return err ? err : MPI_File_write_at_all_end(f, data, IGNORE);
	default:
		return MPI_File_write_at(f, at, data, LEN, MPI_INT, IGNORE);
	}
}

static int one_step(MPI_File f, int step)
{
	int err = write_step(f, step);

	if (!err)
		err = MPI_File_sync(f);
	if (!err)
		err = MPI_File_read_at_all(f, (step + 1) % 2 * LEN, got, LEN,
					   MPI_INT, IGNORE);
	return err;
}

/* The last steps that were synced, as they are in the file now. */
static void check_file(const char *name, int step, int ranks)
{
	static int all[LEN * 16];
	FILE *in = fopen(name, "r");
	size_t n;

	CHECK(in);
	CHECK(!fseek(in, 4L * LEN * ranks * (step % 2), SEEK_SET));
	n = fread(all, 4, (size_t)LEN * ranks, in);
	fclose(in);
	EQUAL(n, LEN * ranks);
	for (int i = 0; i < LEN * ranks; i++)
		EQUAL(all[i], step * 1000 + i % ranks);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "file_killed.out";
	int us = argc > 2 ? atoi(argv[2]) : 0;
	int victim = argc > 3 ? atoi(argv[3]) : 0;
	struct itimerval when = { .it_value = { us / 1000000, us % 1000000 } };
	MPI_Datatype t;
	MPI_File f;
	int step = 0, steps = us ? 1 << 20 : 8;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	OK(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
			 MPI_INFO_NULL, &f));
	OK(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL));
	OK(MPI_Barrier(WORLD));
	if (us && rank == victim)
		setitimer(ITIMER_REAL, &when, NULL);
	while (step < steps && !one_step(f, step))
		step++;
	/* A step that failed may have been written, but not the one before. */
	if (step > 0 && rank != victim)
		check_file(name, step - 1, size);
	MPI_File_close(&f);
	MPI_Finalize();
	printf("rank %d goes after %d\n", rank, step);
	return 0;
}
