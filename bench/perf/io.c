// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Files in $TMPDIR, or /tmp. What is written stays in the page cache unless --sync 1.
 * Rates are of all ranks together. Columns called "plain" are pwrite and pread, by
 * which a program would do the same by hand: what all ranks have together they exchange
 * with alltoall first, a shared pointer is an atomic variable in memory that they
 * share, and a sync is fsync and a barrier, since MPI_File_sync is collective.
 */
#include "io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long block = 4096;
long io_sync;

void io_fail_if(int err, const char *what)
{
	if (err)
		perf_fail("%s failed", what);
}

/* One for all; it is gone when it is closed. */
void io_open_file(struct perf *p, struct io_file *x)
{
	const char *dir = getenv("TMPDIR");

	memset(x, 0, sizeof(*x));
	x->rank = p->rank;
	x->ranks = p->ranks;
	snprintf(x->name, sizeof(x->name), "%s/perf_io.%d", dir ? dir : "/tmp",
		 (int)getpid());
	MPI_Bcast(x->name, sizeof(x->name), MPI_CHAR, 0, MPI_COMM_WORLD);
	io_fail_if(MPI_File_open(MPI_COMM_WORLD, x->name,
				 MPI_MODE_CREATE | MPI_MODE_RDWR |
					 MPI_MODE_DELETE_ON_CLOSE,
				 MPI_INFO_NULL, &x->f),
		   "MPI_File_open");
	x->plain = fopen(x->name, "r+");
	io_fail_if(!x->plain, "fopen");
}

void io_close_file(struct io_file *x)
{
	fclose(x->plain);
	MPI_File_close(&x->f);
	free(x->buf);
}

static void flush_file(struct io_file *x)
{
	if (io_sync)
		MPI_File_sync(x->f);
}

/* --- one piece for each rank --- */

static void write_at(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++) {
		MPI_File_write_at(x->f, x->at, x->buf, (int)x->bytes, MPI_BYTE,
				  MPI_STATUS_IGNORE);
		flush_file(x);
	}
}

static void read_at(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++)
		MPI_File_read_at(x->f, x->at, x->buf, (int)x->bytes, MPI_BYTE,
				 MPI_STATUS_IGNORE);
}

static void plain_write(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++) {
		io_fail_if(pwrite(fileno(x->plain), x->buf, x->bytes, x->at) !=
				   x->bytes,
			   "pwrite");
		if (io_sync) {
			io_fail_if(fsync(fileno(x->plain)), "fsync");
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
}

static void plain_read(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++)
		io_fail_if(pread(fileno(x->plain), x->buf, x->bytes, x->at) !=
				   x->bytes,
			   "pread");
}

double io_rate(struct perf *p, struct io_file *x, perf_step *step)
{
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = perf_measure(p, step, x).usual;
	return (double)x->bytes * x->ranks / perf_max_over_ranks(t) * 1e-6;
}

/* How both write. What is synced depends on what the file system has been doing: both
 * get another turn, in the other order, and the better one counts. */
static void measure_writes(struct perf *p, struct io_file *x)
{
	double ours = io_rate(p, x, write_at);
	double plain = io_rate(p, x, plain_write), again;

	if (io_sync) {
		again = io_rate(p, x, plain_write);
		plain = again > plain ? again : plain;
		again = io_rate(p, x, write_at);
		ours = again > ours ? again : ours;
	}
	perf_cell(p, "write MB/s", ours);
	perf_cell(p, "plain write", plain);
}

static void run_io(struct perf *p)
{
	for (int i = 0; i < p->n_sizes; i++) {
		struct io_file x;

		io_open_file(p, &x);
		x.bytes = p->sizes[i];
		x.at = (MPI_Offset)x.bytes * p->rank;
		x.buf = perf_alloc(x.bytes);
		perf_fill(x.buf, x.bytes, p->rank);
		perf_cell(p, "size", p->sizes[i]);
		measure_writes(p, &x);
		MPI_Barrier(MPI_COMM_WORLD);
		perf_cell(p, "read MB/s", io_rate(p, &x, read_at));
		perf_cell(p, "plain read", io_rate(p, &x, plain_read));
		if (p->check)
			perf_check(x.buf, x.bytes, p->rank);
		perf_row_end(p);
		io_close_file(&x);
	}
}

/* --- all together, by a view --- */

