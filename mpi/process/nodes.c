/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which ranks share a node, as the launcher tells. Asking is local: nobody else
 * takes part.
 */
#include <stdlib.h>

#include "pmi.h"
#include "process/nodes.h"
#include "process/process.h"

static int *nodes;

static void find(void)
{
	int *node = malloc(mpii.size * sizeof(*node));

	if (node && pmi_nodes(node)) {
		free(node);
		node = NULL;
	}
	nodes = node;
}

const int *mpii_nodes(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
	return nodes;
}
