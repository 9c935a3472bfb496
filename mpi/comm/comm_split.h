/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Splitting a communicator, and hearing what every member says. */
#ifndef MPII_COMM_COMM_SPLIT_H
#define MPII_COMM_COMM_SPLIT_H

#include "comm/comm.h"

/* What each rank of c's local side says, in order of rank; *all is
 * malloc'ed. MPI code, words recorded. */
int mpii_comm_hear_all(struct mpii_comm *c, const void *mine, int bytes,
		       void **all);

/* @color may be MPI_UNDEFINED. Error handler run. */
int mpii_comm_split(struct mpii_comm *c, int color, int key, MPI_Comm *newcomm,
		    const char *func);

/* A number for the running kernel: processes that see the same one can share
 * memory, whatever their host is called. */
uint64_t mpii_host_id(void);

#endif
