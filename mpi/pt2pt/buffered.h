/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Buffered sends. */
#ifndef MPII_PT2PT_BUFFERED_H
#define MPII_PT2PT_BUFFERED_H

#include "pt2pt/pt2pt.h"

struct mpii_buffer;

/*
 * The buffer that belongs to a communicator, session or the process
 * and is kept in *place. MPI codes, words recorded.
 */
int mpii_buffer_attach(struct mpii_buffer **place, void *buffer,
		       MPI_Count size);
int mpii_buffer_detach(struct mpii_buffer **place, void *buffer_addr,
		       MPI_Count *size);
int mpii_buffer_detach_int(struct mpii_buffer **place, void *buffer_addr,
			   int *size);
void mpii_buffer_flush(struct mpii_buffer *b);
int mpii_buffer_iflush(struct mpii_buffer *b, MPI_Request *request);
/* Completes the sends and forgets it; there may be none. */
void mpii_buffer_free(struct mpii_buffer **place);

/* Copy into the attached buffer and send from there. */
int mpii_bsend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c);

/* Wait for the buffered sends. */
void mpii_buffered_drain(void);

#endif
