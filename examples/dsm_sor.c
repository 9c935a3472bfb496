/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Red-black successive over-relaxation: the temperature of a plate whose upper edge is
 * hot. The plate is in memory that all processes share. Each has some rows; it reads
 * those of its neighbours beside them, and nothing is sent by the program.
 *
 *	mpicc dsm_sor.c -lo2gdsm -lo2g && mpiexec -n 4 ./a.out
 */
#include <o2g.h>
#include <o2g_dsm.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 258
#define COLS 512 /* a row is a page */
#define STEPS 50
#define OMEGA 1.8

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "dsm_sor: %s\n", o2g_strerror(result));
	exit(1);
}

/* Every second point, of those that have only neighbours of the other colour. */
static void sweep(double (*plate)[COLS], int from, int to, int colour)
{
	for (int i = from; i < to; i++)
		for (int j = 1 + (i + colour) % 2; j < COLS - 1; j += 2) {
			double mean =
				0.25 * (plate[i - 1][j] + plate[i + 1][j] +
					plate[i][j - 1] + plate[i][j + 1]);

			plate[i][j] += OMEGA * (mean - plate[i][j]);
		}
}

int main(void)
{
	struct o2g_dsm *region;
	double(*plate)[COLS];
	int rank, size, from, to;

	check(o2g_dsm_init());
	rank = o2g_dsm_rank();
	size = o2g_dsm_size();
	check(o2g_dsm_create("plate", ROWS * sizeof(*plate), 0, &region));
	plate = o2g_dsm_base(region);
	from = 1 + (ROWS - 2) * rank / size;
	to = 1 + (ROWS - 2) * (rank + 1) / size;

	check(o2g_dsm_home_here(region, plate[from],
				(size_t)(to - from) * sizeof(*plate)));
	if (!rank)
		for (int j = 0; j < COLS; j++)
			plate[0][j] = 100;
	check(o2g_dsm_barrier(region, 0, 0));
	for (int step = 0; step < STEPS; step++)
		for (int colour = 0; colour < 2; colour++) {
			sweep(plate, from, to, colour);
			check(o2g_dsm_barrier(region, 0, 0));
		}
	if (!rank)
		printf("%.6f degrees in row 8 after %d steps\n",
		       plate[8][COLS / 2], STEPS);
	check(o2g_dsm_close(region));
	check(o2g_dsm_finalize());
	return 0;
}
