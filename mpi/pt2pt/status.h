/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is in a status. */
#ifndef MPII_PT2PT_STATUS_H
#define MPII_PT2PT_STATUS_H

#include "comm/comm.h"

/*
 * A status: bytes received in MPI_internal[0] and [1], the cancelled mark in
 * [2]. MPI_ERROR is set by calls that complete several requests only.
 */
static inline void mpii_status_set_bytes(MPI_Status *s, MPI_Count bytes)
{
	__builtin_memcpy(&s->MPI_internal[0], &bytes, sizeof(bytes));
}
static inline MPI_Count mpii_status_bytes(const MPI_Status *s)
{
	MPI_Count bytes;

	__builtin_memcpy(&bytes, &s->MPI_internal[0], sizeof(bytes));
	return bytes;
}
static inline void mpii_status_set(MPI_Status *s, int source, int tag,
				   MPI_Count bytes)
{
	s->MPI_SOURCE = source;
	s->MPI_TAG = tag;
	mpii_status_set_bytes(s, bytes);
	s->MPI_internal[2] = 0;
}
/* What the standard calls empty: of null and inactive requests, and sends. */
static inline void mpii_status_empty(MPI_Status *s)
{
	mpii_status_set(s, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

/* Fill MPI's status from libo2g's; @peer as in the receive. */
static inline void mpii_status_from(MPI_Status *s, struct mpii_comm *c,
				    int peer, const struct o2g_status *st)
{
	int source = peer;

	if (peer == MPI_ANY_SOURCE)
		source = mpii_comm_rank_of(c, st->source);
	mpii_status_set(s, source, (int)(uint32_t)st->tag,
			(MPI_Count)st->length);
}

#endif
