/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which ranks share a node, as the launcher tells. Asking is local: nobody else
 * takes part.
 */
#include <stdlib.h>

#include "pmi.h"
#include "process/nodes.h"
#include "process/process.h"

static bool known;
static int *nodes; /* by rank of the job; NULL: all are on one */

static bool all_on_one(const int *node)
{
	for (int i = 1; i < mpii.size; i++)
		if (node[i] != node[0])
			return false;
	return true;
}

static void find(void)
{
	int *node = malloc(mpii.size * sizeof(*node));

	known = node && !pmi_nodes(node);
	if (known && !all_on_one(node))
		nodes = node;
	else
		free(node);
}

bool mpii_nodes_known(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
	return known;
}

int mpii_node_of(int peer)
{
	return nodes ? nodes[peer] : 0;
}
