/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Dist_graph_create: any process names any edges. Every edge is sent to the
 * process where it begins and to the one where it ends. Both sort what they get
 * by who named it and when, so that several edges between the same two have one
 * order at both ends, which the messages of neighborhood collectives rely on.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/comm_set.h"
#include "env/errors.h"
#include "pt2pt/pt2pt.h"
#include "topo/dist_graph.h"

/* On its way to one of its ends. */
struct edge {
	int source, dest, weight;
};

/* All the edges between this process and each of the others. */
struct exchange {
	struct mpii_comm *c;
	struct mpii_set set; /* its context and tag */
	int *to, *from;	     /* edges for and of each rank */
	struct edge *out, *in;
	int nout, nin;
	struct mpii_req **reqs;
	int nreqs;
};

static int no_mem(void)
{
	return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

static int post_send(struct exchange *x, const void *buf, int bytes, int rank)
{
	int err = mpii_isend(buf, bytes, mpii_type_get(MPI_BYTE), rank,
			     x->set.tag, x->c, x->c->context + x->set.context,
			     MPII_STANDARD, &x->reqs[x->nreqs]);

	x->nreqs += !err;
	return err;
}

static int post_recv(struct exchange *x, void *buf, int bytes, int rank)
{
	int err = mpii_irecv(buf, bytes, mpii_type_get(MPI_BYTE), rank,
			     x->set.tag, x->c, x->c->context + x->set.context,
			     &x->reqs[x->nreqs]);

	x->nreqs += !err;
	return err;
}

/* Waits in any case: the buffers are in use. */
static int finish(struct exchange *x, int err)
{
	int late = mpii_wait_all(x->reqs, x->nreqs);

	x->nreqs = 0;
	return err ? err : late;
}

/* Everybody learns how many edges come from whom. */
static int swap_counts(struct exchange *x)
{
	int err = MPI_SUCCESS;

	for (int i = 0; i < x->c->size && !err; i++)
		err = post_recv(x, &x->from[i], sizeof(int), i);
	for (int i = 0; i < x->c->size && !err; i++)
		err = post_send(x, &x->to[i], sizeof(int), i);
	return finish(x, err);
}

static int swap_edges(struct exchange *x)
{
	struct edge *p = x->in;
	int err = MPI_SUCCESS;

	for (int i = 0; i < x->c->size && !err; p += x->from[i++])
		if (x->from[i])
			err = post_recv(x, p, x->from[i] * (int)sizeof(*p), i);
	p = x->out;
	for (int i = 0; i < x->c->size && !err; p += x->to[i++])
		if (x->to[i])
			err = post_send(x, p, x->to[i] * (int)sizeof(*p), i);
	return finish(x, err);
}

/* One copy for each end of an edge; one for both when it is a loop. */
static void count(struct exchange *x, int source, int dest)
{
	x->to[source]++;
	if (dest != source)
		x->to[dest]++;
}

static int prepare(struct exchange *x, struct mpii_comm *c)
{
	x->c = c;
	x->set = mpii_set_all(c);
	x->to = calloc(c->size, sizeof(int));
	x->from = calloc(c->size, sizeof(int));
	x->reqs = calloc(2 * (size_t)c->size, sizeof(*x->reqs));
	return x->to && x->from && x->reqs ? MPI_SUCCESS : no_mem();
}

static void release(struct exchange *x)
{
	free(x->to);
	free(x->from);
	free(x->reqs);
	free(x->out);
	free(x->in);
}

/* What the program gave, sorted by receiver, in the order given. */
static int sort_out(struct exchange *x, int n, const int *sources,
		    const int *degrees, const int *dests, const int *weights)
{
	struct edge **next = calloc(x->c->size, sizeof(*next)), e;
	int k = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < degrees[i]; j++)
			count(x, sources[i], dests[k++]);
	for (int i = 0; i < x->c->size; i++)
		x->nout += x->to[i];
	x->out = malloc((x->nout + 1) * sizeof(*x->out));
	if (!next || !x->out) {
		free(next);
		return no_mem();
	}
	next[0] = x->out;
	for (int i = 1; i < x->c->size; i++)
		next[i] = next[i - 1] + x->to[i - 1];
	k = 0;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < degrees[i]; j++, k++) {
			e = (struct edge){ sources[i], dests[k],
					   weights == MPI_UNWEIGHTED ?
						   0 :
						   weights[k] };
			*next[e.source]++ = e;
			if (e.dest != e.source)
				*next[e.dest]++ = e;
		}
	}
	free(next);
	return MPI_SUCCESS;
}

