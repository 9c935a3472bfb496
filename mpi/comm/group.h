/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Groups: lists of processes. Sets of them, and their ranks, are looked up here.
 */
#ifndef MPII_COMM_GROUP_H
#define MPII_COMM_GROUP_H

#include "mpii.h"

struct mpii_session;

struct mpii_group {
	struct mpii_obj obj;
	int size;
	int rank;		      /* of this process, or MPI_UNDEFINED */
	int *world;		      /* world rank of each member */
	struct mpii_session *session; /* it comes from, held; NULL: the world */
};
extern struct mpii_group mpii_group_empty;

struct mpii_group *mpii_group_get(MPI_Group h); /* NULL: not a group */
MPI_Group mpii_group_handle(struct mpii_group *g);
/* Takes the array (malloc) over. NULL: out of memory, array freed. */
struct mpii_group *mpii_group_create(int size, int *world);
void mpii_group_hold(struct mpii_group *g);
void mpii_group_put(struct mpii_group *g);
/* A new group belongs to the session that @from does. */
void mpii_group_belong(struct mpii_group *g, const struct mpii_group *from);
/* MPI_IDENT, MPI_SIMILAR, MPI_UNEQUAL; MPI_UNDEFINED: out of memory. */
int mpii_group_compare(const struct mpii_group *a, const struct mpii_group *b);

/* For each world rank its rank in @g, or -1. NULL: out of memory. */
int *mpii_group_inverse(const struct mpii_group *g);
int mpii_bad_group(MPI_Group h, const char *func, const char *arg);
/* arg[i] is @rank, which @g has not. */
int mpii_bad_member(const struct mpii_group *g, int rank, const char *func,
		    const char *arg, int i);

#endif
