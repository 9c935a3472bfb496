/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Groups, and what can be asked of them. A group never changes after it is made,
 * so communicators and handles share it by counting.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "comm/group.h"
#include "env/errors.h"
#include "process/others.h"
#include "process/session.h"

struct mpii_group mpii_group_empty = {
	.obj = { .magic = MPII_GROUP, .refs = 1 },
	.rank = MPI_UNDEFINED,
};

struct mpii_group *mpii_group_get(MPI_Group h)
{
	struct mpii_group *g = (struct mpii_group *)h;

	if (!mpii_running())
		return NULL;
	if ((uintptr_t)h < MPII_PREDEFINED_END)
		return h == MPI_GROUP_EMPTY ? &mpii_group_empty : NULL;
	return mpii_is_object(h, MPII_GROUP) ? g : NULL;
}

MPI_Group mpii_group_handle(struct mpii_group *g)
{
	return g == &mpii_group_empty ? MPI_GROUP_EMPTY : (MPI_Group)g;
}

static bool is_in_order(int size, const int *peers)
{
	for (int i = 0; i < size; i++)
		if (peers[i] != i)
			return false;
	return true;
}

/* Takes the array over; NULL: peers 0 to size - 1, which need none. */
static struct mpii_group *make(int size, int *peers)
{
	struct mpii_group *g = malloc(sizeof(*g));

	if (!g) {
		free(peers);
		return NULL;
	}
	*g = (struct mpii_group){ .obj = { .magic = MPII_GROUP, .refs = 1 },
				  .size = size,
				  .rank = MPI_UNDEFINED,
				  .peers = peers };
	for (int i = 0; peers && i < size; i++) {
		if (peers[i] == mpii.rank)
			g->rank = i;
		g->others |= mpii_is_other(peers[i]);
	}
	mpii_others_hold(g, false);
	if (!peers && mpii.rank < size)
		g->rank = mpii.rank;
	return g;
}

struct mpii_group *mpii_group_create(int size, int *peers)
{
	if (is_in_order(size, peers)) {
		free(peers);
		return size ? make(size, NULL) : &mpii_group_empty;
	}
	return make(size, peers);
}

struct mpii_group *mpii_group_job(void)
{
	return make(mpii.size, NULL);
}

void mpii_group_peers(const struct mpii_group *g, int *peers)
{
	for (int i = 0; i < g->size; i++)
		peers[i] = mpii_group_peer(g, i);
}

void mpii_group_hold(struct mpii_group *g)
{
	if (g != &mpii_group_empty)
		mpii_obj_hold(&g->obj);
}

void mpii_group_put(struct mpii_group *g)
{
	if (g == &mpii_group_empty || !mpii_obj_drop(&g->obj))
		return;
	mpii_obj_end(&g->obj);
	mpii_others_put(g, false, false);
	mpii_session_put(g->session);
	free(atomic_load(&g->index));
	free(g->peers);
	free(g);
}

void mpii_group_belong(struct mpii_group *g, const struct mpii_group *from)
{
	if (g == &mpii_group_empty || g->session || !from->session)
		return;
	mpii_session_hold(from->session);
	g->session = from->session;
}

int mpii_bad_group(MPI_Group h, const char *func, const char *arg)
{
	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (h == MPI_GROUP_NULL)
		return mpii_error(NULL, MPI_ERR_GROUP, func,
				  "%s is MPI_GROUP_NULL", arg);
	return mpii_error(NULL, MPI_ERR_GROUP, func,
			  "%s is %p, which is not a group or was freed", arg,
			  (void *)h);
}

int PMPI_Group_size(MPI_Group group, int *size)
{
	struct mpii_group *g = mpii_group_get(group);

	if (!g)
		return mpii_bad_group(group, "MPI_Group_size", "group");
	if (!size)
		return mpii_bad_null(NULL, "MPI_Group_size", "size");
	*size = g->size;
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_size);

