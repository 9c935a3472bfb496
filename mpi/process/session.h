/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sessions: what they are, and what the files about them share. */
#ifndef MPII_PROCESS_SESSION_H
#define MPII_PROCESS_SESSION_H

#include "mpii.h"

struct mpii_buffer;
struct mpii_info;

struct mpii_session {
	struct mpii_obj obj; /* groups made from it keep it */
	MPI_Session handle;
	struct mpii_errh *errh;
	int level;		    /* thread level */
	struct mpii_buffer *buffer; /* of MPI_Session_attach_buffer */
};

/* NULL: not a session. */
static inline struct mpii_session *mpii_session_get(MPI_Session h)
{
	struct mpii_session *s = (struct mpii_session *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END &&
			       mpii_is_object(h, MPII_SESSION) ?
		       s :
		       NULL;
}

/* Both do nothing with NULL. */
void mpii_session_hold(struct mpii_session *s);
void mpii_session_put(struct mpii_session *s);
/* As mpii_raise, mpii_bad_null; the error handler is the session's. */
int mpii_session_raise(struct mpii_session *s, int code, const char *func);
int mpii_session_bad_null(struct mpii_session *s, const char *func,
			  const char *arg);
/* An info argument, which may be MPI_INFO_NULL: then *i is NULL. */
int mpii_session_info(struct mpii_session *s, const char *func, MPI_Info info,
		      struct mpii_info **i);

#endif
