/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every algorithm, declared from table.def. What each does and costs is told at
 * the top of its file. In the reductions `in` is never MPI_IN_PLACE: it is `out`
 * then. Gathers to all work in place: the block of this rank is already where it
 * belongs.
 */
#ifndef COLL_ALGORITHMS_H
#define COLL_ALGORITHMS_H

#include "coll/coll.h"

/* The choice among them, as phases of others. */
coll_fn coll_barrier, coll_bcast, coll_reduce, coll_allreduce;

/*
 * What the algorithms of a collective take, and where that comes from in a call
 * (k, a) of it: for each collective once.
 */
#define COLL_TAKES_barrier (const struct coll *k)
#define COLL_ARGS_barrier (k)

#define COLL_TAKES_bcast                                   \
	(const struct coll *k, void *buf, MPI_Count count, \
	 struct mpii_type *t, int root)
#define COLL_ARGS_bcast (k, a->r.buf, a->r.count, a->r.t, a->root)

#define COLL_TAKES_gather                                       \
	(const struct coll *k, const void *in, MPI_Count count, \
	 struct mpii_type *t, const struct coll_side *r, int root)
#define COLL_ARGS_gather (k, a->s.buf, a->s.count, a->s.t, &a->r, a->root)
#define COLL_TAKES_gatherv COLL_TAKES_gather
#define COLL_ARGS_gatherv COLL_ARGS_gather

#define COLL_TAKES_scatter                                           \
	(const struct coll *k, const struct coll_side *s, void *out, \
	 MPI_Count count, struct mpii_type *t, int root)
#define COLL_ARGS_scatter (k, &a->s, a->r.buf, a->r.count, a->r.t, a->root)
#define COLL_TAKES_scatterv COLL_TAKES_scatter
#define COLL_ARGS_scatterv COLL_ARGS_scatter

#define COLL_TAKES_allgather (const struct coll *k, const struct coll_side *r)
#define COLL_ARGS_allgather (k, &a->r)
#define COLL_ARGS_allgatherv COLL_ARGS_allgather

#define COLL_TAKES_alltoall                               \
	(const struct coll *k, const struct coll_side *s, \
	 const struct coll_side *r)
#define COLL_ARGS_alltoall (k, &a->s, &a->r)
#define COLL_TAKES_alltoallv COLL_TAKES_alltoall
#define COLL_ARGS_alltoallv COLL_ARGS_alltoall
#define COLL_ARGS_alltoallw COLL_ARGS_alltoall

#define COLL_TAKES_reduce                                                  \
	(const struct coll *k, const void *in, void *out, MPI_Count count, \
	 struct mpii_type *t, struct mpii_op *op, int root)
#define COLL_ARGS_reduce \
	(k, a->s.buf, a->r.buf, a->r.count, a->r.t, a->op, a->root)

#define COLL_TAKES_allreduce                                               \
	(const struct coll *k, const void *in, void *out, MPI_Count count, \
	 struct mpii_type *t, struct mpii_op *op)
#define COLL_ARGS_allreduce (k, a->s.buf, a->r.buf, a->r.count, a->r.t, a->op)

#define COLL_TAKES_reduce_scatter                         \
	(const struct coll *k, const void *in, void *out, \
	 const MPI_Count *counts, struct mpii_type *t, struct mpii_op *op)
#define COLL_ARGS_reduce_scatter \
	(k, a->s.buf, a->r.buf, a->r.counts, a->r.t, a->op)
#define COLL_ARGS_reduce_scatter_block COLL_ARGS_reduce_scatter

#define COLL_TAKES_scan                                                    \
	(const struct coll *k, const void *in, void *out, MPI_Count count, \
	 struct mpii_type *t, struct mpii_op *op, bool exclusive)
#define COLL_ARGS_scan (k, a->s.buf, a->r.buf, a->r.count, a->r.t, a->op, false)
#define COLL_ARGS_exscan \
	(k, a->s.buf, a->r.buf, a->r.count, a->r.t, a->op, true)

#define COLL_ROW(collective, algorithm, ...) \
	int mpii_##collective##_##algorithm COLL_TAKES_##collective;
#define COLL_AS(...)
#include "coll/table.def"

/* What is no choice: between the groups of an intercommunicator ... */
int mpii_barrier_inter COLL_TAKES_barrier;
int mpii_allgather_inter(const struct coll *k, const void *in, MPI_Count count,
			 struct mpii_type *t, const struct coll_side *r);
int mpii_reduce_inter COLL_TAKES_reduce;
int mpii_allreduce_inter COLL_TAKES_allreduce;
int mpii_reduce_scatter_inter COLL_TAKES_reduce_scatter;
/* ... and in place: what r holds is sent, from a packed copy. */
int mpii_alltoall_in_place(const struct coll *k, const struct coll_side *r);

/* Blocks of all ranks in place, by size: for algorithms that end like that. */
int mpii_allgather_blocks(const struct coll *k, const struct coll_side *r,
			  MPI_Count bytes);

/* Ranks up to which all messages of a round are posted at once. */
#define COLL_DIRECT_RANKS 32

/* Equal shares of count, the first ones larger by one: where share i begins. */
static inline MPI_Count coll_share(MPI_Count count, int n, int i)
{
	MPI_Count extra = count % n;

	return count / n * i + (i < extra ? i : extra);
}

/* All shares as blocks of s; a, of room for n, keeps them. */
static inline void coll_shares(struct coll_arrays *a, MPI_Count count, int n,
			       struct coll_side *s)
{
	for (int i = 0; i < n; i++) {
		a->displs[i] = coll_share(count, n, i);
		a->counts[i] = coll_share(count, n, i + 1) - a->displs[i];
	}
	s->counts = a->counts;
	s->displs = a->displs;
}

/* Blocks of these counts, one behind the other, as those of s; a keeps where they
 * begin. Returns the sum. */
static inline MPI_Count coll_row(struct coll_arrays *a, const MPI_Count *counts,
				 int n, struct coll_side *s)
{
	MPI_Count total = 0;

	for (int i = 0; i < n; i++) {
		a->displs[i] = total;
		total += counts[i];
	}
	s->counts = counts;
	s->displs = a->displs;
	return total;
}

#endif
