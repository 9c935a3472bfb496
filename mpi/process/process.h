/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Start and end of the process: what init.c asks of the other chapters. */
#ifndef MPI_PROCESS_H
#define MPI_PROCESS_H

#include "mpii.h"

/* wireup.c: find the job and open the endpoint. Local. Fills mpii. Has said why
 * when it returns negative, like the others here. */
int mpii_wireup(void);
/* All ranks learn each other's address. Every rank must come, once. */
int mpii_meet_all(void);
/* Where pmi_shares(): others may learn our address from now on ... */
int mpii_meet_share(void);
/* ... and this waits until we can learn that of another. */
int mpii_meet_one(int rank);
/* Leaves the job. */
void mpii_wiredown(void);

/* runtime.c: one more user of MPI; joins the job if it is the first. Local.
 * Negative errno, has said why. */
int mpii_runtime_hold(void);
/* The same with all ranks within reach: the world model. */
int mpii_runtime_hold_all(void);
/* Some ranks, by their numbers in the world, are within reach from here on; each
 * of them must do the same. Negative errno, has said why. */
int mpii_runtime_meet(const int *ranks, int n);
/* One user less. After the last the process leaves the job, unless it stays for
 * sessions to come; then every rank must. */
void mpii_runtime_put(bool stay);
/* It will leave when the program ends, at the latest. */
void mpii_runtime_stay(void);

/* comm.c: MPI_COMM_WORLD and MPI_COMM_SELF. false: out of memory. */
bool mpii_comm_start(void);
void mpii_comm_stop(void);

/* request.c: wait until every send that the program gave up is complete. */
void mpii_detached_drain(void);
/* buffered.c: wait for the buffered sends. */
void mpii_buffered_drain(void);

/* stats.c: who talked to whom, printed by rank 0. Collective. */
void mpii_stats(void);

#endif
