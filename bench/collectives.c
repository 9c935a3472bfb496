// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Microseconds per call of the everyday collectives. */
#include "bench_common.h"

#include <stdlib.h>

struct coll {
	int ranks;
	int size; /* bytes; of the whole vector, for alltoall per rank */
	void *send;
	void *recv;
};

static void barrier(void *arg, long times)
{
	(void)arg;
	for (long i = 0; i < times; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void *arg, long times)
{
	struct coll *c = arg;

	/* The root moves on, so that no rank can run ahead for long. */
	for (long i = 0; i < times; i++)
		MPI_Bcast(c->send, c->size, MPI_BYTE, i % c->ranks,
			  MPI_COMM_WORLD);
}

static void allreduce(void *arg, long times)
{
	struct coll *c = arg;

	for (long i = 0; i < times; i++)
		MPI_Allreduce(c->send, c->recv, c->size / sizeof(double),
			      MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void *arg, long times)
{
	struct coll *c = arg;

	for (long i = 0; i < times; i++)
		MPI_Alltoall(c->send, c->size, MPI_BYTE, c->recv, c->size,
			     MPI_BYTE, MPI_COMM_WORLD);
}

/* The sum of rank + 1 over the ranks, in every element. */
static void check_allreduce(struct bench *b, struct coll *c)
{
	double *send = c->send, *recv = c->recv;
	int n = c->size / sizeof(double);

	for (int i = 0; i < n; i++)
		send[i] = b->rank + 1;
	allreduce(c, 1);
	for (int i = 0; i < n; i++)
		if (recv[i] != b->ranks * (b->ranks + 1) / 2.0)
			bench_fail("wrong sum in allreduce: %g", recv[i]);
}

static void measure(struct bench *b, struct coll *c)
{
	double t_barrier = bench_measure(b, barrier, c);
	double t_bcast = bench_measure(b, bcast, c);
	double t_allreduce = bench_measure(b, allreduce, c);
	double t_alltoall = bench_measure(b, alltoall, c);

	bench_row(b, "size", (double)c->size, "barrier", t_barrier * 1e6,
		  "bcast", t_bcast * 1e6, "allreduce", t_allreduce * 1e6,
		  "alltoall", t_alltoall * 1e6, NULL);
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_start(&b, &argc, &argv, "collectives", 2, "8,1k,64k,1M", NULL);
	for (int i = 0; i < b.n_sizes; i++) {
		struct coll c = {
			.ranks = b.ranks,
			.size = b.sizes[i],
			.send = bench_alloc(b.sizes[i] * b.ranks),
			.recv = bench_alloc(b.sizes[i] * b.ranks),
		};

		check_allreduce(&b, &c);
		measure(&b, &c);
		free(c.send);
		free(c.recv);
	}
	return bench_stop(&b);
}
