/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Requests that are looked at without letting go of them. */
#include "env/errors.h"
#include "pt2pt/complete.h"
#include "tools/state.h"

static void peek(MPI_Request h, MPI_Status *status)
{
	if (idle(h)) {
		give_empty(status);
		return;
	}
	mpii_req_reap(req_of(h));
	give_status(status, &req_of(h)->status);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	static const char func[] = "MPI_Request_get_status";

	if (!flag)
		return mpii_bad_null(NULL, func, "flag");
	if (request != MPI_REQUEST_NULL && !mpii_req_get(request))
		return mpii_bad_request(request, func, -1);
	*flag = idle(request) || mpii_req_done_now(req_of(request));
	if (*flag)
		peek(request, status);
	else
		mpii_polled_requests(O2G_POLL_STATUS, &request, 1,
				     __builtin_return_address(0));
	return MPI_SUCCESS;
}
MPII_ALIAS(Request_get_status);

int PMPI_Request_get_status_all(int count,
				const MPI_Request array_of_requests[],
				int *flag, MPI_Status array_of_statuses[])
{
	static const char func[] = "MPI_Request_get_status_all";
	struct mpii_several s = { (MPI_Request *)array_of_requests, count, 0 };
	int err = mpii_check_several(count, s.reqs, func);

	if (err)
		return err;
	if (!flag)
		return mpii_bad_null(NULL, func, "flag");
	*flag = mpii_all_done(&s);
	if (!*flag) {
		o2g_progress(mpii.ep);
		*flag = mpii_all_done(&s);
	}
	for (int i = 0; *flag && array_of_statuses && i < count; i++)
		peek(array_of_requests[i], &array_of_statuses[i]);
	return MPI_SUCCESS;
}
MPII_ALIAS(Request_get_status_all);

int PMPI_Request_get_status_any(int count,
				const MPI_Request array_of_requests[],
				int *index, int *flag, MPI_Status *status)
{
	static const char func[] = "MPI_Request_get_status_any";
	struct mpii_several s = { (MPI_Request *)array_of_requests, count, 0 };
	int err = mpii_check_several(count, s.reqs, func);

	if (err)
		return err;
	if (!index || !flag)
		return mpii_bad_null(NULL, func, index ? "flag" : "index");
	*flag = 1;
	*index = MPI_UNDEFINED;
	if (mpii_all_idle(s.reqs, count)) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s)) {
		o2g_progress(mpii.ep);
		*flag = mpii_any_done(&s);
	}
	if (*flag) {
		*index = s.first;
		peek(s.reqs[s.first], status);
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(Request_get_status_any);

int PMPI_Request_get_status_some(int incount,
				 const MPI_Request array_of_requests[],
				 int *outcount, int array_of_indices[],
				 MPI_Status array_of_statuses[])
{
	static const char func[] = "MPI_Request_get_status_some";
	struct mpii_several s = { (MPI_Request *)array_of_requests, incount,
				  0 };
	int err = mpii_check_some(incount, s.reqs, outcount, array_of_indices,
				  func);

	if (err)
		return err;
	if (mpii_all_idle(s.reqs, incount)) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s))
		o2g_progress(mpii.ep);
	*outcount = 0;
	for (int i = 0; i < incount; i++) {
		if (idle(s.reqs[i]) || !mpii_req_done(req_of(s.reqs[i])))
			continue;
		array_of_indices[*outcount] = i;
		peek(s.reqs[i], array_of_statuses ?
					&array_of_statuses[*outcount] :
					MPI_STATUS_IGNORE);
		++*outcount;
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(Request_get_status_some);
