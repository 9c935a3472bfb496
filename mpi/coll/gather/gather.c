/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Gather, MPI_Gatherv and the choice of their algorithms. */
#include "coll/algorithms.h"

/* A tree pays only for short blocks of many ranks. */
#define TREE_BYTES 1024
#define TREE_RANKS 16

struct gather {
	const char *func;
	struct mpii_comm *c;
	const void *in;
	MPI_Count count;
	MPI_Datatype type;
	void *out;
	MPI_Datatype out_type;
	int root;
	/* found by the checks */
	struct mpii_type *t;
	struct coll_side r;
};

static bool is_root(const struct gather *g)
{
	return g->root == MPI_ROOT || (!g->c->inter && g->c->rank == g->root);
}

static int check_out(struct gather *g)
{
	int err = coll_check_type(g->func, g->c, "recvtype", g->out_type,
				  &g->r.t);

	g->r.buf = g->out;
	g->r.unit = err ? 0 : g->r.t->extent;
	for (int i = 0; i < g->c->remote_size && !err; i++) {
		err = coll_check_buf(g->func, g->c, "recvbuf", g->out,
				     coll_count(&g->r, i), g->r.t);
		if (!g->r.counts)
			break;
	}
	return err;
}

static int check(struct gather *g)
{
	struct mpii_comm *c = g->c;
	int err;

	if (is_root(g) && (err = check_out(g)))
		return err;
	if (g->root == MPI_ROOT || (is_root(g) && g->in == MPI_IN_PLACE))
		return MPI_SUCCESS;
	if ((err = coll_check_type(g->func, c, "sendtype", g->type, &g->t)) ||
	    (err = coll_check_buf(g->func, c, "sendbuf", g->in, g->count,
				  g->t)))
		return err;
	if (!is_root(g))
		return MPI_SUCCESS;
	return coll_check_alias(g->func, c, g->in, coll_block(&g->r, c->rank),
				g->count);
}

static bool use_tree(const struct gather *g)
{
	MPI_Count bytes = is_root(g) ? g->r.count * g->r.t->size :
				       g->count * g->t->size;

	return !g->c->inter && g->c->size > TREE_RANKS && bytes <= TREE_BYTES;
}

/* Ranks other than the root do not know of r. */
static int gather(struct gather *g, bool equal)
{
	struct coll k = coll_begin(g->c);
	int err = g->root == MPI_PROC_NULL ? MPI_SUCCESS : check(g);

	if (err)
		return err;
	if (equal && g->root != MPI_PROC_NULL && use_tree(g))
		err = mpii_gather_binomial(&k, g->in, g->count, g->t, &g->r,
					   g->root);
	else
		err = mpii_gather_linear(&k, g->in, g->count, g->t, &g->r,
					 g->root);
	return coll_end(g->func, g->c, err);
}

static int start(struct gather *g, MPI_Comm comm)
{
	int err = coll_check_comm(g->func, comm, &g->c);

	return err ? err : coll_check_root(g->func, g->c, g->root);
}

static int gather_equal(const char *func, const void *sendbuf,
			MPI_Count sendcount, MPI_Datatype sendtype,
			void *recvbuf, MPI_Count recvcount,
			MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct gather g = { .func = func, .in = sendbuf, .count = sendcount,
			    .type = sendtype, .out = recvbuf,
			    .out_type = recvtype, .root = root,
			    .r = { .count = recvcount } };
	int err = start(&g, comm);

	return err ? err : gather(&g, true);
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
		MPI_Comm comm)
{
	return gather_equal("MPI_Gather", sendbuf, sendcount, sendtype, recvbuf,
			    recvcount, recvtype, root, comm);
}
MPII_ALIAS(Gather);

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount,
		  MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
		  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	return gather_equal("MPI_Gather_c", sendbuf, sendcount, sendtype,
			    recvbuf, recvcount, recvtype, root, comm);
}
MPII_ALIAS(Gather_c);

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		 void *recvbuf, const int recvcounts[], const int displs[],
		 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct gather g = { .func = "MPI_Gatherv", .in = sendbuf,
			    .count = sendcount, .type = sendtype,
			    .out = recvbuf, .out_type = recvtype,
			    .root = root };
	struct coll_arrays a;
	int err = start(&g, comm);

	if (err)
		return err;
	if (!is_root(&g))
		return gather(&g, false);
	if (!recvcounts || !displs)
		return mpii_bad_null(g.c, g.func,
				     recvcounts ? "displs" : "recvcounts");
	err = coll_arrays_init(&a, g.c->remote_size);
	if (err)
		return coll_end(g.func, g.c, err);
	coll_arrays_widen(&a, g.c->remote_size, recvcounts, displs);
	g.r.counts = a.counts;
	g.r.displs = a.displs;
	err = gather(&g, false);
	coll_arrays_free(&a);
	return err;
}
MPII_ALIAS(Gatherv);

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount,
		   MPI_Datatype sendtype, void *recvbuf,
		   const MPI_Count recvcounts[], const MPI_Aint displs[],
		   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct gather g = { .func = "MPI_Gatherv_c", .in = sendbuf,
			    .count = sendcount, .type = sendtype,
			    .out = recvbuf, .out_type = recvtype, .root = root,
			    .r = { .counts = recvcounts, .displs = displs } };
	int err = start(&g, comm);

	if (err)
		return err;
	if (is_root(&g) && (!recvcounts || !displs))
		return mpii_bad_null(g.c, g.func,
				     recvcounts ? "displs" : "recvcounts");
	return gather(&g, false);
}
MPII_ALIAS(Gatherv_c);
