/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Sendrecv and its relatives: a receive and a send under way together. */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"
#include "tools/state.h"

/* One direction, its arguments checked. */
struct side {
	void *buf;
	MPI_Count count;
	struct mpii_type *t;
	int peer, tag;
};

/* Both directions started; on failure neither is left. */
static int start(struct mpii_comm *c, const struct side *s,
		 const struct side *r, struct mpii_req **sreq,
		 struct mpii_req **rreq)
{
	int err = mpii_irecv(r->buf, r->count, r->t, r->peer, r->tag, c,
			     c->context, rreq);

	if (err)
		return err;
	err = mpii_isend(s->buf, s->count, s->t, s->peer, s->tag, c, c->context,
			 MPII_STANDARD, sreq);
	if (err) {
		if ((*rreq)->o2g)
			o2g_cancel((*rreq)->o2g);
		mpii_wait_all(rreq, 1);
	}
	return err;
}

struct both {
	struct mpii_req *send, *recv;
};

static int one_is_done(void *arg)
{
	const struct both *b = arg;

	return mpii_req_done(b->send) || mpii_req_done(b->recv);
}

/* One ends first, but both are waited for. */
static void explain(struct o2g_state_wait *w, void *arg)
{
	const struct both *b = arg;

	mpii_state_add_req(w, b->recv);
	mpii_state_add_req(w, b->send);
}

void mpii_sendrecv_explain(void)
{
	mpii_state_explain(one_is_done, explain);
}

/* A receive may wait for an answer to what was never sent: if the send fails first,
 * the receive is given up. */
static void wait_both(struct mpii_req *send, struct mpii_req *recv)
{
	struct both b = { send, recv };

	if (mpii_unlikely(!mpii_req_done(send)))
		o2g_wait_until(mpii.ep, one_is_done, &b, -1);
	if (mpii_likely(mpii_req_done(send))) {
		mpii_req_reap(send);
		if (mpii_unlikely(send->status.MPI_ERROR) && recv->o2g)
			o2g_cancel(recv->o2g);
	}
	mpii_req_wait(recv);
	mpii_req_wait(send);
}

static int exchange(struct mpii_comm *c, const struct side *s,
		    const struct side *r, MPI_Status *status)
{
	struct mpii_req *sreq, *rreq;
	int err, keep;

	err = start(c, s, r, &sreq, &rreq);
	if (err)
		return err;
	wait_both(sreq, rreq);
	err = sreq->status.MPI_ERROR;
	mpii_req_put(sreq);
	if (status != MPI_STATUS_IGNORE) {
		keep = status->MPI_ERROR;
		*status = rreq->status;
		status->MPI_ERROR = keep;
	}
	if (rreq->status.MPI_ERROR)
		err = rreq->status.MPI_ERROR;
	mpii_req_put(rreq);
	return err;
}

static int check(const struct side *s, MPI_Datatype stype, struct side *r,
		 MPI_Datatype rtype, MPI_Comm comm, struct mpii_comm **c,
		 struct mpii_type **st, const char *func)
{
	int err = mpii_check_send(s->buf, s->count, stype, s->peer, s->tag,
				  comm, c, st, func);

	return err ? err :
		     mpii_check_recv(r->buf, r->count, rtype, r->peer, r->tag,
				     comm, c, &r->t, func);
}

static int sendrecv(struct side s, MPI_Datatype stype, struct side r,
		    MPI_Datatype rtype, MPI_Comm comm, MPI_Status *status,
		    const char *func)
{
	struct mpii_comm *c;
	int err = check(&s, stype, &r, rtype, comm, &c, &s.t, func);

	if (err)
		return err;
	err = exchange(c, &s, &r, status);
	return err ? mpii_raise(c, err, func) : MPI_SUCCESS;
}

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		  int dest, int sendtag, void *recvbuf, int recvcount,
		  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
		  MPI_Status *status)
{
	struct side s = { (void *)sendbuf, sendcount, NULL, dest, sendtag };
	struct side r = { recvbuf, recvcount, NULL, source, recvtag };

	return sendrecv(s, sendtype, r, recvtype, comm, status, "MPI_Sendrecv");
}
MPII_ALIAS(Sendrecv);

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount,
		    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
		    MPI_Count recvcount, MPI_Datatype recvtype, int source,
		    int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct side s = { (void *)sendbuf, sendcount, NULL, dest, sendtag };
	struct side r = { recvbuf, recvcount, NULL, source, recvtag };

	return sendrecv(s, sendtype, r, recvtype, comm, status,
			"MPI_Sendrecv_c");
}
MPII_ALIAS(Sendrecv_c);

/* --- in one buffer: what is sent is copied first --- */

/* The data of the send direction as bytes, malloc'ed. */
static int copy_out(struct side *s)
{
	MPI_Count bytes = s->count * s->t->size;
	void *copy = malloc(bytes ? (size_t)bytes : 1);

	if (!copy)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory to copy %lld bytes",
				 (long long)bytes);
	mpii_pack(s->t, s->buf, s->count, 0, copy, (size_t)bytes);
	s->buf = copy;
	s->count = bytes;
	s->t = mpii_type_get(MPI_BYTE);
	return MPI_SUCCESS;
}

