// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Half the round trip of one message between ranks 0 and 1. */
#include "perf.h"

#include <stdlib.h>

struct pingpong {
	int rank;
	int size;
	char *send;
	char *recv;
};

static void pingpong(void *arg, long times)
{
	struct pingpong *p = arg;
	int peer = !p->rank;

	for (long i = 0; p->rank < 2 && i < times; i++) {
		if (p->rank == 0)
			MPI_Send(p->send, p->size, MPI_BYTE, peer, 1,
				 MPI_COMM_WORLD);
		MPI_Recv(p->recv, p->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (p->rank == 1)
			MPI_Send(p->send, p->size, MPI_BYTE, peer, 1,
				 MPI_COMM_WORLD);
	}
}

/* What rank r sends is made of seed r: each side knows what must arrive. */
static void check_once(struct pingpong *p)
{
	perf_fill(p->send, p->size, p->rank);
	perf_fill(p->recv, p->size, ~0ul);
	pingpong(p, 1);
	if (p->rank < 2)
		perf_check(p->recv, p->size, !p->rank);
}

static void run(struct perf *perf)
{
	for (int i = 0; i < perf->n_sizes; i++) {
		struct pingpong p = {
			.rank = perf->rank,
			.size = perf->sizes[i],
			.send = perf_alloc(perf->sizes[i]),
			.recv = perf_alloc(perf->sizes[i]),
		};
		struct perf_time t;

		if (perf->check)
			check_once(&p);
		t = perf_measure(perf, pingpong, &p);
		perf_cell(perf, "size", p.size);
		perf_cell(perf, "usec", t.usual / 2 * 1e6);
		perf_cells_percentiles(perf, &t, 0.5);
		perf_row_end(perf);
		free(p.send);
		free(p.recv);
	}
}

const struct perf_command perf_latency = {
	.name = "latency",
	.help = "half the round trip between ranks 0 and 1, us",
	.run = run,
	.sizes = "0:1M",
	.min_ranks = 2,
};
