/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Gather and MPI_Gatherv in all forms. */
#include "coll/choose.h"

#define ADAPT(name, algorithm)                                             \
	COLL_ADAPT(name##_##algorithm, mpii_gather_##algorithm, a->s.buf,  \
		   a->s.count, a->s.t, &a->r, a->root)
ADAPT(gather, shared)
ADAPT(gather, pieces)
ADAPT(gather, linear)
ADAPT(gather, binomial)
ADAPT(gatherv, linear)
COLL_ADAPT(gatherv_shared, mpii_gatherv_shared, a->s.buf, a->s.count, a->s.t,
	   &a->r, a->root)

static bool is_root(const struct mpii_comm *c, int root)
{
	return root == MPI_ROOT || (!c->inter && c->rank == root);
}

/* The root's own block, unless it stays where it is. */
static void check_own(const struct coll *k, const struct coll_args *a)
{
	if (is_root(k->c, a->root) && a->s.buf != MPI_IN_PLACE)
		coll_own_differs(k, coll_count(&a->s, a->root) * a->s.t->size,
				 coll_count(&a->r, a->root) * a->r.t->size);
}

/* Ranks other than the root do not know of r. */
static int coll_gather(const struct coll *k, const struct coll_args *a)
{
	const struct coll_side *mine = is_root(k->c, a->root) ? &a->r : &a->s;

	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return coll_gather_linear(k, a);
	check_own(k, a);
	return coll_choose(COLL_gather, k, a, mine->count * mine->t->size);
}

static int coll_gatherv(const struct coll *k, const struct coll_args *a)
{
	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return coll_gatherv_linear(k, a);
	check_own(k, a);
	return coll_choose(COLL_gatherv, k, a, 0);
}

static int check(const char *func, struct mpii_comm *c, struct coll_args *a,
		 MPI_Datatype sendtype, MPI_Datatype recvtype)
{
	bool root = is_root(c, a->root);
	int err = MPI_SUCCESS;

	if (root)
		err = coll_check_side(func, c, "recvtype", recvtype, "recvbuf",
				      c->remote_size, &a->r);
	if (err || a->root == MPI_ROOT || a->root == MPI_PROC_NULL ||
	    (root && a->s.buf == MPI_IN_PLACE))
		return err;
	err = coll_check_side(func, c, "sendtype", sendtype, "sendbuf", 1,
			      &a->s);
	if (err || !root)
		return err;
	return coll_check_alias(func, c, a->s.buf, coll_block(&a->r, c->rank),
				a->s.count);
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

static int gather(const struct coll_how *how, const void *sendbuf,
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
	return call(how, c, coll_gather, &a, sendtype, recvtype);
}

static int gatherv(const struct coll_how *how, const void *sendbuf,
		   MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
		   struct coll_lists l, MPI_Datatype recvtype, int root,
		   MPI_Comm comm)
{
	struct coll_args a = { .s = { .buf = (char *)sendbuf,
				      .count = sendcount },
			       .r = { .buf = recvbuf }, .root = root };
	struct coll_arrays w;
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_root(how->func, c, root)))
		return err;
	if (!is_root(c, root))
		return call(how, c, coll_gatherv, &a, sendtype, recvtype);
	err = coll_check_lists(how->func, c, &l, "recvcounts", "displs");
	if (err)
		return err;
	err = coll_arrays_take(&w, &l, c->remote_size, &a.r);
	if (err)
		return coll_end(how->func, c, err);
	err = call(how, c, coll_gatherv, &a, sendtype, recvtype);
	coll_arrays_free(&w);
	return err;
}

#define PARAMS(count_t)                                             \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,         \
		    MPI_Datatype sendtype, void *recvbuf,           \
		    count_t recvcount, MPI_Datatype recvtype,       \
		    int root, MPI_Comm comm)
#define PARAMS_V(count_t, displ_t)                                  \
	COLL_PARAMS(const void *sendbuf, count_t sendcount,         \
		    MPI_Datatype sendtype, void *recvbuf,           \
		    const count_t recvcounts[],                     \
		    const displ_t displs[], MPI_Datatype recvtype,  \
		    int root, MPI_Comm comm)

COLL_FORMS(Gather, Igather, Gather_init, PARAMS(int), gather, sendbuf,
	   sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
COLL_FORMS(Gather_c, Igather_c, Gather_init_c, PARAMS(MPI_Count), gather,
	   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
	   comm);
COLL_FORMS(Gatherv, Igatherv, Gatherv_init, PARAMS_V(int, int), gatherv,
	   sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS(recvcounts, displs), recvtype, root, comm);
COLL_FORMS(Gatherv_c, Igatherv_c, Gatherv_init_c, PARAMS_V(MPI_Count, MPI_Aint),
	   gatherv, sendbuf, sendcount, sendtype, recvbuf,
	   COLL_LISTS_C(recvcounts, displs), recvtype, root, comm);
