// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Data that does not lie in one piece, there and back between ranks 0 and 1:
 * every second double, a face of a cube, and an array of structs with gaps. The
 * size is that of the data, without the gaps.
 */
#include "perf.h"

#include <stdlib.h>

struct layout {
	MPI_Datatype type; /* the whole message is one of it */
	long bytes;	   /* of data */
	long span;	   /* of memory */
};

typedef struct layout make_layout(long size);

static struct layout every_second(long size)
{
	struct layout l;
	int n = size / sizeof(double);

	l.bytes = (long)n * sizeof(double);
	l.span = 2 * l.bytes;
	MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &l.type);
	return l;
}

/* The second dimension of a cube is cut: rows of 64 doubles, 8 rows apart. */
static struct layout face(long size)
{
	const int row = 64, apart = 8;
	struct layout l;
	int n = size / (row * sizeof(double));

	if (n == 0)
		n = 1;
	l.bytes = (long)n * row * sizeof(double);
	l.span = l.bytes * apart;
	MPI_Type_vector(n, row, row * apart, MPI_DOUBLE, &l.type);
	return l;
}

struct particle {
	double place[3];
	int kind; /* a gap follows */
	double speed[3];
	char mark; /* another one */
};

static struct layout particles(long size)
{
	static const int length[] = { 3, 1, 3, 1 };
	const MPI_Aint at[] = {
		offsetof(struct particle, place),
		offsetof(struct particle, kind),
		offsetof(struct particle, speed),
		offsetof(struct particle, mark),
	};
	const MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_DOUBLE,
				       MPI_CHAR };
	const int each = 6 * sizeof(double) + sizeof(int) + 1;
	struct layout l;
	MPI_Datatype one, whole;
	int n = size / each ? size / each : 1;

	l.bytes = (long)n * each;
	l.span = n * sizeof(struct particle);
	MPI_Type_create_struct(4, length, at, types, &one);
	MPI_Type_create_resized(one, 0, sizeof(struct particle), &whole);
	MPI_Type_contiguous(n, whole, &l.type);
	MPI_Type_free(&one);
	MPI_Type_free(&whole);
	return l;
}

struct exchange {
	int rank;
	struct layout layout;
	char *send, *recv;
};

static void there_and_back(void *arg, long times)
{
	struct exchange *x = arg;
	int peer = !x->rank;

	for (long i = 0; x->rank < 2 && i < times; i++) {
		if (x->rank == 0)
			MPI_Send(x->send, 1, x->layout.type, peer, 1,
				 MPI_COMM_WORLD);
		MPI_Recv(x->recv, 1, x->layout.type, peer, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (x->rank == 1)
			MPI_Send(x->send, 1, x->layout.type, peer, 1,
				 MPI_COMM_WORLD);
	}
}

/* Packed, what came must be what the other side has sent. */
static void check_once(struct exchange *x)
{
	char *packed = perf_alloc(x->layout.bytes);
	char *sent = perf_alloc(x->layout.span);
	char *want = perf_alloc(x->layout.bytes);
	int at = 0;

	perf_fill(x->send, x->layout.span, x->rank);
	perf_fill(sent, x->layout.span, !x->rank);
	there_and_back(x, 1);
	MPI_Pack(x->recv, 1, x->layout.type, packed, x->layout.bytes, &at,
		 MPI_COMM_SELF);
	at = 0;
	MPI_Pack(sent, 1, x->layout.type, want, x->layout.bytes, &at,
		 MPI_COMM_SELF);
	for (long i = 0; x->rank < 2 && i < x->layout.bytes; i++)
		if (packed[i] != want[i])
			perf_fail("byte %ld of %ld is wrong", i,
				  x->layout.bytes);
	free(packed);
	free(sent);
	free(want);
}

static void measure(struct perf *p, make_layout *make, long size)
{
	struct exchange x = { .rank = p->rank, .layout = make(size) };
	struct perf_time t;

	x.send = perf_alloc(x.layout.span);
	x.recv = perf_alloc(x.layout.span);
	MPI_Type_commit(&x.layout.type);
	if (p->check)
		check_once(&x);
	t = perf_measure(p, there_and_back, &x);
	perf_cell(p, "size", size);
	perf_cell(p, "MB/s", 2 * x.layout.bytes / t.usual * 1e-6);
	perf_cells_percentiles(p, &t, 0.5);
	perf_row_end(p);
	MPI_Type_free(&x.layout.type);
	free(x.send);
	free(x.recv);
}

static void run(struct perf *p)
{
	make_layout *const *make = p->command->data;

	for (int i = 0; i < p->n_sizes; i++)
		measure(p, *make, p->sizes[i]);
}

static make_layout *const make_vector = every_second;
static make_layout *const make_face = face;
static make_layout *const make_struct = particles;

const struct perf_command perf_vector = {
	.name = "vector",
	.help = "every second double, there and back",
	.run = run,
	.sizes = "4k,64k,1M,4M",
	.min_ranks = 2,
	.data = &make_vector,
};

const struct perf_command perf_face = {
	.name = "face",
	.help = "a face of a cube, there and back",
	.run = run,
	.sizes = "4k,64k,1M,4M",
	.min_ranks = 2,
	.data = &make_face,
};

const struct perf_command perf_struct = {
	.name = "struct",
	.help = "structs with gaps, there and back",
	.run = run,
	.sizes = "4k,64k,1M,4M",
	.min_ranks = 2,
	.data = &make_struct,
};
