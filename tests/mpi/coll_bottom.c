/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_BOTTOM as a buffer of collectives, which is a null pointer in the
 * standard's ABI: displacements that are addresses, with predefined types, and
 * a null pointer that is none of these.
 */
#include "check.h"

static unsigned char *from, *to; /* a block of @len bytes for each rank */
static MPI_Count *counts;
static MPI_Aint *from_at, *to_at;
static MPI_Datatype *types;

/* A byte for each pair of ranks and each call. */
static int seed(int source, int dest, int call)
{
	return source * 17 + dest * 5 + call;
}

static void prepare(MPI_Count len, int call)
{
	for (int i = 0; i < size; i++) {
		counts[i] = len;
		types[i] = MPI_BYTE;
		MPI_Get_address(from + i * len, &from_at[i]);
		MPI_Get_address(to + i * len, &to_at[i]);
		fill(from + i * len, len, seed(rank, i, call));
	}
	memset(to, 0xee, size * len);
}

/* Block @i of what came must be that which @source has sent to @dest. */
static void came(int i, MPI_Count len, int source, int dest, int call)
{
	CHECK(filled(to + i * len, len, seed(source, dest, call)));
}

static void alltoall(MPI_Count len)
{
	prepare(len, 1);
	OK(MPI_Alltoallw_c(MPI_BOTTOM, counts, from_at, types, MPI_BOTTOM,
			   counts, to_at, types, WORLD));
	for (int i = 0; i < size; i++)
		came(i, len, i, rank, 1);
	prepare(len, 2);
	OK(MPI_Alltoallv_c(MPI_BOTTOM, counts, from_at, MPI_BYTE, MPI_BOTTOM,
			   counts, to_at, MPI_BYTE, WORLD));
	for (int i = 0; i < size; i++)
		came(i, len, i, rank, 2);
}

static void others(MPI_Count len)
{
	int root = size - 1;

	prepare(len, 3);
	OK(MPI_Allgatherv_c(from, len, MPI_BYTE, MPI_BOTTOM, counts, to_at,
			    MPI_BYTE, WORLD));
	for (int i = 0; i < size; i++)
		came(i, len, i, 0, 3);
	prepare(len, 4);
	OK(MPI_Gatherv_c(from, len, MPI_BYTE, MPI_BOTTOM, counts, to_at,
			 MPI_BYTE, root, WORLD));
	for (int i = 0; rank == root && i < size; i++)
		came(i, len, i, 0, 4);
	prepare(len, 5);
	OK(MPI_Scatterv_c(MPI_BOTTOM, counts, from_at, MPI_BYTE, to, len,
			  MPI_BYTE, root, WORLD));
	came(0, len, root, rank, 5);
}

/* Around a ring, in both directions; alone, a process is both neighbors. */
static void neighbors(MPI_Comm ring, MPI_Count len)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Aint at[2];
	int n[2] = { (int)len, (int)len };
	MPI_Datatype t[2] = { MPI_BYTE, MPI_BYTE };
	MPI_Aint in[2];

	prepare(len, 6);
	at[0] = from_at[left];
	at[1] = from_at[right];
	MPI_Get_address(to, &in[0]);
	in[1] = in[0] + len;
	OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, n, at, t, MPI_BOTTOM, n, in, t,
				  ring));
	came(0, len, left, rank, 6);
	came(1, len, right, rank, 6);
}

/* No address at all. */
static void null(void)
{
	prepare(1, 7);
	from_at[0] = 0;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	FAILS(MPI_Alltoallw_c(MPI_BOTTOM, counts, from_at, types, MPI_BOTTOM,
			      counts, to_at, types, WORLD),
	      MPI_ERR_BUFFER);
	FAILS(MPI_Scatterv_c(MPI_BOTTOM, counts, from_at, MPI_BYTE, to, 1,
			     MPI_BYTE, rank, MPI_COMM_SELF),
	      rank ? MPI_ERR_ROOT : MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
	static const MPI_Count lens[] = { 1, 300, 40000, 300000 };
	MPI_Comm ring;
	int yes = 1;

	start(&argc, &argv);
	from = malloc(2 * 300000 * (size + 1));
	to = malloc(2 * 300000 * (size + 1));
	counts = calloc(size, sizeof(*counts));
	from_at = calloc(size, sizeof(*from_at));
	to_at = calloc(size, sizeof(*to_at));
	types = calloc(size, sizeof(*types));
	OK(MPI_Cart_create(WORLD, 1, &size, &yes, 0, &ring));
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		alltoall(lens[i]);
		others(lens[i]);
		neighbors(ring, lens[i]);
	}
	MPI_Comm_free(&ring);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	null();
	free(from);
	free(to);
	free(counts);
	free(from_at);
	free(to_at);
	free(types);
	return finish();
}
