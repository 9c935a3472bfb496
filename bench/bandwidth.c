// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Bytes per second from rank 0 to rank 1, many messages under way. */
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

	bench_start(&b, &argc, &argv, "bandwidth", 2,
		    "1k,4k,16k,64k,256k,1M,4M", opts);
	for (int i = 0; i < b.n_sizes; i++) {
		double t;

		window_init(&w, b.rank, depth, b.sizes[i]);
		window_check(&w);
		t = bench_measure(&b, window_step, &w);
		bench_row(&b, "size", (double)w.size, "MB/s",
			  (double)w.size * depth / t * 1e-6, NULL);
		window_cleanup(&w);
	}
	return bench_stop(&b);
}