static int collect(struct exchange *x)
{
	int err = swap_counts(x);

	if (err)
		return err;
	for (int i = 0; i < x->c->size; i++)
		x->nin += x->from[i];
	x->in = malloc((x->nin + 1) * sizeof(*x->in));
	return x->in ? swap_edges(x) : no_mem();
}

/* The two lists of this process. NULL: out of memory. */
static struct mpii_topo *make(const struct exchange *x, bool weighted)
{
	struct mpii_topo *t = mpii_topo_create(MPI_DIST_GRAPH);
	int me = x->c->rank;

	if (!t)
		return NULL;
	t->weighted = weighted;
	t->sources = mpii_topo_ints(NULL, x->nin);
	t->destinations = mpii_topo_ints(NULL, x->nin);
	t->in_weights = mpii_topo_ints(NULL, x->nin);
	t->out_weights = mpii_topo_ints(NULL, x->nin);
	if (!t->sources || !t->destinations || !t->in_weights ||
	    !t->out_weights) {
		mpii_topo_put(t);
		return NULL;
	}
	for (const struct edge *e = x->in; e < x->in + x->nin; e++) {
		if (e->dest == me) {
			t->in_weights[t->indegree] = e->weight;
			t->sources[t->indegree++] = e->source;
		}
		if (e->source == me) {
			t->out_weights[t->outdegree] = e->weight;
			t->destinations[t->outdegree++] = e->dest;
		}
	}
	return t;
}

/* Weights are used by all or by none; somebody without edges does not mind. */
static int agree_weighted(struct mpii_comm *c, bool edges, const int *weights,
			  bool *weighted)
{
	struct mpii_set s = mpii_set_all(c);
	bool has = weights != MPI_UNWEIGHTED;
	/* nobody has edges with weights, edges without them, weights */
	uint64_t nobody[3] = { !(edges && has), !(edges && !has), !has };
	int err = mpii_set_and(&s, nobody, 3);

	*weighted = !nobody[0] || (nobody[1] && !nobody[2]);
	if (err || nobody[0] || nobody[1])
		return err;
	return mpii_fail(MPI_ERR_ARG, "weights is MPI_UNWEIGHTED at some "
				      "processes, but not at all");
}

static int check(const char *func, struct mpii_comm *c, int n,
		 const int *sources, const int *degrees,
		 struct mpii_edges_arg *dests)
{
	struct mpii_edges_arg from = { n,   sources,   MPI_UNWEIGHTED,
				       "n", "sources", "" };
	int err = mpii_dist_check_edges(func, c, &from);
	long long total = 0;

	if (err)
		return err;
	if (n > 0 && !degrees)
		return mpii_bad_null(c, func, "degrees");
	for (int i = 0; i < n; i++) {
		if (degrees[i] < 0)
			return mpii_error(c, MPI_ERR_ARG, func,
					  "degrees[%d] "
					  "is %d, but must not be negative",
					  i, degrees[i]);
		total += degrees[i];
	}
	if (total > INT32_MAX / 4)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "%lld edges in one call are too many", total);
	dests->n = (int)total;
	return mpii_dist_check_edges(func, c, dests);
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[],
			   const int degrees[], const int destinations[],
			   const int weights[], MPI_Info info, int reorder,
			   MPI_Comm *comm_dist_graph)
{
	static const char func[] = "MPI_Dist_graph_create";
	struct mpii_edges_arg dests = { 0,   destinations,   weights,
					"n", "destinations", "weights" };
	struct exchange x = { .nreqs = 0 };
	struct mpii_topo *t = NULL;
	struct mpii_comm *c;
	bool weighted;
	int err = mpii_topo_parent(func, comm_old, comm_dist_graph, &c);

	if (!err)
		err = check(func, c, n, sources, degrees, &dests);
	if (!err)
		err = mpii_dist_check_info(func, c, info);
	if (err)
		return err;
	err = agree_weighted(c, dests.n > 0, weights, &weighted);
	if (!err)
		err = prepare(&x, c);
	if (!err)
		err = sort_out(&x, n, sources, degrees, destinations, weights);
	if (!err)
		err = collect(&x);
	if (!err) {
		t = make(&x, weighted);
		if (!t)
			err = no_mem();
	}
	release(&x);
	if (err)
		return mpii_raise(c, err, func);
	return mpii_topo_deliver(func, c, NULL, c->size, t, comm_dist_graph);
}
MPII_ALIAS(Dist_graph_create);
