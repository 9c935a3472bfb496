/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Reduce and the choice of its algorithm. */
#include "coll/algorithms.h"

/* From here on it pays to let every rank combine a share. */
#define LONG_REDUCE (64 << 10)

int mpii_reduce(const void *in, void *out, MPI_Count count, struct mpii_type *t,
		struct mpii_op *op, int root, struct mpii_comm *c)
{
	struct coll k = coll_begin(c);

	if (c->inter)
		return mpii_reduce_inter(&k, in, out, count, t, op, root);
	if (in == MPI_IN_PLACE)
		in = out;
	if (count == 0)
		return MPI_SUCCESS;
	if (c->size == 1) {
		if (in != out)
			mpii_copy(in, count, t, out, count, t);
		return MPI_SUCCESS;
	}
	if (count * t->size >= LONG_REDUCE && count >= c->size &&
	    c->size > 2 && c->size <= COLL_DIRECT_RANKS)
		return mpii_reduce_scatter_gather(&k, in, out, count, t, op,
						  root);
	return mpii_reduce_binomial(&k, in, out, count, t, op, root);
}

static int run(const char *func, const void *sendbuf, void *recvbuf,
	       MPI_Count count, MPI_Datatype datatype, MPI_Op oph, int root,
	       MPI_Comm comm)
{
	bool is_root, in_place;
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_op *op;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_root(func, c, root)))
		return err;
	if (root == MPI_PROC_NULL) {
		coll_begin(c); /* the numbers of calls must agree */
		return MPI_SUCCESS;
	}
	is_root = c->inter ? root == MPI_ROOT : root == c->rank;
	in_place = is_root && !c->inter && sendbuf == MPI_IN_PLACE;
	if ((err = coll_check_type(func, c, "datatype", datatype, &t)) ||
	    (err = coll_check_op(func, c, oph, t, &op)))
		return err;
	if (is_root &&
	    ((err = coll_check_buf(func, c, "recvbuf", recvbuf, count, t)) ||
	     (!c->inter &&
	      (err = coll_check_alias(func, c, sendbuf, recvbuf, count)))))
		return err;
	if (root != MPI_ROOT && !in_place &&
	    (err = coll_check_buf(func, c, "sendbuf", sendbuf, count, t)))
		return err;
	return coll_end(func, c, mpii_reduce(sendbuf, recvbuf, count, t, op,
					     root, c));
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	return run("MPI_Reduce", sendbuf, recvbuf, count, datatype, op, root,
		   comm);
}
MPII_ALIAS(Reduce);

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
		  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	return run("MPI_Reduce_c", sendbuf, recvbuf, count, datatype, op, root,
		   comm);
}
MPII_ALIAS(Reduce_c);
