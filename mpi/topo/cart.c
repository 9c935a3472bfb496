/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Cartesian topologies: making them, whole and in slices. */
#include <stdlib.h>

#include "env/errors.h"
#include "topo/topo.h"

void mpii_cart_coords(int ndims, const int *dims, int rank, int *coords)
{
	for (int i = ndims - 1; i >= 0; i--) {
		coords[i] = rank % dims[i];
		rank /= dims[i];
	}
}

int mpii_cart_rank(int ndims, const int *dims, const int *coords)
{
	int rank = 0;

	for (int i = 0; i < ndims; i++)
		rank = rank * dims[i] + coords[i];
	return rank;
}

int mpii_cart_check(const char *func, struct mpii_comm *c, int ndims,
		    const int *dims, const int *periods, int *n)
{
	long long total = 1;

	if (ndims < 0)
		return mpii_error(c, MPI_ERR_DIMS, func,
				  "ndims is %d, but "
				  "must not be negative",
				  ndims);
	if (ndims > 0 && (!dims || !periods))
		return mpii_bad_null(c, func, dims ? "periods" : "dims");
	for (int i = 0; i < ndims; i++) {
		if (dims[i] < 1)
			return mpii_error(c, MPI_ERR_DIMS, func,
					  "dims[%d] is "
					  "%d, but must be positive",
					  i, dims[i]);
		if (total <= c->size)
			total *= dims[i];
	}
	if (total > c->size)
		return mpii_error(c, MPI_ERR_DIMS, func,
				  "the grid needs more "
				  "processes than the %d of %s",
				  c->size, mpii_comm_words(c));
	*n = (int)total;
	return MPI_SUCCESS;
}

/* The rank one step from ours in dimension @i, or MPI_PROC_NULL. */
static int neighbor(const struct mpii_topo *t, int i, int step, int rank)
{
	int at = t->coords[i] + step, stride = 1;

	if (t->periods[i])
		at = (at + t->dims[i]) % t->dims[i];
	else if (at < 0 || at >= t->dims[i])
		return MPI_PROC_NULL;
	for (int j = i + 1; j < t->ndims; j++)
		stride *= t->dims[j];
	return rank + (at - t->coords[i]) * stride;
}

/* In the order of the standard: for each dimension, down, then up. */
static void list_neighbors(struct mpii_topo *t, int rank)
{
	t->indegree = t->outdegree = 2 * t->ndims;
	for (int i = 0; i < t->ndims; i++) {
		t->sources[2 * i] = neighbor(t, i, -1, rank);
		t->sources[2 * i + 1] = neighbor(t, i, 1, rank);
	}
	for (int i = 0; i < t->outdegree; i++)
		t->destinations[i] = t->sources[i];
}

/* NULL: out of memory. */
static struct mpii_topo *make(int ndims, const int *dims, const int *periods,
			      int rank)
{
	struct mpii_topo *t = mpii_topo_create(MPI_CART);

	if (!t)
		return NULL;
	t->ndims = ndims;
	t->dims = mpii_topo_ints(dims, ndims);
	t->periods = mpii_topo_ints(periods, ndims);
	t->coords = mpii_topo_ints(NULL, ndims);
	t->sources = mpii_topo_ints(NULL, 2 * ndims);
	t->destinations = mpii_topo_ints(NULL, 2 * ndims);
	if (!t->dims || !t->periods || !t->coords || !t->sources ||
	    !t->destinations) {
		mpii_topo_put(t);
		return NULL;
	}
	for (int i = 0; i < ndims; i++)
		t->periods[i] = !!periods[i];
	mpii_cart_coords(ndims, dims, rank, t->coords);
	list_neighbors(t, rank);
	return t;
}

/* Where in the new order an old rank is, or -1. */
static int place_of(int old, const int *order, int n)
{
	if (!order)
		return old < n ? old : -1;
	for (int i = 0; i < n; i++)
		if (order[i] == old)
			return i;
	return -1;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[],
		     const int periods[], int reorder, MPI_Comm *comm_cart)
{
	static const char func[] = "MPI_Cart_create";
	struct mpii_topo *t = NULL;
	struct mpii_comm *c;
	int *order = NULL, n, rank, err;

	err = mpii_topo_parent(func, comm_old, comm_cart, &c);
	if (!err)
		err = mpii_cart_check(func, c, ndims, dims, periods, &n);
	if (err)
		return err;
	if (reorder)
		order = mpii_cart_order(c, ndims, dims, periods, n);
	rank = place_of(c->rank, order, n);
	if (rank >= 0)
		t = make(ndims, dims, periods, rank);
	if (rank >= 0 && !t)
		err = mpii_no_mem(c, func);
	else
		err = mpii_topo_deliver(func, c, order, n, t, comm_cart);
	free(order);
	return err;
}
MPII_ALIAS(Cart_create);

/*
 * --- slices ---
 *
 * A slice is the grid points that share our coordinates in the dimensions that
 * are dropped. Slices have no members in common, so one context does for all.
 */

/* The ranks of our slice, in the order of its own grid. NULL: out of memory. */
static int *slice(const struct mpii_topo *t, const int *remain, int n)
{
	int *ranks = malloc(n * sizeof(*ranks)), left;
	int *coords = mpii_topo_ints(t->coords, t->ndims);

	if (!ranks || !coords) {
		free(ranks);
		free(coords);
		return NULL;
	}
	for (int r = 0; r < n; r++) {
		left = r;
		for (int i = t->ndims - 1; i >= 0; i--) {
			if (!remain[i])
				continue;
			coords[i] = left % t->dims[i];
			left /= t->dims[i];
		}
		ranks[r] = mpii_cart_rank(t->ndims, t->dims, coords);
	}
	free(coords);
	return ranks;
}

/* The topology of our slice and its number of nodes. NULL: out of memory. */
static struct mpii_topo *reduce(const struct mpii_topo *t, const int *remain,
				int *n)
{
	int *dims = mpii_topo_ints(NULL, t->ndims);
	int *periods = mpii_topo_ints(NULL, t->ndims), ndims = 0, rank = 0;
	struct mpii_topo *new = NULL;

	*n = 1;
	for (int i = 0; dims && periods && i < t->ndims; i++) {
		if (!remain[i])
			continue;
		dims[ndims] = t->dims[i];
		periods[ndims++] = t->periods[i];
		rank = rank * t->dims[i] + t->coords[i];
		*n *= t->dims[i];
	}
	if (dims && periods)
		new = make(ndims, dims, periods, rank);
	free(dims);
	free(periods);
	return new;
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Cart_sub";
	struct mpii_topo *t, *new;
	struct mpii_comm *c;
	int *ranks, n, err;

	err = mpii_topo_find(func, comm, MPI_CART, &c, &t);
	if (err)
		return err;
	if (t->ndims > 0 && !remain_dims)
		return mpii_bad_null(c, func, "remain_dims");
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	new = reduce(t, remain_dims, &n);
	ranks = new ? slice(t, remain_dims, n) : NULL;
	if (!ranks) {
		mpii_topo_put(new);
		return mpii_no_mem(c, func);
	}
	err = mpii_topo_deliver(func, c, ranks, n, new, newcomm);
	free(ranks);
	return err;
}
MPII_ALIAS(Cart_sub);
