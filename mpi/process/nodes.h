/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Which ranks share a node. */
#ifndef MPII_PROCESS_NODES_H
#define MPII_PROCESS_NODES_H

/* The number of the node of each world rank; NULL: the launcher has not said. */
const int *mpii_nodes(void);

#endif
