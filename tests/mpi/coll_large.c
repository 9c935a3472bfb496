/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Every collective with blocks of about 4 MiB, at least once each. */
#include "coll_cases.h"

int main(int argc, char **argv)
{
	struct env e = { .comm = MPI_COMM_WORLD, .seed = 17 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(e.comm, &e.rank);
	MPI_Comm_size(e.comm, &e.size);
	for (int i = 0; i < COLL_CASES; i++) {
		/* the counts of these grow with the number of ranks */
		int blocks = strstr(coll_cases[i].name, "all") ||
			     strstr(coll_cases[i].name, "scatter");

		e.max_ints = (1 << 20) / (blocks ? e.size : 1) + 6;
		run_cases(&e, i, 6);
	}
	MPI_Finalize();
	return 0;
}
