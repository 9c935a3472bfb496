/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The choice of an algorithm, from table.def and what O2G_COLL says. */
#ifndef COLL_CHOOSE_H
#define COLL_CHOOSE_H

#include "coll/algorithms.h"

enum coll_id {
	COLL_barrier,
	COLL_bcast,
	COLL_gather,
	COLL_gatherv,
	COLL_scatter,
	COLL_scatterv,
	COLL_allgather,
	COLL_allgatherv,
	COLL_alltoall,
	COLL_alltoallv,
	COLL_alltoallw,
	COLL_reduce,
	COLL_allreduce,
	COLL_reduce_scatter,
	COLL_reduce_scatter_block,
	COLL_scan,
	COLL_exscan,
	COLL_IDS,
};

/* Reads O2G_COLL; from MPI_Init. */
void coll_choose_start(void);

/* Run the algorithm for so many bytes; see table.def for which those are. */
int coll_choose(enum coll_id id, const struct coll *k,
		const struct coll_args *a, MPI_Count bytes);

/* The same for a reduction. Its algorithms see the receive buffer twice for
 * MPI_IN_PLACE, and neither no data nor a single rank. */
static inline int coll_choose_reduction(enum coll_id id, const struct coll *k,
					const struct coll_args *a)
{
	const struct coll_side *r = &a->r;
	struct coll_args in_place;

	if (r->count == 0)
		return MPI_SUCCESS;
	if (a->s.buf == MPI_IN_PLACE) {
		in_place = *a;
		in_place.s.buf = r->buf;
		a = &in_place;
	}
	if (k->c->size > 1)
		return coll_choose(id, k, a, r->count * r->t->size);
	if (a->s.buf != r->buf)
		mpii_copy(a->s.buf, r->count, r->t, r->buf, r->count, r->t);
	return MPI_SUCCESS;
}

#endif
