/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about virtual topologies share. */
#ifndef TOPO_H
#define TOPO_H

#include "comm/comm.h"

/*
 * The topology of a communicator. It never changes once it is made, so that a
 * duplicate shares it by counting. Every kind ends up as two lists: whom this
 * process receives from and whom it sends to in neighborhood collectives.
 */
struct mpii_topo {
	atomic_int refs;
	int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */

	/* MPI_CART */
	int ndims;
	int *dims, *periods, *coords; /* coords of this process */

	/* MPI_GRAPH: as given to MPI_Graph_create */
	int nnodes, nedges;
	int *index, *edges;

	int indegree, outdegree;
	int *sources, *destinations;
	int *in_weights, *out_weights; /* of no meaning unless weighted */
	bool weighted;
};

/* topo.c */

/* Both do nothing with NULL. */
void mpii_topo_hold(struct mpii_topo *t);
void mpii_topo_put(struct mpii_topo *t);
/* NULL: out of memory. */
struct mpii_topo *mpii_topo_create(int kind);
/* A copy of n ints, never NULL unless out of memory. */
int *mpii_topo_ints(const int *from, int n);
/* The communicator and its topology, or an error raised: MPI_ERR_COMM, or
 * MPI_ERR_TOPOLOGY when it has none of this kind (0: any). */
int mpii_topo_find(const char *func, MPI_Comm h, int kind, struct mpii_comm **c,
		   struct mpii_topo **t);
/* The same for the constructors: an intracommunicator and room for a result. */
int mpii_topo_parent(const char *func, MPI_Comm h, MPI_Comm *out,
		     struct mpii_comm **c);
/*
 * The end of every constructor, collective over @c: a communicator of the old
 * ranks order[0], order[1], … (all, as they are, when order is NULL) with
 * topology @t, or MPI_COMM_NULL where t is NULL. Takes t over.
 */
int mpii_topo_deliver(const char *func, struct mpii_comm *c, const int *order,
		      int n, struct mpii_topo *t, MPI_Comm *out);

/* cart.c */

/* Checks the arguments that describe a grid and counts its nodes. */
int mpii_cart_check(const char *func, struct mpii_comm *c, int ndims,
		    const int *dims, const int *periods, int *n);
/* Row-major, as the standard numbers a grid. */
void mpii_cart_coords(int ndims, const int *dims, int rank, int *coords);
int mpii_cart_rank(int ndims, const int *dims, const int *coords);

/* cart_map.c: which old rank should get which place in the grid of @n nodes;
 * malloc'ed, NULL: none is better than the order they have. Local. */
int *mpii_cart_order(const struct mpii_comm *c, int ndims, const int *dims,
		     const int *periods, int n);

#endif
