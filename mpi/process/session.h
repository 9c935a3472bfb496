/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files about sessions share, and what others need of them. */
#ifndef SESSION_H
#define SESSION_H

#include "env/objects.h"

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
