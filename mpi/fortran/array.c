/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Arrays of handles. All kinds convert alike, so that one routine does. */
#include <stdlib.h>

#include "fortran.h"

static void **room(MPI_Count n, void *few)
{
	if (few && n <= MPIF_FEW)
		return few;
	return malloc((n > 0 ? n : 1) * sizeof(void *));
}

void *mpif_handles(const MPI_Fint *f, MPI_Count n, void *few)
{
	void **c = room(n, few);

	for (MPI_Count i = 0; c && i < n; i++)
		c[i] = PMPI_Request_fromint(f[i]);
	return c;
}

void *mpif_no_handles(void *null, MPI_Count n, void *few)
{
	void **c = room(n, few);

	for (MPI_Count i = 0; c && i < n; i++)
		c[i] = null;
	return c;
}

void mpif_give_handles(MPI_Fint *f, MPI_Count n, const void *handles,
		       void *null)
{
	void *const *c = handles;

	for (MPI_Count i = 0; c && i < n; i++)
		if (!null || c[i] != null)
			f[i] = PMPI_Request_toint(c[i]);
}

void mpif_free_handles(void *handles, void *few)
{
	if (handles != few)
		free(handles);
}

int mpif_peers(MPI_Comm comm)
{
	int inter = 0, n = 0;

	if (PMPI_Comm_test_inter(comm, &inter))
		return 0;
	if (inter)
		PMPI_Comm_remote_size(comm, &n);
	else
		PMPI_Comm_size(comm, &n);
	return n;
}

int mpif_neighbors(MPI_Comm comm, bool sends)
{
	int kind = MPI_UNDEFINED, n = 0, in = 0, out = 0, weighted, rank;

	if (PMPI_Topo_test(comm, &kind))
		return 0;
	switch (kind) {
	case MPI_CART:
		PMPI_Cartdim_get(comm, &n);
		return 2 * n;
	case MPI_GRAPH:
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &n);
		return n;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
		return sends ? out : in;
	default:
		return 0;
	}
}
