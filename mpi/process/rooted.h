/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Calls of all members of an intracommunicator, one of which is the root: accept,
 * connect, spawn. */
#ifndef MPII_PROCESS_ROOTED_H
#define MPII_PROCESS_ROOTED_H

#include "comm/comm.h"
#include "process/meet.h"

/* Is @comm one, with that root, and is there a place for what comes of it, which the
 * standard calls @name? Handles the error and returns it. */
int mpii_check_rooted(struct mpii_comm **c, MPI_Comm comm, int root,
		      const void *result, const char *name, const char *func);

/* mpii_meet of all of @c, with this leader. */
int mpii_meet_from(struct mpii_comm *c, int root, struct mpii_way *way,
		   struct mpii_comm **out);

/* The root's bytes to all of @c. */
int mpii_tell_all(struct mpii_comm *c, int root, void *buf, int bytes);

#endif
