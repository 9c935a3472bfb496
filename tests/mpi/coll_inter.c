/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Collectives over an intercommunicator between the even and the odd ranks
 * (and, turned around, between the first rank and the rest).
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi.h"

static int world_rank;

#define CHECK(cond)                                                     \
	do {                                                            \
		if (!(cond)) {                                          \
			fprintf(stderr, "coll_inter:%d: rank %d: %s\n", \
				__LINE__, world_rank, #cond);           \
			MPI_Abort(MPI_COMM_WORLD, 1);                   \
		}                                                       \
	} while (0)

struct side {
	MPI_Comm inter;
	int group; /* 0 or 1 */
	int rank, local, remote;
};

/* What a rank of a group contributes, element i. */
static int value(int group, int rank, int i)
{
	return 1000 * (group + 1) + 10 * rank + i;
}

static void rooted(const struct side *s)
{
	int buf[3], *all = malloc(s->remote * 2 * sizeof(int));
	int first = s->group == 0, root, mine[2];

	/* the last rank of group 0 is the root */
	root = s->group == 1	       ? s->remote - 1 :
	       s->rank == s->local - 1 ? MPI_ROOT :
					 MPI_PROC_NULL;
	for (int i = 0; i < 3; i++)
		buf[i] = root == MPI_ROOT ? value(0, s->rank, i) : -1;
	CHECK(!MPI_Bcast(buf, 3, MPI_INT, root, s->inter));
	if (!first)
		CHECK(buf[2] == value(0, s->remote - 1, 2));
	else if (root == MPI_PROC_NULL)
		CHECK(buf[2] == -1);

	for (int i = 0; i < 2; i++)
		mine[i] = value(s->group, s->rank, i);
	CHECK(!MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, root, s->inter));
	for (int i = 0; i < 2 * s->remote && root == MPI_ROOT; i++)
		CHECK(all[i] == value(1, i / 2, i % 2));

	for (int i = 0; i < 2 * s->remote; i++)
		all[i] = value(0, i / 2, i % 2);
	CHECK(!MPI_Scatter(all, 2, MPI_INT, mine, 2, MPI_INT, root, s->inter));
	if (!first)
		CHECK(mine[1] == value(0, s->rank, 1));

	buf[0] = -1;
	mine[0] = s->rank + 1;
	CHECK(!MPI_Reduce(mine, buf, 1, MPI_INT, MPI_SUM, root, s->inter));
	if (root == MPI_ROOT)
		CHECK(buf[0] == s->remote * (s->remote + 1) / 2);
	free(all);
}

static void unrooted(const struct side *s)
{
	int *in = malloc(s->remote * 2 * sizeof(int)), sum, mine[2];
	int *out = malloc(s->remote * 2 * sizeof(int));
	int *counts = malloc(s->remote * sizeof(int));
	int *displs = malloc(s->remote * sizeof(int)), other = !s->group;

	CHECK(!MPI_Barrier(s->inter));
	mine[0] = s->rank + 1 + 100 * s->group;
	CHECK(!MPI_Allreduce(mine, &sum, 1, MPI_INT, MPI_SUM, s->inter));
	CHECK(sum == s->remote * (s->remote + 1) / 2 + 100 * other * s->remote);

	for (int i = 0; i < 2; i++)
		mine[i] = value(s->group, s->rank, i);
	CHECK(!MPI_Allgather(mine, 2, MPI_INT, out, 2, MPI_INT, s->inter));
	for (int i = 0; i < 2 * s->remote; i++)
		CHECK(out[i] == value(other, i / 2, i % 2));

	for (int i = 0; i < s->remote; i++) {
		in[i] = value(s->group, s->rank, i);
		counts[i] = 1;
		displs[i] = s->remote - 1 - i;
		out[i] = -1;
	}
	CHECK(!MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, s->inter));
	for (int i = 0; i < s->remote; i++)
		CHECK(out[i] == value(other, i, s->rank));
	CHECK(!MPI_Allgatherv(mine, 1, MPI_INT, out, counts, displs, MPI_INT,
			      s->inter));
	for (int i = 0; i < s->remote; i++)
		CHECK(out[displs[i]] == value(other, i, 0));
	free(in);
	free(out);
	free(counts);
	free(displs);
}

/* Both groups reduce local * remote elements; each rank gets its share. */
static void reduce_scatter(const struct side *s)
{
	int n = s->local * s->remote, *in = malloc(n * sizeof(int));
	int *out = malloc(s->remote * sizeof(int)), other = !s->group;

	for (int i = 0; i < n; i++)
		in[i] = value(s->group, s->rank, i);
	CHECK(!MPI_Reduce_scatter_block(in, out, s->remote, MPI_INT, MPI_SUM,
					s->inter));
	for (int i = 0; i < s->remote; i++) {
		int at = s->rank * s->remote + i, want = 0;

		for (int r = 0; r < s->remote; r++)
			want += value(other, r, at);
		CHECK(out[i] == want);
	}
	free(in);
	free(out);
}

static void run(int group, int other_leader)
{
	struct side s = { .group = group };
	int in = 1, out;
	MPI_Comm local;

	MPI_Comm_split(MPI_COMM_WORLD, group, 0, &local);
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other_leader, 5,
			     &s.inter);
	MPI_Comm_rank(s.inter, &s.rank);
	MPI_Comm_size(s.inter, &s.local);
	MPI_Comm_remote_size(s.inter, &s.remote);
	for (int i = 0; i < 5; i++) {
		rooted(&s);
		unrooted(&s);
		reduce_scatter(&s);
	}
	MPI_Comm_set_errhandler(s.inter, MPI_ERRORS_RETURN);
	CHECK(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, s.inter));
	CHECK(MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, s.inter));
	MPI_Comm_free(&s.inter);
	MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	run(world_rank % 2, world_rank % 2 ? 0 : 1);
	run(world_rank == 0, world_rank == 0 ? 1 : 0);
	MPI_Finalize();
	return 0;
}
