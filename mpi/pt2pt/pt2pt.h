/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Messages. */
#ifndef MPII_PT2PT_PT2PT_H
#define MPII_PT2PT_PT2PT_H

#include "datatype/datatype.h"
#include "pt2pt/request.h"

#define MPII_ANY_TAG_BITS UINT64_C(0xffffffff)

static inline uint64_t mpii_tag(uint32_t context, int tag)
{
	return (uint64_t)context << 32 | (uint32_t)tag;
}

/*
 * What libo2g is told about the tag of a receive: MPI's wildcard is a mask over
 * the lower half.
 */
static inline void mpii_match(uint32_t context, int tag, uint64_t *want,
			      uint64_t *ignore)
{
	*ignore = tag == MPI_ANY_TAG ? MPII_ANY_TAG_BITS : 0;
	*want = mpii_tag(context, tag == MPI_ANY_TAG ? 0 : tag);
}

enum mpii_mode { MPII_STANDARD, MPII_SYNC, MPII_READY, MPII_BUFFERED };

/*
 * What collectives and other chapters are built from: no argument checks, no
 * error handler, MPI error codes returned. @context is c->context plus one of
 * enum mpii_context. Ranks are of the remote group. MPI_PROC_NULL is allowed.
 */
int mpii_isend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c, uint32_t context,
	       enum mpii_mode mode, struct mpii_req **req);
int mpii_irecv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	       int tag, struct mpii_comm *c, uint32_t context,
	       struct mpii_req **req);
int mpii_send(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	      int tag, struct mpii_comm *c, uint32_t context);
int mpii_recv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	      int tag, struct mpii_comm *c, uint32_t context,
	      MPI_Status *status);

/* These two check that what came is as long as its buffer. */
int mpii_recv_exact(void *buf, MPI_Count count, struct mpii_type *t, int source,
		    int tag, struct mpii_comm *c, uint32_t context);
int mpii_sendrecv(const void *sbuf, MPI_Count scount, struct mpii_type *st,
		  int dest, void *rbuf, MPI_Count rcount, struct mpii_type *rt,
		  int source, int tag, struct mpii_comm *c, uint32_t context);

/* The context that a message to @c in its receive context @context carries. */
static inline uint32_t mpii_send_context(const struct mpii_comm *c,
					 uint32_t context)
{
	return context + (c->send_context - c->context);
}

/* Start a message for r, which knows its communicator and may have a type
 * already. MPI code; r stays the caller's. */
int mpii_start_send(struct mpii_req *r, const void *buf, MPI_Count count,
		    struct mpii_type *t, int dest, int tag, uint32_t context,
		    enum mpii_mode mode);
int mpii_start_recv(struct mpii_req *r, void *buf, MPI_Count count,
		    struct mpii_type *t, int source, int tag, uint32_t context);

/* Both forms of a call that makes a request for a send: @make does. */
#define MPII_SEND_CALLS(name, make, mode)                                   \
	int PMPI_##name(const void *buf, int count, MPI_Datatype datatype,  \
			int dest, int tag, MPI_Comm comm,                   \
			MPI_Request *request)                               \
	{                                                                   \
		return make(buf, count, datatype, dest, tag, comm, request, \
			    mode, "MPI_" #name);                            \
	}                                                                   \
	MPII_ALIAS(name);                                                   \
	int PMPI_##name##_c(const void *buf, MPI_Count count,               \
			    MPI_Datatype datatype, int dest, int tag,       \
			    MPI_Comm comm, MPI_Request *request)            \
	{                                                                   \
		return make(buf, count, datatype, dest, tag, comm, request, \
			    mode, "MPI_" #name "_c");                       \
	}                                                                   \
	MPII_ALIAS(name##_c)

#endif
