/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Gather and scatter: their arguments, and what comes before the algorithm. */
#include "coll/rooted.h"

static bool is_root(const struct mpii_comm *c, int root)
{
	return root == MPI_ROOT || (!c->inter && c->rank == root);
}

/* The side with a block per rank: the root's alone. */
static const struct coll_side *blocks(const struct coll_args *a)
{
	return a->rooted->gather ? &a->r : &a->s;
}

/* The side with one block, which the root may leave where it is. */
static const struct coll_side *own(const struct coll_args *a)
{
	return a->rooted->gather ? &a->s : &a->r;
}

static int run(const struct coll *k, const struct coll_args *a)
{
	bool root = is_root(k->c, a->root);
	const struct coll_side *known = root ? blocks(a) : own(a);

	if (a->root == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (k->c->inter)
		return a->rooted->linear(k, a);
	if (root && own(a)->buf != MPI_IN_PLACE)
		coll_own_differs(k, coll_count(&a->s, a->root) * a->s.t->size,
				 coll_count(&a->r, a->root) * a->r.t->size);
	return coll_choose(a->rooted->id, k, a,
			   a->rooted->equal ? known->count * known->t->size :
					      0);
}

/* --- arguments --- */

static int check_send(const char *func, struct mpii_comm *c, int n,
		      MPI_Datatype type, struct coll_args *a)
{
	return coll_check_side(func, c, "sendtype", type, "sendbuf", n, &a->s);
}

static int check_recv(const char *func, struct mpii_comm *c, int n,
		      MPI_Datatype type, struct coll_args *a)
{
	return coll_check_side(func, c, "recvtype", type, "recvbuf", n, &a->r);
}

/* The root's blocks first, then what everybody has. */
static int check(const char *func, struct mpii_comm *c, struct coll_args *a,
		 MPI_Datatype sendtype, MPI_Datatype recvtype)
{
	bool root = is_root(c, a->root), gather = a->rooted->gather;
	int n = c->remote_size, err = MPI_SUCCESS;

	if (root)
		err = gather ? check_recv(func, c, n, recvtype, a) :
			       check_send(func, c, n, sendtype, a);
	if (err || a->root == MPI_ROOT || a->root == MPI_PROC_NULL ||
	    (root && own(a)->buf == MPI_IN_PLACE))
		return err;
	err = gather ? check_send(func, c, 1, sendtype, a) :
		       check_recv(func, c, 1, recvtype, a);
	if (err || !root)
		return err;
	return coll_check_alias(func, c, own(a)->buf,
				coll_block(blocks(a), c->rank), own(a)->count);
}

static int call(const struct coll_how *how, struct mpii_comm *c,
		struct coll_args *a, MPI_Datatype sendtype,
		MPI_Datatype recvtype)
{
	int err = check(how->func, c, a, sendtype, recvtype);

	return err ? err : coll_call(how, c, run, a);
}

static int call_lists(const struct coll_how *how, struct mpii_comm *c,
		      struct coll_args *a, const struct coll_lists *l,
		      MPI_Datatype sendtype, MPI_Datatype recvtype)
{
	bool gather = a->rooted->gather;
	struct coll_arrays w;
	int err;

	err = coll_check_lists(how->func, c, l,
			       gather ? "recvcounts" : "sendcounts", "displs");
	if (err)
		return err;
	err = coll_arrays_take(&w, l, c->remote_size, gather ? &a->r : &a->s);
	if (err)
		return coll_end(how->func, c, err);
	err = call(how, c, a, sendtype, recvtype);
	coll_arrays_free(&w);
	return err;
}

int coll_rooted(const struct coll_how *how, struct coll_args *a,
		const struct coll_lists *l, MPI_Datatype sendtype,
		MPI_Datatype recvtype, MPI_Comm comm)
{
	struct mpii_comm *c;
	int err;

	if ((err = coll_check_comm(how->func, comm, &c)) ||
	    (err = coll_check_root(how->func, c, a->root)))
		return err;
	if (l && is_root(c, a->root))
		return call_lists(how, c, a, l, sendtype, recvtype);
	return call(how, c, a, sendtype, recvtype);
}
