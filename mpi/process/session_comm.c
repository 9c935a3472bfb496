/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Communicators from groups, without a parent.
 *
 * Members have to agree on a context before they share one. Their messages go
 * in a context beyond all that communicators can have, chosen by a hash of the
 * members and of the program's string, as the tag is; 56 bits in all keep apart
 * what several threads do at the same time. Before that they have to meet: a
 * process that has nothing but a session is not known to the others.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/comm_info.h"
#include "comm/intercomm.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/others.h"
#include "process/runtime.h"

#define BEYOND 0x80000000u /* above every context that context.c gives out */

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		h = (h ^ *p++) * UINT64_C(1099511628211);
	return h;
}

static uint64_t hash_of(const char *string, const struct mpii_group *g)
{
	uint64_t h = UINT64_C(1469598103934665603);

	h = hash(h, string, strlen(string) + 1);
	for (int i = 0; g && i < g->size; i++) {
		struct o2g_identity who = mpii_identity(mpii_group_peer(g, i));

		h = hash(h, &who.job, sizeof(who.job));
		h = hash(h, &who.rank, sizeof(who.rank));
	}
	return h ^ h >> 29;
}

/*
 * A communicator of all processes that nobody else knows, for as long as the
 * others are agreed with. NULL: out of memory.
 */
static struct mpii_comm *bridge_open(uint64_t h)
{
	uint32_t context = BEYOND | ((uint32_t)(h >> 32) & 0x0ffffff8);
	struct mpii_comm *c = calloc(1, sizeof(*c));
	struct mpii_group *g = c ? mpii_group_job() : NULL;

	if (!g) {
		free(c);
		return NULL;
	}
	mpii_comm_setup(c, g, g, context, context);
	c->predefined = true; /* nobody counts */
	c->handle = MPI_COMM_NULL;
	return c;
}

static void bridge_close(struct mpii_comm *c)
{
	mpii_group_put(c->group);
	free(c);
}

static int tag_of(uint64_t h)
{
	return (int)(h & 0x7fffffff);
}

/* --- arguments --- */

/* What both calls are given besides groups. */
struct args {
	const char *func, *stringtag;
	MPI_Info info;
	struct mpii_errh *errh; /* held */
	struct mpii_info *hints;
};

static struct mpii_owner owner_of(struct args *a)
{
	return (struct mpii_owner){ MPII_ERRH_COMM, MPI_COMM_NULL, &a->errh,
				    NULL };
}

static int check_args(const struct args *a)
{
	if (!a->stringtag)
		return mpii_fail(MPI_ERR_ARG, "stringtag is a null pointer");
	if (strlen(a->stringtag) >= MPI_MAX_STRINGTAG_LEN)
		return mpii_fail(MPI_ERR_ARG,
				 "stringtag has %zu characters, "
				 "at most %d fit",
				 strlen(a->stringtag),
				 MPI_MAX_STRINGTAG_LEN - 1);
	if (a->info != MPI_INFO_NULL && !mpii_info_get(a->info))
		return mpii_fail(MPI_ERR_INFO,
				 "info is not an info object or was freed");
	return MPI_SUCCESS;
}

/* The error handler first: all other errors are its business. */
static int begin(struct args *a, MPI_Errhandler errhandler)
{
	struct mpii_owner o = mpii_owner_in_charge(NULL);

	return mpii_errh_arg(&o, MPII_ERRH_COMM, errhandler, a->func, &a->errh);
}

static int check_group(MPI_Group h, const char *arg, struct mpii_group **g)
{
	*g = mpii_group_get(h);
	if (*g)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_GROUP, "%s is %s", arg,
			 h == MPI_GROUP_NULL ? "MPI_GROUP_NULL" :
					       "no group, or was freed");
}

static int check_member(const struct mpii_group *g, const char *arg)
{
	if (g->rank != MPI_UNDEFINED)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_GROUP, "this process is not a member of %s",
			 arg);
}

static int meet(const struct mpii_group *g)
{
	if (!mpii_runtime_meet(g))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_OTHER,
			 "cannot reach the members of the group; "
			 "the reason was printed before");
}

