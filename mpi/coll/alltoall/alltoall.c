/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Alltoall in all forms. */
#include "coll/choose.h"

static int coll_alltoall(const struct coll *k, const struct coll_args *a)
{
	MPI_Count bytes = a->r.count * a->r.t->size;
	struct coll_args same;

	if (k->c->inter)
		return mpii_alltoall_direct(k, &a->s, &a->r);
	if (bytes == 0)
		return MPI_SUCCESS;
	if (a->s.buf == MPI_IN_PLACE)
		return mpii_alltoall_in_place(k, &a->r);
	if (coll_own_differs(k, a->s.count * a->s.t->size, bytes)) {
		/* algorithms count on it; nothing is sent from there anyway */
		same = *a;
		same.s = same.r;
		return coll_choose(COLL_alltoall, k, &same, bytes);
	}
	return coll_choose(COLL_alltoall, k, a, bytes);
}

static int alltoall(const struct coll_how *how, const void *sendbuf,
		    MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf, .count = recvcount } };
	const char *func = how->func;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(func, comm, &c)) ||
	    (err = coll_check_side(func, c, "recvtype", recvtype, "recvbuf", 1,
				   &a.r)))
		return err;
	if ((c->inter || sendbuf != MPI_IN_PLACE) &&
	    ((err = coll_check_side(func, c, "sendtype", sendtype, "sendbuf", 1,
				    &a.s)) ||
	     (err = coll_check_alias(func, c, sendbuf, recvbuf, sendcount))))
		return err;
	return coll_call(how, c, coll_alltoall, &a);
}

#define PARAMS(count_t)                                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,                  \
		    MPI_Datatype sendtype, void *recvbuf, count_t recvcount, \
		    MPI_Datatype recvtype, MPI_Comm comm)

COLL_FORMS(Alltoall, Ialltoall, Alltoall_init, PARAMS(int), alltoall, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
COLL_FORMS(Alltoall_c, Ialltoall_c, Alltoall_init_c, PARAMS(MPI_Count),
	   alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
	   comm);
