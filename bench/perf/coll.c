// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The time of a collective, of the rank that spends most in it. To add one,
 * write what it does once and add it to the table at the end: every line there
 * is a sub-command.
 *
 * A size is what one rank contributes for each partner it has by the meaning of
 * the call: the whole vector of a broadcast or a reduction, one block of a
 * gather, scatter or alltoall.
 */
#include "perf.h"

#include <stdlib.h>
#include <string.h>

struct coll {
	const struct perf_command *command;
	int rank, ranks;
	int size;
	int root;	   /* moves on, so that no rank runs ahead for long */
	char *send, *recv; /* ranks blocks each, where the kind needs that */
	int *counts, *at;  /* for the calls with an array of counts */
	int doubles;	   /* size / 8, for those that compute */
};

/* How buffers are filled and what must come out, for --check. */
enum kind {
	NOTHING,  /* barrier */
	COPY,	  /* the root's block, to all */
	SUM,	  /* of all ranks' vectors, to all or to the root */
	COLLECT,  /* a block of each rank, to all or to the root */
	GIVE,	  /* a block for each rank, from the root */
	SWAP,	  /* a block from each to each */
	SUM_PART, /* a block of the sum of all vectors */
	PREFIX,	  /* sums over the ranks up to this one, or before it */
};

struct coll_kind {
	void (*once)(struct coll *c);
	enum kind kind;
	bool at_root;	   /* only the root gets the result */
	bool without_self; /* PREFIX: the ranks before this one */
};

