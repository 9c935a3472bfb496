/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Communicators: the objects, what can be asked of them, and their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/calls.h"
#include "comm/attr.h"
#include "comm/comm.h"
#include "comm/comm_info.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/others.h"
#include "process/spawn.h"
#include "pt2pt/buffered.h"
#include "pt2pt/pt2pt.h"
#include "tools/events.h"
#include "topo/topo.h"

#define LOOK_US 1000 /* while a communicator is to be disconnected */

struct mpii_comm mpii_world, mpii_self;

/* The part that world, self and the others have in common. */
void mpii_comm_setup(struct mpii_comm *c, struct mpii_group *group,
		     struct mpii_group *remote, uint32_t context,
		     uint32_t send_context)
{
	c->context = context;
	c->send_context = send_context;
	c->owns_context = true;
	c->group = group;
	c->remote = remote;
	c->inter = group != remote;
	c->rank = group->rank;
	c->size = group->size;
	c->remote_size = remote->size;
	c->peers = remote->peers;
	c->errh = mpii_errh_get(MPI_ERRORS_ARE_FATAL);
	mpii_others_hold(group, true);
	if (c->inter)
		mpii_others_hold(remote, true);
	c->obj.refs = 1;
	c->obj.magic = MPII_COMM;
}

struct mpii_comm *mpii_comm_build(struct mpii_group *group, uint32_t context)
{
	struct mpii_comm *c = calloc(1, sizeof(*c));

	if (!c) {
		mpii_group_put(group);
		return NULL;
	}
	c->handle = (MPI_Comm)c;
	mpii_comm_setup(c, group, group, context, context);
	return c;
}

struct mpii_comm *mpii_comm_create(struct mpii_group *group, uint32_t context)
{
	struct mpii_comm *c = mpii_comm_build(group, context);

	if (!c) {
		mpii_context_free(context);
		return NULL;
	}
	mpii_context_own(c);
	mpii_event(MPII_EVENT_COMM_NEW, (int)context, c->size);
	return c;
}

static bool start_predefined(struct mpii_comm *c, MPI_Comm handle,
			     struct mpii_group *g, uint32_t context,
			     const char *name)
{
	if (!g)
		return false;
	memset(c, 0, sizeof(*c));
	mpii_comm_setup(c, g, g, context, context);
	mpii_context_own(c);
	c->predefined = true;
	c->handle = handle;
	strcpy(c->name, name);
	return true;
}

static struct mpii_group *self_alone(void)
{
	int *self = malloc(sizeof(*self));

	if (!self)
		return NULL;
	*self = mpii.rank;
	return mpii_group_create(1, self);
}

bool mpii_comm_start(void)
{
	return start_predefined(&mpii_world, MPI_COMM_WORLD, mpii_group_job(),
				0, "MPI_COMM_WORLD") &&
	       start_predefined(&mpii_self, MPI_COMM_SELF, self_alone(),
				MPII_CTX_COUNT, "MPI_COMM_SELF");
}

/* What a communicator keeps besides its group. */
static void release(struct mpii_comm *c)
{
	mpii_context_disown(c);
	mpii_errh_put(c->errh);
	mpii_info_destroy(c->info);
	if (c->coll_free)
		c->coll_free(c->coll);
	mpii_topo_put(c->topology);
	mpii_others_put(c->group, true, c->parting);
	if (c->inter)
		mpii_others_put(c->remote, true, c->parting);
	mpii_group_put(c->group);
	if (c->remote != c->group)
		mpii_group_put(c->remote);
}

void mpii_comm_stop(void)
{
	mpii_attr_delete_all(MPII_ATTR_COMM, MPI_COMM_WORLD, &mpii_world.attrs);
	mpii_obj_end(&mpii_world.obj);
	mpii_obj_end(&mpii_self.obj);
	release(&mpii_world);
	release(&mpii_self);
}

void mpii_comm_put(struct mpii_comm *c)
{
	if (c->predefined || !mpii_obj_drop(&c->obj))
		return;
	mpii_obj_end(&c->obj);
	if (c->local)
		mpii_comm_put(c->local);
	mpii_context_disown(c); /* before another gets it */
	if (c->owns_context)
		mpii_context_free(c->context);
	release(c);
	free(c);
}

void mpii_comm_inherit(struct mpii_comm *c, const struct mpii_comm *parent)
{
	mpii_group_belong(c->group, parent->group);
	mpii_errh_hold(parent->errh);
	mpii_errh_put(c->errh);
	c->errh = parent->errh;
}

int mpii_comm_deliver(struct mpii_comm *c, struct mpii_comm *parent,
		      MPI_Comm *newcomm, const char *func)
{
	if (!c)
		return mpii_no_mem(parent, func);
	mpii_comm_inherit(c, parent);
	*newcomm = c->handle;
	return MPI_SUCCESS;
}

/* --- inquiry --- */

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_size");
	if (!size)
		return mpii_bad_null(c, "MPI_Comm_size", "size");
	*size = c->size;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_size);

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_rank");
	if (!rank)
		return mpii_bad_null(c, "MPI_Comm_rank", "rank");
	*rank = c->rank;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_rank);

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_test_inter");
	if (!flag)
		return mpii_bad_null(c, "MPI_Comm_test_inter", "flag");
	*flag = c->inter;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_test_inter);

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_remote_size");
	if (!size)
		return mpii_bad_null(c, "MPI_Comm_remote_size", "size");
	if (!c->inter)
		return mpii_error(c, MPI_ERR_COMM, "MPI_Comm_remote_size",
				  "%s is not an intercommunicator",
				  mpii_comm_words(c));
	*size = c->remote_size;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_remote_size);

