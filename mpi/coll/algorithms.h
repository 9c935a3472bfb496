/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every algorithm. What each does and costs is told at the top of its file. In
 * the reductions `in` is never MPI_IN_PLACE: it is `out` then. Gathers to all
 * work in place: the block of this rank is already where it belongs.
 */
#ifndef COLL_ALGORITHMS_H
#define COLL_ALGORITHMS_H

#include "coll/coll.h"

/* The choice among them, as phases of others. */
coll_fn coll_barrier, coll_bcast, coll_reduce, coll_allreduce;

int mpii_barrier_dissemination(const struct coll *k);
int mpii_barrier_shared(const struct coll *k);
int mpii_barrier_nodes(const struct coll *k);
int mpii_barrier_central(const struct coll *k);
int mpii_barrier_inter(const struct coll *k);

int mpii_bcast_binomial(const struct coll *k, void *buf, MPI_Count count,
			struct mpii_type *t, int root);
int mpii_bcast_shared(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root);
int mpii_bcast_pieces(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root);
int mpii_bcast_nodes(const struct coll *k, void *buf, MPI_Count count,
		     struct mpii_type *t, int root);
int mpii_bcast_linear(const struct coll *k, void *buf, MPI_Count count,
		      struct mpii_type *t, int root);
int mpii_bcast_scatter_allgather(const struct coll *k, void *buf,
				 MPI_Count count, struct mpii_type *t,
				 int root);

int mpii_gather_shared(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r,
		       int root);
int mpii_gather_pieces(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r,
		       int root);
int mpii_gatherv_shared(const struct coll *k, const void *in, MPI_Count count,
			struct mpii_type *t, const struct coll_side *r,
			int root);
int mpii_gather_linear(const struct coll *k, const void *in, MPI_Count count,
		       struct mpii_type *t, const struct coll_side *r,
		       int root);
int mpii_gather_binomial(const struct coll *k, const void *in, MPI_Count count,
			 struct mpii_type *t, const struct coll_side *r,
			 int root);
int mpii_scatter_shared(const struct coll *k, const struct coll_side *s,
			void *out, MPI_Count count, struct mpii_type *t,
			int root);
int mpii_scatterv_shared(const struct coll *k, const struct coll_side *s,
			 void *out, MPI_Count count, struct mpii_type *t,
			 int root);
int mpii_scatter_linear(const struct coll *k, const struct coll_side *s,
			void *out, MPI_Count count, struct mpii_type *t,
			int root);
int mpii_scatter_binomial(const struct coll *k, const struct coll_side *s,
			  void *out, MPI_Count count, struct mpii_type *t,
			  int root);

int mpii_allgather_shared(const struct coll *k, const struct coll_side *r);
int mpii_allgather_pull(const struct coll *k, const struct coll_side *r);
int mpii_allgather_direct(const struct coll *k, const struct coll_side *r);
int mpii_allgather_ring(const struct coll *k, const struct coll_side *r);
int mpii_allgather_doubling(const struct coll *k, const struct coll_side *r);
int mpii_allgather_bruck(const struct coll *k, const struct coll_side *r);
int mpii_allgather_inter(const struct coll *k, const void *in, MPI_Count count,
			 struct mpii_type *t, const struct coll_side *r);
/* Blocks of all ranks in place, by size: for algorithms that end like that. */
int mpii_allgather_blocks(const struct coll *k, const struct coll_side *r,
			  MPI_Count bytes);

int mpii_alltoall_shared(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r);
int mpii_alltoall_boxes(const struct coll *k, const struct coll_side *s,
			const struct coll_side *r);
int mpii_alltoall_pieces(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r);
int mpii_alltoall_pull(const struct coll *k, const struct coll_side *s,
		       const struct coll_side *r);
int mpii_alltoallv_shared(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r);
int mpii_alltoall_central(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r);
int mpii_alltoall_direct(const struct coll *k, const struct coll_side *s,
			 const struct coll_side *r);
int mpii_alltoall_pairwise(const struct coll *k, const struct coll_side *s,
			   const struct coll_side *r);
int mpii_alltoall_bruck(const struct coll *k, const struct coll_side *s,
			const struct coll_side *r);
/* In place: what r holds is sent, from a packed copy. */
int mpii_alltoall_in_place(const struct coll *k, const struct coll_side *r);

int mpii_reduce_shared(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       int root);
int mpii_reduce_pieces(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       int root);
int mpii_reduce_nodes(const struct coll *k, const void *in, void *out,
		      MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		      int root);
int mpii_reduce_binomial(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op, int root);
int mpii_reduce_scatter_gather(const struct coll *k, const void *in, void *out,
			       MPI_Count count, struct mpii_type *t,
			       struct mpii_op *op, int root);
int mpii_reduce_inter(const struct coll *k, const void *in, void *out,
		      MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		      int root);

int mpii_allreduce_shared(const struct coll *k, const void *in, void *out,
			  MPI_Count count, struct mpii_type *t,
			  struct mpii_op *op);
int mpii_allreduce_pieces(const struct coll *k, const void *in, void *out,
			  MPI_Count count, struct mpii_type *t,
			  struct mpii_op *op);
int mpii_allreduce_nodes(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op);
int mpii_allreduce_central(const struct coll *k, const void *in, void *out,
			   MPI_Count count, struct mpii_type *t,
			   struct mpii_op *op);
int mpii_allreduce_doubling(const struct coll *k, const void *in, void *out,
			    MPI_Count count, struct mpii_type *t,
			    struct mpii_op *op);
int mpii_allreduce_scatter_allgather(const struct coll *k, const void *in,
				     void *out, MPI_Count count,
				     struct mpii_type *t, struct mpii_op *op);
int mpii_allreduce_rabenseifner(const struct coll *k, const void *in, void *out,
				MPI_Count count, struct mpii_type *t,
				struct mpii_op *op);
int mpii_allreduce_inter(const struct coll *k, const void *in, void *out,
			 MPI_Count count, struct mpii_type *t,
			 struct mpii_op *op);

int mpii_reduce_scatter_shared(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op);
/* `out` is the place of this rank's block and must not be part of `in`. */
int mpii_reduce_scatter_direct(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op);
int mpii_reduce_scatter_pairwise(const struct coll *k, const void *in,
				 void *out, const MPI_Count *counts,
				 struct mpii_type *t, struct mpii_op *op);
int mpii_reduce_scatter_reduce(const struct coll *k, const void *in, void *out,
			       const MPI_Count *counts, struct mpii_type *t,
			       struct mpii_op *op);
int mpii_reduce_scatter_inter(const struct coll *k, const void *in, void *out,
			      const MPI_Count *counts, struct mpii_type *t,
			      struct mpii_op *op);

int mpii_scan_shared(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool exclusive);
int mpii_scan_pieces(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool is_exclusive);
int mpii_scan_doubling(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       bool exclusive);
int mpii_scan_pipeline(const struct coll *k, const void *in, void *out,
		       MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		       bool exclusive);
int mpii_scan_linear(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool exclusive);

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
