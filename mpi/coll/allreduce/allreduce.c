/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Allreduce and the choice of its algorithm. */
#include "coll/algorithms.h"

/* Up to so many bytes, and so many ranks, one rank can combine all. */
#define SHORT_ALLREDUCE 2048
#define CENTRAL_RANKS 8
/* From here on it pays to let every rank combine a share. */
#define LONG_ALLREDUCE (16 << 10)

int mpii_allreduce(const void *in, void *out, MPI_Count count,
		   struct mpii_type *t, struct mpii_op *op, struct mpii_comm *c)
{
	struct coll k = coll_begin(c);

	if (c->inter)
		return mpii_allreduce_inter(&k, in, out, count, t, op);
	if (in == MPI_IN_PLACE)
		in = out;
	if (count == 0)
		return MPI_SUCCESS;
	if (c->size == 1) {
		if (in != out)
			mpii_copy(in, count, t, out, count, t);
		return MPI_SUCCESS;
	}
	if (count * t->size <= SHORT_ALLREDUCE && c->size > 2 &&
	    c->size <= CENTRAL_RANKS)
		return mpii_allreduce_central(&k, in, out, count, t, op);
	if (count * t->size < LONG_ALLREDUCE || count < c->size || c->size == 2)
		return mpii_allreduce_doubling(&k, in, out, count, t, op);
	if (c->size <= COLL_DIRECT_RANKS)
		return mpii_allreduce_scatter_allgather(&k, in, out, count, t,
							op);
	if (op->commutes)
		return mpii_allreduce_rabenseifner(&k, in, out, count, t, op);
	return mpii_allreduce_doubling(&k, in, out, count, t, op);
}

static int run(const char *func, const void *sendbuf, void *recvbuf,
	       MPI_Count count, MPI_Datatype datatype, MPI_Op oph,
	       MPI_Comm comm)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_op *op;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_place(func, c, sendbuf)) ||
	    (err = coll_check_type(func, c, "datatype", datatype, &t)) ||
	    (err = coll_check_op(func, c, oph, t, &op)) ||
	    (err = coll_check_buf(func, c, "recvbuf", recvbuf, count, t)) ||
	    (err = coll_check_alias(func, c, sendbuf, recvbuf, count)))
		return err;
	if (sendbuf != MPI_IN_PLACE &&
	    (err = coll_check_buf(func, c, "sendbuf", sendbuf, count, t)))
		return err;
	return coll_end(func, c,
			mpii_allreduce(sendbuf, recvbuf, count, t, op, c));
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
		   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Allreduce", sendbuf, recvbuf, count, datatype, op,
		   comm);
}
MPII_ALIAS(Allreduce);

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
		     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Allreduce_c", sendbuf, recvbuf, count, datatype, op,
		   comm);
}
MPII_ALIAS(Allreduce_c);