/* Of two results the one that says less. */
static int worse(int a, int b)
{
	return a > b ? a : b; /* IDENT < CONGRUENT < SIMILAR < UNEQUAL */
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	static const char func[] = "MPI_Comm_compare";
	struct mpii_comm *a = mpii_comm_get(comm1), *b = mpii_comm_get(comm2);

	if (!a || !b)
		return mpii_bad_comm(a ? comm2 : comm1, func);
	if (!result)
		return mpii_bad_null(a, func, "result");
	if (a == b) {
		*result = MPI_IDENT;
		return MPI_SUCCESS;
	}
	if (a->inter != b->inter) {
		*result = MPI_UNEQUAL;
		return MPI_SUCCESS;
	}
	*result = worse(mpii_group_compare(a->group, b->group),
			mpii_group_compare(a->remote, b->remote));
	if (*result == MPI_IDENT) /* same members, but another context */
		*result = MPI_CONGRUENT;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_compare);

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_set_name");
	if (!comm_name)
		return mpii_bad_null(c, "MPI_Comm_set_name", "comm_name");
	mpii_context_lock(c->context); /* another thread may look at it */
	snprintf(c->name, sizeof(c->name), "%s", comm_name);
	mpii_context_unlock();
	mpii_state_is_new();
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!comm_name || !resultlen)
		return mpii_bad_null(c, "MPI_Comm_get_name",
				     comm_name ? "resultlen" : "comm_name");
	if (comm == MPI_COMM_NULL && mpii_running()) {
		/* The standard gives the null handle a name. */
		strcpy(comm_name, "MPI_COMM_NULL");
		*resultlen = (int)strlen(comm_name);
		return MPI_SUCCESS;
	}
	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_get_name");
	strcpy(comm_name, c->name);
	*resultlen = (int)strlen(comm_name);
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_get_name);

/* --- the end --- */

/* No request uses it any more; inactive ones may know it. */
static int only_ours(void *arg)
{
	struct mpii_comm *c = arg;

	return atomic_load(&c->obj.refs) - atomic_load(&c->resting) == 1;
}

static unsigned count_done(bool receives, uint32_t context)
{
	return o2g_count_done(mpii.ep, receives,
			      mpii_tag(context + MPII_CTX_PT2PT, 0),
			      MPII_ANY_TAG_BITS);
}

/* Messages that are over do not keep us, even if the program has not asked for them
 * yet: it may do that later. */
static void await_traffic(struct mpii_comm *c)
{
	while (!only_ours(c)) {
		unsigned over = count_done(true, c->context) +
				count_done(false, c->send_context);
		int refs = atomic_load(&c->obj.refs) - atomic_load(&c->resting);

		if (refs - 1 == (int)over)
			break;
		o2g_wait_until(mpii.ep, only_ours, c, LOOK_US);
	}
}

/*
 * Nobody of another job may be forgotten while it is still in need of answers. If one
 * of them has died there is nothing to wait for.
 */
static void part(struct mpii_comm *c)
{
	await_traffic(c);
	if (c->group->others || c->remote->others)
		mpii_barrier(c);
	c->parting = true;
	if (c->local)
		c->local->parting = true;
}

static int end(MPI_Comm *comm, const char *func, bool wait)
{
	struct mpii_comm *c;
	int err;

	if (!comm)
		return mpii_bad_null(NULL, func, "comm");
	c = mpii_comm_get(*comm);
	if (!c)
		return mpii_bad_comm(*comm, func);
	if (c->predefined)
		return mpii_error(c, MPI_ERR_COMM, func, "%s cannot be freed",
				  mpii_comm_words(c));
	err = mpii_attr_delete_all(MPII_ATTR_COMM, c->handle, &c->attrs);
	if (err)
		return mpii_raise(c, err, func);
	mpii_buffer_free(&c->buffer);
	if (wait)
		part(c);
	mpii_parent_ends(c);
	mpii_event(MPII_EVENT_COMM_FREE, (int)c->context, c->size);
	/* Pending requests keep the object, but nobody may name it again. */
	mpii_obj_end(&c->obj);
	mpii_comm_put(c);
	mpii_others_sweep();
	*comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
	return end(comm, "MPI_Comm_free", false);
}
MPII_ALIAS(Comm_free);

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
	return end(comm, "MPI_Comm_disconnect", true);
}
MPII_ALIAS(Comm_disconnect);

/* --- info --- */

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_info *from = NULL;

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_set_info");
	if (info != MPI_INFO_NULL) {
		from = mpii_info_get(info);
		if (!from)
			return mpii_error(c, MPI_ERR_INFO, "MPI_Comm_set_info",
					  "info is not an info object or was "
					  "freed");
	}
	return mpii_comm_take_hints(c, from) ?
		       MPI_SUCCESS :
		       mpii_no_mem(c, "MPI_Comm_set_info");
}
MPII_ALIAS(Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_info *copy;

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_get_info");
	if (!info_used)
		return mpii_bad_null(c, "MPI_Comm_get_info", "info_used");
	copy = mpii_info_copy(c->info);
	if (!copy || !mpii_comm_describe(c, copy)) {
		mpii_info_destroy(copy);
		return mpii_no_mem(c, "MPI_Comm_get_info");
	}
	*info_used = (MPI_Info)copy;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_get_info);
