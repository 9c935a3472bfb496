/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long blocks that ranks of one host read out of each other's memory: in one piece
 * and with gaps, and the program has its memory back, to write to, as soon as the
 * call is over.
 */
#include <stdlib.h>

#include "check.h"

#define CALLS 6
#define RANKS_MAX 8
#define GAP 3 /* every third int of a block with gaps is data */

static int value(int call, int from, int to, int i)
{
	return call * 1000003 + from * 10007 + to * 101 + i;
}

/* @n ints, @step apart. */
static void write_ints(int *at, int n, int step, int call, int from, int to)
{
	for (int i = 0; i < n * step; i++)
		at[i] = i % step ? -1 : value(call, from, to, i / step);
}

static int holds(const int *at, int n, int step, int call, int from, int to)
{
	for (int i = 0; i < n * step; i++)
		if (at[i] != (i % step ? -2 : value(call, from, to, i / step)))
			return 0;
	return 1;
}

static void clear(int *at, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = -2;
}

static MPI_Datatype with_gaps(int n)
{
	MPI_Datatype rows, type;

	OK(MPI_Type_vector(n, 1, GAP, MPI_INT, &rows));
	OK(MPI_Type_create_resized(rows, 0, n * GAP * (MPI_Aint)sizeof(int),
				   &type));
	OK(MPI_Type_free(&rows));
	OK(MPI_Type_commit(&type));
	return type;
}

/* @sgap, @rgap: are there gaps in what is sent, and received? */
static void alltoall(int *in, int *out, int n, int sgap, int rgap)
{
	MPI_Datatype gaps = with_gaps(n);
	int sstep = sgap ? GAP : 1, rstep = rgap ? GAP : 1;

	for (int call = 0; call < CALLS; call++) {
		for (int i = 0; i < size; i++)
			write_ints(in + i * n * sstep, n, sstep, call, rank, i);
		clear(out, size * n * rstep);
		OK(MPI_Alltoall(in, sgap ? 1 : n, sgap ? gaps : MPI_INT, out,
				rgap ? 1 : n, rgap ? gaps : MPI_INT,
				MPI_COMM_WORLD));
		clear(in, size * n * sstep);
		for (int i = 0; i < size; i++)
			CHECK(holds(out + i * n * rstep, n, rstep, call, i,
				    rank));
	}
	OK(MPI_Type_free(&gaps));
}

static void allgather(int *in, int *out, int n, int gap)
{
	MPI_Datatype gaps = with_gaps(n);
	int step = gap ? GAP : 1;

	for (int call = 0; call < CALLS; call++) {
		write_ints(in, n, 1, call, rank, 0);
		clear(out, size * n * step);
		OK(MPI_Allgather(in, n, MPI_INT, out, gap ? 1 : n,
				 gap ? gaps : MPI_INT, MPI_COMM_WORLD));
		for (int i = 0; i < size; i++)
			CHECK(holds(out + i * n * step, n, step, call, i, 0));
		clear(out, size * n * step);
	}
	OK(MPI_Type_free(&gaps));
}

/* Rank i has i blocks of @n ints: the first has none. */
static void allgatherv(int *in, int *out, int n)
{
	int *counts = calloc(size, sizeof(int));
	int *displs = calloc(size, sizeof(int));

	for (int i = 0; i < size; i++) {
		counts[i] = i * n;
		displs[i] = i ? displs[i - 1] + counts[i - 1] : 0;
	}
	for (int call = 0; call < CALLS; call++) {
		write_ints(in, rank * n, 1, call, rank, 0);
		clear(out, displs[size - 1] + counts[size - 1]);
		OK(MPI_Allgatherv(in, rank * n, MPI_INT, out, counts, displs,
				  MPI_INT, MPI_COMM_WORLD));
		for (int i = 0; i < size; i++)
			CHECK(holds(out + displs[i], counts[i], 1, call, i, 0));
	}
	free(counts);
	free(displs);
}

/* From one rank to another: nothing, a few ints, or many. */
static int ints_of(int from, int to, int n)
{
	static const int share[] = { 0, 1, 2, 200 };

	return (from + 2 * to) % 4 ? n / share[(from + 2 * to) % 4] : 0;
}

/*
 * Blocks of all lengths, the last one first and ints between them. In the w form
 * those to and from odd ranks have gaps.
 */
struct blocks {
	int counts[RANKS_MAX], displs[RANKS_MAX], ints[RANKS_MAX];
	int steps[RANKS_MAX], all;
	MPI_Datatype types[RANKS_MAX];
};

static void lay_out(struct blocks *b, int n, int sent, int w)
{
	b->all = 5;
	for (int i = size - 1; i >= 0; i--) {
		b->ints[i] = sent ? ints_of(rank, i, n) : ints_of(i, rank, n);
		b->steps[i] = w && i % 2 ? GAP : 1;
		b->types[i] = b->steps[i] > 1 ? with_gaps(b->ints[i]) : MPI_INT;
		b->counts[i] = b->steps[i] > 1 ? 1 : b->ints[i];
		b->displs[i] = b->all * (w ? (int)sizeof(int) : 1);
		b->all += b->ints[i] * b->steps[i] + 7;
	}
}

static void forget(struct blocks *b)
{
	for (int i = 0; i < size; i++)
		if (b->steps[i] > 1)
			OK(MPI_Type_free(&b->types[i]));
}

static int *block(const struct blocks *b, int *buf, int i, int w)
{
	return buf + b->displs[i] / (w ? (int)sizeof(int) : 1);
}

static void alltoallv(int *in, int *out, int n, int w)
{
	struct blocks s, r;

	lay_out(&s, n, 1, w);
	lay_out(&r, n, 0, w);
	for (int call = 0; call < CALLS; call++) {
		for (int i = 0; i < size; i++)
			write_ints(block(&s, in, i, w), s.ints[i], s.steps[i],
				   call, rank, i);
		clear(out, r.all);
		if (w)
			OK(MPI_Alltoallw(in, s.counts, s.displs, s.types, out,
					 r.counts, r.displs, r.types,
					 MPI_COMM_WORLD));
		else
			OK(MPI_Alltoallv(in, s.counts, s.displs, MPI_INT, out,
					 r.counts, r.displs, MPI_INT,
					 MPI_COMM_WORLD));
		clear(in, s.all);
		for (int i = 0; i < size; i++)
			CHECK(holds(block(&r, out, i, w), r.ints[i], r.steps[i],
				    call, i, rank));
		for (int i = 0; i < 5; i++)
			EQUAL(out[i], -2);
	}
	forget(&s);
	forget(&r);
}

int main(int argc, char **argv)
{
	static const int ints[] = { 9000, 33000 };
	int *in, *out;

	start(&argc, &argv);
	CHECK(size <= RANKS_MAX);
	in = malloc(sizeof(int) * GAP * size * 33010);
	out = malloc(sizeof(int) * GAP * size * 33010);
	for (int i = 0; i < 2; i++) {
		for (int gaps = 0; gaps < 4; gaps++)
			alltoall(in, out, ints[i], gaps & 1, gaps & 2);
		allgather(in, out, ints[i], 0);
		allgather(in, out, ints[i], 1);
		allgatherv(in, out, ints[i] / 2);
		alltoallv(in, out, ints[i], 0);
		alltoallv(in, out, ints[i], 1);
	}
	free(in);
	free(out);
	return finish();
}
