/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Virtual topologies: the object, and what all kinds have in common. */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "topo/topo.h"

struct mpii_topo *mpii_topo_create(int kind)
{
	struct mpii_topo *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->refs = 1;
	t->kind = kind;
	return t;
}

void mpii_topo_hold(struct mpii_topo *t)
{
	if (t)
		atomic_fetch_add(&t->refs, 1);
}

void mpii_topo_put(struct mpii_topo *t)
{
	if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
		return;
	free(t->dims);
	free(t->periods);
	free(t->coords);
	free(t->index);
	free(t->edges);
	free(t->sources);
	free(t->destinations);
	free(t->in_weights);
	free(t->out_weights);
	free(t);
}

int *mpii_topo_ints(const int *from, int n)
{
	int *copy = malloc(((size_t)n + 1) * sizeof(*copy));

	if (copy && n > 0 && from)
		memcpy(copy, from, n * sizeof(*copy));
	return copy;
}

static const char *kind_words(int kind)
{
	switch (kind) {
	case MPI_CART:
		return "cartesian";
	case MPI_GRAPH:
		return "graph";
	case MPI_DIST_GRAPH:
		return "distributed graph";
	default:
		return "virtual";
	}
}

int mpii_topo_find(const char *func, MPI_Comm h, int kind, struct mpii_comm **c,
		   struct mpii_topo **t)
{
	*c = mpii_comm_get(h);
	if (!*c)
		return mpii_bad_comm(h, func);
	*t = (*c)->topology;
	if (*t && (!kind || (*t)->kind == kind))
		return MPI_SUCCESS;
	return mpii_error(*c, MPI_ERR_TOPOLOGY, func, "%s has no %s topology%s",
			  mpii_comm_words(*c), kind_words(kind),
			  *t ? ", but another one" : "");
}

int mpii_topo_parent(const char *func, MPI_Comm h, MPI_Comm *out,
		     struct mpii_comm **c)
{
	*c = mpii_comm_get(h);
	if (!*c)
		return mpii_bad_comm(h, func);
	if ((*c)->inter)
		return mpii_error(*c, MPI_ERR_COMM, func,
				  "%s is an intercommunicator: a topology "
				  "needs one group",
				  mpii_comm_words(*c));
	if (!out)
		return mpii_bad_null(*c, func, "the new communicator");
	*out = MPI_COMM_NULL; /* what a program sees if it goes wrong later */
	return MPI_SUCCESS;
}

static struct mpii_group *members(struct mpii_comm *c, const int *order, int n)
{
	int *peers;

	if (!order && n == c->size) {
		mpii_group_hold(c->group);
		return c->group;
	}
	peers = malloc(n * sizeof(*peers));
	for (int i = 0; peers && i < n; i++)
		peers[i] = mpii_comm_peer(c, order ? order[i] : i);
	return peers ? mpii_group_create(n, peers) : NULL;
}

int mpii_topo_deliver(const char *func, struct mpii_comm *c, const int *order,
		      int n, struct mpii_topo *t, MPI_Comm *out)
{
	struct mpii_group *g;
	struct mpii_comm *new;
	uint32_t context;
	int err = mpii_context_agree(c, &context);

	if (err) {
		mpii_topo_put(t);
		return mpii_raise(c, err, func);
	}
	if (!t) {
		mpii_context_free(context);
		*out = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	g = members(c, order, n);
	if (!g)
		mpii_context_free(context);
	new = g ? mpii_comm_create(g, context) : NULL;
	if (new)
		new->topology = t;
	else
		mpii_topo_put(t);
	return mpii_comm_deliver(new, c, out, func);
}

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Topo_test");
	if (!status)
		return mpii_bad_null(c, "MPI_Topo_test", "status");
	*status = c->topology ? c->topology->kind : MPI_UNDEFINED;
	return MPI_SUCCESS;
}
MPII_ALIAS(Topo_test);
