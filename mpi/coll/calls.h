/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Collectives as other chapters call them: without checks. */
#ifndef MPII_COLL_CALLS_H
#define MPII_COLL_CALLS_H

#include "comm/comm.h"
#include "datatype/datatype.h"

int mpii_barrier(struct mpii_comm *c);
int mpii_allgather(const void *in, MPI_Count incount, struct mpii_type *it,
		   void *out, MPI_Count outcount, struct mpii_type *ot,
		   struct mpii_comm *c);

#endif
