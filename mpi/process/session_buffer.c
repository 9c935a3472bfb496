/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Buffers for the buffered sends on all communicators of a session. */
#include "env/errors.h"
#include "process/session.h"
#include "pt2pt/buffered.h"

static int attach(MPI_Session session, void *buffer, MPI_Count size,
		  const char *func)
{
	struct mpii_session *s = mpii_session_get(session);

	if (!s)
		return mpii_bad_session(session, func);
	return mpii_session_raise(
		s, mpii_buffer_attach(&s->buffer, buffer, size), func);
}

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
	return attach(session, buffer, size, "MPI_Session_attach_buffer");
}
MPII_ALIAS(Session_attach_buffer);

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer,
				 MPI_Count size)
{
	return attach(session, buffer, size, "MPI_Session_attach_buffer_c");
}
MPII_ALIAS(Session_attach_buffer_c);

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr,
			       int *size)
{
	static const char func[] = "MPI_Session_detach_buffer";
	struct mpii_session *s = mpii_session_get(session);

	if (!s)
		return mpii_bad_session(session, func);
	return mpii_session_raise(
		s, mpii_buffer_detach_int(&s->buffer, buffer_addr, size), func);
}
MPII_ALIAS(Session_detach_buffer);

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr,
				 MPI_Count *size)
{
	static const char func[] = "MPI_Session_detach_buffer_c";
	struct mpii_session *s = mpii_session_get(session);

	if (!s)
		return mpii_bad_session(session, func);
	return mpii_session_raise(
		s, mpii_buffer_detach(&s->buffer, buffer_addr, size), func);
}
MPII_ALIAS(Session_detach_buffer_c);

int PMPI_Session_flush_buffer(MPI_Session session)
{
	struct mpii_session *s = mpii_session_get(session);

	if (!s)
		return mpii_bad_session(session, "MPI_Session_flush_buffer");
	mpii_buffer_flush(s->buffer);
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_flush_buffer);

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
	static const char func[] = "MPI_Session_iflush_buffer";
	struct mpii_session *s = mpii_session_get(session);

	if (!s)
		return mpii_bad_session(session, func);
	return mpii_session_raise(s, mpii_buffer_iflush(s->buffer, request),
				  func);
}
MPII_ALIAS(Session_iflush_buffer);
