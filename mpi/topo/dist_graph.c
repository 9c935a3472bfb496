/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Distributed graph topologies: every process knows its own edges. Either it
 * gives them itself (adjacent), or any process gives any edges and they are
 * sent to where they begin and where they end (dist_graph_edges.c).
 */
#include <string.h>

#include "env/errors.h"
#include "info/info.h"
#include "topo/dist_graph.h"

int mpii_dist_check_edges(const char *func, struct mpii_comm *c,
			  const struct mpii_edges_arg *a)
{
	if (a->n < 0)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "%s is %d, but must "
				  "not be negative",
				  a->n_name, a->n);
	if (a->n == 0)
		return MPI_SUCCESS;
	if (!a->ranks)
		return mpii_bad_null(c, func, a->ranks_name);
	for (int i = 0; i < a->n; i++)
		if (a->ranks[i] < 0 || a->ranks[i] >= c->size)
			return mpii_error(c, MPI_ERR_RANK, func,
					  "%s[%d] is "
					  "%d, but %s has %d rank%s",
					  a->ranks_name, i, a->ranks[i],
					  mpii_comm_words(c), c->size,
					  c->size == 1 ? "" : "s");
	if (a->weights == MPI_UNWEIGHTED)
		return MPI_SUCCESS;
	if (!a->weights || a->weights == MPI_WEIGHTS_EMPTY)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "%s is %s, but there "
				  "are %d edges",
				  a->weights_name,
				  a->weights ? "MPI_WEIGHTS_EMPTY" :
					       "a null pointer",
				  a->n);
	for (int i = 0; i < a->n; i++)
		if (a->weights[i] < 0)
			return mpii_error(c, MPI_ERR_ARG, func,
					  "%s[%d] is %d, "
					  "but must not be negative",
					  a->weights_name, i, a->weights[i]);
	return MPI_SUCCESS;
}

int mpii_dist_check_info(const char *func, struct mpii_comm *c, MPI_Info info)
{
	if (info == MPI_INFO_NULL || mpii_info_get(info))
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_INFO, func,
			  "info is not an info object or was freed");
}

/* NULL: out of memory. */
static struct mpii_topo *make(const struct mpii_edges_arg *in,
			      const struct mpii_edges_arg *out)
{
	struct mpii_topo *t = mpii_topo_create(MPI_DIST_GRAPH);
	bool ok;

	if (!t)
		return NULL;
	t->weighted = in->weights != MPI_UNWEIGHTED;
	t->indegree = in->n;
	t->outdegree = out->n;
	t->sources = mpii_topo_ints(in->ranks, in->n);
	t->destinations = mpii_topo_ints(out->ranks, out->n);
	ok = t->sources && t->destinations;
	if (t->weighted) {
		t->in_weights = mpii_topo_ints(in->weights, in->n);
		t->out_weights = mpii_topo_ints(out->weights, out->n);
		ok = ok && t->in_weights && t->out_weights;
	}
	if (ok)
		return t;
	mpii_topo_put(t);
	return NULL;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree,
				    const int sources[],
				    const int sourceweights[], int outdegree,
				    const int destinations[],
				    const int destweights[], MPI_Info info,
				    int reorder, MPI_Comm *comm_dist_graph)
{
	static const char func[] = "MPI_Dist_graph_create_adjacent";
	struct mpii_edges_arg in = { indegree,	 sources,   sourceweights,
				     "indegree", "sources", "sourceweights" };
	struct mpii_edges_arg out = {
		outdegree,   destinations,   destweights,
		"outdegree", "destinations", "destweights"
	};
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_parent(func, comm_old, comm_dist_graph, &c);

	if (!err)
		err = mpii_dist_check_edges(func, c, &in);
	if (!err)
		err = mpii_dist_check_edges(func, c, &out);
	if (!err)
		err = mpii_dist_check_info(func, c, info);
	if (err)
		return err;
	if ((sourceweights == MPI_UNWEIGHTED) !=
	    (destweights == MPI_UNWEIGHTED))
		return mpii_error(c, MPI_ERR_ARG, func,
				  "one of sourceweights "
				  "and destweights is MPI_UNWEIGHTED, the "
				  "other is not");
	t = make(&in, &out);
	if (!t)
		return mpii_no_mem(c, func);
	return mpii_topo_deliver(func, c, NULL, c->size, t, comm_dist_graph);
}
MPII_ALIAS(Dist_graph_create_adjacent);

/* --- questions --- */

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree,
				    int *outdegree, int *weighted)
{
	static const char func[] = "MPI_Dist_graph_neighbors_count";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_DIST_GRAPH, &c, &t);

	if (err)
		return err;
	if (!indegree || !outdegree || !weighted)
		return mpii_bad_null(c, func,
				     !indegree	? "indegree" :
				     !outdegree ? "outdegree" :
						  "weighted");
	*indegree = t->indegree;
	*outdegree = t->outdegree;
	*weighted = t->weighted;
	return MPI_SUCCESS;
}
MPII_ALIAS(Dist_graph_neighbors_count);

/* As much of one list as the program has room for. */
static void give(int max, int n, const int *ranks, const int *weights,
		 int *out_ranks, int *out_weights)
{
	if (n > max)
		n = max;
	if (n <= 0)
		return;
	memcpy(out_ranks, ranks, n * sizeof(*ranks));
	if (weights && out_weights != MPI_UNWEIGHTED &&
	    out_weights != MPI_WEIGHTS_EMPTY)
		memcpy(out_weights, weights, n * sizeof(*weights));
}

static int check_room(const char *func, struct mpii_comm *c, int max, int n,
		      const char *max_name, const int *ranks,
		      const char *ranks_name)
{
	if (max < 0)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "%s is %d, but must "
				  "not be negative",
				  max_name, max);
	if (max > 0 && n > 0 && !ranks)
		return mpii_bad_null(c, func, ranks_name);
	return MPI_SUCCESS;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[],
			      int sourceweights[], int maxoutdegree,
			      int destinations[], int destweights[])
{
	static const char func[] = "MPI_Dist_graph_neighbors";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_DIST_GRAPH, &c, &t);

	if (!err)
		err = check_room(func, c, maxindegree, t->indegree,
				 "maxindegree", sources, "sources");
	if (!err)
		err = check_room(func, c, maxoutdegree, t->outdegree,
				 "maxoutdegree", destinations, "destinations");
	if (err)
		return err;
	if (t->weighted && ((maxindegree && t->indegree && !sourceweights) ||
			    (maxoutdegree && t->outdegree && !destweights)))
		return mpii_bad_null(c, func,
				     sourceweights ? "destweights" :
						     "sourceweights");
	give(maxindegree, t->indegree, t->sources,
	     t->weighted ? t->in_weights : NULL, sources, sourceweights);
	give(maxoutdegree, t->outdegree, t->destinations,
	     t->weighted ? t->out_weights : NULL, destinations, destweights);
	return MPI_SUCCESS;
}
MPII_ALIAS(Dist_graph_neighbors);