static void barrier(struct coll *c)
{
	(void)c;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(struct coll *c)
{
	MPI_Bcast(c->rank == c->root ? c->send : c->recv, c->size, MPI_BYTE,
		  c->root, MPI_COMM_WORLD);
}

static void reduce(struct coll *c)
{
	MPI_Reduce(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM, c->root,
		   MPI_COMM_WORLD);
}

static void allreduce(struct coll *c)
{
	MPI_Allreduce(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM,
		      MPI_COMM_WORLD);
}

static void gather(struct coll *c)
{
	MPI_Gather(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		   c->root, MPI_COMM_WORLD);
}

static void gatherv(struct coll *c)
{
	MPI_Gatherv(c->send, c->size, MPI_BYTE, c->recv, c->counts, c->at,
		    MPI_BYTE, c->root, MPI_COMM_WORLD);
}

static void scatter(struct coll *c)
{
	MPI_Scatter(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		    c->root, MPI_COMM_WORLD);
}

static void scatterv(struct coll *c)
{
	MPI_Scatterv(c->send, c->counts, c->at, MPI_BYTE, c->recv, c->size,
		     MPI_BYTE, c->root, MPI_COMM_WORLD);
}

static void allgather(struct coll *c)
{
	MPI_Allgather(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		      MPI_COMM_WORLD);
}

static void allgatherv(struct coll *c)
{
	MPI_Allgatherv(c->send, c->size, MPI_BYTE, c->recv, c->counts, c->at,
		       MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(struct coll *c)
{
	MPI_Alltoall(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		     MPI_COMM_WORLD);
}

static void alltoallv(struct coll *c)
{
	MPI_Alltoallv(c->send, c->counts, c->at, MPI_BYTE, c->recv, c->counts,
		      c->at, MPI_BYTE, MPI_COMM_WORLD);
}

static void reduce_scatter_block(struct coll *c)
{
	MPI_Reduce_scatter_block(c->send, c->recv, c->doubles, MPI_DOUBLE,
				 MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(struct coll *c)
{
	/* Counts of elements, where the others have bytes. */
	for (int i = 0; i < c->ranks; i++)
		c->counts[i] = c->doubles;
	MPI_Reduce_scatter(c->send, c->recv, c->counts, MPI_DOUBLE, MPI_SUM,
			   MPI_COMM_WORLD);
}

static void scan(struct coll *c)
{
	MPI_Scan(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM,
		 MPI_COMM_WORLD);
}

static void exscan(struct coll *c)
{
	MPI_Exscan(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM,
		   MPI_COMM_WORLD);
}

/* The same, started and waited for at once. */

static void finish(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void ibarrier(struct coll *c)
{
	MPI_Request r;

	(void)c;
	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	finish(&r);
}

static void ibcast(struct coll *c)
{
	MPI_Request r;

	MPI_Ibcast(c->rank == c->root ? c->send : c->recv, c->size, MPI_BYTE,
		   c->root, MPI_COMM_WORLD, &r);
	finish(&r);
}

static void ireduce(struct coll *c)
{
	MPI_Request r;

	MPI_Ireduce(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM, c->root,
		    MPI_COMM_WORLD, &r);
	finish(&r);
}

static void iallreduce(struct coll *c)
{
	MPI_Request r;

	MPI_Iallreduce(c->send, c->recv, c->doubles, MPI_DOUBLE, MPI_SUM,
		       MPI_COMM_WORLD, &r);
	finish(&r);
}

static void iallgather(struct coll *c)
{
	MPI_Request r;

	MPI_Iallgather(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		       MPI_COMM_WORLD, &r);
	finish(&r);
}

static void ialltoall(struct coll *c)
{
	MPI_Request r;

	MPI_Ialltoall(c->send, c->size, MPI_BYTE, c->recv, c->size, MPI_BYTE,
		      MPI_COMM_WORLD, &r);
	finish(&r);
}

static void ialltoallv(struct coll *c)
{
	MPI_Request r;

	MPI_Ialltoallv(c->send, c->counts, c->at, MPI_BYTE, c->recv, c->counts,
		       c->at, MPI_BYTE, MPI_COMM_WORLD, &r);
	finish(&r);
}

/* checking */

/* The block from one rank to another has a seed that names both. */
static uint64_t seed(const struct coll *c, int from, int to)
{
	return ((uint64_t)from * c->ranks + to) << 32;
}

static bool computes(enum kind kind)
{
	return kind == SUM || kind == SUM_PART || kind == PREFIX;
}

static void fill(struct coll *c)
{
	const struct coll_kind *k = c->command->data;
	double *vector = (double *)c->send;
	size_t block = c->size;

	memset(c->recv, 0x5a, block * c->ranks);
	for (int i = 0; i < c->ranks && !computes(k->kind); i++)
		perf_fill(c->send + i * block, block, seed(c, c->rank, i));
	for (long i = 0; i < (long)c->doubles * c->ranks && computes(k->kind);
	     i++)
		vector[i] = c->rank + 1;
}

static void check_sums(const struct coll *c, int ranks)
{
	const double *vector = (const double *)c->recv;

	for (int i = 0; i < c->doubles; i++)
		if (vector[i] != ranks * (ranks + 1) / 2.0)
			perf_fail("wrong sum in %s: %g", c->command->name,
				  vector[i]);
}

static void check_blocks(const struct coll *c, bool to_me)
{
	size_t block = c->size;

	for (int i = 0; i < c->ranks; i++)
		perf_check(c->recv + i * block, block,
			   seed(c, i, to_me ? c->rank : 0));
}

static void check_result(struct coll *c)
{
	const struct coll_kind *k = c->command->data;

	if (k->at_root && c->rank != c->root)
		return;
	switch (k->kind) {
	case NOTHING:
		break;
	case COPY:
		if (c->rank != c->root)
			perf_check(c->recv, c->size, seed(c, c->root, 0));
		break;
	case GIVE:
		perf_check(c->recv, c->size, seed(c, c->root, c->rank));
		break;
	case COLLECT:
		check_blocks(c, false);
		break;
	case SWAP:
		check_blocks(c, true);
		break;
	case SUM:
	case SUM_PART:
		check_sums(c, c->ranks);
		break;
	case PREFIX:
		if (!k->without_self)
			check_sums(c, c->rank + 1);
		else if (c->rank)
			check_sums(c, c->rank);
		break;
	}
}

static void check_once(struct coll *c)
{
	const struct coll_kind *k = c->command->data;

	fill(c);
	for (c->root = 0; c->root < c->ranks; c->root++) {
		k->once(c);
		check_result(c);
		if (!k->at_root && k->kind != COPY && k->kind != GIVE)
			break;
	}
	c->root = 0;
}

/* measuring */

static void step(void *arg, long times)
{
	struct coll *c = arg;
	const struct coll_kind *k = c->command->data;

	for (long i = 0; i < times; i++) {
		c->root = i % c->ranks;
		k->once(c);
	}
}

static void set_size(struct coll *c, int size)
{
	c->size = size;
	c->doubles = size / sizeof(double);
	c->send = perf_alloc((size_t)size * c->ranks);
	c->recv = perf_alloc((size_t)size * c->ranks);
	for (int i = 0; i < c->ranks; i++) {
		c->counts[i] = size;
		c->at[i] = size * i;
	}
}

static void run(struct perf *p)
{
	struct coll c = {
		.command = p->command,
		.rank = p->rank,
		.ranks = p->ranks,
		.counts = perf_alloc(p->ranks * sizeof(int)),
		.at = perf_alloc(p->ranks * sizeof(int)),
	};
	int sizes = p->n_sizes ? p->n_sizes : 1;

	for (int i = 0; i < sizes; i++) {
		struct perf_time t;

		set_size(&c, p->n_sizes ? p->sizes[i] : 0);
		if (p->check)
			check_once(&c);
		t = perf_measure(p, step, &c);
		perf_cell(p, "size", c.size);
		perf_cell(p, "usec", t.usual * 1e6);
		perf_cells_percentiles(p, &t, 1);
		perf_row_end(p);
		free(c.send);
		free(c.recv);
	}
	free(c.counts);
	free(c.at);
}

#define USUAL "8,1k,64k,1M"

#define COLLECTIVE(call, size_list, text, ...)                               \
	{                                                                    \
		.name = #call, .help = text, .run = run, .sizes = size_list, \
		.min_ranks = 1, .collective = true,                          \
		.data = &(const struct coll_kind){ .once = call,             \
						   .kind = __VA_ARGS__ },    \
	}

const struct perf_command perf_collectives[] = {
	COLLECTIVE(barrier, NULL, "MPI_Barrier", NOTHING),
	COLLECTIVE(bcast, USUAL, "MPI_Bcast", COPY),
	COLLECTIVE(reduce, USUAL, "MPI_Reduce", SUM, .at_root = true),
	COLLECTIVE(allreduce, USUAL, "MPI_Allreduce", SUM),
	COLLECTIVE(gather, USUAL, "MPI_Gather", COLLECT, .at_root = true),
	COLLECTIVE(gatherv, USUAL, "MPI_Gatherv", COLLECT, .at_root = true),
	COLLECTIVE(scatter, USUAL, "MPI_Scatter", GIVE),
	COLLECTIVE(scatterv, USUAL, "MPI_Scatterv", GIVE),
	COLLECTIVE(allgather, USUAL, "MPI_Allgather", COLLECT),
	COLLECTIVE(allgatherv, USUAL, "MPI_Allgatherv", COLLECT),
	COLLECTIVE(alltoall, USUAL, "MPI_Alltoall", SWAP),
	COLLECTIVE(alltoallv, USUAL, "MPI_Alltoallv", SWAP),
	COLLECTIVE(reduce_scatter_block, USUAL, "MPI_Reduce_scatter_block",
		   SUM_PART),
	COLLECTIVE(reduce_scatter, USUAL, "MPI_Reduce_scatter", SUM_PART),
	COLLECTIVE(scan, USUAL, "MPI_Scan", PREFIX),
	COLLECTIVE(exscan, USUAL, "MPI_Exscan", PREFIX, .without_self = true),
	COLLECTIVE(ibarrier, NULL, "MPI_Ibarrier", NOTHING),
	COLLECTIVE(ibcast, USUAL, "MPI_Ibcast", COPY),
	COLLECTIVE(ireduce, USUAL, "MPI_Ireduce", SUM, .at_root = true),
	COLLECTIVE(iallreduce, USUAL, "MPI_Iallreduce", SUM),
	COLLECTIVE(iallgather, USUAL, "MPI_Iallgather", COLLECT),
	COLLECTIVE(ialltoall, USUAL, "MPI_Ialltoall", SWAP),
	COLLECTIVE(ialltoallv, USUAL, "MPI_Ialltoallv", SWAP),
	{ .name = NULL },
};
