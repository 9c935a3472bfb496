/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Processes that were spawned. */
#ifndef MPII_PROCESS_SPAWN_H
#define MPII_PROCESS_SPAWN_H

#include "comm/comm.h"

/* If this job was spawned: become connected with whoever did. Collective over
 * MPI_COMM_WORLD; ends the job when that fails. */
void mpii_meet_parent(void);
/* That communicator is about to end. */
void mpii_parent_ends(const struct mpii_comm *c);

#endif