static int replace(struct side s, struct side r, MPI_Datatype type,
		   MPI_Comm comm, MPI_Status *status, const char *func)
{
	struct mpii_comm *c;
	int err = check(&s, type, &r, type, comm, &c, &s.t, func);

	if (err)
		return err;
	err = copy_out(&s);
	if (!err) {
		err = exchange(c, &s, &r, status);
		free(s.buf);
	}
	return err ? mpii_raise(c, err, func) : MPI_SUCCESS;
}

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest,
			  int sendtag, int source, int recvtag, MPI_Comm comm,
			  MPI_Status *status)
{
	struct side s = { buf, count, NULL, dest, sendtag };
	struct side r = { buf, count, NULL, source, recvtag };

	return replace(s, r, datatype, comm, status, "MPI_Sendrecv_replace");
}
MPII_ALIAS(Sendrecv_replace);

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
			    int dest, int sendtag, int source, int recvtag,
			    MPI_Comm comm, MPI_Status *status)
{
	struct side s = { buf, count, NULL, dest, sendtag };
	struct side r = { buf, count, NULL, source, recvtag };

	return replace(s, r, datatype, comm, status, "MPI_Sendrecv_replace_c");
}
MPII_ALIAS(Sendrecv_replace_c);

/* --- nonblocking: one request over two --- */

struct pair {
	struct mpii_req *s, *r;
	void *copy;
};

static int pair_poll(struct mpii_req *req)
{
	struct pair *p = req->state;

	if (!mpii_req_done(p->r) || !mpii_req_done(p->s))
		return 0;
	mpii_req_reap(p->r);
	mpii_req_reap(p->s);
	req->status = p->r->status;
	if (!req->status.MPI_ERROR)
		req->status.MPI_ERROR = p->s->status.MPI_ERROR;
	return 1;
}

static void pair_release(struct mpii_req *req)
{
	struct pair *p = req->state;

	mpii_req_put(p->s);
	mpii_req_put(p->r);
	free(p->copy);
	free(p);
}

static int isendrecv(struct side s, MPI_Datatype stype, struct side r,
		     MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request,
		     bool replacing, const char *func)
{
	struct mpii_comm *c;
	struct mpii_req *req;
	struct pair *p;
	int err = check(&s, stype, &r, rtype, comm, &c, &s.t, func);

	if (err)
		return err;
	if (!request)
		return mpii_bad_null(c, func, "request");
	p = calloc(1, sizeof(*p));
	req = mpii_req_create(MPII_REQ_COLL);
	if (!p || !req) {
		free(p);
		if (req)
			mpii_req_put(req);
		return mpii_no_mem(c, func);
	}
	if (replacing) {
		err = copy_out(&s);
		p->copy = err ? NULL : s.buf;
	}
	if (!err)
		err = start(c, &s, &r, &p->s, &p->r);
	if (err) {
		free(p->copy);
		free(p);
		mpii_req_put(req);
		return mpii_raise(c, err, func);
	}
	req->state = p;
	req->poll = pair_poll;
	req->release = pair_release;
	req->comm = c;
	mpii_comm_hold(c);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		   int dest, int sendtag, void *recvbuf, int recvcount,
		   MPI_Datatype recvtype, int source, int recvtag,
		   MPI_Comm comm, MPI_Request *request)
{
	struct side s = { (void *)sendbuf, sendcount, NULL, dest, sendtag };
	struct side r = { recvbuf, recvcount, NULL, source, recvtag };

	return isendrecv(s, sendtype, r, recvtype, comm, request, false,
			 "MPI_Isendrecv");
}
MPII_ALIAS(Isendrecv);

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount,
		     MPI_Datatype sendtype, int dest, int sendtag,
		     void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
		     int source, int recvtag, MPI_Comm comm,
		     MPI_Request *request)
{
	struct side s = { (void *)sendbuf, sendcount, NULL, dest, sendtag };
	struct side r = { recvbuf, recvcount, NULL, source, recvtag };

	return isendrecv(s, sendtype, r, recvtype, comm, request, false,
			 "MPI_Isendrecv_c");
}
MPII_ALIAS(Isendrecv_c);

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype,
			   int dest, int sendtag, int source, int recvtag,
			   MPI_Comm comm, MPI_Request *request)
{
	struct side s = { buf, count, NULL, dest, sendtag };
	struct side r = { buf, count, NULL, source, recvtag };

	return isendrecv(s, datatype, r, datatype, comm, request, true,
			 "MPI_Isendrecv_replace");
}
MPII_ALIAS(Isendrecv_replace);

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype,
			     int dest, int sendtag, int source, int recvtag,
			     MPI_Comm comm, MPI_Request *request)
{
	struct side s = { buf, count, NULL, dest, sendtag };
	struct side r = { buf, count, NULL, source, recvtag };

	return isendrecv(s, datatype, r, datatype, comm, request, true,
			 "MPI_Isendrecv_replace_c");
}
MPII_ALIAS(Isendrecv_replace_c);
