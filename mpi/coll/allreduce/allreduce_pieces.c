/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Allreduce of a long message between ranks of one host: along all of them to the
 * last, which spreads the result; both through shared memory, in pieces.
 *
 * Cost: one combining and two copies per rank, most of it at the same time. For
 * predefined operations.
 */
#include "coll/algorithms.h"

int mpii_allreduce_pieces(const struct coll *k, const void *in, void *out,
			  MPI_Count count, struct mpii_type *t,
			  struct mpii_op *op)
{
	int last = k->c->size - 1;
	int err = mpii_reduce_pieces(k, in, out, count, t, op, last);

	return err ? err : mpii_bcast_pieces(k, out, count, t, last);
}
