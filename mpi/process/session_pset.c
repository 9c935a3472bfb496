/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Process sets: all, this process alone, and those on its node if the launcher
 * has said which ranks share one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/group.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/nodes.h"
#include "process/process.h"
#include "process/session.h"

static const char *const names[] = { "mpi://WORLD", "mpi://SELF",
				     "o2g://NODE" };
enum { WORLD, SELF, NODE, COUNT };

static int count(void)
{
	return mpii_nodes_known() ? COUNT : NODE;
}

static bool is_member(int set, int rank)
{
	switch (set) {
	case WORLD:
		return true;
	case SELF:
		return rank == mpii.rank;
	default:
		return mpii_node_of(rank) == mpii_node_of(mpii.rank);
	}
}

/* The session of this handle and, in it, the set of this name, or an error
 * raised. */
static int find(MPI_Session session, const char *func, const char *name,
		struct mpii_session **s, int *set)
{
	*s = mpii_session_get(session);
	if (!*s)
		return mpii_bad_session(session, func);
	if (!name)
		return mpii_session_bad_null(*s, func, "pset_name");
	for (*set = 0; *set < count(); ++*set)
		if (!strcasecmp(name, names[*set]))
			return MPI_SUCCESS;
	return mpii_session_raise(*s,
				  mpii_fail(MPI_ERR_ARG,
					    "pset_name is "
					    "\"%.200s\", which is no "
					    "process set",
					    name),
				  func);
}

/* The session alone, with the hints for a list of its sets. */
static int find_list(MPI_Session session, const char *func, MPI_Info info,
		     struct mpii_session **s)
{
	struct mpii_info *i;

	*s = mpii_session_get(session);
	if (!*s)
		return mpii_bad_session(session, func);
	return mpii_session_info(*s, func, info, &i);
}

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info,
			       int *npset_names)
{
	static const char func[] = "MPI_Session_get_num_psets";
	struct mpii_session *s;
	int err = find_list(session, func, info, &s);

	if (err)
		return err;
	if (!npset_names)
		return mpii_session_bad_null(s, func, "npset_names");
	*npset_names = count();
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_get_num_psets);

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n,
			      int *pset_len, char *pset_name)
{
	static const char func[] = "MPI_Session_get_nth_pset";
	struct mpii_session *s;
	int err = find_list(session, func, info, &s);

	if (err)
		return err;
	if (n < 0 || n >= count())
		return mpii_session_raise(s,
					  mpii_fail(MPI_ERR_ARG,
						    "n is %d, "
						    "but there are %d "
						    "process sets",
						    n, count()),
					  func);
	if (!pset_len || (*pset_len > 0 && !pset_name))
		return mpii_session_bad_null(
			s, func, pset_len ? "pset_name" : "pset_len");
	if (*pset_len > 0)
		snprintf(pset_name, *pset_len, "%s", names[n]);
	*pset_len = (int)strlen(names[n]) + 1;
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_get_nth_pset);

static int members(int set, int *peers)
{
	int n = 0;

	for (int r = 0; r < mpii.size; r++)
		if (is_member(set, r))
			peers[n++] = r;
	return n;
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name,
			       MPI_Info *info)
{
	static const char func[] = "MPI_Session_get_pset_info";
	struct mpii_session *s;
	struct mpii_info *i;
	char size[16];
	int set, n = 0, err = find(session, func, pset_name, &s, &set);

	if (err)
		return err;
	if (!info)
		return mpii_session_bad_null(s, func, "info");
	for (int r = 0; r < mpii.size; r++)
		n += is_member(set, r);
	snprintf(size, sizeof(size), "%d", n);
	i = mpii_info_copy(NULL);
	if (!i || !mpii_info_add(i, "mpi_size", size)) {
		mpii_info_destroy(i);
		return mpii_session_raise(
			s, mpii_fail(MPI_ERR_NO_MEM, "out of memory"), func);
	}
	*info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_get_pset_info);

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name,
				 MPI_Group *newgroup)
{
	static const char func[] = "MPI_Group_from_session_pset";
	struct mpii_session *s;
	struct mpii_group *g = NULL;
	int set, *peers, err = find(session, func, pset_name, &s, &set);

	if (err)
		return err;
	if (!newgroup)
		return mpii_session_bad_null(s, func, "newgroup");
	peers = malloc(mpii.size * sizeof(*peers));
	if (peers)
		g = mpii_group_create(members(set, peers), peers);
	if (!g)
		return mpii_session_raise(
			s, mpii_fail(MPI_ERR_NO_MEM, "out of memory"), func);
	mpii_session_hold(s);
	g->session = s;
	*newgroup = mpii_group_handle(g);
	return MPI_SUCCESS;
}
MPII_ALIAS(Group_from_session_pset);
