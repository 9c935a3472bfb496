/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Scan and MPI_Exscan in all forms. */
#include "coll/choose.h"

static int coll_scan(const struct coll *k, const struct coll_args *a)
{
	MPI_Count bytes = a->r.count * a->r.t->size;

	return a->r.count ? coll_choose(COLL_scan, k, a, bytes) : MPI_SUCCESS;
}

static int coll_exscan(const struct coll *k, const struct coll_args *a)
{
	MPI_Count bytes = a->r.count * a->r.t->size;

	return a->r.count ? coll_choose(COLL_exscan, k, a, bytes) : MPI_SUCCESS;
}

static int run(const struct coll_how *how, coll_fn *fn, const void *sendbuf,
	       void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
	       MPI_Comm comm)
{
	const void *in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
	struct coll_args a = { .s.buf = (char *)in,
			       .r = { .buf = recvbuf, .count = count } };
	const char *func = how->func;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_intra(func, c)) ||
	    (err = coll_check_type(func, c, "datatype", datatype, &a.r.t)) ||
	    (err = coll_check_op(func, c, op, a.r.t, &a.op)) ||
	    (err = coll_check_buf(func, c, "sendbuf", in, count, a.r.t)))
		return err;
	/* the result of rank 0 of an exscan may be anywhere */
	if ((c->rank || fn == coll_scan) &&
	    ((err = coll_check_buf(func, c, "recvbuf", recvbuf, count, a.r.t)) ||
	     (err = coll_check_alias(func, c, sendbuf, recvbuf, count))))
		return err;
	return coll_call(how, c, fn, &a);
}

static int scan(const struct coll_how *how, const void *sendbuf, void *recvbuf,
		MPI_Count count, MPI_Datatype datatype, MPI_Op op,
		MPI_Comm comm)
{
	return run(how, coll_scan, sendbuf, recvbuf, count, datatype, op, comm);
}

static int exscan(const struct coll_how *how, const void *sendbuf,
		  void *recvbuf, MPI_Count count, MPI_Datatype datatype,
		  MPI_Op op, MPI_Comm comm)
{
	return run(how, coll_exscan, sendbuf, recvbuf, count, datatype, op,
		   comm);
}

#define PARAMS(count_t)                                                \
	COLL_PARAMS(const void *sendbuf, void *recvbuf, count_t count, \
		    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)

COLL_FORMS(Scan, Iscan, Scan_init, PARAMS(int), scan, sendbuf, recvbuf, count,
	   datatype, op, comm);
COLL_FORMS(Scan_c, Iscan_c, Scan_init_c, PARAMS(MPI_Count), scan, sendbuf,
	   recvbuf, count, datatype, op, comm);
COLL_FORMS(Exscan, Iexscan, Exscan_init, PARAMS(int), exscan, sendbuf, recvbuf,
	   count, datatype, op, comm);
COLL_FORMS(Exscan_c, Iexscan_c, Exscan_init_c, PARAMS(MPI_Count), exscan,
	   sendbuf, recvbuf, count, datatype, op, comm);
