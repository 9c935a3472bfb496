/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Generalized requests: completed by the program, waited for like others. */
#include <stdlib.h>

#include "bindings/lang.h"
#include "env/errors.h"
#include "pt2pt/grequest.h"
#include "pt2pt/status.h"

struct greq {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra_state;
	enum mpii_language lang;
	/* ORPHAN: freed by the program before it was completed; the request
	 * then belongs to the call that completes it. */
	_Atomic(enum { PENDING, COMPLETE, ORPHAN }) state;
};

static int poll_greq(struct mpii_req *r)
{
	struct greq *g = r->state;

	return atomic_load(&g->state) == COMPLETE;
}

/* Once, just before the request goes. */
static int call_free(struct mpii_req *r)
{
	struct greq *g = r->state;
	int err = mpii_call_free(g->lang, g->free, &g->extra_state);

	return err ? mpii_fail(err, "the request's free function returned %d",
			       err) :
		     MPI_SUCCESS;
}

static void release(struct mpii_req *r)
{
	free(r->state);
}

static int free_both(struct mpii_req *r)
{
	int err = call_free(r);

	mpii_req_put(r);
	return err;
}

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn,
			MPI_Grequest_free_function *free_fn,
			MPI_Grequest_cancel_function *cancel_fn,
			void *extra_state, MPI_Request *request)
{
	static const char func[] = "MPI_Grequest_start";
	struct mpii_req *r;
	struct greq *g;

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (!query_fn || !free_fn || !cancel_fn || !request)
		return mpii_bad_null(NULL, func,
				     request ? "a callback" : "request");
	g = malloc(sizeof(*g));
	r = mpii_req_create(MPII_REQ_GREQ);
	if (!g || !r)
		return mpii_no_mem(NULL, func);
	*g = (struct greq){
		query_fn, free_fn, cancel_fn, extra_state, mpii_language_take(),
		PENDING
	};
	mpii_status_empty(&r->status);
	r->state = g;
	r->poll = poll_greq;
	r->release = release;
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}
MPII_ALIAS(Grequest_start);

int PMPI_Grequest_complete(MPI_Request request)
{
	static const char func[] = "MPI_Grequest_complete";
	struct mpii_req *r = mpii_req_get(request);
	struct greq *g;
	unsigned state = PENDING;
	int err = MPI_SUCCESS;

	if (!r || r->kind != MPII_REQ_GREQ)
		return mpii_error(NULL, MPI_ERR_REQUEST, func,
				  "request is not a generalized request");
	g = r->state;
	if (!atomic_compare_exchange_strong(&g->state, &state, COMPLETE)) {
		if (state == COMPLETE)
			return mpii_error(NULL, MPI_ERR_REQUEST, func,
					  "the request was completed already");
		err = free_both(r);
	}
	/* Once complete it is gone as soon as another thread waits for it. */
	mpii_wake();
	return mpii_raise(NULL, err, func);
}
MPII_ALIAS(Grequest_complete);

int mpii_greq_detach(struct mpii_req *r)
{
	struct greq *g = r->state;
	unsigned state = PENDING;

	if (atomic_compare_exchange_strong(&g->state, &state, ORPHAN))
		return MPI_SUCCESS;
	return free_both(r);
}

void mpii_greq_query(struct mpii_req *r)
{
	struct greq *g = r->state;

	r->status.MPI_ERROR =
		mpii_call_query(g->lang, g->query, &g->extra_state, &r->status);
}

void mpii_greq_end(struct mpii_req *r)
{
	int err = call_free(r);

	if (err) /* the last callback's counts */
		r->status.MPI_ERROR = err;
}

int mpii_greq_cancel(struct mpii_req *r)
{
	struct greq *g = r->state;
	int err = mpii_call_cancel(g->lang, g->cancel, &g->extra_state,
				   atomic_load(&g->state) == COMPLETE);

	if (err)
		mpii_fail(err, "the request's cancel function returned %d",
			  err);
	return mpii_raise(NULL, err, "MPI_Cancel");
}