int PMPI_Group_rank(MPI_Group group, int *rank)
{
	struct mpii_group *g = mpii_group_get(group);

	if (!g)
		return mpii_bad_group(group, "MPI_Group_rank", "group");
	if (!rank)
		return mpii_bad_null(NULL, "MPI_Group_rank", "rank");
	*rank = g->rank;
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_rank);

int PMPI_Group_free(MPI_Group *group)
{
	struct mpii_group *g;

	if (!group)
		return mpii_bad_null(NULL, "MPI_Group_free", "group");
	g = mpii_group_get(*group);
	if (!g)
		return mpii_bad_group(*group, "MPI_Group_free", "group");
	mpii_group_put(g);
	mpii_others_sweep();
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_free);

int mpii_bad_member(const struct mpii_group *g, int rank, const char *func,
		    const char *arg, int i)
{
	return mpii_error(NULL, MPI_ERR_RANK, func,
			  "%s[%d] is %d, but the group has %d member%s", arg, i,
			  rank, g->size, g->size == 1 ? "" : "s");
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[],
			       MPI_Group group2, int ranks2[])
{
	static const char func[] = "MPI_Group_translate_ranks";
	struct mpii_group *g1 = mpii_group_get(group1);
	struct mpii_group *g2 = mpii_group_get(group2);

	if (!g1)
		return mpii_bad_group(group1, func, "group1");
	if (!g2)
		return mpii_bad_group(group2, func, "group2");
	if (n < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "n is %d, but must not be negative", n);
	if (n > 0 && (!ranks1 || !ranks2))
		return mpii_bad_null(NULL, func, ranks1 ? "ranks2" : "ranks1");
	for (int i = 0; i < n; i++)
		if (ranks1[i] != MPI_PROC_NULL &&
		    (ranks1[i] < 0 || ranks1[i] >= g1->size))
			return mpii_bad_member(g1, ranks1[i], func, "ranks1",
					       i);
	for (int i = 0; i < n; i++) {
		int r = ranks1[i];

		ranks2[i] =
			r == MPI_PROC_NULL ?
				r :
				mpii_group_rank_of(g2, mpii_group_peer(g1, r));
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_translate_ranks);

int mpii_group_compare(const struct mpii_group *a, const struct mpii_group *b)
{
	bool same_order = true;

	if (a->size != b->size)
		return MPI_UNEQUAL;
	for (int i = 0; a != b && i < a->size; i++) {
		int r = mpii_group_rank_of(b, mpii_group_peer(a, i));

		if (r == MPI_UNDEFINED)
			return MPI_UNEQUAL;
		same_order = same_order && r == i;
	}
	return same_order ? MPI_IDENT : MPI_SIMILAR;
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
	struct mpii_group *g1 = mpii_group_get(group1);
	struct mpii_group *g2 = mpii_group_get(group2);

	if (!g1)
		return mpii_bad_group(group1, "MPI_Group_compare", "group1");
	if (!g2)
		return mpii_bad_group(group2, "MPI_Group_compare", "group2");
	if (!result)
		return mpii_bad_null(NULL, "MPI_Group_compare", "result");
	*result = mpii_group_compare(g1, g2);
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_compare);

/* --- groups of communicators --- */

static int group_of(MPI_Comm comm, MPI_Group *group, bool remote,
		    const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_group *g;

	if (!c)
		return mpii_bad_comm(comm, func);
	if (!group)
		return mpii_bad_null(c, func, "group");
	if (remote && !c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "%s is not an intercommunicator",
				  mpii_comm_words(c));
	g = remote ? c->remote : c->group;
	mpii_group_hold(g);
	*group = mpii_group_handle(g);
	return MPI_SUCCESS;
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	return group_of(comm, group, false, "MPI_Comm_group");
}
MPII_ALIAS(Comm_group);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
	return group_of(comm, group, true, "MPI_Comm_remote_group");
}
MPII_ALIAS(Comm_remote_group);
