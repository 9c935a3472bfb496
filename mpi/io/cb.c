/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Collective buffering: who aggregates. */
#include <stdlib.h>

#include "comm/comm.h"
#include "env/errors.h"
#include "io/cb.h"
#include "io/near.h"
#include "process/nodes.h"

/* --- who --- */

static int node_of(const struct mpii_file *f, int rank)
{
	return mpii_nodes_known() ?
		       mpii_node_of(mpii_comm_peer(f->comm, rank)) :
		       0;
}

bool io_cb_same_host(const struct mpii_file *f, int rank)
{
	return node_of(f, rank) == node_of(f, f->comm->rank);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* For each rank, how many of its node come before it; returns the number of
 * nodes. @nodes and @count have room for all ranks. */
static int number_on_nodes(const struct mpii_file *f, int *turn, int *nodes,
			   int *count)
{
	int n = 0, last = 0;

	for (int i = 0; i < f->comm->size; i++) {
		int node = node_of(f, i), k = last;

		if (n == 0 || nodes[k] != node) /* mostly the one before */
			for (k = 0; k < n && nodes[k] != node; k++)
				;
		if (k == n) {
			nodes[n] = node;
			count[n++] = 0;
		}
		turn[i] = count[k]++;
		last = k;
	}
	return n;
}

/* The first of each node, then the second of each, up to what is wanted. */
static void choose(struct mpii_file *f, struct io_cb *cb, const int *turn,
		   int nodes)
{
	int per_host = f->hints.cb_per_host, max = f->hints.cb_nodes;

	cb->naggs = 0;
	if (!max)
		max = f->comm->size;
	else if ((long long)per_host * nodes < max)
		per_host = (max + nodes - 1) / nodes;
	for (int t = 0; t < per_host && t < f->comm->size; t++)
		for (int i = 0; i < f->comm->size && cb->naggs < max; i++)
			if (turn[i] == t)
				cb->aggs[cb->naggs++] = i;
	qsort(cb->aggs, cb->naggs, sizeof(*cb->aggs), by_number);
	cb->me = -1;
	for (int i = 0; i < cb->naggs; i++)
		if (cb->aggs[i] == f->comm->rank)
			cb->me = i;
}

static bool appoint(struct mpii_file *f, struct io_cb *cb)
{
	int n = f->comm->size, nodes;
	int *room = malloc(3 * (size_t)n * sizeof(*room));

	if (!room)
		return false;
	nodes = number_on_nodes(f, room, room + n, room + 2 * n);
	cb->one_host = nodes == 1;
	cb->company = false;
	for (int i = 0; i < n; i++)
		if (i != f->comm->rank && io_cb_same_host(f, i))
			cb->company = true;
	choose(f, cb, room, nodes);
	free(room);
	return true;
}

int io_cb_init(struct mpii_file *f)
{
	struct io_cb *cb = calloc(1, sizeof(*cb));

	f->cb = cb;
	if (cb) {
		cb->aggs = malloc(f->comm->size * sizeof(*cb->aggs));
		cb->near = calloc(f->comm->size, sizeof(*cb->near));
		for (int i = 0; cb->near && i < f->comm->size; i++)
			cb->near[i].memory = io_memory_none();
		atomic_flag_clear(&cb->busy);
	}
	if (!cb || !cb->aggs || !cb->near || !appoint(f, cb))
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	return MPI_SUCCESS;
}

void io_cb_free(struct mpii_file *f)
{
	if (!f->cb)
		return;
	if (f->cb->near)
		io_near_free(f->cb);
	free(f->cb->near);
	free(f->cb->aggs);
	free(f->cb);
	f->cb = NULL;
}

void io_cb_hints(struct mpii_file *f, const struct io_hints *h)
{
	io_drain(f);
	io_near_free(f->cb);
	if (h->access_style != f->hints.access_style) {
		f->hints = *h;
		io_disk_advise(f);
	}
	f->hints = *h;
	appoint(f, f->cb);
}

int io_cb_nodes(const struct mpii_file *f)
{
	return f->cb->naggs;
}

MPI_Count io_cb_unit(const struct mpii_file *f)
{
	if (f->hints.striping_unit)
		return f->hints.striping_unit;
	return f->block > 0 ? f->block : 4096;
}

MPI_Count io_cb_window(const struct mpii_file *f)
{
	MPI_Count unit = io_cb_unit(f), half = f->hints.cb_buffer_size / 2;

	return half <= unit ? half : half / unit * unit;
}
