/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Requests that are given up: freed before they are complete, or cancelled. */
#include "env/errors.h"
#include "pt2pt/complete.h"
#include "pt2pt/grequest.h"

/* Not to be cancelled, nor freed while it is under way. */
static bool stays(const struct mpii_req *r)
{
	return r->kind == MPII_REQ_COLL || r->kind == MPII_REQ_PSEND ||
	       r->kind == MPII_REQ_PRECV;
}

int PMPI_Request_free(MPI_Request *request)
{
	static const char func[] = "MPI_Request_free";
	struct mpii_req *r;

	if (!request)
		return mpii_bad_null(NULL, func, "request");
	r = mpii_req_get(*request);
	if (!r)
		return *request == MPI_REQUEST_NULL && mpii_running() ?
			       mpii_error(NULL, MPI_ERR_REQUEST, func,
					  "request is MPI_REQUEST_NULL") :
			       mpii_bad_request(*request, func, -1);
	if (stays(r) && r->active && !mpii_req_done(r))
		return mpii_error(r->comm, MPI_ERR_REQUEST, func,
				  "a collective or partitioned operation that "
				  "is under way cannot be freed: wait for it");
	*request = MPI_REQUEST_NULL;
	if (r->kind == MPII_REQ_GREQ)
		return mpii_raise(NULL, mpii_greq_detach(r), func);
	if (r->active)
		mpii_req_detach(r);
	else
		mpii_req_put(r);
	return MPI_SUCCESS;
}
MPII_ALIAS(Request_free);

int PMPI_Cancel(MPI_Request *request)
{
	static const char func[] = "MPI_Cancel";
	struct mpii_req *r;

	if (!request)
		return mpii_bad_null(NULL, func, "request");
	r = mpii_req_get(*request);
	if (!r)
		return mpii_bad_request(*request, func, -1);
	if (!r->active)
		return mpii_error(r->comm, MPI_ERR_REQUEST, func,
				  "the persistent request is not active");
	if (stays(r))
		return mpii_error(r->comm, MPI_ERR_REQUEST, func,
				  "a collective or partitioned operation "
				  "cannot be cancelled");
	if (r->kind == MPII_REQ_GREQ)
		return mpii_greq_cancel(r);
	/* Too late is no error: the message completes as usual then. */
	if (r->o2g)
		o2g_cancel(r->o2g);
	return MPI_SUCCESS;
}
MPII_ALIAS(Cancel);
