/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages as the other chapters send them: no argument checks, no error
 * handler. The blocking forms of contiguous data need no request object.
 */
#include <stdlib.h>

#include "env/errors.h"
#include "pt2pt/buffered.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/status.h"
#include "pt2pt/transfer.h"

static inline unsigned flags_of(enum mpii_mode mode)
{
	return mode == MPII_SYNC ? O2G_SYNC : 0;
}

/* libo2g refused to start it. */
static int not_started(struct mpii_req *r, int peer, int err)
{
	free(r->pack);
	r->pack = NULL;
	return mpii_call_error(r->comm, peer, err);
}

int mpii_start_send(struct mpii_req *r, const void *buf, MPI_Count count,
		    struct mpii_type *t, int dest, int tag, uint32_t context,
		    enum mpii_mode mode)
{
	struct mpii_comm *c = r->comm;
	uint64_t full = mpii_tag(mpii_send_context(c, context), tag);
	struct mpii_xfer x;
	int err;

	r->peer = dest;
	r->tag = tag;
	mpii_xfer_begin(&x, r, buf, count, t);
	do
		err = o2g_isend(mpii.ep, mpii_comm_peer(c, dest), full, x.segs,
				x.n, flags_of(mode), &r->o2g);
	while (mpii_unlikely(err) && mpii_xfer_copied(&x, r, &err));
	return err ? not_started(r, dest, err) : MPI_SUCCESS;
}

int mpii_start_recv(struct mpii_req *r, void *buf, MPI_Count count,
		    struct mpii_type *t, int source, int tag, uint32_t context)
{
	struct mpii_comm *c = r->comm;
	int peer = source < 0 ? O2G_ANY_SOURCE : mpii_comm_peer(c, source);
	struct mpii_xfer x;
	uint64_t want, ignore;
	int err;

	r->peer = source;
	r->tag = tag;
	mpii_xfer_begin(&x, r, buf, count, t);
	mpii_match(context, tag, &want, &ignore);
	do
		err = o2g_irecv(mpii.ep, peer, want, ignore, x.segs, x.n,
				&r->o2g);
	while (mpii_unlikely(err) && mpii_xfer_copied(&x, r, &err));
	return err ? not_started(r, source, err) : MPI_SUCCESS;
}

static int no_request(void)
{
	return mpii_fail(MPI_ERR_NO_MEM, "no memory for a request");
}

int mpii_isend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c, uint32_t context,
	       enum mpii_mode mode, struct mpii_req **req)
{
	struct mpii_req *r;
	int err = MPI_SUCCESS;

	if (dest == MPI_PROC_NULL || mode == MPII_BUFFERED) {
		if (dest != MPI_PROC_NULL)
			err = mpii_bsend(buf, count, t, dest, tag, c);
		*req = err ? NULL : mpii_req_noop();
		return err || *req ? err : no_request();
	}
	*req = r = mpii_req_create(MPII_REQ_SEND);
	if (!r)
		return no_request();
	r->comm = c;
	mpii_comm_hold(c);
	err = mpii_start_send(r, buf, count, t, dest, tag, context, mode);
	if (err) {
		mpii_req_put(r);
		*req = NULL;
	}
	return err;
}

int mpii_irecv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	       int tag, struct mpii_comm *c, uint32_t context,
	       struct mpii_req **req)
{
	struct mpii_req *r;
	int err;

	if (source == MPI_PROC_NULL) {
		*req = mpii_req_noop();
		if (!*req)
			return no_request();
		(*req)->status.MPI_SOURCE = MPI_PROC_NULL;
		return MPI_SUCCESS;
	}
	*req = r = mpii_req_create(MPII_REQ_RECV);
	if (!r)
		return no_request();
	r->comm = c;
	mpii_comm_hold(c);
	err = mpii_start_recv(r, buf, count, t, source, tag, context);
	if (err) {
		mpii_req_put(r);
		*req = NULL;
	}
	return err;
}

int mpii_send(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	      int tag, struct mpii_comm *c, uint32_t context)
{
	struct mpii_req *r;
	int err;

	if (t->contiguous && dest != MPI_PROC_NULL) {
		err = o2g_send(mpii.ep, mpii_comm_peer(c, dest),
			       mpii_tag(mpii_send_context(c, context), tag),
			       buf, (size_t)(count * t->size), 0);
		return err ? mpii_call_error(c, dest, err) : MPI_SUCCESS;
	}
	err = mpii_isend(buf, count, t, dest, tag, c, context, MPII_STANDARD,
			 &r);
	return err ? err : mpii_wait_all(&r, 1);
}

/* One contiguous piece, from somebody. */
static int recv_piece(void *buf, MPI_Count bytes, int source, int tag,
		      struct mpii_comm *c, uint32_t context, MPI_Status *status)
{
	struct o2g_status st = { .source = -1 };
	uint64_t want, ignore;
	int err;

	mpii_match(context, tag, &want, &ignore);
	err = o2g_recv(mpii.ep,
		       source < 0 ? O2G_ANY_SOURCE : mpii_comm_peer(c, source),
		       want, ignore, buf, (size_t)bytes, &st);
	if (mpii_unlikely(err)) {
		st.error = err;
		err = mpii_message_error(c, source, tag, &st, bytes);
	}
	if (status != MPI_STATUS_IGNORE)
		mpii_status_from(status, c, source, &st);
	return err;
}

int mpii_recv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	      int tag, struct mpii_comm *c, uint32_t context,
	      MPI_Status *status)
{
	struct mpii_req *r;
	int err;

	if (t->contiguous && source != MPI_PROC_NULL)
		return recv_piece(buf, count * t->size, source, tag, c, context,
				  status);
	err = mpii_irecv(buf, count, t, source, tag, c, context, &r);
	if (err)
		return err;
	mpii_req_wait(r);
	if (status != MPI_STATUS_IGNORE) {
		err = status->MPI_ERROR;
		*status = r->status;
		status->MPI_ERROR = err; /* not ours to set */
	}
	err = r->status.MPI_ERROR;
	mpii_req_put(r);
	return err;
}

int mpii_recv_exact(void *buf, MPI_Count count, struct mpii_type *t, int source,
		    int tag, struct mpii_comm *c, uint32_t context)
{
	MPI_Status status = { .MPI_ERROR = MPI_SUCCESS };
	int err = mpii_recv(buf, count, t, source, tag, c, context, &status);

	if (mpii_likely(!err))
		err = mpii_check_length(source, mpii_status_bytes(&status),
					count * t->size);
	return err;
}

int mpii_sendrecv(const void *sbuf, MPI_Count scount, struct mpii_type *st,
		  int dest, void *rbuf, MPI_Count rcount, struct mpii_type *rt,
		  int source, int tag, struct mpii_comm *c, uint32_t context)
{
	struct mpii_req *r;
	int err;

	err = mpii_irecv(rbuf, rcount, rt, source, tag, c, context, &r);
	if (err)
		return err;
	err = mpii_send(sbuf, scount, st, dest, tag, c, context);
	if (mpii_likely(!err))
		return mpii_wait_exact(&r, 1);
	if (r->o2g)
		o2g_cancel(r->o2g); /* or it would never end */
	mpii_wait_all(&r, 1);
	return err;
}
