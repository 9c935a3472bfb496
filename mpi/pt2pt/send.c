/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Send, MPI_Isend and their synchronous, ready and buffered forms.
 *
 * The quick way first: valid arguments and contiguous data take a handful of
 * compares and one call into libo2g. Everything else is out of line.
 */
#include "env/errors.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/transfer.h"

static __attribute__((noinline)) int
send_slow(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
	  int tag, MPI_Comm comm, enum mpii_mode mode, const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_req *r;
	int err;

	err = mpii_check_send(buf, count, datatype, dest, tag, comm, &c, &t,
			      func);
	if (err || dest == MPI_PROC_NULL)
		return err;
	err = mpii_isend(buf, count, t, dest, tag, c, c->context, mode, &r);
	if (!err)
		err = mpii_wait_all(&r, 1);
	return err ? mpii_raise(c, err, func) : MPI_SUCCESS;
}

static __attribute__((noinline, cold)) int failed(struct mpii_comm *c, int peer,
						  int err, const char *func)
{
	return mpii_raise(c, mpii_call_error(c, peer, err), func);
}

static inline __attribute__((always_inline)) int
send_now(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
	 int tag, MPI_Comm comm, enum mpii_mode mode, const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_type *t = mpii_type_get(datatype);
	int err;

	if (mode == MPII_BUFFERED || !mpii_simple(c, t, buf, count) ||
	    !mpii_simple_dest(c, dest, tag))
		return send_slow(buf, count, datatype, dest, tag, comm, mode,
				 func);
	err = o2g_send(mpii.ep, mpii_comm_peer(c, dest),
		       mpii_tag(c->send_context, tag), buf,
		       (size_t)(count * t->size),
		       mode == MPII_SYNC ? O2G_SYNC : 0);
	return mpii_likely(!err) ? MPI_SUCCESS : failed(c, dest, err, func);
}

static __attribute__((noinline)) int
isend_slow(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
	   int tag, MPI_Comm comm, MPI_Request *request, enum mpii_mode mode,
	   const char *func)
{
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_req *r;
	int err;

	err = mpii_check_send(buf, count, datatype, dest, tag, comm, &c, &t,
			      func);
	if (err)
		return err;
	if (!request)
		return mpii_bad_null(c, func, "request");
	err = mpii_isend(buf, count, t, dest, tag, c, c->context, mode, &r);
	if (err)
		return mpii_raise(c, err, func);
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int
isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
      int tag, MPI_Comm comm, MPI_Request *request, enum mpii_mode mode,
      const char *func)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_type *t = mpii_type_get(datatype);
	struct mpii_req *r;
	struct o2g_seg seg;
	int err;

	if (mode == MPII_BUFFERED || !mpii_simple(c, t, buf, count) ||
	    !mpii_simple_dest(c, dest, tag) || mpii_unlikely(!request))
		return isend_slow(buf, count, datatype, dest, tag, comm,
				  request, mode, func);
	if (mode != MPII_SYNC && !o2g_inject(mpii.ep, mpii_comm_peer(c, dest),
					     mpii_tag(c->send_context, tag),
					     buf, (size_t)(count * t->size))) {
		*request = (MPI_Request)&mpii_sent;
		return MPI_SUCCESS;
	}
	r = mpii_req_plain(MPII_REQ_SEND, c);
	if (mpii_unlikely(!r))
		return isend_slow(buf, count, datatype, dest, tag, comm,
				  request, mode, func);
	r->peer = dest;
	r->tag = tag;
	seg.base = (void *)buf;
	seg.len = (size_t)(count * t->size);
	err = o2g_isend(mpii.ep, mpii_comm_peer(c, dest),
			mpii_tag(c->send_context, tag), &seg, 1,
			mode == MPII_SYNC ? O2G_SYNC : 0, &r->o2g);
	if (mpii_unlikely(err)) {
		mpii_req_put(r);
		return failed(c, dest, err, func);
	}
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}

#define BLOCKING(name, mode)                                                 \
	int PMPI_##name(const void *buf, int count, MPI_Datatype datatype,   \
			int dest, int tag, MPI_Comm comm)                    \
	{                                                                    \
		return send_now(buf, count, datatype, dest, tag, comm, mode, \
				"MPI_" #name);                               \
	}                                                                    \
	MPII_ALIAS(name);                                                    \
	int PMPI_##name##_c(const void *buf, MPI_Count count,                \
			    MPI_Datatype datatype, int dest, int tag,        \
			    MPI_Comm comm)                                   \
	{                                                                    \
		return send_now(buf, count, datatype, dest, tag, comm, mode, \
				"MPI_" #name "_c");                          \
	}                                                                    \
	MPII_ALIAS(name##_c)

BLOCKING(Send, MPII_STANDARD);
BLOCKING(Ssend, MPII_SYNC);
BLOCKING(Rsend, MPII_READY);
BLOCKING(Bsend, MPII_BUFFERED);

MPII_SEND_CALLS(Isend, isend, MPII_STANDARD);
MPII_SEND_CALLS(Issend, isend, MPII_SYNC);
MPII_SEND_CALLS(Irsend, isend, MPII_READY);
MPII_SEND_CALLS(Ibsend, isend, MPII_BUFFERED);