static void write_all(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++) {
		MPI_File_write_at_all(x->f, 0, x->buf, (int)x->bytes, MPI_BYTE,
				      MPI_STATUS_IGNORE);
		flush_file(x);
	}
}

static void read_all(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++)
		MPI_File_read_at_all(x->f, 0, x->buf, (int)x->bytes, MPI_BYTE,
				     MPI_STATUS_IGNORE);
}

void io_set_view(struct io_file *x, MPI_Offset disp, MPI_Datatype t)
{
	MPI_Type_commit(&t);
	io_fail_if(MPI_File_set_view(x->f, disp, MPI_BYTE, t, "native",
				     MPI_INFO_NULL),
		   "MPI_File_set_view");
	MPI_Type_free(&t);
}

void io_measure_all(struct perf *p, struct io_file *x)
{
	x->buf = perf_alloc(x->bytes);
	perf_fill(x->buf, x->bytes, p->rank);
	perf_cell(p, "write MB/s", io_rate(p, x, write_all));
	if (p->check)
		memset(x->buf, 0, x->bytes);
	perf_cell(p, "read MB/s", io_rate(p, x, read_all));
	if (p->check)
		perf_check(x->buf, x->bytes, p->rank);
}

void io_view_in_turns(struct io_file *x, long block_bytes)
{
	MPI_Datatype one, t;

	MPI_Type_contiguous((int)block_bytes, MPI_BYTE, &one);
	MPI_Type_create_resized(one, 0, (MPI_Aint)block_bytes * x->ranks, &t);
	MPI_Type_free(&one);
	io_set_view(x, (MPI_Offset)block_bytes * x->rank, t);
}

/* The same by hand: each rank has an equal part of the file, of which every rank has
 * each Nth block, one after the other in its memory. */
static struct mixed {
	char *got, *part;
	long share; /* bytes of one rank in the part of another: whole blocks */
} mixed;

static void sort_blocks(struct io_file *x, int in)
{
	for (int r = 0; r < x->ranks; r++)
		for (long at = 0; at < mixed.share; at += block) {
			char *got = mixed.got + r * mixed.share + at;
			char *part = mixed.part + at * x->ranks + r * block;

			memcpy(in ? part : got, in ? got : part, block);
		}
}

static void plain_write_all(void *arg, long times)
{
	struct io_file *x = arg;
	long n = mixed.share * x->ranks;

	for (long i = 0; i < times; i++) {
		MPI_Alltoall(x->buf, (int)mixed.share, MPI_BYTE, mixed.got,
			     (int)mixed.share, MPI_BYTE, MPI_COMM_WORLD);
		sort_blocks(x, 1);
		io_fail_if(pwrite(fileno(x->plain), mixed.part, n,
				  x->rank * n) != n,
			   "pwrite");
		if (io_sync) {
			io_fail_if(fsync(fileno(x->plain)), "fsync");
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
}

static void plain_read_all(void *arg, long times)
{
	struct io_file *x = arg;
	long n = mixed.share * x->ranks;

	for (long i = 0; i < times; i++) {
		io_fail_if(pread(fileno(x->plain), mixed.part, n,
				 x->rank * n) != n,
			   "pread");
		sort_blocks(x, 0);
		MPI_Alltoall(mixed.got, (int)mixed.share, MPI_BYTE, x->buf,
			     (int)mixed.share, MPI_BYTE, MPI_COMM_WORLD);
	}
}

/* Only where everybody has whole blocks in every part. */
static void measure_plain(struct perf *p, struct io_file *x)
{
	mixed.share = x->bytes / x->ranks / block * block;
	if (mixed.share * x->ranks != x->bytes)
		return;
	mixed.got = perf_alloc(x->bytes);
	mixed.part = perf_alloc(x->bytes);
	perf_cell(p, "plain write", io_rate(p, x, plain_write_all));
	if (p->check)
		memset(x->buf, 0, x->bytes);
	perf_cell(p, "plain read", io_rate(p, x, plain_read_all));
	if (p->check)
		perf_check(x->buf, x->bytes, p->rank);
	free(mixed.got);
	free(mixed.part);
}

static void run_mixed(struct perf *p)
{
	for (int i = 0; i < p->n_sizes; i++) {
		struct io_file x;

		io_open_file(p, &x);
		x.bytes = p->sizes[i] / block * block;
		if (x.bytes == 0)
			x.bytes = block;
		io_view_in_turns(&x, block);
		perf_cell(p, "size", x.bytes);
		io_measure_all(p, &x);
		measure_plain(p, &x);
		perf_row_end(p);
		io_close_file(&x);
	}
}

/* --- records behind each other --- */

static MPI_Win pointer_win;
static long *pointer; /* of all ranks; NULL: they share no memory */

static void append(void *arg, long times)
{
	struct io_file *x = arg;

	/* or the file would grow until the disk is full */
	MPI_File_seek_shared(x->f, 0, MPI_SEEK_SET);
	for (long i = 0; i < times; i++)
		MPI_File_write_shared(x->f, x->buf, (int)x->bytes, MPI_BYTE,
				      MPI_STATUS_IGNORE);
}

static void plain_append(void *arg, long times)
{
	struct io_file *x = arg;

	MPI_Barrier(MPI_COMM_WORLD);
	if (x->rank == 0)
		__atomic_store_n(pointer, 0, __ATOMIC_SEQ_CST);
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < times; i++) {
		long at =
			__atomic_fetch_add(pointer, x->bytes, __ATOMIC_SEQ_CST);

		io_fail_if(pwrite(fileno(x->plain), x->buf, x->bytes, at) !=
				   x->bytes,
			   "pwrite");
	}
}

static void share_pointer(struct perf *p)
{
	MPI_Comm host;
	MPI_Aint size;
	int n, unit;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &n);
	if (n == p->ranks) {
		MPI_Win_allocate_shared(p->rank ? 0 : sizeof(*pointer),
					sizeof(*pointer), MPI_INFO_NULL, host,
					&pointer, &pointer_win);
		MPI_Win_shared_query(pointer_win, 0, &size, &unit, &pointer);
	}
	MPI_Comm_free(&host);
}

