/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Bcast and the choice of its algorithm. */
#include "coll/algorithms.h"

/* From here on shares are large enough to pay for their second message. */
#define LONG_BCAST (128 << 10)

int mpii_bcast(void *buf, MPI_Count count, struct mpii_type *t, int root,
	       struct mpii_comm *c)
{
	struct coll k = coll_begin(c);
	MPI_Count bytes = count * t->size;

	if (c->inter)
		return mpii_bcast_linear(&k, buf, count, t, root);
	if (c->size == 1 || bytes == 0)
		return MPI_SUCCESS;
	if (bytes >= LONG_BCAST && c->size > 2)
		return mpii_bcast_scatter_allgather(&k, buf, count, t, root);
	return mpii_bcast_binomial(&k, buf, count, t, root);
}

static int bcast(const char *func, void *buf, MPI_Count count,
		 MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct mpii_type *t;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_root(func, c, root)))
		return err;
	if (root == MPI_PROC_NULL) {
		coll_begin(c); /* the numbers of calls must agree */
		return MPI_SUCCESS;
	}
	if ((err = coll_check_type(func, c, "datatype", datatype, &t)) ||
	    (err = coll_check_buf(func, c, "buffer", buf, count, t)))
		return err;
	return coll_end(func, c, mpii_bcast(buf, count, t, root, c));
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
	       MPI_Comm comm)
{
	return bcast("MPI_Bcast", buffer, count, datatype, root, comm);
}
MPII_ALIAS(Bcast);

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
		 MPI_Comm comm)
{
	return bcast("MPI_Bcast_c", buffer, count, datatype, root, comm);
}
MPII_ALIAS(Bcast_c);
