// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Half the round trip of one message between ranks 0 and 1. */
#include "bench_common.h"

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
	bench_fill(p->send, p->size, p->rank);
	bench_fill(p->recv, p->size, ~0ul);
	pingpong(p, 1);
	if (p->rank < 2)
		bench_check(p->recv, p->size, !p->rank);
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_start(&b, &argc, &argv, "latency", 2,
		    "0,8,64,1k,4k,16k,64k,256k,1M", NULL);
	for (int i = 0; i < b.n_sizes; i++) {
		struct pingpong p = {
			.rank = b.rank,
			.size = b.sizes[i],
			.send = bench_alloc(b.sizes[i]),
			.recv = bench_alloc(b.sizes[i]),
		};
		double t;

		check_once(&p);
		t = bench_measure(&b, pingpong, &p) / 2;
		bench_row(&b, "size", (double)p.size, "usec", t * 1e6, NULL);
		free(p.send);
		free(p.recv);
	}
	return bench_stop(&b);
}
