/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Persistent requests: the arguments once, then MPI_Start as often as wanted. */
#include "bindings/lang.h"
#include "env/errors.h"
#include "pt2pt/buffered.h"
#include "pt2pt/check.h"
#include "pt2pt/status.h"

static int make(enum mpii_req_kind kind, const void *buf, MPI_Count count,
		struct mpii_type *t, int peer, int tag, struct mpii_comm *c,
		enum mpii_mode mode, MPI_Request *request, const char *func)
{
	struct mpii_req *r;

	if (!request)
		return mpii_bad_null(c, func, "request");
	r = mpii_req_persistent(kind, buf, count, t, peer, tag, c);
	if (!r)
		return mpii_no_mem(c, func);
	r->mode = mode;
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

static int make_send(const void *buf, MPI_Count count, MPI_Datatype datatype,
		     int dest, int tag, MPI_Comm comm, MPI_Request *request,
		     enum mpii_mode mode, const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = mpii_check_send(buf, count, datatype, dest, tag, comm, &c, &t,
				  func);

	return err ? err :
		     make(MPII_REQ_SEND, buf, count, t, dest, tag, c, mode,
			  request, func);
}

static int make_recv(void *buf, MPI_Count count, MPI_Datatype datatype,
		     int source, int tag, MPI_Comm comm, MPI_Request *request,
		     const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err = mpii_check_recv(buf, count, datatype, source, tag, comm, &c,
				  &t, func);

	return err ? err :
		     make(MPII_REQ_RECV, buf, count, t, source, tag, c,
			  MPII_STANDARD, request, func);
}

MPII_SEND_CALLS(Send_init, make_send, MPII_STANDARD);
MPII_SEND_CALLS(Ssend_init, make_send, MPII_SYNC);
MPII_SEND_CALLS(Rsend_init, make_send, MPII_READY);
MPII_SEND_CALLS(Bsend_init, make_send, MPII_BUFFERED);

int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source,
		   int tag, MPI_Comm comm, MPI_Request *request)
{
	return make_recv(buf, count, datatype, source, tag, comm, request,
			 "MPI_Recv_init");
}
MPII_ALIAS(Recv_init);

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype,
		     int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	return make_recv(buf, count, datatype, source, tag, comm, request,
			 "MPI_Recv_init_c");
}
MPII_ALIAS(Recv_init_c);

/* --- starting --- */

static int start(struct mpii_req *r)
{
	struct mpii_comm *c = r->comm;

	mpii_status_empty(&r->status);
	r->status.MPI_ERROR = MPI_SUCCESS;
	mpii_hooks_start(r);
	if (r->start)
		return r->start(r);
	if (r->peer == MPI_PROC_NULL) {
		if (r->kind == MPII_REQ_RECV)
			r->status.MPI_SOURCE = MPI_PROC_NULL;
		return MPI_SUCCESS;
	}
	if (r->kind == MPII_REQ_RECV)
		return mpii_start_recv(r, r->buf, r->count, r->type, r->peer,
				       r->tag, c->context);
	if (r->mode == MPII_BUFFERED)
		return mpii_bsend(r->buf, r->count, r->type, r->peer, r->tag,
				  c);
	return mpii_start_send(r, r->buf, r->count, r->type, r->peer, r->tag,
			       c->context, r->mode);
}

static int start_checked(MPI_Request h, const char *func)
{
	struct mpii_req *r = mpii_req_get(h);
	int err;

	if (!r || !r->persistent)
		return mpii_error(
			r ? r->comm : NULL, MPI_ERR_REQUEST, func,
			h == MPI_REQUEST_NULL ?
				"request is MPI_REQUEST_NULL" :
				"request is not a persistent request");
	if (r->active)
		return mpii_error(r->comm, MPI_ERR_REQUEST, func,
				  "the request is active already");
	r->active = true;
	mpii_comm_rest(r->comm, -1);
	err = start(r);
	if (err) {
		r->active = false;
		mpii_comm_rest(r->comm, 1);
		return mpii_raise(r->comm, err, func);
	}
	return MPI_SUCCESS;
}

int PMPI_Start(MPI_Request *request)
{
	if (!request)
		return mpii_bad_null(NULL, "MPI_Start", "request");
	return start_checked(*request, "MPI_Start");
}
MPII_ALIAS(Start);

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
	int err = MPI_SUCCESS;

	if (count < 0)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Startall",
				  "count is %d, but must not be negative",
				  count);
	if (count > 0 && !array_of_requests)
		return mpii_bad_null(NULL, "MPI_Startall", "array_of_requests");
	for (int i = 0; !err && i < count; i++)
		err = start_checked(array_of_requests[i], "MPI_Startall");
	return err;
}
MPII_ALIAS(Startall);
