/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Groups: ordered sets of processes. A member is the number that libo2g knows it
 * by, its peer number. Those of our own job are its ranks in the world.
 */
#ifndef MPII_COMM_GROUP_H
#define MPII_COMM_GROUP_H

#include "mpii.h"

struct mpii_session;
struct mpii_group_index;

struct mpii_group {
	struct mpii_obj obj;
	int size;
	int rank;   /* of this process, or MPI_UNDEFINED */
	int *peers; /* of each member; NULL: member i is peer i */
	_Atomic(struct mpii_group_index *) index; /* ranks by peer, once needed */
	bool others;				  /* some are of other jobs */
	struct mpii_session *session; /* it comes from, held; NULL: the world */
};
extern struct mpii_group mpii_group_empty;

struct mpii_group *mpii_group_get(MPI_Group h); /* NULL: not a group */
MPI_Group mpii_group_handle(struct mpii_group *g);
/* Takes the array (malloc) over. NULL: out of memory, array freed. */
struct mpii_group *mpii_group_create(int size, int *peers);
/* All of our job, in the order of their ranks. NULL: out of memory. */
struct mpii_group *mpii_group_job(void);
static inline int mpii_group_peer(const struct mpii_group *g, int rank)
{
	return g->peers ? g->peers[rank] : rank;
}
/* All of them, to an array with room for g->size. */
void mpii_group_peers(const struct mpii_group *g, int *peers);
/* The rank of a peer, or MPI_UNDEFINED. */
int mpii_group_rank_of(const struct mpii_group *g, int peer);
void mpii_group_hold(struct mpii_group *g);
void mpii_group_put(struct mpii_group *g);
/* A new group belongs to the session that @from does. */
void mpii_group_belong(struct mpii_group *g, const struct mpii_group *from);
/* MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL */
int mpii_group_compare(const struct mpii_group *a, const struct mpii_group *b);

int mpii_bad_group(MPI_Group h, const char *func, const char *arg);
/* arg[i] is @rank, which @g has not. */
int mpii_bad_member(const struct mpii_group *g, int rank, const char *func,
		    const char *arg, int i);

#endif
