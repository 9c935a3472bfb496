/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Neighborhood collectives in all forms: one message to every neighbor and one
 * from each.
 *
 * All messages of a call carry the same tag, so several between the same two
 * processes are told apart by their order: sent in the order of the neighbors,
 * received in that order too. A cartesian grid is special: what goes down is
 * received as coming from above. Where both neighbors of a dimension are one
 * process, because it has only one or two places, that matters; so there the
 * receive from above is posted before the one from below.
 */
#include "coll/coll.h"
#include "topo/topo.h"

/* @step is 0 when one block goes to all, and 1 when each has its own. */
static int exchange(const struct coll *k, const struct coll_args *a, int step)
{
	const struct mpii_topo *t = k->c->topology;
	bool grid = t->kind == MPI_CART;
	struct coll_reqs reqs;
	int j, err = coll_reqs_init(&reqs, t->indegree + t->outdegree);

	if (err)
		return err;
	for (int i = 0; i < t->indegree; i++) {
		j = grid ? i ^ 1 : i;
		if (t->sources[j] != MPI_PROC_NULL)
			coll_post_recv(k, &reqs, coll_block(&a->r, j),
				       coll_count(&a->r, j),
				       coll_type(&a->r, j), t->sources[j]);
	}
	for (int i = 0; i < t->outdegree; i++) {
		j = i * step;
		if (t->destinations[i] != MPI_PROC_NULL)
			coll_post_send(k, &reqs, coll_block(&a->s, j),
				       coll_count(&a->s, j),
				       coll_type(&a->s, j), t->destinations[i]);
	}
	return coll_reqs_finish(&reqs);
}

static int gather(const struct coll *k, const struct coll_args *a)
{
	return exchange(k, a, 0);
}

static int alltoall(const struct coll *k, const struct coll_args *a)
{
	return exchange(k, a, 1);
}

/* --- checks --- */

/* One side's arguments and what they are called. */
struct side_args {
	const char *buf_name, *type_name, *counts_name, *displs_name;
	const void *buf;
	MPI_Count count; /* without lists */
	MPI_Datatype type;
	bool lists, w;
	struct coll_lists l;
};

/* A side with @n neighbors. */
static int check_side(const char *func, struct mpii_comm *c, int n,
		      const struct side_args *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int err;

	*s = (struct coll_side){ .buf = (char *)a->buf, .count = a->count };
	if (a->lists) {
		err = n ? coll_check_lists(func, c, &a->l, a->counts_name,
					   a->displs_name) :
			  MPI_SUCCESS;
		if (err)
			return err;
		err = coll_arrays_take(w, &a->l, n, s);
		if (err)
			return coll_end(func, c, err);
		if (a->w && n && !a->l.types)
			return mpii_bad_null(c, func, a->type_name);
		if (a->w)
			return coll_check_types(func, c, a->type_name,
						a->l.types, a->buf_name, w, s);
	}
	if (n == 0 && a->count >= 0) /* nobody looks at the buffer */
		return coll_check_type(func, c, a->type_name, a->type, &s->t);
	return coll_check_side(func, c, a->type_name, a->type, a->buf_name, n,
			       s);
}

static int run(const struct coll_how *how, coll_fn *fn,
	       const struct side_args *sa, const struct side_args *ra,
	       MPI_Comm comm)
{
	struct coll_args a = { .root = 0 };
	struct coll_arrays sw, rw;
	struct mpii_topo *t;
	struct mpii_comm *c;
	int err = mpii_topo_find(how->func, comm, 0, &c, &t);

	if (err)
		return err;
	sw.mem.heap = rw.mem.heap = NULL;
	err = check_side(how->func, c, t->outdegree, sa, &sw, &a.s);
	if (!err)
		err = check_side(how->func, c, t->indegree, ra, &rw, &a.r);
	if (!err)
		err = coll_call(how, c, fn, &a);
	coll_arrays_free(&rw);
	coll_arrays_free(&sw);
	return err;
}

/* --- the calls --- */

#define PLAIN(dir)                                            \
	{                                                     \
#dir "buf", #dir "type", #dir "count", NULL,  \
			.buf = dir##buf, .count = dir##count, \
			.type = dir##type                     \
	}
#define VECTOR(dir, d, lists_)                                             \
	{                                                                  \
#dir "buf", #dir "type", #dir "counts", d,                 \
			.buf = dir##buf, .type = dir##type, .lists = true, \
			.l = lists_                                        \
	}
#define TYPED(dir, d, lists_)                                                  \
	{                                                                      \
#dir "buf", #dir "types", #dir "counts", d,                    \
			.buf = dir##buf, .lists = true, .w = true, .l = lists_ \
	}

static int allgather(const struct coll_how *how, const void *sendbuf,
		     MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	const struct side_args s = PLAIN(send);
	const struct side_args r = PLAIN(recv);

	return run(how, gather, &s, &r, comm);
}

static int allgatherv(const struct coll_how *how, const void *sendbuf,
		      MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      struct coll_lists l, MPI_Datatype recvtype, MPI_Comm comm)
{
	const struct side_args s = PLAIN(send);
	const struct side_args r = VECTOR(recv, "displs", l);

	return run(how, gather, &s, &r, comm);
}

