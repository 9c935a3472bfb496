/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Which ranks of the job share a node. */
#ifndef MPII_PROCESS_NODES_H
#define MPII_PROCESS_NODES_H

#include <stdbool.h>

/* Has the launcher said? */
bool mpii_nodes_known(void);
/* The number of a peer's node, if it has. */
int mpii_node_of(int peer);

#endif
