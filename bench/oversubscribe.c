// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* An all-to-all loop, meant for more ranks than cores. */
#include "bench_common.h"

#include <stdlib.h>

struct exchange {
	int rank;
	int ranks;
	int size; /* for each rank */
	char *send;
	char *recv;
};

static void exchange(void *arg, long times)
{
	struct exchange *x = arg;

	for (long i = 0; i < times; i++)
		MPI_Alltoall(x->send, x->size, MPI_BYTE, x->recv, x->size,
			     MPI_BYTE, MPI_COMM_WORLD);
}

/* The block from rank r to rank q is made of a seed that names both. */
static void check_once(struct exchange *x)
{
	for (int r = 0; r < x->ranks; r++)
		bench_fill(x->send + (size_t)r * x->size, x->size,
			   x->rank * 1000003ul + r);
	exchange(x, 1);
	for (int r = 0; r < x->ranks; r++)
		bench_check(x->recv + (size_t)r * x->size, x->size,
			    r * 1000003ul + x->rank);
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_start(&b, &argc, &argv, "oversubscribe", 2, "8,1k,64k", NULL);
	for (int i = 0; i < b.n_sizes; i++) {
		struct exchange x = {
			.rank = b.rank,
			.ranks = b.ranks,
			.size = b.sizes[i],
			.send = bench_alloc(b.sizes[i] * b.ranks),
			.recv = bench_alloc(b.sizes[i] * b.ranks),
		};
		double t;

		check_once(&x);
		t = bench_measure(&b, exchange, &x);
		bench_row(&b, "size", (double)x.size, "usec", t * 1e6, NULL);
		free(x.send);
		free(x.recv);
	}
	return bench_stop(&b);
}