static int alltoall_equal(const struct coll_how *how, const void *sendbuf,
			  MPI_Count sendcount, MPI_Datatype sendtype,
			  void *recvbuf, MPI_Count recvcount,
			  MPI_Datatype recvtype, MPI_Comm comm)
{
	const struct side_args s = PLAIN(send);
	const struct side_args r = PLAIN(recv);

	return run(how, alltoall, &s, &r, comm);
}

static int alltoallv(const struct coll_how *how, const void *sendbuf,
		     struct coll_lists sl, MPI_Datatype sendtype, void *recvbuf,
		     struct coll_lists rl, MPI_Datatype recvtype, MPI_Comm comm)
{
	const struct side_args s = VECTOR(send, "sdispls", sl);
	const struct side_args r = VECTOR(recv, "rdispls", rl);

	return run(how, alltoall, &s, &r, comm);
}

static int alltoallw(const struct coll_how *how, const void *sendbuf,
		     struct coll_lists sl, void *recvbuf, struct coll_lists rl,
		     MPI_Comm comm)
{
	const struct side_args s = TYPED(send, "sdispls", sl);
	const struct side_args r = TYPED(recv, "rdispls", rl);

	return run(how, alltoall, &s, &r, comm);
}

#define PARAMS(count_t)                                                      \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,                  \
		    MPI_Datatype sendtype, void *recvbuf, count_t recvcount, \
		    MPI_Datatype recvtype, MPI_Comm comm)
#define PARAMS_GATHERV(count_t, displ_t)                                \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,             \
		    MPI_Datatype sendtype, void *recvbuf,               \
		    const count_t recvcounts[], const displ_t displs[], \
		    MPI_Datatype recvtype, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                   \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[], \
		    const displ_t sdispls[], MPI_Datatype sendtype,  \
		    void *recvbuf, const count_t recvcounts[],       \
		    const displ_t rdispls[], MPI_Datatype recvtype,  \
		    MPI_Comm comm)
#define PARAMS_W(count_t)                                                     \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[],          \
		    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], \
		    void *recvbuf, const count_t recvcounts[],                \
		    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], \
		    MPI_Comm comm)
/* Of alltoallw: displacements are addresses in both forms. */
#define W_LISTS(member, c, d, t)                       \
	(struct coll_lists)                            \
	{                                              \
		.member = c, .displs_c = d, .types = t \
	}

COLL_FORMS(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init,
	   PARAMS(int), allgather, sendbuf, sendcount, sendtype, recvbuf,
	   recvcount, recvtype, comm);
COLL_FORMS(Neighbor_allgather_c, Ineighbor_allgather_c,
	   Neighbor_allgather_init_c, PARAMS(MPI_Count), allgather, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
COLL_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init,
	   PARAMS_GATHERV(int, int), allgatherv, sendbuf, sendcount, sendtype,
	   recvbuf, COLL_LISTS(recvcounts, displs), recvtype, comm);
COLL_FORMS(Neighbor_allgatherv_c, Ineighbor_allgatherv_c,
	   Neighbor_allgatherv_init_c, PARAMS_GATHERV(MPI_Count, MPI_Aint),
	   allgatherv, sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS_C(recvcounts, displs), recvtype, comm);
COLL_FORMS(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init,
	   PARAMS(int), alltoall_equal, sendbuf, sendcount, sendtype, recvbuf,
	   recvcount, recvtype, comm);
COLL_FORMS(Neighbor_alltoall_c, Ineighbor_alltoall_c, Neighbor_alltoall_init_c,
	   PARAMS(MPI_Count), alltoall_equal, sendbuf, sendcount, sendtype,
	   recvbuf, recvcount, recvtype, comm);
COLL_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init,
	   PARAMS_V(int, int), alltoallv, sendbuf,
	   COLL_LISTS(sendcounts, sdispls), sendtype, recvbuf,
	   COLL_LISTS(recvcounts, rdispls), recvtype, comm);
COLL_FORMS(Neighbor_alltoallv_c, Ineighbor_alltoallv_c,
	   Neighbor_alltoallv_init_c, PARAMS_V(MPI_Count, MPI_Aint), alltoallv,
	   sendbuf, COLL_LISTS_C(sendcounts, sdispls), sendtype, recvbuf,
	   COLL_LISTS_C(recvcounts, rdispls), recvtype, comm);
COLL_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init,
	   PARAMS_W(int), alltoallw, sendbuf,
	   W_LISTS(counts, sendcounts, sdispls, sendtypes), recvbuf,
	   W_LISTS(counts, recvcounts, rdispls, recvtypes), comm);
COLL_FORMS(Neighbor_alltoallw_c, Ineighbor_alltoallw_c,
	   Neighbor_alltoallw_init_c, PARAMS_W(MPI_Count), alltoallw, sendbuf,
	   W_LISTS(counts_c, sendcounts, sdispls, sendtypes), recvbuf,
	   W_LISTS(counts_c, recvcounts, rdispls, recvtypes), comm);
