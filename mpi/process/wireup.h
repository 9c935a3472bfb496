/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Finding the job and meeting its ranks. */
#ifndef MPII_PROCESS_WIREUP_H
#define MPII_PROCESS_WIREUP_H

/* Find the job and open the endpoint. Local. Fills mpii. Has said why
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

#endif
