/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Bcast in all forms. */
#include "coll/choose.h"

int coll_bcast(const struct coll *k, const struct coll_args *a)
{
	MPI_Count bytes;

	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return mpii_bcast_linear(k, a->r.buf, a->r.count, a->r.t,
					 a->root);
	bytes = a->r.count * a->r.t->size;
	if (k->c->size == 1 || bytes == 0)
		return MPI_SUCCESS;
	return coll_choose(COLL_bcast, k, a, bytes);
}

static int bcast(const struct coll_how *how, void *buf, MPI_Count count,
		 MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct coll_args a = { .r = { .buf = buf, .count = count },
			       .root = root };
	const char *func = how->func;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_root(func, c, root)))
		return err;
	if (root != MPI_PROC_NULL &&
	    ((err = coll_check_type(func, c, "datatype", datatype, &a.r.t)) ||
	     (err = coll_check_buf(func, c, "buffer", buf, count, a.r.t))))
		return err;
	return coll_call(how, c, coll_bcast, &a);
}

COLL_FORMS(Bcast, Ibcast, Bcast_init,
	   COLL_PARAMS(void *buffer, int count, MPI_Datatype datatype, int root,
		       MPI_Comm comm),
	   bcast, buffer, count, datatype, root, comm);
COLL_FORMS(Bcast_c, Ibcast_c, Bcast_init_c,
	   COLL_PARAMS(void *buffer, MPI_Count count, MPI_Datatype datatype,
		       int root, MPI_Comm comm),
	   bcast, buffer, count, datatype, root, comm);
