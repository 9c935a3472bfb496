/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Recv and MPI_Irecv; the quick way first, as in send.c. */
#include "env/errors.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/status.h"
#include "pt2pt/transfer.h"

static __attribute__((noinline)) int
recv_slow(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	  int tag, MPI_Comm comm, MPI_Status *status, const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	int err;

	err = mpii_check_recv(buf, count, datatype, source, tag, comm, &c, &t,
			      func);
	if (err)
		return err;
	err = mpii_recv(buf, count, t, source, tag, c, c->context, status);
	return err ? mpii_raise(c, err, func) : MPI_SUCCESS;
}

static __attribute__((noinline, cold)) int
failed(struct mpii_comm *c, int source, int tag, int err, struct o2g_status *st,
       MPI_Count room, const char *func)
{
	st->error = err;
	return mpii_raise(c, mpii_message_error(c, source, tag, st, room),
			  func);
}

static inline __attribute__((always_inline)) int
recv_now(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
	 MPI_Comm comm, MPI_Status *status, const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_type *t = mpii_type_get(datatype);
	uint64_t want, ignore;
	struct o2g_status st = { .source = -1 };
	int err;

	if (!mpii_simple(c, t, buf, count) ||
	    !mpii_simple_source(c, source, tag))
		return recv_slow(buf, count, datatype, source, tag, comm,
				 status, func);
	mpii_match(c->context, tag, &want, &ignore);
	err = o2g_recv(mpii.ep,
		       source < 0 ? O2G_ANY_SOURCE : mpii_comm_peer(c, source),
		       want, ignore, buf, (size_t)(count * t->size), &st);
	if (status != MPI_STATUS_IGNORE)
		mpii_status_from(status, c, source, &st);
	if (mpii_likely(!err))
		return MPI_SUCCESS;
	return failed(c, source, tag, err, &st, count * t->size, func);
}

static __attribute__((noinline)) int
irecv_slow(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
	   int tag, MPI_Comm comm, MPI_Request *request, const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_req *r;
	int err;

	err = mpii_check_recv(buf, count, datatype, source, tag, comm, &c, &t,
			      func);
	if (err)
		return err;
	if (!request)
		return mpii_bad_null(c, func, "request");
	err = mpii_irecv(buf, count, t, source, tag, c, c->context, &r);
	if (err)
		return mpii_raise(c, err, func);
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int
irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
      MPI_Comm comm, MPI_Request *request, const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_type *t = mpii_type_get(datatype);
	struct mpii_req *r = NULL;
	uint64_t want, ignore;
	struct o2g_seg seg;
	int err;

	if (mpii_simple(c, t, buf, count) &&
	    mpii_simple_source(c, source, tag) && request)
		r = mpii_req_plain(MPII_REQ_RECV, c);
	if (mpii_unlikely(!r))
		return irecv_slow(buf, count, datatype, source, tag, comm,
				  request, func);
	r->peer = source;
	r->tag = tag;
	r->count = count * t->size;
	seg.base = buf;
	seg.len = (size_t)r->count;
	mpii_match(c->context, tag, &want, &ignore);
	err = o2g_irecv(mpii.ep,
			source < 0 ? O2G_ANY_SOURCE : mpii_comm_peer(c, source),
			want, ignore, &seg, 1, &r->o2g);
	if (mpii_unlikely(err)) {
		mpii_req_put(r);
		return mpii_raise(c, mpii_call_error(c, source, err), func);
	}
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
	      MPI_Comm comm, MPI_Status *status)
{
	return recv_now(buf, count, datatype, source, tag, comm, status,
			"MPI_Recv");
}
MPII_ALIAS(Recv);

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
		int tag, MPI_Comm comm, MPI_Status *status)
{
	return recv_now(buf, count, datatype, source, tag, comm, status,
			"MPI_Recv_c");
}
MPII_ALIAS(Recv_c);

int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
	       MPI_Comm comm, MPI_Request *request)
{
	return irecv(buf, count, datatype, source, tag, comm, request,
		     "MPI_Irecv");
}
MPII_ALIAS(Irecv);

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
		 int tag, MPI_Comm comm, MPI_Request *request)
{
	return irecv(buf, count, datatype, source, tag, comm, request,
		     "MPI_Irecv_c");
}
MPII_ALIAS(Irecv_c);
