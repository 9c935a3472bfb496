/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* New communicators with the same members, or with those of a group. */
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "comm/attr.h"
#include "comm/comm_info.h"
#include "comm/intercomm.h"
#include "info/info.h"
#include "topo/topo.h"

/* Same members, new context, nothing else yet. */
static int same_members(struct mpii_comm *c, const struct mpii_set *s,
			struct mpii_comm **out)
{
	uint32_t context, send_context;
	int err;

	if (c->inter)
		err = mpii_intercomm_contexts(c, s, &context, &send_context);
	else
		err = mpii_set_context(s, &context);
	if (err)
		return err;
	mpii_group_hold(c->group);
	if (c->inter) {
		mpii_group_hold(c->remote);
		*out = mpii_intercomm_create(c->group, c->remote, context,
					     send_context);
	} else {
		*out = mpii_comm_create(c->group, context);
	}
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

static int check_dup(struct mpii_comm *c, MPI_Info info, MPI_Comm *newcomm,
		     const char *func)
{
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		return mpii_error(c, MPI_ERR_INFO, func,
				  "info is not an info object or was freed");
	return MPI_SUCCESS;
}

/* What a duplicate takes from its parent. */
static int dress(struct mpii_comm *n, struct mpii_comm *c, MPI_Info info)
{
	mpii_comm_inherit(n, c);
	mpii_topo_hold(c->topology);
	n->topology = c->topology;
	if (info != MPI_INFO_NULL &&
	    !mpii_comm_take_hints(n, mpii_info_get(info)))
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	return mpii_attr_copy_all(MPII_ATTR_COMM, c->handle, c->attrs,
				  &n->attrs);
}

static int dup(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
	       const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm), *n;
	struct mpii_set s;
	int err;

	if (!c)
		return mpii_bad_comm(comm, func);
	err = check_dup(c, info, newcomm, func);
	if (err)
		return err;
	s = mpii_set_all(c);
	err = same_members(c, &s, &n);
	if (err)
		return mpii_raise(c, err, func);
	err = dress(n, c, info);
	if (err) {
		mpii_attr_delete_all(MPII_ATTR_COMM, n->handle, &n->attrs);
		mpii_comm_put(n);
		*newcomm = MPI_COMM_NULL;
		return mpii_raise(c, err, func);
	}
	*newcomm = n->handle;
	return MPI_SUCCESS;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	return dup(comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup");
}
MPII_ALIAS(Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	return dup(comm, info, newcomm, "MPI_Comm_dup_with_info");
}
MPII_ALIAS(Comm_dup_with_info);

/*
 * The nonblocking form agrees on the context in a fiber, as nonblocking
 * collectives do. The communicator object exists from the start, and gets its
 * context at the end.
 */
struct idup {
	struct mpii_comm *c, *n;
	struct mpii_set set;
};

/* Move what was agreed into the promised object. */
static void fulfil(struct mpii_comm *n, struct mpii_comm *made)
{
	n->context = made->context;
	n->send_context = made->send_context;
	n->owns_context = true;
	if (n->local) {
		n->local->context = made->context;
		n->local->send_context = made->context;
	}
	made->owns_context = false;
	mpii_comm_put(made);
	mpii_context_own(n);
}

static int idup_run(const struct coll *k, const struct coll_args *a)
{
	struct idup *d = a->own;
	struct mpii_comm *made;
	int err;

	d->set.task = k->task;
	err = same_members(d->c, &d->set, &made);
	if (!err)
		fulfil(d->n, made);
	free(d);
	return err;
}

/* The object that the request will bring to life. */
static struct mpii_comm *promise(struct mpii_comm *c)
{
	struct mpii_comm *n;

