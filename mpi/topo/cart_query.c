/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Questions about a cartesian topology; all of them local. */
#include "env/errors.h"
#include "topo/topo.h"

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find("MPI_Cartdim_get", comm, MPI_CART, &c, &t);

	if (err)
		return err;
	if (!ndims)
		return mpii_bad_null(c, "MPI_Cartdim_get", "ndims");
	*ndims = t->ndims;
	return MPI_SUCCESS;
}
MPII_ALIAS(Cartdim_get);

static int check_room(const char *func, struct mpii_comm *c,
		      const struct mpii_topo *t, int maxdims)
{
	if (maxdims >= t->ndims)
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_ARG, func,
			  "maxdims is %d, but the grid "
			  "has %d dimension%s",
			  maxdims, t->ndims, t->ndims == 1 ? "" : "s");
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[],
		  int coords[])
{
	static const char func[] = "MPI_Cart_get";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_CART, &c, &t);

	if (err)
		return err;
	err = check_room(func, c, t, maxdims);
	if (err)
		return err;
	if (t->ndims > 0 && (!dims || !periods || !coords))
		return mpii_bad_null(c, func,
				     !dims    ? "dims" :
				     !periods ? "periods" :
						"coords");
	for (int i = 0; i < t->ndims; i++) {
		dims[i] = t->dims[i];
		periods[i] = t->periods[i];
		coords[i] = t->coords[i];
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(Cart_get);

/* A coordinate as far out as it likes, on the ring of @size. */
static int wrap(int at, int size)
{
	at %= size;
	return at < 0 ? at + size : at;
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
	static const char func[] = "MPI_Cart_rank";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int r = 0, at, err = mpii_topo_find(func, comm, MPI_CART, &c, &t);

	if (err)
		return err;
	if (!rank || (t->ndims > 0 && !coords))
		return mpii_bad_null(c, func, rank ? "coords" : "rank");
	for (int i = 0; i < t->ndims; i++) {
		at = coords[i];
		if (t->periods[i])
			at = wrap(at, t->dims[i]);
		if (at < 0 || at >= t->dims[i])
			return mpii_error(c, MPI_ERR_ARG, func,
					  "coords[%d] is "
					  "%d, but dimension %d has %d places "
					  "and is not periodic",
					  i, at, i, t->dims[i]);
		r = r * t->dims[i] + at;
	}
	*rank = r;
	return MPI_SUCCESS;
}
MPII_ALIAS(Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
	static const char func[] = "MPI_Cart_coords";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_CART, &c, &t);

	if (err)
		return err;
	if (rank < 0 || rank >= c->size)
		return mpii_bad_rank(c, rank, func, "rank");
	err = check_room(func, c, t, maxdims);
	if (err)
		return err;
	if (t->ndims > 0 && !coords)
		return mpii_bad_null(c, func, "coords");
	mpii_cart_coords(t->ndims, t->dims, rank, coords);
	return MPI_SUCCESS;
}
MPII_ALIAS(Cart_coords);

/* Whom a walk of @steps in dimension @d leads to. */
static int walk(const struct mpii_topo *t, int rank, int d, long long steps)
{
	long long at = t->coords[d] + steps;
	int stride = 1;

	if (t->periods[d])
		at = wrap((int)(at % t->dims[d]), t->dims[d]);
	if (at < 0 || at >= t->dims[d])
		return MPI_PROC_NULL;
	for (int i = d + 1; i < t->ndims; i++)
		stride *= t->dims[i];
	return rank + ((int)at - t->coords[d]) * stride;
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source,
		    int *rank_dest)
{
	static const char func[] = "MPI_Cart_shift";
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(func, comm, MPI_CART, &c, &t);

	if (err)
		return err;
	if (direction < 0 || direction >= t->ndims)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "direction is %d, but "
				  "the grid has %d dimension%s",
				  direction, t->ndims,
				  t->ndims == 1 ? "" : "s");
	if (!rank_source || !rank_dest)
		return mpii_bad_null(c, func,
				     rank_source ? "rank_dest" : "rank_source");
	*rank_source = walk(t, c->rank, direction, -(long long)disp);
	*rank_dest = walk(t, c->rank, direction, disp);
	return MPI_SUCCESS;
}
MPII_ALIAS(Cart_shift);
