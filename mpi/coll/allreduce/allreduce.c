/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Allreduce in all forms. */
#include "coll/choose.h"

int coll_allreduce(const struct coll *k, const struct coll_args *a)
{
	if (k->c->inter)
		return mpii_allreduce_inter(k, a->s.buf, a->r.buf, a->r.count,
					    a->r.t, a->op);
	return coll_choose_reduction(COLL_allreduce, k, a);
}

static int allreduce(const struct coll_how *how, const void *sendbuf,
		     void *recvbuf, MPI_Count count, MPI_Datatype datatype,
		     MPI_Op op, MPI_Comm comm)
{
	struct coll_args a = { .s.buf = (char *)sendbuf,
			       .r = { .buf = recvbuf, .count = count } };
	const char *func = how->func;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_place(func, c, sendbuf)) ||
	    (err = coll_check_type(func, c, "datatype", datatype, &a.r.t)) ||
	    (err = coll_check_op(func, c, op, a.r.t, &a.op)) ||
	    (err = coll_check_buf(func, c, "recvbuf", recvbuf, count, a.r.t)) ||
	    (err = coll_check_alias(func, c, sendbuf, recvbuf, count)))
		return err;
	if (sendbuf != MPI_IN_PLACE &&
	    (err = coll_check_buf(func, c, "sendbuf", sendbuf, count, a.r.t)))
		return err;
	return coll_call(how, c, coll_allreduce, &a);
}

COLL_FORMS(Allreduce, Iallreduce, Allreduce_init,
	   COLL_PARAMS(const void *sendbuf, void *recvbuf, int count,
		       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
	   allreduce, sendbuf, recvbuf, count, datatype, op, comm);
COLL_FORMS(Allreduce_c, Iallreduce_c, Allreduce_init_c,
	   COLL_PARAMS(const void *sendbuf, void *recvbuf, MPI_Count count,
		       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
	   allreduce, sendbuf, recvbuf, count, datatype, op, comm);
