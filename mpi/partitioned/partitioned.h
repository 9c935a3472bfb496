/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Partitioned communication: what both sides share.
 *
 * Calls of MPI_Psend_init and MPI_Precv_init match in the order in which they
 * were made: the sender announces each with one message, under the program's
 * tag, in a context of its own. It says how the sender has divided the data and
 * which tags its partitions will carry. From then on a partition is one message
 * in a second context, in every round the same; the receiver posts them all
 * when it starts, however it has divided the data itself.
 */
#ifndef MPI_PARTITIONED_H
#define MPI_PARTITIONED_H

#include "datatype/datatype.h"
#include "pt2pt/request.h"

struct mpii_announce {
	uint32_t first; /* tag of partition 0; the others follow */
	int32_t partitions;
	int64_t bytes; /* of one */
};

/* Partitions, their size and hints: an error that says why they cannot be. */
int mpii_check_partitions(struct mpii_comm *c, int partitions, MPI_Count count,
			  const struct mpii_type *t, MPI_Info info,
			  const char *func);
/* Of the @n partitions of a send, how many the program has marked ready. */
int mpii_psend_marked(const struct mpii_req *r, int *n);
int mpii_check_partition(const struct mpii_req *r, int partition, int n,
			 const char *func);

#endif
