/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Barrier. */
#include "coll/algorithms.h"

int mpii_barrier(struct mpii_comm *c)
{
	struct coll k = coll_begin(c);

	return c->inter ? mpii_barrier_inter(&k) :
			  mpii_barrier_dissemination(&k);
}

int PMPI_Barrier(MPI_Comm comm)
{
	const char *func = "MPI_Barrier";
	struct mpii_comm *c;
	int err = coll_check_comm(func, comm, &c);

	return err ? err : coll_end(func, c, mpii_barrier(c));
}
MPII_ALIAS(Barrier);