	mpii_group_hold(c->group);
	if (c->inter) {
		mpii_group_hold(c->remote);
		n = mpii_intercomm_create(c->group, c->remote, 0, 0);
	} else {
		n = mpii_comm_build(c->group, 0);
	}
	if (n)
		n->owns_context = false;
	return n;
}

static int idup(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
		MPI_Request *request, const char *func)
{
	const struct coll_how how = { .func = func,
				      .when = COLL_LATER,
				      .request = request };
	struct mpii_comm *c = mpii_comm_get(comm), *n;
	struct coll_args a = { .own = NULL };
	struct idup *d;
	int err;

	if (!c)
		return mpii_bad_comm(comm, func);
	err = check_dup(c, info, newcomm, func);
	if (err)
		return err;
	if (!request)
		return mpii_bad_null(c, func, "request");
	a.own = d = calloc(1, sizeof(*d));
	n = d ? promise(c) : NULL;
	if (!n) {
		free(d);
		return mpii_no_mem(c, func);
	}
	d->c = c;
	d->n = n;
	d->set = mpii_set_all(c);
	mpii_context_threads();
	err = dress(n, c, info);
	if (err)
		err = mpii_raise(c, err, func);
	else
		err = coll_call_later(&how, c, idup_run, &a);
	if (err) {
		free(d);
		mpii_comm_put(n);
		return err;
	}
	*newcomm = n->handle;
	return MPI_SUCCESS;
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	return idup(comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup");
}
MPII_ALIAS(Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
			     MPI_Request *request)
{
	return idup(comm, info, newcomm, request, "MPI_Comm_idup_with_info");
}
MPII_ALIAS(Comm_idup_with_info);

/* --- members of a group --- */

/* The group's members as ranks of c's local group, or NULL: not all are. */
static int *ranks_in(const struct mpii_group *g, struct mpii_comm *c, int *bad)
{
	int *ranks = malloc((g->size + 1) * sizeof(*ranks));
	struct mpii_comm *local = c->inter ? c->local : c;

	*bad = -1;
	for (int i = 0; ranks && i < g->size; i++) {
		ranks[i] = mpii_comm_rank_of(local, mpii_group_peer(g, i));
		if (ranks[i] == MPI_UNDEFINED) {
			*bad = i;
			free(ranks);
			return NULL;
		}
	}
	return ranks;
}

static int check_group(struct mpii_comm *c, MPI_Group group, int **ranks,
		       const char *func)
{
	struct mpii_group *g = mpii_group_get(group);
	int bad;

	if (!g)
		return mpii_error(c, MPI_ERR_GROUP, func, "group is %s",
				  group == MPI_GROUP_NULL ?
					  "MPI_GROUP_NULL" :
					  "no group, or was freed");
	*ranks = ranks_in(g, c, &bad);
	if (*ranks)
		return MPI_SUCCESS;
	if (bad < 0)
		return mpii_no_mem(c, func);
	return mpii_error(c, MPI_ERR_GROUP, func,
			  "member %d of the group does not belong to %s", bad,
			  mpii_comm_words(c));
}

/* Both sides say who takes part, by ranks: each job has its own numbers for peers.
 * *in is malloc'ed, and has the numbers that we know them by. */
static int exchange_members(struct mpii_comm *c, const struct mpii_set *s,
			    const struct mpii_group *g, void **in, int *n)
{
	int bad, *ranks = ranks_in(g, c, &bad), len, err;

	if (!ranks)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_intercomm_exchange(c, s, ranks,
				      g->size * (int)sizeof(*ranks), in, &len);
	free(ranks);
	*n = len / (int)sizeof(*ranks);
	ranks = *in;
	for (int i = 0; !err && i < *n; i++)
		ranks[i] = mpii_comm_peer(c, ranks[i]);
	return err;
}

/* The other side's choice decides with ours what the new one looks like. */
static int create_inter(struct mpii_comm *c, struct mpii_group *g,
			MPI_Comm *newcomm, const char *func)
{
	struct mpii_set s = mpii_set_all(c);
	uint32_t context, send_context;
	struct mpii_group *remote;
	void *in;
	int n = 0, err;

	err = mpii_intercomm_contexts(c, &s, &context, &send_context);
	if (err)
		return mpii_raise(c, err, func);
	err = exchange_members(c, &s, g, &in, &n);
	if (err) {
		mpii_context_free(context);
		return mpii_raise(c, err, func);
	}
	if (g->rank == MPI_UNDEFINED || n == 0) {
		free(in);
		mpii_context_free(context);
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	remote = mpii_group_create(n, in);
	if (!remote) {
		mpii_context_free(context);
		return mpii_no_mem(c, func);
	}
	mpii_group_hold(g);
	return mpii_comm_deliver(mpii_intercomm_create(g, remote, context,
						       send_context),
				 c, newcomm, func);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Comm_create";
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_group *g;
	uint32_t context;
	int *ranks, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	err = check_group(c, group, &ranks, func);
	if (err)
		return err;
	free(ranks);
	g = mpii_group_get(group);
	if (c->inter)
		return create_inter(c, g, newcomm, func);
	err = mpii_context_agree(c, &context);
	if (err)
		return mpii_raise(c, err, func);
	if (g->rank == MPI_UNDEFINED) {
		mpii_context_free(context);
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	mpii_group_hold(g);
	return mpii_comm_deliver(mpii_comm_create(g, context), c, newcomm,
				 func);
}
MPII_ALIAS(Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
			   MPI_Comm *newcomm)
{
	static const char func[] = "MPI_Comm_create_group";
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_set s = { .c = c, .context = MPII_CTX_GROUP, .tag = tag };
	struct mpii_group *g;
	uint32_t context;
	int *ranks, err;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!newcomm)
		return mpii_bad_null(c, func, "newcomm");
	if (c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "comm is an intercommunicator");
	if (tag < 0)
		return mpii_error(c, MPI_ERR_TAG, func,
				  "tag is %d, but must not be negative", tag);
	err = check_group(c, group, &ranks, func);
	if (err)
		return err;
	g = mpii_group_get(group);
	if (g->rank == MPI_UNDEFINED) {
		free(ranks);
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	s.ranks = ranks;
	s.size = g->size;
	s.me = g->rank;
	err = mpii_set_context(&s, &context);
	free(ranks);
	if (err)
		return mpii_raise(c, err, func);
	mpii_group_hold(g);
	return mpii_comm_deliver(mpii_comm_create(g, context), c, newcomm,
				 func);
}
MPII_ALIAS(Comm_create_group);
