/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Alltoallv and MPI_Alltoallw in all forms. A side of w has a type per rank
 * and displacements in bytes, one of v has one type and displacements in
 * extents; the algorithms know both as struct coll_side.
 */
#include "coll/choose.h"

static MPI_Count own_bytes(const struct coll_side *s, int rank)
{
	return coll_count(s, rank) * coll_type(s, rank)->size;
}

static int coll_alltoallv(const struct coll *k, const struct coll_args *a)
{
	int rank = k->c->rank;

	if (k->c->inter)
		return mpii_alltoall_direct(k, &a->s, &a->r);
	if (a->s.buf == MPI_IN_PLACE)
		return mpii_alltoall_in_place(k, &a->r);
	coll_own_differs(k, own_bytes(&a->s, rank), own_bytes(&a->r, rank));
	return coll_choose(a->r.types ? COLL_alltoallw : COLL_alltoallv, k, a,
			   0);
}

/* One side's arguments and what they are called. */
struct side_args {
	const char *buf_name, *type_name, *counts_name, *displs_name;
	const void *buf;
	struct coll_lists l;
	MPI_Datatype type; /* of a v form */
};

static int check_side(const char *func, struct mpii_comm *c,
		      const struct side_args *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int n = c->remote_size, err;

	err = coll_check_lists(func, c, &a->l, a->counts_name, a->displs_name);
	if (err)
		return err;
	err = coll_arrays_take(w, &a->l, n, s);
	if (err)
		return coll_end(func, c, err);
	s->buf = (char *)a->buf;
	if (a->l.types)
		return coll_check_types(func, c, a->type_name, a->l.types,
					a->buf_name, w, s);
	return coll_check_side(func, c, a->type_name, a->type, a->buf_name, n,
			       s);
}

/* Where the data of block @i starts; NULL: there is none. */
static const char *first_byte(const struct coll_side *s, int i)
{
	const struct mpii_type *t = coll_type(s, i);

	return s->counts[i] && t->size ? coll_block(s, i) + t->true_lb : NULL;
}

/* Blocks that start at the same place overlap for sure. Others are the program's
 * business: it may send from one part of an array and receive into another. */
static int check_alias(const char *func, struct mpii_comm *c,
		       const struct coll_args *a)
{
	int err = MPI_SUCCESS;

	for (int i = 0; i < c->remote_size && !err; i++)
		err = coll_check_alias(func, c, first_byte(&a->s, i),
				       first_byte(&a->r, i), 1);
	return err;
}

static int run(const struct coll_how *how, const struct side_args *sa,
	       const struct side_args *ra, MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = NULL } };
	struct coll_arrays sw, rw;
	struct mpii_comm *c;
	int err = coll_check_comm(how->func, comm, &c);

	if (err)
		return err;
	sw.mem.heap = rw.mem.heap = NULL;
	err = check_side(how->func, c, ra, &rw, &a.r);
	if (!err && !c->inter && sa->buf == MPI_IN_PLACE)
		a.s.buf = MPI_IN_PLACE;
	else if (!err && !(err = check_side(how->func, c, sa, &sw, &a.s)))
		err = check_alias(how->func, c, &a);
	if (!err)
		err = coll_call(how, c, coll_alltoallv, &a);
	coll_arrays_free(&rw);
	coll_arrays_free(&sw);
	return err;
}

static int alltoallv(const struct coll_how *how, const void *sendbuf,
		     struct coll_lists s, MPI_Datatype sendtype, void *recvbuf,
		     struct coll_lists r, MPI_Datatype recvtype, MPI_Comm comm)
{
	const struct side_args sa = { "sendbuf", "sendtype", "sendcounts",
				      "sdispls", sendbuf,    s,
				      sendtype };
	const struct side_args ra = { "recvbuf", "recvtype", "recvcounts",
				      "rdispls", recvbuf,    r,
				      recvtype };

	return run(how, &sa, &ra, comm);
}

static int alltoallw(const struct coll_how *how, const void *sendbuf,
		     struct coll_lists s, const MPI_Datatype *sendtypes,
		     void *recvbuf, struct coll_lists r,
		     const MPI_Datatype *recvtypes, MPI_Comm comm)
{
	struct mpii_comm *c;
	int err = coll_check_comm(how->func, comm, &c);

	if (err)
		return err;
	if (!recvtypes)
		return mpii_bad_null(c, how->func, "recvtypes");
	if (!sendtypes && (c->inter || sendbuf != MPI_IN_PLACE))
		return mpii_bad_null(c, how->func, "sendtypes");
	s.types = sendtypes;
	r.types = recvtypes;
	return alltoallv(how, sendbuf, s, MPI_DATATYPE_NULL, recvbuf, r,
			 MPI_DATATYPE_NULL, comm);
}

#define PARAMS_V(count_t, displ_t)                                   \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[], \
		    const displ_t sdispls[], MPI_Datatype sendtype,  \
		    void *recvbuf, const count_t recvcounts[],       \
		    const displ_t rdispls[], MPI_Datatype recvtype,  \
		    MPI_Comm comm)
#define PARAMS_W(count_t, displ_t)                                           \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[],         \
		    const displ_t sdispls[], const MPI_Datatype sendtypes[], \
		    void *recvbuf, const count_t recvcounts[],               \
		    const displ_t rdispls[], const MPI_Datatype recvtypes[], \
		    MPI_Comm comm)

COLL_FORMS(Alltoallv, Ialltoallv, Alltoallv_init, PARAMS_V(int, int), alltoallv,
	   sendbuf, COLL_LISTS(sendcounts, sdispls), sendtype, recvbuf,
	   COLL_LISTS(recvcounts, rdispls), recvtype, comm);
COLL_FORMS(Alltoallv_c, Ialltoallv_c, Alltoallv_init_c,
	   PARAMS_V(MPI_Count, MPI_Aint), alltoallv, sendbuf,
	   COLL_LISTS_C(sendcounts, sdispls), sendtype, recvbuf,
	   COLL_LISTS_C(recvcounts, rdispls), recvtype, comm);
COLL_FORMS(Alltoallw, Ialltoallw, Alltoallw_init, PARAMS_W(int, int), alltoallw,
	   sendbuf, COLL_LISTS(sendcounts, sdispls), sendtypes, recvbuf,
	   COLL_LISTS(recvcounts, rdispls), recvtypes, comm);
COLL_FORMS(Alltoallw_c, Ialltoallw_c, Alltoallw_init_c,
	   PARAMS_W(MPI_Count, MPI_Aint), alltoallw, sendbuf,
	   COLL_LISTS_C(sendcounts, sdispls), sendtypes, recvbuf,
	   COLL_LISTS_C(recvcounts, rdispls), recvtypes, comm);
