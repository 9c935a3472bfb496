/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Jobs that this process has had started. */
#ifndef MPII_PROCESS_CHILDREN_H
#define MPII_PROCESS_CHILDREN_H

#include "mpii.h"

struct mpii_child;
struct pmi_program;

/* One program of a job. */
struct mpii_program {
	const char *command;
	char **argv; /* without the command; NULL: none */
	int n;
	MPI_Info info;
};

/* Start them. MPI code, words recorded: MPI_ERR_SPAWN. */
int mpii_child_start(const struct mpii_program *programs, int count,
		     const char *port, struct mpii_child **child);
/* Would we see that it has ended? */
bool mpii_child_is_watched(const struct mpii_child *child);
/* Is it still there? Yes if it is not watched. */
bool mpii_child_runs(struct mpii_child *child);
/* Connected, in a world of that number; no other call may follow. */
void mpii_child_is(struct mpii_child *child, uint64_t job);
/* It has failed, and is ended. */
void mpii_child_drop(struct mpii_child *child);
/* At the end of MPI: wait for those that are connected with us. */
void mpii_children_finish(void);

/* --- own_mpiexec.c --- */

/* The same by an mpiexec of our own. *fd: a socket to it. */
int mpii_mpiexec_start(const struct pmi_program *programs, int count,
		       const char *port, int *fd);

#endif
