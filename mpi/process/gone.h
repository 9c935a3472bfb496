/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ranks that are gone: what libo2g tells us, and what it asks. */
#ifndef MPII_PROCESS_GONE_H
#define MPII_PROCESS_GONE_H

#include "comm/comm.h"

/* For struct o2g_attr: lost and doomed. */
void mpii_gone_note(void *arg, int peer, int finished);
int mpii_gone_doomed(void *arg, uint64_t tag, int which);

/* The peer number of the member that died last, and not in order: of the
 * communicator, or of the whole that it is a part of. -1. */
int mpii_gone_latest(const struct mpii_comm *c);

/* Has a rank of our own job gone? */
bool mpii_gone_any(void);

#endif
