/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Scatter, MPI_Scatterv and the choice of their algorithms. */
#include "coll/algorithms.h"

/* A tree pays only for short blocks of many ranks. */
#define TREE_BYTES 1024
#define TREE_RANKS 16

struct scatter {
	const char *func;
	struct mpii_comm *c;
	const void *in;
	MPI_Datatype in_type;
	void *out;
	MPI_Count count;
	MPI_Datatype type;
	int root;
	/* found by the checks */
	struct coll_side s;
	struct mpii_type *t;
};

static bool is_root(const struct scatter *a)
{
	return a->root == MPI_ROOT || (!a->c->inter && a->c->rank == a->root);
}

static int check_in(struct scatter *a)
{
	int err = coll_check_type(a->func, a->c, "sendtype", a->in_type,
				  &a->s.t);

	a->s.buf = (char *)a->in;
	a->s.unit = err ? 0 : a->s.t->extent;
	for (int i = 0; i < a->c->remote_size && !err; i++) {
		err = coll_check_buf(a->func, a->c, "sendbuf", a->in,
				     coll_count(&a->s, i), a->s.t);
		if (!a->s.counts)
			break;
	}
	return err;
}

static int check(struct scatter *a)
{
	struct mpii_comm *c = a->c;
	int err;

	if (is_root(a) && (err = check_in(a)))
		return err;
	if (a->root == MPI_ROOT || (is_root(a) && a->out == MPI_IN_PLACE))
		return MPI_SUCCESS;
	if ((err = coll_check_type(a->func, c, "recvtype", a->type, &a->t)) ||
	    (err = coll_check_buf(a->func, c, "recvbuf", a->out, a->count,
				  a->t)))
		return err;
	if (!is_root(a))
		return MPI_SUCCESS;
	return coll_check_alias(a->func, c, coll_block(&a->s, c->rank), a->out,
				a->count);
}

static bool use_tree(const struct scatter *a)
{
	MPI_Count bytes = is_root(a) ? a->s.count * a->s.t->size :
				       a->count * a->t->size;

	return !a->c->inter && a->c->size > TREE_RANKS && bytes <= TREE_BYTES;
}

/* Ranks other than the root do not know of s. */
static int scatter(struct scatter *a, bool equal)
{
	struct coll k = coll_begin(a->c);
	int err = a->root == MPI_PROC_NULL ? MPI_SUCCESS : check(a);

	if (err)
		return err;
	if (equal && a->root != MPI_PROC_NULL && use_tree(a))
		err = mpii_scatter_binomial(&k, &a->s, a->out, a->count, a->t,
					    a->root);
	else
		err = mpii_scatter_linear(&k, &a->s, a->out, a->count, a->t,
					  a->root);
	return coll_end(a->func, a->c, err);
}

static int start(struct scatter *a, MPI_Comm comm)
{
	int err = coll_check_comm(a->func, comm, &a->c);

	return err ? err : coll_check_root(a->func, a->c, a->root);
}

static int scatter_equal(const char *func, const void *sendbuf,
			 MPI_Count sendcount, MPI_Datatype sendtype,
			 void *recvbuf, MPI_Count recvcount,
			 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct scatter a = { .func = func, .in = sendbuf, .in_type = sendtype,
			     .out = recvbuf, .count = recvcount,
			     .type = recvtype, .root = root,
			     .s = { .count = sendcount } };
	int err = start(&a, comm);

	return err ? err : scatter(&a, true);
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		 void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
		 MPI_Comm comm)
{
	return scatter_equal("MPI_Scatter", sendbuf, sendcount, sendtype,
			     recvbuf, recvcount, recvtype, root, comm);
}
MPII_ALIAS(Scatter);

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount,
		   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	return scatter_equal("MPI_Scatter_c", sendbuf, sendcount, sendtype,
			     recvbuf, recvcount, recvtype, root, comm);
}
MPII_ALIAS(Scatter_c);

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[],
		  const int displs[], MPI_Datatype sendtype, void *recvbuf,
		  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct scatter a = { .func = "MPI_Scatterv", .in = sendbuf,
			     .in_type = sendtype, .out = recvbuf,
			     .count = recvcount, .type = recvtype,
			     .root = root };
	struct coll_arrays w;
	int err = start(&a, comm);

	if (err)
		return err;
	if (!is_root(&a))
		return scatter(&a, false);
	if (!sendcounts || !displs)
		return mpii_bad_null(a.c, a.func,
				     sendcounts ? "displs" : "sendcounts");
	err = coll_arrays_init(&w, a.c->remote_size);
	if (err)
		return coll_end(a.func, a.c, err);
	coll_arrays_widen(&w, a.c->remote_size, sendcounts, displs);
	a.s.counts = w.counts;
	a.s.displs = w.displs;
	err = scatter(&a, false);
	coll_arrays_free(&w);
	return err;
}
MPII_ALIAS(Scatterv);

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[],
		    const MPI_Aint displs[], MPI_Datatype sendtype,
		    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
		    int root, MPI_Comm comm)
{
	struct scatter a = { .func = "MPI_Scatterv_c", .in = sendbuf,
			     .in_type = sendtype, .out = recvbuf,
			     .count = recvcount, .type = recvtype,
			     .root = root,
			     .s = { .counts = sendcounts, .displs = displs } };
	int err = start(&a, comm);

	if (err)
		return err;
	if (is_root(&a) && (!sendcounts || !displs))
		return mpii_bad_null(a.c, a.func,
				     sendcounts ? "displs" : "sendcounts");
	return scatter(&a, false);
}
MPII_ALIAS(Scatterv_c);
