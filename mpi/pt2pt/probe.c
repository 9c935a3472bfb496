/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Probing for messages, and receiving those that a matched probe took. */
#include <errno.h>
#include <stdlib.h>

#include "env/errors.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/status.h"
#include "pt2pt/transfer.h"
#include "tools/state.h"

/* Behind MPI_Message. */
struct msg {
	struct mpii_obj obj;
	struct o2g_msg *o2g;
	struct mpii_comm *comm;
	int source; /* rank of the sender */
};

static void null_status(MPI_Status *status)
{
	if (status != MPI_STATUS_IGNORE)
		mpii_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

static int check(int source, int tag, MPI_Comm comm, struct mpii_comm **c,
		 const char *func)
{
	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, func);
	return mpii_check_source(*c, source, tag, func);
}

/* What one probe asks of libo2g. */
struct query {
	int source;
	uint64_t want, ignore;
	struct o2g_status st;
};

static void ask(struct query *q, struct mpii_comm *c, int source, int tag)
{
	q->source = source < 0 ? O2G_ANY_SOURCE : mpii_comm_peer(c, source);
	mpii_match(c->context, tag, &q->want, &q->ignore);
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct mpii_comm *c;
	struct query q;
	int err = check(source, tag, comm, &c, "MPI_Probe");

	if (err)
		return err;
	if (source == MPI_PROC_NULL) {
		null_status(status);
		return MPI_SUCCESS;
	}
	ask(&q, c, source, tag);
	err = o2g_probe(mpii.ep, q.source, q.want, q.ignore, &q.st);
	if (err)
		return mpii_raise(c, mpii_call_error(c, source, err),
				  "MPI_Probe");
	if (status != MPI_STATUS_IGNORE)
		mpii_status_from(status, c, source, &q.st);
	return MPI_SUCCESS;
}
MPII_ALIAS(Probe);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
		MPI_Status *status)
{
	struct mpii_comm *c;
	struct query q;
	int err = check(source, tag, comm, &c, "MPI_Iprobe");

	if (err)
		return err;
	if (!flag)
		return mpii_bad_null(c, "MPI_Iprobe", "flag");
	*flag = 1;
	if (source == MPI_PROC_NULL) {
		null_status(status);
		return MPI_SUCCESS;
	}
	ask(&q, c, source, tag);
	err = o2g_iprobe(mpii.ep, q.source, q.want, q.ignore, &q.st);
	*flag = !err;
	if (err == -EAGAIN) {
		mpii_polled(O2G_POLL_IPROBE, O2G_PART_PROBE, c->context,
			    q.source, tag, 1, __builtin_return_address(0));
		return MPI_SUCCESS;
	}
	if (err)
		return mpii_raise(c, mpii_call_error(c, source, err),
				  "MPI_Iprobe");
	if (status != MPI_STATUS_IGNORE)
		mpii_status_from(status, c, source, &q.st);
	return MPI_SUCCESS;
}
MPII_ALIAS(Iprobe);

/* --- matched --- */

/* An object for a message that was taken; the message is lost without. */
static int wrap(struct mpii_comm *c, int source, struct query *q,
		struct o2g_msg *o2g, MPI_Message *message, MPI_Status *status,
		const char *func)
{
	struct msg *m = malloc(sizeof(*m));
	MPI_Status mine;

	if (!m)
		return mpii_no_mem(c, func);
	mpii_status_from(&mine, c, source, &q->st);
	*m = (struct msg){ .obj = { .magic = MPII_MSG, .refs = 1 },
			   .o2g = o2g,
			   .comm = c,
			   .source = mine.MPI_SOURCE };
	mpii_comm_hold(c);
	*message = (MPI_Message)m;
	if (status != MPI_STATUS_IGNORE) {
		mine.MPI_ERROR = status->MPI_ERROR;
		*status = mine;
	}
	return MPI_SUCCESS;
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
		MPI_Status *status)
{
	static const char func[] = "MPI_Mprobe";
	struct o2g_msg *o2g;
	struct mpii_comm *c;
	struct query q;
	int err = check(source, tag, comm, &c, func);

	if (err)
		return err;
	if (!message)
		return mpii_bad_null(c, func, "message");
	if (source == MPI_PROC_NULL) {
		*message = MPI_MESSAGE_NO_PROC;
		null_status(status);
		return MPI_SUCCESS;
	}
	ask(&q, c, source, tag);
	err = o2g_mprobe(mpii.ep, q.source, q.want, q.ignore, &o2g, &q.st);
	if (err)
		return mpii_raise(c, mpii_call_error(c, source, err), func);
	return wrap(c, source, &q, o2g, message, status, func);
}
MPII_ALIAS(Mprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
		 MPI_Message *message, MPI_Status *status)
{
	static const char func[] = "MPI_Improbe";
	struct o2g_msg *o2g;
	struct mpii_comm *c;
	struct query q;
	int err = check(source, tag, comm, &c, func);

	if (err)
		return err;
	if (!flag || !message)
		return mpii_bad_null(c, func, flag ? "message" : "flag");
	*flag = 1;
	if (source == MPI_PROC_NULL) {
		*message = MPI_MESSAGE_NO_PROC;
		null_status(status);
		return MPI_SUCCESS;
	}
	ask(&q, c, source, tag);
	err = o2g_improbe(mpii.ep, q.source, q.want, q.ignore, &o2g, &q.st);
	*flag = !err;
	if (err == -EAGAIN) {
		mpii_polled(O2G_POLL_IMPROBE, O2G_PART_PROBE, c->context,
			    q.source, tag, 1, __builtin_return_address(0));
		return MPI_SUCCESS;
	}
	if (err)
		return mpii_raise(c, mpii_call_error(c, source, err), func);
	return wrap(c, source, &q, o2g, message, status, func);
}
MPII_ALIAS(Improbe);

