/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Barrier. */
#include "coll/algorithms.h"

/* Up to so many ranks one of them can handle all. */
#define CENTRAL_RANKS 8

int mpii_barrier(struct mpii_comm *c)
{
	struct coll k = coll_begin(c);

	if (c->inter)
		return mpii_barrier_inter(&k);
	if (c->size > 2 && c->size <= CENTRAL_RANKS)
		return mpii_barrier_central(&k);
	return mpii_barrier_dissemination(&k);
}

int PMPI_Barrier(MPI_Comm comm)
{
	const char *func = "MPI_Barrier";
	struct mpii_comm *c;
	int err = coll_check_comm(func, comm, &c);

	return err ? err : coll_end(func, c, mpii_barrier(c));
}
MPII_ALIAS(Barrier);
