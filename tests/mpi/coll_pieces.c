/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Long messages that go through shared memory in pieces: of lengths around those of
 * a piece, in place and not, with gaps, one call after the other without anything
 * between, and the program has its memory back, to write to, after each.
 */
#include <stdlib.h>

#include "check.h"

#define PIECE (64 << 10)
#define CALLS 3
#define GAP 3 /* a type with gaps has every third int */

static int value(int call, int from, int i)
{
	return call * 1000003 + from * 10007 + i;
}

static void write_ints(int *at, int n, int call)
{
	for (int i = 0; i < n; i++)
		at[i] = value(call, rank, i);
}

static void clear(int *at, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = -2;
}

/* The sum of what ranks first, first + 1, …, last - 1 have. */
static int is_sum(const int *at, int n, int call, int first, int last)
{
	for (int i = 0; i < n; i++) {
		int sum = 0;

		for (int from = first; from < last; from++)
			sum += value(call, from, i);
		if (at[i] != sum)
			return 0;
	}
	return 1;
}

static void bcast(int *buf, int n)
{
	for (int call = 0; call < CALLS; call++) {
		int root = call % size;

		clear(buf, n + 1);
		if (rank == root)
			write_ints(buf, n, call);
		OK(MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD));
		CHECK(is_sum(buf, n, call, root, root + 1));
		EQUAL(buf[n], -2);
		clear(buf, n);
	}
}

/* The root has its ints in one piece, the others with gaps. */
static void bcast_gaps(int *buf, int n)
{
	MPI_Datatype one, gaps;

	OK(MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &one));
	OK(MPI_Type_contiguous(n, one, &gaps));
	OK(MPI_Type_commit(&gaps));
	for (int call = 0; call < CALLS; call++) {
		int root = call % size;

		clear(buf, n * GAP);
		if (rank == root) {
			write_ints(buf, n, call);
			OK(MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD));
			continue;
		}
		OK(MPI_Bcast(buf, 1, gaps, root, MPI_COMM_WORLD));
		for (int i = 0; i < n * GAP; i++)
			CHECK(buf[i] ==
			      (i % GAP ? -2 : value(call, root, i / GAP)));
	}
	OK(MPI_Type_free(&gaps));
	OK(MPI_Type_free(&one));
}

static void reduce(int *in, int *out, int n, int in_place)
{
	for (int call = 0; call < CALLS; call++) {
		int root = call % size;
		int *from = in_place && rank == root ? out : in;

		clear(out, n + 1);
		write_ints(from, n, call);
		OK(MPI_Reduce(from == out ? MPI_IN_PLACE : in, out, n, MPI_INT,
			      MPI_SUM, root, MPI_COMM_WORLD));
		CHECK(from == out || is_sum(in, n, call, rank, rank + 1));
		clear(in, n);
		if (rank == root)
			CHECK(is_sum(out, n, call, 0, size));
		EQUAL(out[n], -2);
	}
}

static void allreduce(int *in, int *out, int n, int in_place)
{
	for (int call = 0; call < CALLS; call++) {
		clear(out, n + 1);
		write_ints(in_place ? out : in, n, call);
		OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT,
				 MPI_SUM, MPI_COMM_WORLD));
		clear(in, n);
		CHECK(is_sum(out, n, call, 0, size));
		EQUAL(out[n], -2);
	}
}

static void scan(int *in, int *out, int n, int exclusive, int in_place)
{
	for (int call = 0; call < CALLS; call++) {
		const void *from = in_place ? MPI_IN_PLACE : in;
		int last = exclusive ? rank : rank + 1;

		clear(out, n + 1);
		write_ints(in_place ? out : in, n, call);
		if (exclusive)
			OK(MPI_Exscan(from, out, n, MPI_INT, MPI_SUM,
				      MPI_COMM_WORLD));
		else
			OK(MPI_Scan(from, out, n, MPI_INT, MPI_SUM,
				    MPI_COMM_WORLD));
		clear(in, n);
		if (last)
			CHECK(is_sum(out, n, call, 0, last));
		EQUAL(out[n], -2);
	}
}

static void gather(int *in, int *out, int n, int in_place)
{
	for (int call = 0; call < CALLS; call++) {
		int root = call % size;
		int stays = in_place && rank == root;

		clear(out, n * size + 1);
		write_ints(stays ? out + rank * n : in, n, call);
		OK(MPI_Gather(stays ? MPI_IN_PLACE : in, n, MPI_INT, out, n,
			      MPI_INT, root, MPI_COMM_WORLD));
		clear(in, n);
		for (int i = 0; i < size && rank == root; i++)
			CHECK(is_sum(out + i * n, n, call, i, i + 1));
		EQUAL(out[n * size], -2);
	}
}

int main(int argc, char **argv)
{
	/* bytes of whole pieces, and more or fewer by an int */
	static const int pieces[] = { 1, 9 };
	int max = 9 * PIECE / (int)sizeof(int) + 2;
	int *in, *out;

	start(&argc, &argv);
	in = malloc(sizeof(int) * GAP * max);
	out = malloc(sizeof(int) * (size > GAP ? size : GAP) * max);
	for (int i = 0; i < 2; i++)
		for (int more = -1; more <= 1; more++) {
			int n = pieces[i] * PIECE / (int)sizeof(int) + more;

			bcast(out, n);
			bcast_gaps(out, n);
			for (int in_place = 0; in_place < 2; in_place++) {
				gather(in, out, n, in_place);
				reduce(in, out, n, in_place);
				allreduce(in, out, n, in_place);
				scan(in, out, n, 0, in_place);
				scan(in, out, n, 1, in_place);
			}
		}
	free(in);
	free(out);
	return finish();
}
