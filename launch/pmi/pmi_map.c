// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How many ranks share this host. Launchers say so in a variable or in a map,
 * "(vector,(FIRST,NODES,PER),...)": from node FIRST on, NODES nodes with PER
 * ranks each. A node may come again in a later block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi_int.h"

struct block {
	int first, nodes, per;
};

/* The next block of a map; NULL after the last. */
static const char *next_block(const char *map, struct block *b)
{
	int n = 0;

	map = strchr(map, '(');
	if (!map)
		return NULL;
	if (sscanf(map, "(%d,%d,%d)%n", &b->first, &b->nodes, &b->per, &n) !=
		    3 ||
	    !n || b->nodes < 1 || b->per < 1)
		return NULL;
	return map + n;
}

static const char *skip_vector(const char *map)
{
	return strncmp(map, "(vector,", 8) ? "" : map + 8;
}

static int node_of(const char *map, int rank)
{
	struct block b;

	map = skip_vector(map);
	while ((map = next_block(map, &b))) {
		long ranks = (long)b.nodes * b.per;

		if (rank < ranks)
			return b.first + rank / b.per;
		rank -= (int)ranks;
	}
	return -1;
}

static int count_on_node(const char *map, int node, int size)
{
	int left = size, count = 0;
	struct block b;

	map = skip_vector(map);
	while (left > 0 && (map = next_block(map, &b))) {
		for (int n = 0; n < b.nodes && left > 0; n++) {
			int here = b.per < left ? b.per : left;

			if (b.first + n == node)
				count += here;
			left -= here;
		}
	}
	return count;
}

static int from_environment(void)
{
	static const char *const names[] = {"MPI_LOCALNRANKS",
					    "PMI_LOCAL_SIZE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = getenv(names[i]);

		if (text && atoi(text) > 0)
			return atoi(text);
	}
	return 0;
}

int pmi_local_size(const char *map, int rank, int size)
{
	int n;

	if (size == 1)
		return 1;
	n = from_environment();
	if (!n && map)
		n = count_on_node(map, node_of(map, rank), size);
	return n > size ? size : n;
}
