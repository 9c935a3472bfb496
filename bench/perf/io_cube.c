// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * An array of three or four dimensions, of which each rank has a part, written and
 * read together. "plain" does it by hand: ranks exchange with alltoallv what belongs
 * to equal parts of the file, and each writes or reads one with one call.
 */
#include "io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIMS 4
static long dims = 3;

static struct cube {
	int n;
	int parts[DIMS]; /* ranks along each dimension */
	int all[DIMS], mine[DIMS];
} cube;

/* Where the part of a rank begins. */
static void corner(int rank, int *at)
{
	for (int d = cube.n - 1; d >= 0; d--) {
		at[d] = cube.mine[d] * (rank % cube.parts[d]);
		rank /= cube.parts[d];
	}
}

/* As near to @bytes as doubles in a cube get. */
static void make_cube(struct perf *p, long bytes)
{
	long side = 1, n;

	memset(&cube, 0, sizeof(cube));
	cube.n = dims == 4 ? 4 : 3;
	MPI_Dims_create(p->ranks, cube.n, cube.parts);
	do {
		side++;
		n = 8;
		for (int d = 0; d < cube.n; d++)
			n *= side;
	} while (n < bytes);
	for (int d = 0; d < cube.n; d++) {
		cube.all[d] = (int)side * cube.parts[d];
		cube.mine[d] = (int)side;
	}
}

/* --- by hand --- */

static struct plain {
	long share;   /* bytes of the file for each rank */
	char *slab;   /* ours */
	char *packed; /* what belongs there, by rank */
	int *send, *send_at, *recv, *recv_at;
} plain;

/* Byte of the file where row @row of a rank's part begins. */
static long row_at(const int *at, long row)
{
	long index[DIMS], place = 0;

	for (int d = cube.n - 2; d >= 0; d--) {
		index[d] = at[d] + row % cube.mine[d];
		row /= cube.mine[d];
	}
	index[cube.n - 1] = at[cube.n - 1];
	for (int d = 0; d < cube.n; d++)
		place = place * cube.all[d] + index[d];
	return place * 8;
}

static long rows(void)
{
	long n = 1;

	for (int d = 0; d < cube.n - 1; d++)
		n *= cube.mine[d];
	return n;
}

/* Count what a rank has in each share, in its order. */
static void count_shares(int rank, int ranks, int *counts)
{
	long len = 8L * cube.mine[cube.n - 1], n = rows();
	int at[DIMS];

	corner(rank, at);
	memset(counts, 0, ranks * sizeof(*counts));
	for (long r = 0; r < n; r++)
		for (long from = row_at(at, r), end = from + len; from < end;) {
			long share = from / plain.share;
			long stop = (share + 1) * plain.share;

			stop = stop < end ? stop : end;
			counts[share] += (int)(stop - from);
			from = stop;
		}
}

/* Between the slab and what was, or will be, exchanged. */
static void sort_slab(int me, int ranks, int in)
{
	long len = 8L * cube.mine[cube.n - 1], n = rows();
	long lo = me * plain.share, hi = lo + plain.share;
	char *packed = plain.packed;
	int at[DIMS];

	for (int rank = 0; rank < ranks; rank++) {
		corner(rank, at);
		for (long r = 0; r < n; r++) {
			long from = row_at(at, r), end = from + len;

			from = from > lo ? from : lo;
			end = end < hi ? end : hi;
			if (from >= end)
				continue;
			if (in)
				memcpy(plain.slab + from - lo, packed,
				       end - from);
			else
				memcpy(packed, plain.slab + from - lo,
				       end - from);
			packed += end - from;
		}
	}
}

static void plain_begin(struct io_file *x)
{
	int *all = calloc(5 * (size_t)x->ranks, sizeof(*all));

	/* whole doubles */
	plain.share = (x->bytes / 8 * x->ranks + x->ranks - 1) / x->ranks * 8;
	plain.slab = perf_alloc(plain.share);
	plain.packed = perf_alloc(plain.share);
	plain.send = all;
	plain.send_at = all + x->ranks;
	plain.recv = all + 2 * x->ranks;
	plain.recv_at = all + 3 * x->ranks;
	for (int i = 0; i < x->ranks; i++) {
		int *counts = all + 4 * x->ranks;

		count_shares(i, x->ranks, counts);
		plain.recv[i] = counts[x->rank];
		if (i == x->rank)
			memcpy(plain.send, counts, x->ranks * sizeof(*counts));
	}
	for (int i = 1; i < x->ranks; i++) {
		plain.send_at[i] = plain.send_at[i - 1] + plain.send[i - 1];
		plain.recv_at[i] = plain.recv_at[i - 1] + plain.recv[i - 1];
	}
}

static void plain_end(void)
{
	free(plain.slab);
	free(plain.packed);
	free(plain.send);
}

static void plain_write(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++) {
		MPI_Alltoallv(x->buf, plain.send, plain.send_at, MPI_BYTE,
			      plain.packed, plain.recv, plain.recv_at, MPI_BYTE,
			      MPI_COMM_WORLD);
		sort_slab(x->rank, x->ranks, 1);
		io_fail_if(pwrite(fileno(x->plain), plain.slab, plain.share,
				  x->rank * plain.share) != plain.share,
			   "pwrite");
		if (io_sync)
			io_fail_if(fsync(fileno(x->plain)), "fsync");
	}
}

static void plain_read(void *arg, long times)
{
	struct io_file *x = arg;

	for (long i = 0; i < times; i++) {
		io_fail_if(pread(fileno(x->plain), plain.slab, plain.share,
				 x->rank * plain.share) != plain.share,
			   "pread");
		sort_slab(x->rank, x->ranks, 0);
		MPI_Alltoallv(plain.packed, plain.recv, plain.recv_at, MPI_BYTE,
			      x->buf, plain.send, plain.send_at, MPI_BYTE,
			      MPI_COMM_WORLD);
	}
}

/* --- the command --- */

static void measure(struct perf *p, struct io_file *x)
{
	MPI_Datatype t;
	int at[DIMS];

	corner(p->rank, at);
	MPI_Type_create_subarray(cube.n, cube.all, cube.mine, at, MPI_ORDER_C,
				 MPI_DOUBLE, &t);
	io_set_view(x, 0, t);
	perf_cell(p, "size", x->bytes);
	io_measure_all(p, x);
	plain_begin(x);
	perf_cell(p, "plain write", io_rate(p, x, plain_write));
	perf_cell(p, "plain read", io_rate(p, x, plain_read));
	if (p->check)
		perf_check(x->buf, x->bytes, p->rank);
	plain_end();
	perf_row_end(p);
}

static void run(struct perf *p)
{
	for (int i = 0; i < p->n_sizes; i++) {
		struct io_file x;

		make_cube(p, p->sizes[i]);
		io_open_file(p, &x);
		x.bytes = 8;
		for (int d = 0; d < cube.n; d++)
			x.bytes *= cube.mine[d];
		measure(p, &x);
		io_close_file(&x);
	}
}

static const struct perf_option options[] = {
	{ "dims", &dims, "dimensions of the array: 3 or 4" },
	{ "sync", &io_sync, "1: each write is followed by a sync" },
	{ .name = NULL },
};

const struct perf_command perf_io_cube = {
	.name = "io_cube",
	.help = "a file: an array of which each rank has a part, and by hand",
	.run = run,
	.options = options,
	.sizes = "64k,1M,4M",
	.min_ranks = 1,
};
