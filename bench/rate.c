// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Messages per second from rank 0 to rank 1, many under way. */
#include "window.h"

int main(int argc, char **argv)
{
	struct bench b;
	struct window w;
	long depth = 64;
	const struct bench_opt opts[] = {
		{"window", &depth, "messages under way at once"},
		{0},
	};

	bench_start(&b, &argc, &argv, "rate", 2, "0,8,64", opts);
	for (int i = 0; i < b.n_sizes; i++) {
		double t;

		window_init(&w, b.rank, depth, b.sizes[i]);
		window_check(&w);
		t = bench_measure(&b, window_step, &w);
		bench_row(&b, "size", (double)w.size, "Mmsg/s",
			  depth / t * 1e-6, NULL);
		window_cleanup(&w);
	}
	return bench_stop(&b);
}
