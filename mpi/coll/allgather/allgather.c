/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Allgather and MPI_Allgatherv in all forms. */
#include "coll/calls.h"
#include "coll/choose.h"

int mpii_allgather_blocks(const struct coll *k, const struct coll_side *r,
			  MPI_Count bytes)
{
	struct coll_args a = { .r = *r };

	return coll_choose(r->counts ? COLL_allgatherv : COLL_allgather, k, &a,
			   bytes);
}

static int coll_allgather(const struct coll *k, const struct coll_args *a)
{
	const struct coll_side *r = &a->r;
	int n = k->c->remote_size, rank = k->c->rank;
	MPI_Count bytes = 0;

	if (k->c->inter)
		return mpii_allgather_inter(k, a->s.buf, a->s.count, a->s.t, r);
	if (a->s.buf != MPI_IN_PLACE) {
		coll_own_differs(k, a->s.count * a->s.t->size,
				 coll_count(r, rank) * r->t->size);
		mpii_copy(a->s.buf, a->s.count, a->s.t, coll_block(r, rank),
			  coll_count(r, rank), r->t);
	}
	for (int i = 0; i < n; i++)
		bytes += coll_count(r, i) * r->t->size;
	if (n == 1 || bytes == 0)
		return MPI_SUCCESS;
	return coll_choose(r->counts ? COLL_allgatherv : COLL_allgather, k, a,
			   bytes);
}

int mpii_allgather(const void *in, MPI_Count incount, struct mpii_type *it,
		   void *out, MPI_Count outcount, struct mpii_type *ot,
		   struct mpii_comm *c)
{
	struct coll_args a = { .s = coll_side(in, incount, it),
			       .r = coll_side(out, outcount, ot) };
	struct coll k = coll_begin(c);

	return coll_allgather(&k, &a);
}

static int call(const struct coll_how *how, struct mpii_comm *c,
		struct coll_args *a, MPI_Datatype sendtype,
		MPI_Datatype recvtype)
{
	const char *func = how->func;
	int err = coll_check_side(func, c, "recvtype", recvtype, "recvbuf",
				  c->remote_size, &a->r);

	if (!err && (c->inter || a->s.buf != MPI_IN_PLACE)) {
		err = coll_check_side(func, c, "sendtype", sendtype, "sendbuf",
				      1, &a->s);
		if (!err && !c->inter)
			err = coll_check_alias(func, c, a->s.buf,
					       coll_block(&a->r, c->rank),
					       a->s.count);
	}
	return err ? err : coll_call(how, c, coll_allgather, a);
}

static int allgather(const struct coll_how *how, const void *sendbuf,
		     MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf, .count = recvcount } };
	struct mpii_comm *c;
	int err = coll_check_comm(how->func, comm, &c);

	return err ? err : call(how, c, &a, sendtype, recvtype);
}

static int allgatherv(const struct coll_how *how, const void *sendbuf,
		      MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      struct coll_lists l, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf } };
	struct coll_arrays w;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_lists(how->func, c, &l, "recvcounts", "displs")))
		return err;
	err = coll_arrays_take(&w, &l, c->remote_size, &a.r);
	if (err)
		return coll_end(how->func, c, err);
	err = call(how, c, &a, sendtype, recvtype);
	coll_arrays_free(&w);
	return err;
}

#define PARAMS(count_t)                                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,                  \
		    MPI_Datatype sendtype, void *recvbuf, count_t recvcount, \
		    MPI_Datatype recvtype, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,             \
		    MPI_Datatype sendtype, void *recvbuf,               \
		    const count_t recvcounts[], const displ_t displs[], \
		    MPI_Datatype recvtype, MPI_Comm comm)

COLL_FORMS(Allgather, Iallgather, Allgather_init, PARAMS(int), allgather,
	   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
COLL_FORMS(Allgather_c, Iallgather_c, Allgather_init_c, PARAMS(MPI_Count),
	   allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
	   recvtype, comm);
COLL_FORMS(Allgatherv, Iallgatherv, Allgatherv_init, PARAMS_V(int, int),
	   allgatherv, sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS(recvcounts, displs), recvtype, comm);
COLL_FORMS(Allgatherv_c, Iallgatherv_c, Allgatherv_init_c,
	   PARAMS_V(MPI_Count, MPI_Aint), allgatherv, sendbuf, sendcount,
	   sendtype, recvbuf, COLL_LISTS_C(recvcounts, displs), recvtype, comm);
