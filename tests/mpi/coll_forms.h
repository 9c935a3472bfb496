/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Included before coll_cases.h: every call there becomes, in turn, a blocking, a
 * nonblocking and a persistent one.
 */
#ifndef COLL_FORMS_H
#define COLL_FORMS_H

#include "mpi.h"

static __thread int form_turn;

static inline int form_wait(int err, MPI_Request *q)
{
	int flag = 0;

	for (int i = form_turn % 8; !err && !flag && i < 8; i++)
		err = MPI_Test(q, &flag, MPI_STATUS_IGNORE);
	return err || flag ? err : MPI_Wait(q, MPI_STATUS_IGNORE);
}

static inline int form_start(int err, MPI_Request *q)
{
	if (!err)
		err = MPI_Start(q);
	if (!err)
		err = form_wait(err, q);
	return err ? err : MPI_Request_free(q);
}

#define FORM_OF(Now, Later, Init, ...)                                         \
	({                                                                     \
		MPI_Request q_;                                                \
		int turn_ = form_turn++ % 3;                                   \
		turn_ == 0 ? Now(__VA_ARGS__) :                                \
		turn_ == 1 ? form_wait(Later(__VA_ARGS__, &q_), &q_) :         \
			     form_start(Init(__VA_ARGS__, MPI_INFO_NULL, &q_), \
					&q_);                                  \
	})

#define FORM(Now, Later, ...) \
	FORM_OF(PMPI_##Now, MPI_##Later, MPI_##Now##_init, __VA_ARGS__)

#define MPI_Barrier(...) FORM(Barrier, Ibarrier, __VA_ARGS__)
#define MPI_Bcast(...) FORM(Bcast, Ibcast, __VA_ARGS__)
#define MPI_Gather(...) FORM(Gather, Igather, __VA_ARGS__)
#define MPI_Gatherv(...) FORM(Gatherv, Igatherv, __VA_ARGS__)
#define MPI_Scatter(...) FORM(Scatter, Iscatter, __VA_ARGS__)
#define MPI_Scatterv(...) FORM(Scatterv, Iscatterv, __VA_ARGS__)
#define MPI_Allgather(...) FORM(Allgather, Iallgather, __VA_ARGS__)
#define MPI_Allgatherv(...) FORM(Allgatherv, Iallgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) FORM(Alltoall, Ialltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) FORM(Alltoallv, Ialltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) FORM(Alltoallw, Ialltoallw, __VA_ARGS__)
#define MPI_Reduce(...) FORM(Reduce, Ireduce, __VA_ARGS__)
#define MPI_Allreduce(...) FORM(Allreduce, Iallreduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) \
	FORM(Reduce_scatter, Ireduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
	FORM(Reduce_scatter_block, Ireduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) FORM(Scan, Iscan, __VA_ARGS__)
#define MPI_Exscan(...) FORM(Exscan, Iexscan, __VA_ARGS__)

#endif
