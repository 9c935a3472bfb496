/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Groups made from groups. */
#include <stdlib.h>
#include <string.h>

#include "comm/group.h"
#include "env/errors.h"

/* Finish a constructor: the array, of members of @from, becomes the group. */
static int deliver(const struct mpii_group *from, int size, int *peers,
		   MPI_Group *newgroup, const char *func)
{
	struct mpii_group *g = mpii_group_create(size, peers);

	if (!g)
		return mpii_no_mem(NULL, func);
	mpii_group_belong(g, from);
	*newgroup = mpii_group_handle(g);
	return MPI_SUCCESS;
}

static bool has(const struct mpii_group *g, int peer)
{
	return mpii_group_rank_of(g, peer) != MPI_UNDEFINED;
}

/* Which members of group1, in order; for the union, those of group2 that are not
 * in group1 follow. */
enum set_operation { UNION, INTERSECTION, DIFFERENCE };

static bool wanted(enum set_operation op, const struct mpii_group *g2, int peer)
{
	return op == UNION || has(g2, peer) == (op == INTERSECTION);
}

static int combine(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup,
		   enum set_operation op, const char *func)
{
	struct mpii_group *g1 = mpii_group_get(group1);
	struct mpii_group *g2 = mpii_group_get(group2);
	int *peers, n = 0;

	if (!g1)
		return mpii_bad_group(group1, func, "group1");
	if (!g2)
		return mpii_bad_group(group2, func, "group2");
	if (!newgroup)
		return mpii_bad_null(NULL, func, "newgroup");
	peers = malloc((g1->size + g2->size + 1) * sizeof(*peers));
	if (!peers)
		return mpii_no_mem(NULL, func);
	for (int i = 0; i < g1->size; i++)
		if (wanted(op, g2, mpii_group_peer(g1, i)))
			peers[n++] = mpii_group_peer(g1, i);
	for (int i = 0; op == UNION && i < g2->size; i++)
		if (!has(g1, mpii_group_peer(g2, i)))
			peers[n++] = mpii_group_peer(g2, i);
	return deliver(g1->size ? g1 : g2, n, peers, newgroup, func);
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, UNION, "MPI_Group_union");
}
MPII_ALIAS(Group_union);

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2,
			    MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, INTERSECTION,
		       "MPI_Group_intersection");
}
MPII_ALIAS(Group_intersection);

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2,
			  MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, DIFFERENCE,
		       "MPI_Group_difference");
}
MPII_ALIAS(Group_difference);

/*
 * Include or exclude a list of ranks, which the callers have made from their
 * arguments. Each may appear once. Takes the list over.
 */
static int select_ranks(struct mpii_group *g, int n, int *ranks, bool include,
			MPI_Group *newgroup, const char *func)
{
	char *seen = calloc(g->size + 1, 1);
	int *peers = malloc((g->size + 1) * sizeof(*peers)), size = 0, r;

	if (!seen || !peers)
		goto nomem;
	for (int i = 0; i < n; i++) {
		r = ranks[i];
		if (seen[r]) {
			free(seen);
			free(peers);
			free(ranks);
			return mpii_error(NULL, MPI_ERR_RANK, func,
					  "rank %d is named twice", r);
		}
		seen[r] = 1;
		if (include)
			peers[size++] = mpii_group_peer(g, r);
	}
	for (r = 0; !include && r < g->size; r++)
		if (!seen[r])
			peers[size++] = mpii_group_peer(g, r);
	free(seen);
	free(ranks);
	return deliver(g, size, peers, newgroup, func);
nomem:
	free(seen);
	free(peers);
	free(ranks);
	return mpii_no_mem(NULL, func);
}

static int by_list(MPI_Group group, int n, const int ranks[], bool include,
		   MPI_Group *newgroup, const char *func)
{
	struct mpii_group *g = mpii_group_get(group);
	int *list;

	if (!g)
		return mpii_bad_group(group, func, "group");
	if (n < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "n is %d, but must not be negative", n);
	if (n > 0 && !ranks)
		return mpii_bad_null(NULL, func, "ranks");
	if (!newgroup)
		return mpii_bad_null(NULL, func, "newgroup");
	for (int i = 0; i < n; i++)
		if (ranks[i] < 0 || ranks[i] >= g->size)
			return mpii_bad_member(g, ranks[i], func, "ranks", i);
	list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return mpii_no_mem(NULL, func);
	if (n > 0)
		memcpy(list, ranks, n * sizeof(*list));
	return select_ranks(g, n, list, include, newgroup, func);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[],
		    MPI_Group *newgroup)
{
	return by_list(group, n, ranks, true, newgroup, "MPI_Group_incl");
}
MPII_ALIAS(Group_incl);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[],
		    MPI_Group *newgroup)
{
	return by_list(group, n, ranks, false, newgroup, "MPI_Group_excl");
}
MPII_ALIAS(Group_excl);

/* Members of first, first+stride … up to last; -1 for a wrong triplet. */
static long range_length(const struct mpii_group *g, const int range[3])
{
	long first = range[0], last = range[1], stride = range[2];

	if (first < 0 || first >= g->size || last < 0 || last >= g->size ||
	    stride == 0)
		return -1;
	if ((stride > 0) != (last >= first) && last != first)
		return 0;
	return (last - first) / stride + 1;
}

static int bad_range(const struct mpii_group *g, const int range[3], int i,
		     const char *func)
{
	if (range[2] == 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "ranges[%d] has stride 0", i);
	return mpii_error(NULL, MPI_ERR_RANK, func,
			  "ranges[%d] is %d to %d, but the group has %d "
			  "member%s",
			  i, range[0], range[1], g->size,
			  g->size == 1 ? "" : "s");
}

static int by_ranges(MPI_Group group, int n, int ranges[][3], bool include,
		     MPI_Group *newgroup, const char *func)
{
	struct mpii_group *g = mpii_group_get(group);
	long total = 0, len;
	int *list, k = 0;

	if (!g)
		return mpii_bad_group(group, func, "group");
	if (n < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "n is %d, but must not be negative", n);
	if (n > 0 && !ranges)
		return mpii_bad_null(NULL, func, "ranges");
	if (!newgroup)
		return mpii_bad_null(NULL, func, "newgroup");
	for (int i = 0; i < n; i++) {
		len = range_length(g, ranges[i]);
		if (len < 0)
			return bad_range(g, ranges[i], i, func);
		total += len;
	}
	list = malloc((total + 1) * sizeof(*list));
	if (!list)
		return mpii_no_mem(NULL, func);
	for (int i = 0; i < n; i++) {
		len = range_length(g, ranges[i]);
		for (long j = 0; j < len; j++)
			list[k++] = (int)(ranges[i][0] + j * ranges[i][2]);
	}
	return select_ranks(g, k, list, include, newgroup, func);
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],
			  MPI_Group *newgroup)
{
	return by_ranges(group, n, ranges, true, newgroup,
			 "MPI_Group_range_incl");
}
MPII_ALIAS(Group_range_incl);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3],
			  MPI_Group *newgroup)
{
	return by_ranges(group, n, ranges, false, newgroup,
			 "MPI_Group_range_excl");
}
MPII_ALIAS(Group_range_excl);
