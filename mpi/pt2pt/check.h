/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Arguments of messages: quick tests, and checks that say what is wrong. */
#ifndef MPII_PT2PT_CHECK_H
#define MPII_PT2PT_CHECK_H

#include "comm/comm.h"
#include "datatype/datatype.h"

/* On success *c and *t are set. */
int mpii_check_send(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int dest, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func);
int mpii_check_recv(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int source, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func);
int mpii_check_buffer(struct mpii_comm *c, const void *buf, MPI_Count count,
		      MPI_Datatype datatype, struct mpii_type **t,
		      const char *func);
int mpii_check_source(struct mpii_comm *c, int source, int tag,
		      const char *func);

/*
 * The quick test of the arguments of a message: true when all is in order and
 * the data is one piece. Whatever it refuses is looked at again, slowly, by
 * those above; so it may be strict, but never wrong.
 */
static inline bool mpii_simple(const struct mpii_comm *c,
			       const struct mpii_type *t, const void *buf,
			       MPI_Count count)
{
	return mpii_likely(
		c && t && t->simple && count >= 0 &&
		((uintptr_t)buf > (uintptr_t)MPI_IN_PLACE || count == 0));
}
static inline bool mpii_simple_dest(const struct mpii_comm *c, int dest,
				    int tag)
{
	return mpii_likely((unsigned)dest < (unsigned)c->remote_size &&
			   tag >= 0);
}
static inline bool mpii_simple_source(const struct mpii_comm *c, int source,
				      int tag)
{
	/* MPI_ANY_SOURCE is -1 */
	return mpii_likely((unsigned)(source + 1) <= (unsigned)c->remote_size &&
			   (tag >= 0 || tag == MPI_ANY_TAG));
}

#endif
