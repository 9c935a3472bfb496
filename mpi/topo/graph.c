/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Graph topologies: every process knows the whole graph. */
#include <string.h>

#include "env/errors.h"
#include "topo/topo.h"

static int check_index(const char *func, struct mpii_comm *c, int nnodes,
		       const int *index)
{
	for (int i = 0, before = 0; i < nnodes; before = index[i++])
		if (index[i] < before)
			return mpii_error(c, MPI_ERR_ARG, func,
					  "index[%d] is %d, but must not be "
					  "less than %d",
					  i, index[i], before);
	return MPI_SUCCESS;
}

/* The arguments that describe a graph. */
static int check(const char *func, struct mpii_comm *c, int nnodes,
		 const int *index, const int *edges)
{
	int err;

	if (nnodes < 0 || nnodes > c->size)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "nnodes is %d, but "
				  "must be between 0 and the %d ranks of %s",
				  nnodes, c->size, mpii_comm_words(c));
	if (nnodes == 0)
		return MPI_SUCCESS;
	if (!index)
		return mpii_bad_null(c, func, "index");
	err = check_index(func, c, nnodes, index);
	if (err)
		return err;
	if (index[nnodes - 1] > 0 && !edges)
		return mpii_bad_null(c, func, "edges");
	for (int i = 0; i < index[nnodes - 1]; i++)
		if (edges[i] < 0 || edges[i] >= nnodes)
			return mpii_error(c, MPI_ERR_ARG, func,
					  "edges[%d] is "
					  "%d, but the graph has %d node%s",
					  i, edges[i], nnodes,
					  nnodes == 1 ? "" : "s");
	return MPI_SUCCESS;
}

static int first_edge(const struct mpii_topo *t, int rank)
{
	return rank ? t->index[rank - 1] : 0;
}

static int degree(const struct mpii_topo *t, int rank)
{
	return t->index[rank] - first_edge(t, rank);
}

/* NULL: out of memory. */
static struct mpii_topo *make(int nnodes, const int *index, const int *edges,
			      int rank)
{
	struct mpii_topo *t = mpii_topo_create(MPI_GRAPH);
	const int *first;

	if (!t)
		return NULL;
	t->nnodes = nnodes;
	t->nedges = index[nnodes - 1];
	t->index = mpii_topo_ints(index, nnodes);
	t->edges = mpii_topo_ints(edges, t->nedges);
	if (t->index && t->edges) {
		t->indegree = t->outdegree = degree(t, rank);
		first = t->edges + first_edge(t, rank);
		t->sources = mpii_topo_ints(first, t->indegree);
		t->destinations = mpii_topo_ints(first, t->outdegree);
	}
	if (!t->sources || !t->destinations) {
		mpii_topo_put(t);
		return NULL;
	}
	return t;
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[],
		      const int edges[], int reorder, MPI_Comm *comm_graph)
{
	static const char func[] = "MPI_Graph_create";
	struct mpii_topo *t = NULL;
	struct mpii_comm *c;
	int err = mpii_topo_parent(func, comm_old, comm_graph, &c);

	if (!err)
		err = check(func, c, nnodes, index, edges);
	if (err)
		return err;
	if (c->rank < nnodes) {
		t = make(nnodes, index, edges, c->rank);
		if (!t)
			return mpii_no_mem(c, func);
	}
	return mpii_topo_deliver(func, c, NULL, nnodes, t, comm_graph);
}
MPII_ALIAS(Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[],
		   const int edges[], int *newrank)
{
	static const char func[] = "MPI_Graph_map";
	struct mpii_comm *c;
	int err;

	c = mpii_comm_get(comm);
	if (!c)
		return mpii_bad_comm(comm, func);
	if (c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "comm is an intercommunicator");
	if (!newrank)
		return mpii_bad_null(c, func, "newrank");
	err = check(func, c, nnodes, index, edges);
	if (err)
		return err;
	*newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
MPII_ALIAS(Graph_map);

/* --- questions --- */

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
	static const char func[] = "MPI_Graphdims_get";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_GRAPH, &c, &t);

	if (err)
		return err;
	if (!nnodes || !nedges)
		return mpii_bad_null(c, func, nnodes ? "nedges" : "nnodes");
	*nnodes = t->nnodes;
	*nedges = t->nedges;
	return MPI_SUCCESS;
}
MPII_ALIAS(Graphdims_get);

static int too_few(const char *func, struct mpii_comm *c, const char *arg,
		   int room, int need)
{
	return mpii_error(c, MPI_ERR_ARG, func, "%s is %d, but %d are needed",
			  arg, room, need);
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[],
		   int edges[])
{
	static const char func[] = "MPI_Graph_get";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_GRAPH, &c, &t);

	if (err)
		return err;
	if (maxindex < t->nnodes)
		return too_few(func, c, "maxindex", maxindex, t->nnodes);
	if (maxedges < t->nedges)
		return too_few(func, c, "maxedges", maxedges, t->nedges);
	if (!index || (t->nedges && !edges))
		return mpii_bad_null(c, func, index ? "edges" : "index");
	memcpy(index, t->index, t->nnodes * sizeof(*index));
	if (t->nedges)
		memcpy(edges, t->edges, t->nedges * sizeof(*edges));
	return MPI_SUCCESS;
}
MPII_ALIAS(Graph_get);

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
	static const char func[] = "MPI_Graph_neighbors_count";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_GRAPH, &c, &t);

	if (err)
		return err;
	if (rank < 0 || rank >= c->size)
		return mpii_bad_rank(c, rank, func, "rank");
	if (!nneighbors)
		return mpii_bad_null(c, func, "nneighbors");
	*nneighbors = degree(t, rank);
	return MPI_SUCCESS;
}
MPII_ALIAS(Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors,
			 int neighbors[])
{
	static const char func[] = "MPI_Graph_neighbors";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int n, err = mpii_topo_find(func, comm, MPI_GRAPH, &c, &t);

	if (err)
		return err;
	if (rank < 0 || rank >= c->size)
		return mpii_bad_rank(c, rank, func, "rank");
	n = degree(t, rank);
	if (maxneighbors < n)
		return too_few(func, c, "maxneighbors", maxneighbors, n);
	if (n && !neighbors)
		return mpii_bad_null(c, func, "neighbors");
	if (n)
		memcpy(neighbors, t->edges + first_edge(t, rank),
		       n * sizeof(*neighbors));
	return MPI_SUCCESS;
}
MPII_ALIAS(Graph_neighbors);
