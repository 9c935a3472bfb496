/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Scatter and MPI_Scatterv in all forms. */
#include "coll/choose.h"

#define ADAPT(name, algorithm)                                           \
	COLL_ADAPT(name##_##algorithm, mpii_scatter_##algorithm, &a->s, \
		   a->r.buf, a->r.count, a->r.t, a->root)
ADAPT(scatter, shared)
ADAPT(scatter, linear)
ADAPT(scatter, binomial)
ADAPT(scatterv, linear)
COLL_ADAPT(scatterv_shared, mpii_scatterv_shared, &a->s, a->r.buf, a->r.count,
	   a->r.t, a->root)

static bool is_root(const struct mpii_comm *c, int root)
{
	return root == MPI_ROOT || (!c->inter && c->rank == root);
}

/* The root's own block, unless it stays where it is. */
static void check_own(const struct coll *k, const struct coll_args *a)
{
	if (is_root(k->c, a->root) && a->r.buf != MPI_IN_PLACE)
		coll_own_differs(k, coll_count(&a->s, a->root) * a->s.t->size,
				 coll_count(&a->r, a->root) * a->r.t->size);
}

/* Ranks other than the root do not know of s. */
static int coll_scatter(const struct coll *k, const struct coll_args *a)
{
	const struct coll_side *mine = is_root(k->c, a->root) ? &a->s : &a->r;

	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return coll_scatter_linear(k, a);
	check_own(k, a);
	return coll_choose(COLL_scatter, k, a, mine->count * mine->t->size);
}

static int coll_scatterv(const struct coll *k, const struct coll_args *a)
{
	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return coll_scatterv_linear(k, a);
	check_own(k, a);
	return coll_choose(COLL_scatterv, k, a, 0);
}

static int check(const char *func, struct mpii_comm *c, struct coll_args *a,
		 MPI_Datatype sendtype, MPI_Datatype recvtype)
{
	bool root = is_root(c, a->root);
	int err = MPI_SUCCESS;

	if (root)
		err = coll_check_side(func, c, "sendtype", sendtype, "sendbuf",
				      c->remote_size, &a->s);
	if (err || a->root == MPI_ROOT || a->root == MPI_PROC_NULL ||
	    (root && a->r.buf == MPI_IN_PLACE))
		return err;
	err = coll_check_side(func, c, "recvtype", recvtype, "recvbuf", 1,
			      &a->r);
	if (err || !root)
		return err;
	return coll_check_alias(func, c, coll_block(&a->s, c->rank), a->r.buf,
				a->r.count);
}

/* Also when the arguments are wrong the others go on. */
static int call(const struct coll_how *how, struct mpii_comm *c, coll_fn *fn,
		struct coll_args *a, MPI_Datatype sendtype,
		MPI_Datatype recvtype)
{
	int err = check(how->func, c, a, sendtype, recvtype);

	if (!err)
		return coll_call(how, c, fn, a);
	coll_skip(how, c);
	return err;
}

static int scatter(const struct coll_how *how, const void *sendbuf,
		   MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		   MPI_Count recvcount, MPI_Datatype recvtype, int root,
		   MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf, .count = recvcount },
			       .root = root };
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_root(how->func, c, root)))
		return err;
	return call(how, c, coll_scatter, &a, sendtype, recvtype);
}

static int scatterv(const struct coll_how *how, const void *sendbuf,
		    struct coll_lists l, MPI_Datatype sendtype, void *recvbuf,
		    MPI_Count recvcount, MPI_Datatype recvtype, int root,
		    MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf },
			       .r = { .buf = recvbuf, .count = recvcount },
			       .root = root };
	struct coll_arrays w;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_root(how->func, c, root)))
		return err;
	if (!is_root(c, root))
		return call(how, c, coll_scatterv, &a, sendtype, recvtype);
	err = coll_check_lists(how->func, c, &l, "sendcounts", "displs");
	if (err)
		return err;
	err = coll_arrays_take(&w, &l, c->remote_size, &a.s);
	if (err)
		return coll_end(how->func, c, err);
	err = call(how, c, coll_scatterv, &a, sendtype, recvtype);
	coll_arrays_free(&w);
	return err;
}

#define PARAMS(count_t)                                             \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,         \
		    MPI_Datatype sendtype, void *recvbuf,           \
		    count_t recvcount, MPI_Datatype recvtype,       \
		    int root, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                  \
	COLL_PARAMS(const void *sendbuf, const count_t sendcounts[], \
		    const displ_t displs[], MPI_Datatype sendtype,  \
		    void *recvbuf, count_t recvcount,               \
		    MPI_Datatype recvtype, int root, MPI_Comm comm)

COLL_FORMS(Scatter, Iscatter, Scatter_init, PARAMS(int), scatter, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
COLL_FORMS(Scatter_c, Iscatter_c, Scatter_init_c, PARAMS(MPI_Count), scatter,
	   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
	   comm);
COLL_FORMS(Scatterv, Iscatterv, Scatterv_init, PARAMS_V(int, int), scatterv,
	   sendbuf, COLL_LISTS(sendcounts, displs), sendtype, recvbuf,
	   recvcount, recvtype, root, comm);
COLL_FORMS(Scatterv_c, Iscatterv_c, Scatterv_init_c,
	   PARAMS_V(MPI_Count, MPI_Aint), scatterv, sendbuf,
	   COLL_LISTS_C(sendcounts, displs), sendtype, recvbuf, recvcount,
	   recvtype, root, comm);
