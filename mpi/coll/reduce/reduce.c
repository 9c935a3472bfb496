/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Reduce in all forms. */
#include "coll/choose.h"

int coll_reduce(const struct coll *k, const struct coll_args *a)
{
	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return mpii_reduce_inter(k, a->s.buf, a->r.buf, a->r.count,
					 a->r.t, a->op, a->root);
	return coll_choose_reduction(COLL_reduce, k, a);
}

static int reduce(const struct coll_how *how, const void *sendbuf,
		  void *recvbuf, MPI_Count count, MPI_Datatype datatype,
		  MPI_Op op, int root, MPI_Comm comm)
{
	struct coll_args a = { .s.buf = (char *)sendbuf,
			       .r = { .buf = recvbuf, .count = count },
			       .root = root };
	const char *func = how->func;
	bool is_root, in_place;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_root(func, c, root)))
		return err;
	if (root == MPI_PROC_NULL)
		return coll_call(how, c, coll_reduce, &a);
	is_root = c->inter ? root == MPI_ROOT : root == c->rank;
	in_place = is_root && !c->inter && sendbuf == MPI_IN_PLACE;
	if ((err = coll_check_type(func, c, "datatype", datatype, &a.r.t)) ||
	    (err = coll_check_op(func, c, op, a.r.t, &a.op)))
		return err;
	if (is_root &&
	    ((err = coll_check_buf(func, c, "recvbuf", recvbuf, count, a.r.t)) ||
	     (!c->inter &&
	      (err = coll_check_alias(func, c, sendbuf, recvbuf, count)))))
		return err;
	if (root != MPI_ROOT && !in_place &&
	    (err = coll_check_buf(func, c, "sendbuf", sendbuf, count, a.r.t)))
		return err;
	return coll_call(how, c, coll_reduce, &a);
}

COLL_FORMS(Reduce, Ireduce, Reduce_init,
	   COLL_PARAMS(const void *sendbuf, void *recvbuf, int count,
		       MPI_Datatype datatype, MPI_Op op, int root,
		       MPI_Comm comm),
	   reduce, sendbuf, recvbuf, count, datatype, op, root, comm);
COLL_FORMS(Reduce_c, Ireduce_c, Reduce_init_c,
	   COLL_PARAMS(const void *sendbuf, void *recvbuf, MPI_Count count,
		       MPI_Datatype datatype, MPI_Op op, int root,
		       MPI_Comm comm),
	   reduce, sendbuf, recvbuf, count, datatype, op, root, comm);
