/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scan and exscan of a long message along the ranks of one host, through shared
 * memory (chain.h).
 *
 * Cost: one combining and two copies per rank, all ranks at the same time but for
 * the first n - 1 pieces. For predefined operations.
 */
#include "coll/algorithms.h"
#include "coll/chain.h"

static void inclusive(const struct coll_link *l)
{
	coll_link_value(l, l->out);
	if (l->next)
		memcpy(l->next, l->out, (size_t)(l->count * l->t->size));
}

static void exclusive(const struct coll_link *l)
{
	if (l->next)
		coll_link_value(l, l->next);
	if (l->before)
		memcpy(l->out, l->before, (size_t)(l->count * l->t->size));
}

int mpii_scan_pieces(const struct coll *k, const void *in, void *out,
		     MPI_Count count, struct mpii_type *t, struct mpii_op *op,
		     bool is_exclusive)
{
	return coll_chain(k, 0, in, out, count, t, op,
			  is_exclusive ? exclusive : inclusive);
}
