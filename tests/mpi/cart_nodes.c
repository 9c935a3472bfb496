/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How many neighbors of a square grid are on another node, as the processes are
 * and after reordering; started by tests/system/cart_reorder.sh on hosts with
 * as many ranks each as the argument says.
 */
#include "check.h"

static int count(int reorder, int per)
{
	int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, mine = 0, node, theirs;
	int up, down;
	MPI_Comm g;

	OK(MPI_Dims_create(size, 2, dims));
	OK(MPI_Cart_create(WORLD, 2, dims, periods, reorder, &g));
	node = rank / per;
	for (int i = 0; i < 2; i++) {
		OK(MPI_Cart_shift(g, i, 1, &down, &up));
		theirs = node;
		OK(MPI_Sendrecv(&node, 1, MPI_INT, down, 0, &theirs, 1, MPI_INT,
				up, 0, g, IGNORE));
		mine += theirs != node;
	}
	OK(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, g));
	OK(MPI_Comm_free(&g));
	return mine;
}

int main(int argc, char **argv)
{
	int before, after, per = argc > 1 ? atoi(argv[1]) : 1;

	start(&argc, &argv);
	before = count(0, per);
	after = count(1, per);
	if (rank == 0)
		printf("%d %d\n", before, after);
	return finish();
}
