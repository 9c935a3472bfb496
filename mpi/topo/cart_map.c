/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which process gets which place in a grid, when the program lets us choose.
 *
 * Neighbors in the grid should share a node. So the grid is cut into blocks of
 * as many places as a node has processes, of the shape that cuts the fewest
 * links, and a node fills a block. That needs the same number of processes
 * on every node and a shape that divides the grid; otherwise, and where all are
 * on one node, the order stays as it is. Everything is computed from what the
 * launcher said about nodes, so it is local, and the same everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "process/nodes.h"
#include "topo/topo.h"

/* --- the shape of a block --- */

struct shape {
	int ndims;
	const int *dims, *periods;
	int *now, *best;
	double cut; /* links of the grid that leave a block, for best */
};

static double links(const struct shape *s)
{
	double nodes = 1, sum = 0;
	int blocks;

	for (int i = 0; i < s->ndims; i++)
		nodes *= s->dims[i];
	for (int i = 0; i < s->ndims; i++) {
		blocks = s->dims[i] / s->now[i];
		if (blocks > 1)
			sum += (blocks - !s->periods[i]) * nodes / s->dims[i];
	}
	return sum;
}

/* Every way to spread @left places over the dimensions from @i on. */
static void try_shapes(struct shape *s, int i, int left)
{
	if (i == s->ndims) {
		if (left == 1 && links(s) < s->cut) {
			s->cut = links(s);
			memcpy(s->best, s->now, s->ndims * sizeof(int));
		}
		return;
	}
	for (int f = 1; f <= left && f <= s->dims[i]; f++) {
		if (left % f || s->dims[i] % f)
			continue;
		s->now[i] = f;
		try_shapes(s, i + 1, left / f);
	}
}

/* The best block of @places, malloc'ed; NULL: none divides the grid. */
static int *best_block(int ndims, const int *dims, const int *periods,
		       int places)
{
	struct shape s = { .ndims = ndims,
			   .dims = dims,
			   .periods = periods,
			   .cut = 1e300 };

	s.now = mpii_topo_ints(NULL, ndims);
	s.best = mpii_topo_ints(NULL, ndims);
	if (s.now && s.best)
		try_shapes(&s, 0, places);
	free(s.now);
	if (s.cut < 1e300)
		return s.best;
	free(s.best);
	return NULL;
}

/* --- who is on which node --- */

static int node_of(const struct mpii_comm *c, int rank)
{
	return mpii_node_of(mpii_comm_peer(c, rank));
}

/*
 * Old ranks by node, in the order nodes appear, *per of them each. NULL: they
 * are on one node, or on nodes with unlike numbers, or nobody knows.
 */
static int *by_node(const struct mpii_comm *c, int n, int *per)
{
	int *ranks, k = 0, count;
	char *done;

	*per = 0;
	if (c->group->others || !mpii_nodes_known())
		return NULL;
	ranks = malloc(n * sizeof(*ranks));
	done = calloc(n, 1);
	for (int i = 0; ranks && done && i < n; i++) {
		if (done[i])
			continue;
		count = 0;
		for (int j = i; j < n; j++) {
			if (done[j] || node_of(c, j) != node_of(c, i))
				continue;
			done[j] = 1;
			ranks[k++] = j;
			count++;
		}
		if (*per && count != *per)
			k = -n; /* unlike numbers: never n again */
		*per = count;
		if (k < 0)
			break;
	}
	free(done);
	if (k == n && 1 < *per && *per < n)
		return ranks;
	free(ranks);
	return NULL;
}

/* Fill block after block with node after node. */
static void fill(int ndims, const int *dims, const int *block, const int *ranks,
		 int n, int *order, int *coords)
{
	int inner, outer, per = 1;

	for (int i = 0; i < ndims; i++)
		per *= block[i];
	for (int k = 0; k < n; k++) {
		inner = k % per;
		outer = k / per;
		for (int i = ndims - 1; i >= 0; i--) {
			coords[i] = outer % (dims[i] / block[i]) * block[i] +
				    inner % block[i];
			outer /= dims[i] / block[i];
			inner /= block[i];
		}
		order[mpii_cart_rank(ndims, dims, coords)] = ranks[k];
	}
}

int *mpii_cart_order(const struct mpii_comm *c, int ndims, const int *dims,
		     const int *periods, int n)
{
	int per, *ranks = by_node(c, n, &per), *block = NULL;
	int *order = NULL, *coords = NULL;

	if (ranks)
		block = best_block(ndims, dims, periods, per);
	if (block) {
		order = mpii_topo_ints(NULL, n);
		coords = mpii_topo_ints(NULL, ndims);
	}
	if (order && coords) {
		fill(ndims, dims, block, ranks, n, order, coords);
	} else {
		free(order);
		order = NULL;
	}
	free(coords);
	free(block);
	free(ranks);
	return order;
}

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[],
		  const int periods[], int *newrank)
{
	static const char func[] = "MPI_Cart_map";
	struct mpii_comm *c = mpii_comm_get(comm);
	int n, *order, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "comm is an intercommunicator");
	if (!newrank)
		return mpii_bad_null(c, func, "newrank");
	err = mpii_cart_check(func, c, ndims, dims, periods, &n);
	if (err)
		return err;
	order = mpii_cart_order(c, ndims, dims, periods, n);
	*newrank = c->rank < n ? c->rank : MPI_UNDEFINED;
	for (int i = 0; order && i < n; i++)
		if (order[i] == c->rank)
			*newrank = i;
	free(order);
	return MPI_SUCCESS;
}
MPII_ALIAS(Cart_map);
