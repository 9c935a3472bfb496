/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Alltoall through rank 0: everyone sends it all blocks as one message, it
 * sorts them and sends everyone all blocks that are for them.
 *
 * Cost: 2 (n - 1) messages instead of n (n - 1), two after each other, and
 * every rank but 0 waits only once. With more ranks than cores messages and
 * waits are what takes the time, so this is the best for few ranks and tiny
 * blocks.
 */
#include <string.h>

#include "coll/algorithms.h"

/* rows[i] is what rank i has for each: rank 0 gets them and makes columns. */
static int sort(const struct coll *k, char *rows, char *column, MPI_Count bytes)
{
	struct mpii_type *t = coll_bytes();
	int n = k->c->size, err;
	struct coll_reqs reqs;

	err = coll_reqs_init(&reqs, n);
	if (err)
		return err;
	for (int i = 1; i < n; i++)
		coll_post_recv(k, &reqs, rows + i * n * bytes, n * bytes, t, i);
	err = coll_reqs_finish(&reqs);
	for (int to = n - 1; to >= 0 && !err; to--) {
		for (int i = 0; i < n; i++)
			memcpy(column + i * bytes, rows + (i * n + to) * bytes,
			       bytes);
		if (to)
			err = coll_send(k, column, n * bytes, t, to);
	}
	return err; /* the last column is ours */
}

int mpii_alltoall_central(const struct coll *k, const struct coll_side *s,
			  const struct coll_side *r)
{
	int n = k->c->size, rank = k->c->rank, err;
	MPI_Count bytes = s->count * s->t->size, row = n * bytes;
	struct coll_memory mem;
	char *rows = coll_memory_get(&mem, (rank ? 2 : n + 1) * row);
	char *column;

	if (!rows)
		return MPI_ERR_NO_MEM;
	column = rows + (rank ? 1 : n) * row;
	for (int i = 0; i < n; i++)
		mpii_pack(s->t, coll_block(s, i), s->count, 0, rows + i * bytes,
			  bytes);
	if (rank == 0) {
		err = sort(k, rows, column, bytes);
	} else {
		err = coll_send(k, rows, row, coll_bytes(), 0);
		if (!err)
			err = coll_recv(k, column, row, coll_bytes(), 0);
	}
	for (int i = 0; i < n && !err; i++)
		mpii_unpack(r->t, coll_block(r, i), r->count, 0,
			    column + i * bytes, bytes);
	coll_memory_put(&mem);
	return err;
}