/* From when all begin until all have ended: with more ranks than processors the time
 * of one rank says little. */
static double all_time(struct io_file *x, perf_step *step, long times)
{
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = perf_now();
	step(x, times);
	MPI_Barrier(MPI_COMM_WORLD);
	return perf_max_over_ranks(perf_now() - t);
}

/* The shortest of a few: another program may have the processors for a while. */
static double short_time(struct io_file *x, perf_step *step, long times)
{
	double best = all_time(x, step, times);

	for (int i = 0; i < 4; i++) {
		double t = all_time(x, step, times);

		best = t < best ? t : best;
	}
	return best;
}

static double records_rate(struct perf *p, struct io_file *x, perf_step *step)
{
	double t[PERF_MAX_REPS];
	long times = 16;

	while (times < 1 << 16 && short_time(x, step, times) < p->rep_time)
		times *= 2;
	for (int i = 0; i < p->reps; i++)
		t[i] = all_time(x, step, times);
	return (double)times * p->ranks / perf_median(t, p->reps);
}

static void run_append(struct perf *p)
{
	share_pointer(p);
	for (int i = 0; i < p->n_sizes; i++) {
		struct io_file x;

		io_open_file(p, &x);
		x.bytes = p->sizes[i];
		x.buf = perf_alloc(x.bytes);
		perf_cell(p, "size", x.bytes);
		perf_cell(p, "records/s", records_rate(p, &x, append));
		if (pointer)
			perf_cell(p, "plain/s",
				  records_rate(p, &x, plain_append));
		perf_row_end(p);
		io_close_file(&x);
	}
	if (pointer)
		MPI_Win_free(&pointer_win);
	pointer = NULL;
}

static const struct perf_option sync_option[] = {
	{ "sync", &io_sync, "1: each write is followed by a sync" },
	{ .name = NULL },
};
static const struct perf_option mixed_options[] = {
	{ "block", &block, "bytes of a block" },
	{ "sync", &io_sync, "1: each write is followed by a sync" },
	{ .name = NULL },
};
const struct perf_command perf_io = {
	.name = "io",
	.help = "a file: a piece of each rank, and pwrite and pread",
	.run = run_io,
	.options = sync_option,
	.sizes = "64k,1M,16M",
	.min_ranks = 1,
};

const struct perf_command perf_io_mixed = {
	.name = "io_mixed",
	.help = "a file: every Nth block of each rank, all together",
	.run = run_mixed,
	.options = mixed_options,
	.sizes = "64k,1M,4M",
	.min_ranks = 1,
};

const struct perf_command perf_io_append = {
	.name = "io_append",
	.help = "a file: records by the shared pointer",
	.run = run_append,
	.sizes = "1k",
	.min_ranks = 1,
};