static struct msg *msg_get(MPI_Message h)
{
	struct msg *m = (struct msg *)h;

	if ((uintptr_t)h < MPII_PREDEFINED_END || !mpii_running())
		return NULL;
	return mpii_is_object(h, MPII_MSG) ? m : NULL;
}

static int bad_message(MPI_Message h, const char *func)
{
	return mpii_error(NULL, MPI_ERR_REQUEST, func, "message is %s",
			  h == MPI_MESSAGE_NULL ?
				  "MPI_MESSAGE_NULL" :
				  "no message, or was received already");
}

/* The request that receives *message, which is gone afterwards. */
static int start(void *buf, MPI_Count count, struct mpii_type *t, struct msg *m,
		 struct mpii_req **req)
{
	struct mpii_req *r = mpii_req_create(MPII_REQ_RECV);
	struct mpii_xfer x;
	int err;

	if (!r)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	r->comm = m->comm; /* the message's hold becomes the request's */
	r->peer = m->source;
	r->tag = MPI_ANY_TAG;
	mpii_xfer_begin(&x, r, buf, count, t);
	do
		err = o2g_imrecv(m->o2g, x.segs, x.n, &r->o2g);
	while (err && mpii_xfer_copied(&x, r, &err));
	if (err) {
		free(r->pack);
		err = mpii_call_error(m->comm, m->source, err);
		r->comm = NULL;
		mpii_req_put(r);
		return err;
	}
	mpii_obj_end(&m->obj);
	free(m);
	*req = r;
	return MPI_SUCCESS;
}

static int imrecv(void *buf, MPI_Count count, MPI_Datatype datatype,
		  MPI_Message *message, struct mpii_req **req, const char *func)
{
	struct mpii_type *t;
	struct msg *m;
	int err;

	if (!message)
		return mpii_bad_null(NULL, func, "message");
	if (*message == MPI_MESSAGE_NO_PROC) {
		*req = mpii_req_noop();
		if (!*req)
			return mpii_no_mem(NULL, func);
		(*req)->status.MPI_SOURCE = MPI_PROC_NULL;
		*message = MPI_MESSAGE_NULL;
		return MPI_SUCCESS;
	}
	m = msg_get(*message);
	if (!m)
		return bad_message(*message, func);
	err = mpii_check_buffer(m->comm, buf, count, datatype, &t, func);
	if (err)
		return err;
	err = start(buf, count, t, m, req);
	if (err)
		return mpii_raise(m->comm, err, func);
	*message = MPI_MESSAGE_NULL;
	return MPI_SUCCESS;
}

static int mrecv(void *buf, MPI_Count count, MPI_Datatype datatype,
		 MPI_Message *message, MPI_Status *status, const char *func)
{
	struct mpii_req *r;
	int err = imrecv(buf, count, datatype, message, &r, func), keep;

	if (err)
		return err;
	mpii_req_wait(r);
	if (status != MPI_STATUS_IGNORE) {
		keep = status->MPI_ERROR;
		*status = r->status;
		status->MPI_ERROR = keep;
	}
	err = r->status.MPI_ERROR;
	if (err)
		err = mpii_raise(r->comm, err, func);
	mpii_req_put(r);
	return err;
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype,
	       MPI_Message *message, MPI_Status *status)
{
	return mrecv(buf, count, datatype, message, status, "MPI_Mrecv");
}
MPII_ALIAS(Mrecv);

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
		 MPI_Message *message, MPI_Status *status)
{
	return mrecv(buf, count, datatype, message, status, "MPI_Mrecv_c");
}
MPII_ALIAS(Mrecv_c);

static int imrecv_public(void *buf, MPI_Count count, MPI_Datatype datatype,
			 MPI_Message *message, MPI_Request *request,
			 const char *func)
{
	struct mpii_req *r;
	int err;

	if (!request)
		return mpii_bad_null(NULL, func, "request");
	err = imrecv(buf, count, datatype, message, &r, func);
	if (!err)
		*request = (MPI_Request)r;
	return err;
}

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype,
		MPI_Message *message, MPI_Request *request)
{
	return imrecv_public(buf, count, datatype, message, request,
			     "MPI_Imrecv");
}
MPII_ALIAS(Imrecv);

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
		  MPI_Message *message, MPI_Request *request)
{
	return imrecv_public(buf, count, datatype, message, request,
			     "MPI_Imrecv_c");
}
MPII_ALIAS(Imrecv_c);
