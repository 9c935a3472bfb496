/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Which ranks share a node, as the launcher tells: a map like
 * (vector,(first node,nodes,ranks per node),...), repeated until all ranks are
 * placed. Asking is local: nobody else takes part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpii.h"
#include "pmi.h"

#define MAP_KEY "PMI_process_mapping" /* the launcher has put it */
#define MAP_MAX 16384

/* One (first,nodes,per): places ranks from @rank on, returns the next one, or
 * -1 for a triplet that makes no sense. */
static int place(const char *triplet, int *node, int rank)
{
	int first, nodes, per;

	if (sscanf(triplet, "(%d,%d,%d)", &first, &nodes, &per) != 3 ||
	    nodes < 1 || per < 1)
		return -1;
	for (int n = 0; n < nodes; n++)
		for (int i = 0; i < per && rank < mpii.size; i++)
			node[rank++] = first + n;
	return rank;
}

static bool parse(const char *map, int *node)
{
	static const char head[] = "(vector,";
	const char *p;
	int rank = 0;

	if (strncmp(map, head, sizeof(head) - 1))
		return false;
	while (rank >= 0 && rank < mpii.size) {
		p = strchr(map + 1, '(');
		if (!p)
			return false;
		for (; p && rank >= 0 && rank < mpii.size;
		     p = strchr(p + 1, '('))
			rank = place(p, node, rank);
	}
	return rank == mpii.size;
}

static int *nodes;

static void find(void)
{
	char *map = malloc(MAP_MAX);
	int *node = malloc(mpii.size * sizeof(*node));

	if (map && node && mpii.size == 1)
		node[0] = 0;
	else if (!map || !node || pmi_get(0, MAP_KEY, map, MAP_MAX) ||
		 !parse(map, node)) {
		free(node);
		node = NULL;
	}
	free(map);
	nodes = node;
}

const int *mpii_nodes(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
	return nodes;
}