/* The end of both: give the communicator what it was to have. */
static int finish(struct args *a, int err, struct mpii_comm *c, MPI_Comm *out)
{
	struct mpii_owner o = owner_of(a);

	if (!err && a->info != MPI_INFO_NULL &&
	    !mpii_comm_take_hints(c, mpii_info_get(a->info))) {
		mpii_comm_put(c);
		err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	if (err) {
		err = mpii_raise_on(&o, err, a->func);
		mpii_errh_put(a->errh);
		return err;
	}
	mpii_errh_put(c->errh);
	c->errh = a->errh;
	*out = c->handle;
	return MPI_SUCCESS;
}

/* --- one group --- */

static int from_group(const struct args *a, struct mpii_group *g,
		      struct mpii_comm **out)
{
	uint64_t h = hash_of(a->stringtag, g);
	struct mpii_comm *bridge = bridge_open(h);
	struct mpii_set s = { .c = bridge,
			      .ranks = g->peers,
			      .size = g->size,
			      .me = g->rank,
			      .context = MPII_CTX_GROUP,
			      .tag = tag_of(h) };
	uint32_t context;
	int err;

	if (!bridge)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_set_context(&s, &context);
	bridge_close(bridge);
	if (err)
		return err;
	mpii_group_hold(g);
	*out = mpii_comm_create(g, context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag,
				MPI_Info info, MPI_Errhandler errhandler,
				MPI_Comm *newcomm)
{
	struct args a = { "MPI_Comm_create_from_group", stringtag, info, NULL,
			  NULL };
	struct mpii_comm *c = NULL;
	struct mpii_group *g;
	int err;

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, a.func);
	err = begin(&a, errhandler);
	if (err)
		return err;
	err = check_args(&a);
	if (!err)
		err = check_group(group, "group", &g);
	if (!err && !newcomm)
		err = mpii_fail(MPI_ERR_ARG, "newcomm is a null pointer");
	if (!err && g->size == 0) { /* nobody makes nothing */
		mpii_errh_put(a.errh);
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	if (!err)
		err = check_member(g, "group");
	if (!err)
		err = meet(g);
	if (!err)
		err = from_group(&a, g, &c);
	return finish(&a, err, c, newcomm);
}
MPII_ALIAS(Comm_create_from_group);

/* --- two groups --- */

static int check_leader(const struct mpii_group *g, int leader, const char *arg)
{
	if (leader >= 0 && leader < g->size)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_RANK,
			 "%s is %d, but the group has %d member%s", arg, leader,
			 g->size, g->size == 1 ? "" : "s");
}

/* Members of g as peers, its leader first. NULL: out of memory. */
static int *leader_first(const struct mpii_group *g, int leader, int *me)
{
	int *ranks = malloc(g->size * sizeof(*ranks));

	if (!ranks)
		return NULL;
	mpii_group_peers(g, ranks);
	ranks[0] = mpii_group_peer(g, leader);
	ranks[leader] = mpii_group_peer(g, 0);
	*me = g->rank == leader ? 0 : g->rank == 0 ? leader : g->rank;
	return ranks;
}

static int from_groups(const struct args *a, struct mpii_group *local,
		       int local_leader, int remote_leader,
		       struct mpii_comm **out)
{
	uint64_t h = hash_of(a->stringtag, local);
	uint64_t between = hash_of(a->stringtag, NULL);
	struct mpii_comm *bridge = bridge_open(h), *across;
	struct mpii_set s = { .c = bridge,
			      .size = local->size,
			      .context = MPII_CTX_GROUP,
			      .tag = tag_of(h) };
	struct mpii_bridge b = { .remote_leader = remote_leader,
				 .tag = tag_of(between) };
	int *ranks = leader_first(local, local_leader, &s.me), err;

	b.peer = across = bridge_open(between);
	s.ranks = ranks;
	if (bridge && across && ranks)
		err = mpii_intercomm_build(&s, local, &b, out);
	else
		err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	free(ranks);
	if (bridge)
		bridge_close(bridge);
	if (across)
		bridge_close(across);
	return err;
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
				      MPI_Group remote_group, int remote_leader,
				      const char *stringtag, MPI_Info info,
				      MPI_Errhandler errhandler,
				      MPI_Comm *newintercomm)
{
	struct args a = { "MPI_Intercomm_create_from_groups", stringtag, info,
			  NULL, NULL };
	struct mpii_group *local, *remote = NULL;
	struct mpii_comm *c = NULL;
	int err;

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, a.func);
	err = begin(&a, errhandler);
	if (err)
		return err;
	err = check_args(&a);
	if (!err)
		err = check_group(local_group, "local_group", &local);
	if (!err)
		err = check_member(local, "local_group");
	if (!err)
		err = check_leader(local, local_leader, "local_leader");
	/* the rest of the remote side matters at the leader only */
	if (!err && local->rank == local_leader) {
		err = check_group(remote_group, "remote_group", &remote);
		if (!err)
			err = check_leader(remote, remote_leader,
					   "remote_leader");
	}
	if (!err && !newintercomm)
		err = mpii_fail(MPI_ERR_ARG, "newintercomm is a null pointer");
	if (!err)
		err = meet(local);
	if (!err && remote)
		err = meet(remote);
	if (!err)
		err = from_groups(
			&a, local, local_leader,
			remote ? mpii_group_peer(remote, remote_leader) : -1,
			&c);
	return finish(&a, err, c, newintercomm);
}
MPII_ALIAS(Intercomm_create_from_groups);
