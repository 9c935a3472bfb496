/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Jobs that this process has started, each with an mpiexec of its own. */
#ifndef MPII_PROCESS_CHILDREN_H
#define MPII_PROCESS_CHILDREN_H

#include "mpii.h"

struct mpii_child;

/* The variable in which the processes of such a job find their parent's port. */
#define MPII_PARENT_PORT "O2G_PARENT_PORT"

/* One program of a job: the arguments of mpiexec that say so. */
struct mpii_program {
	const char *command;
	char **argv; /* without the command; NULL: none */
	int n;
	MPI_Info info;
};

/* Start them. MPI code, words recorded: MPI_ERR_SPAWN. */
int mpii_child_start(const struct mpii_program *programs, int count,
		     const char *port, struct mpii_child **child);
/* Is its mpiexec still there? */
bool mpii_child_runs(struct mpii_child *child);
/* Connected, in a world of that number. */
void mpii_child_is(struct mpii_child *child, uint64_t job);
/* It has failed, and is ended. */
void mpii_child_drop(struct mpii_child *child);
/* At the end of MPI: wait for those that are connected with us. */
void mpii_children_finish(void);

#endif
