/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Random calls of every collective on MPI_COMM_WORLD, on a duplicate, and on a
 * communicator with the ranks reversed and on one of a part of them.
 *
 * coll_random [calls [ints [seed]]]
 */
#include "coll_cases.h"

static struct env env_of(MPI_Comm comm, unsigned long long seed, long ints)
{
	struct env e = { .comm = comm, .seed = seed, .max_ints = ints };

	MPI_Comm_rank(comm, &e.rank);
	MPI_Comm_size(comm, &e.size);
	return e;
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 300, rank;
	long ints = argc > 2 ? atol(argv[2]) : 6000;
	unsigned long long seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	MPI_Comm dup, reversed, part;
	struct env e;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1, 0, &part);
	e = env_of(MPI_COMM_WORLD, seed, ints);
	run_cases(&e, -1, calls);
	e = env_of(dup, seed + 1, ints);
	run_cases(&e, -1, calls / 3);
	e = env_of(reversed, seed + 2, ints);
	run_cases(&e, -1, calls / 3);
	e = env_of(part, seed + 3, ints);
	run_cases(&e, -1, calls / 3);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&reversed);
	MPI_Comm_free(&part);
	MPI_Finalize();
	return 0;
}
