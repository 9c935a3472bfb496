/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Scan, MPI_Exscan and the choice of their algorithm. */
#include "coll/algorithms.h"

/* Up to so many ranks a chain is short enough. */
#define CHAIN_RANKS 8

static int scan(const struct coll *k, const void *in, void *out,
		MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		bool exclusive)
{
	if (count == 0)
		return MPI_SUCCESS;
	if (k->c->size <= CHAIN_RANKS)
		return mpii_scan_linear(k, in, out, count, t, op, exclusive);
	return mpii_scan_doubling(k, in, out, count, t, op, exclusive);
}

static int run(const char *func, const void *sendbuf, void *recvbuf,
	       MPI_Count count, MPI_Datatype datatype, MPI_Op oph,
	       MPI_Comm comm, bool exclusive)
{
	const void *in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_op *op;
	struct coll k;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_intra(func, c)) ||
	    (err = coll_check_type(func, c, "datatype", datatype, &t)) ||
	    (err = coll_check_op(func, c, oph, t, &op)) ||
	    (err = coll_check_buf(func, c, "sendbuf", in, count, t)))
		return err;
	/* the result of rank 0 of an exscan may be anywhere */
	if ((c->rank || !exclusive) &&
	    ((err = coll_check_buf(func, c, "recvbuf", recvbuf, count, t)) ||
	     (err = coll_check_alias(func, c, sendbuf, recvbuf, count))))
		return err;
	k = coll_begin(c);
	return coll_end(func, c,
			scan(&k, in, recvbuf, count, t, op, exclusive));
}

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count,
	      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Scan", sendbuf, recvbuf, count, datatype, op, comm,
		   false);
}
MPII_ALIAS(Scan);

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
		MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Scan_c", sendbuf, recvbuf, count, datatype, op, comm,
		   false);
}
MPII_ALIAS(Scan_c);

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Exscan", sendbuf, recvbuf, count, datatype, op, comm,
		   true);
}
MPII_ALIAS(Exscan);

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count,
		  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return run("MPI_Exscan_c", sendbuf, recvbuf, count, datatype, op, comm,
		   true);
}
MPII_ALIAS(Exscan_c);
