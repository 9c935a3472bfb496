/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The users of MPI in this process: the world model and sessions. */
#ifndef MPII_PROCESS_RUNTIME_H
#define MPII_PROCESS_RUNTIME_H

#include <stdbool.h>

/* One more user of MPI; joins the job if it is the first. Local.
 * Negative errno, has said why. */
int mpii_runtime_hold(void);
/* The same with all ranks within reach: the world model. */
int mpii_runtime_hold_all(void);
/* The members of a group, all of our job, are within reach from here on; each of
 * them must do the same. Negative errno, has said why. */
struct mpii_group;
int mpii_runtime_meet(const struct mpii_group *g);
/* One user less. After the last the process leaves the job, unless it stays for
 * sessions to come; then every rank must. */
void mpii_runtime_put(bool stay);
/* It will leave when the program ends, at the latest. */
void mpii_runtime_stay(void);

#endif
