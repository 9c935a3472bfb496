// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * EP, the embarrassingly parallel kernel: pairs of Gaussian deviates by the
 * polar method, their sums and how they fall into square annuli. Pairs come in
 * blocks whose seeds are computed, so that ranks need nothing of each other.
 */
#include "nas.h"

#include <math.h>

enum {
	BLOCK_LOG = 16, /* pairs in a block */
	BLOCK = 1 << BLOCK_LOG,
	ANNULI = 10,
};

#define EP_SEED 271828183ull

static const struct ep_class {
	int log_pairs;
	double sum_x, sum_y;
} classes[NAS_CLASSES] = {
	[NAS_S] = { 24, -3.247834652034740e+3, -6.958407078382297e+3 },
	[NAS_W] = { 25, -2.863319731645753e+3, -6.320053679109499e+3 },
	[NAS_A] = { 28, -4.295875165629892e+3, -1.580732573678431e+4 },
	[NAS_B] = { 30, 4.033815542441498e+4, -2.660669192809235e+4 },
};

struct tally {
	double x, y;
	double in_annulus[ANNULI];
};

static void tally_block(struct tally *t, long block)
{
	uint64_t seed = nas_skip(EP_SEED, 2ull * BLOCK * block);

	for (int i = 0; i < BLOCK; i++) {
		double a = 2 * nas_random(&seed) - 1;
		double b = 2 * nas_random(&seed) - 1;
		double square = a * a + b * b;
		double factor, x, y;

		if (square > 1)
			continue;
		factor = sqrt(-2 * log(square) / square);
		x = a * factor;
		y = b * factor;
		t->in_annulus[(int)fmax(fabs(x), fabs(y))]++;
		t->x += x;
		t->y += y;
	}
}

static bool near(double value, double wanted)
{
	return fabs((value - wanted) / wanted) <= 1e-8;
}

int main(int argc, char **argv)
{
	struct nas nas;
	struct nas_result result = { .operation = "random numbers generated" };
	const struct ep_class *class;
	struct tally mine = { 0 }, all;
	double start;
	long blocks;

	nas_start(&nas, &argc, &argv, "EP");
	class = &classes[nas.class];
	blocks = 1l << (class->log_pairs - BLOCK_LOG);
	start = nas_clock_start();
	for (long b = nas.rank; b < blocks; b += nas.ranks)
		tally_block(&mine, b);
	MPI_Allreduce(&mine, &all, sizeof(all) / sizeof(double), MPI_DOUBLE,
		      MPI_SUM, MPI_COMM_WORLD);
	result.seconds = nas_clock_stop(start);
	result.operations = result.size[0] = ldexp(1, class->log_pairs + 1);
	result.verified = near(all.x, class->sum_x) &&
			  near(all.y, class->sum_y);
	return nas_finish(&nas, &result);
}
