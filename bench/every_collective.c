// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Microseconds per call of every collective. */
#include "bench_common.h"

#include <stdlib.h>

struct coll {
	int ranks, rank;
	int size; /* bytes: of the whole vector, or of a block where there are */
	int *counts, *displs;
	char *send, *recv;
};

#define WORLD MPI_COMM_WORLD
#define DOUBLES(c) ((c)->size / (int)sizeof(double)), MPI_DOUBLE, MPI_SUM

/* A step: calls in a row. The root moves on, so that no rank runs ahead. */
#define STEP(name, call)                                   \
	static void name(void *arg, long times)            \
	{                                                  \
		struct coll *c = arg;                      \
							   \
		for (long i = 0; i < times; i++) {         \
			int root = (int)(i % c->ranks);    \
							   \
			(void)root;                        \
			call;                              \
		}                                          \
	}

STEP(barrier, MPI_Barrier(WORLD))
STEP(bcast, MPI_Bcast(c->send, c->size, MPI_BYTE, root, WORLD))
STEP(gather, MPI_Gather(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
			root, WORLD))
STEP(gatherv, MPI_Gatherv(c->send, c->size, MPI_BYTE, c->recv, c->counts,
			  c->displs, MPI_BYTE, root, WORLD))
STEP(scatter, MPI_Scatter(c->send, c->size, MPI_BYTE, c->recv, c->size,
			  MPI_BYTE, root, WORLD))
STEP(scatterv, MPI_Scatterv(c->send, c->counts, c->displs, MPI_BYTE, c->recv,
			    c->size, MPI_BYTE, root, WORLD))
STEP(allgather, MPI_Allgather(c->send, c->size, MPI_BYTE, c->recv, c->size,
			      MPI_BYTE, WORLD))
STEP(allgatherv, MPI_Allgatherv(c->send, c->size, MPI_BYTE, c->recv, c->counts,
				c->displs, MPI_BYTE, WORLD))
STEP(alltoall, MPI_Alltoall(c->send, c->size, MPI_BYTE, c->recv, c->size,
			    MPI_BYTE, WORLD))
STEP(alltoallv, MPI_Alltoallv(c->send, c->counts, c->displs, MPI_BYTE, c->recv,
			      c->counts, c->displs, MPI_BYTE, WORLD))
STEP(reduce, MPI_Reduce(c->send, c->recv, DOUBLES(c), root, WORLD))
STEP(allreduce, MPI_Allreduce(c->send, c->recv, DOUBLES(c), WORLD))
STEP(reduce_scatter, MPI_Reduce_scatter_block(c->send, c->recv, DOUBLES(c),
					      WORLD))
STEP(scan, MPI_Scan(c->send, c->recv, DOUBLES(c), WORLD))
STEP(exscan, MPI_Exscan(c->send, c->recv, DOUBLES(c), WORLD))

static void measure(struct bench *b, struct coll *c)
{
#define US(step) #step, bench_measure(b, step, c) * 1e6
	bench_row(b, "size", (double)c->size, US(barrier), US(bcast),
		  US(gather), US(gatherv), US(scatter), US(scatterv),
		  US(allgather), US(allgatherv), US(alltoall), US(alltoallv),
		  US(reduce), US(allreduce), US(reduce_scatter), US(scan),
		  US(exscan), NULL);
}

/* Wrong results would be quick, too. */
static void check(struct bench *b, struct coll *c)
{
	double *in = (double *)c->send, *out = (double *)c->recv;
	int n = c->size / (int)sizeof(double);

	for (int i = 0; i < n; i++)
		in[i] = b->rank + 1;
	allreduce(c, 1);
	for (int i = 0; i < n; i++)
		if (out[i] != b->ranks * (b->ranks + 1) / 2.0)
			bench_fail("wrong sum in allreduce: %g", out[i]);
	for (int i = 0; i < b->ranks; i++)
		bench_fill(c->send + (size_t)i * c->size, c->size,
			   b->rank * 1000 + i);
	alltoall(c, 1);
	for (int i = 0; i < b->ranks; i++)
		bench_check(c->recv + (size_t)i * c->size, c->size,
			    i * 1000 + b->rank);
}

static struct coll make(struct bench *b, size_t size)
{
	struct coll c = {
		.ranks = b->ranks,
		.rank = b->rank,
		.size = (int)size,
		.counts = malloc(b->ranks * sizeof(int)),
		.displs = malloc(b->ranks * sizeof(int)),
		.send = bench_alloc(size * b->ranks),
		.recv = bench_alloc(size * b->ranks),
	};

	for (int i = 0; i < b->ranks; i++) {
		c.counts[i] = c.size;
		c.displs[i] = i * c.size;
	}
	return c;
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_start(&b, &argc, &argv, "every_collective", 2, "8,4k,1M", NULL);
	for (int i = 0; i < b.n_sizes; i++) {
		struct coll c = make(&b, b.sizes[i]);

		check(&b, &c);
		/* doubles that add up without surprises */
		for (size_t k = 0; k < b.sizes[i] * b.ranks; k++)
			c.send[k] = 0;
		measure(&b, &c);
		free(c.counts);
		free(c.displs);
		free(c.send);
		free(c.recv);
	}
	return bench_stop(&b);
}
