// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Which ranks share a host. MPICH's, Slurm's and our launcher say so in a map,
 * "(vector,(FIRST,NODES,PER),...)": from node FIRST on, NODES nodes with PER
 * ranks each; with more ranks than that, the map starts again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi_int.h"

/* One block: places ranks from @rank on, returns the next one; -1: no block. */
static int place(const char *block, int *node, int rank, int size)
{
	int first, nodes, per;

	if (sscanf(block, "(%d,%d,%d)", &first, &nodes, &per) != 3 ||
	    nodes < 1 || per < 1)
		return -1;
	for (int n = 0; n < nodes; n++)
		for (int i = 0; i < per && rank < size; i++)
			node[rank++] = first + n;
	return rank;
}

int pmi_map_nodes(const char *map, int *node, int size)
{
	static const char head[] = "(vector,";
	const char *block;
	int rank = 0;

	if (!map || strncmp(map, head, sizeof(head) - 1))
		return -ENOENT;
	map += sizeof(head) - 1;
	while (rank < size) {
		block = strchr(map, '(');
		if (!block)
			return -ENOENT;
		for (; block && rank < size; block = strchr(block + 1, '(')) {
			rank = place(block, node, rank, size);
			if (rank < 0)
				return -ENOENT;
		}
	}
	return 0;
}

static int count_in_map(const char *map, int rank, int size)
{
	int *node = malloc(size * sizeof(*node)), count = 0;

	if (node && !pmi_map_nodes(map, node, size))
		for (int i = 0; i < size; i++)
			count += node[i] == node[rank];
	free(node);
	return count;
}

int pmi_local_size(const char *map, int rank, int size)
{
	const char *text = getenv("MPI_LOCALNRANKS");
	int n = text ? atoi(text) : 0;

	if (size == 1)
		return 1;
	if (n <= 0 && rank >= 0 && rank < size)
		n = count_in_map(map, rank, size);
	return n > size ? size : n;
}
