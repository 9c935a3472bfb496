/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Alltoallv and MPI_Alltoallw. A side of w has a type per rank and
 * displacements in bytes, one of v has one type and displacements in extents;
 * the algorithms know both as struct coll_side.
 */
#include "coll/algorithms.h"

/* One side's arguments as they came in; of each pair one is NULL. */
struct side_args {
	const char *buf_name, *type_name, *counts_name, *displs_name;
	const void *buf;
	const int *counts, *displs;
	const MPI_Count *counts_c;
	const MPI_Aint *displs_c;
	MPI_Datatype type;
	const MPI_Datatype *types; /* w, else NULL */
};

static int find_types(const char *func, struct mpii_comm *c,
		      const struct side_args *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int err = MPI_SUCCESS;

	s->unit = 1;
	if (!a->types) {
		err = coll_check_type(func, c, a->type_name, a->type, &s->t);
		s->unit = err ? 0 : s->t->extent;
		return err;
	}
	for (int i = 0; i < c->remote_size && !err; i++) {
		if (s->counts[i] == 0) /* then programs give any type */
			w->types[i] = coll_bytes();
		else
			err = coll_check_type(func, c, a->type_name,
					      a->types[i], &w->types[i]);
	}
	s->types = w->types;
	return err;
}

static int check_side(const char *func, struct mpii_comm *c,
		      const struct side_args *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int n = c->remote_size, err;

	if (!a->counts && !a->counts_c)
		return mpii_bad_null(c, func, a->counts_name);
	if (!a->displs && !a->displs_c)
		return mpii_bad_null(c, func, a->displs_name);
	if (a->counts)
		coll_arrays_widen(w, n, a->counts, a->displs);
	s->buf = (char *)a->buf;
	s->counts = a->counts ? w->counts : a->counts_c;
	s->displs = a->counts ? w->displs : a->displs_c;
	err = find_types(func, c, a, w, s);
	for (int i = 0; i < n && !err; i++)
		err = coll_check_buf(func, c, a->buf_name, a->buf,
				     s->counts[i], coll_type(s, i));
	return err;
}

static int alltoall(struct mpii_comm *c, bool in_place,
		    const struct coll_side *s, const struct coll_side *r)
{
	struct coll k = coll_begin(c);

	return in_place ? mpii_alltoall_in_place(&k, r) :
			  mpii_alltoall_direct(&k, s, r);
}

static int run(const char *func, const struct side_args *sa,
	       const struct side_args *ra, MPI_Comm comm)
{
	struct coll_side s = { .buf = NULL }, r = { .buf = NULL };
	struct coll_arrays sw, rw;
	struct mpii_comm *c;
	bool in_place;
	int err = coll_check_comm(func, comm, &c);

	if (err)
		return err;
	in_place = !c->inter && sa->buf == MPI_IN_PLACE;
	err = coll_arrays_init(&sw, c->remote_size);
	if (err)
		return coll_end(func, c, err);
	err = coll_arrays_init(&rw, c->remote_size);
	if (err) {
		coll_arrays_free(&sw);
		return coll_end(func, c, err);
	}
	err = check_side(func, c, ra, &rw, &r);
	if (!err && !in_place)
		err = check_side(func, c, sa, &sw, &s);
	if (!err)
		err = coll_end(func, c, alltoall(c, in_place, &s, &r));
	coll_arrays_free(&rw);
	coll_arrays_free(&sw);
	return err;
}

#define SEND_NAMES                                                             \
	.buf_name = "sendbuf", .type_name = "sendtype",                        \
	.counts_name = "sendcounts", .displs_name = "sdispls", .buf = sendbuf
#define RECV_NAMES                                                             \
	.buf_name = "recvbuf", .type_name = "recvtype",                        \
	.counts_name = "recvcounts", .displs_name = "rdispls", .buf = recvbuf

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[],
		   const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
		   const int recvcounts[], const int rdispls[],
		   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct side_args s = { SEND_NAMES, .counts = sendcounts,
			       .displs = sdispls, .type = sendtype };
	struct side_args r = { RECV_NAMES, .counts = recvcounts,
			       .displs = rdispls, .type = recvtype };

	return run("MPI_Alltoallv", &s, &r, comm);
}
MPII_ALIAS(Alltoallv);

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
		     const MPI_Aint sdispls[], MPI_Datatype sendtype,
		     void *recvbuf, const MPI_Count recvcounts[],
		     const MPI_Aint rdispls[], MPI_Datatype recvtype,
		     MPI_Comm comm)
{
	struct side_args s = { SEND_NAMES, .counts_c = sendcounts,
			       .displs_c = sdispls, .type = sendtype };
	struct side_args r = { RECV_NAMES, .counts_c = recvcounts,
			       .displs_c = rdispls, .type = recvtype };

	return run("MPI_Alltoallv_c", &s, &r, comm);
}
MPII_ALIAS(Alltoallv_c);

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[],
		   const int sdispls[], const MPI_Datatype sendtypes[],
		   void *recvbuf, const int recvcounts[], const int rdispls[],
		   const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct side_args s = { SEND_NAMES, .counts = sendcounts,
			       .displs = sdispls, .types = sendtypes };
	struct side_args r = { RECV_NAMES, .counts = recvcounts,
			       .displs = rdispls, .types = recvtypes };

	return run("MPI_Alltoallw", &s, &r, comm);
}
MPII_ALIAS(Alltoallw);

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
		     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
		     void *recvbuf, const MPI_Count recvcounts[],
		     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
		     MPI_Comm comm)
{
	struct side_args s = { SEND_NAMES, .counts_c = sendcounts,
			       .displs_c = sdispls, .types = sendtypes };
	struct side_args r = { RECV_NAMES, .counts_c = recvcounts,
			       .displs_c = rdispls, .types = recvtypes };

	return run("MPI_Alltoallw_c", &s, &r, comm);
}
MPII_ALIAS(Alltoallw_c);
