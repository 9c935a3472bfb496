/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Who talked to whom. */
#ifndef MPII_PROCESS_STATS_H
#define MPII_PROCESS_STATS_H

/* Printed by rank 0. Collective. */
void mpii_stats(void);

#endif
