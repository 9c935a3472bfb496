/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What waiting for, looking at and giving up requests share. */
#ifndef MPI_COMPLETE_H
#define MPI_COMPLETE_H

#include "pt2pt/request.h"
#include "pt2pt/status.h"

/* Not of interest to those who wait: null or inactive. */
static inline bool idle(MPI_Request h)
{
	return h == MPI_REQUEST_NULL || !((struct mpii_req *)h)->active;
}

static inline struct mpii_req *req_of(MPI_Request h)
{
	return (struct mpii_req *)h;
}

/* Everything but MPI_ERROR, which single completion leaves alone. */
static inline void give_status(MPI_Status *status, const MPI_Status *from)
{
	int keep;

	if (status == MPI_STATUS_IGNORE)
		return;
	keep = status->MPI_ERROR;
	*status = *from;
	status->MPI_ERROR = keep;
}

/* Of an empty status MPI_ERROR is a part. */
static inline void give_empty(MPI_Status *status)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	mpii_status_empty(status);
	status->MPI_ERROR = MPI_SUCCESS;
}

/* Done, if need be after a round of progress? */
bool mpii_req_done_now(struct mpii_req *r);

struct mpii_several {
	MPI_Request *reqs;
	int n;
	int first; /* all_done: those before are; any_done: the one that is */
};

/* Conditions to wait for; @arg is a struct mpii_several. */
int mpii_all_done(void *arg);
int mpii_any_done(void *arg);
bool mpii_all_idle(const MPI_Request *reqs, int n);

/* 0, or the error that was raised. */
int mpii_check_several(int count, MPI_Request *reqs, const char *func);
int mpii_check_some(int incount, MPI_Request *reqs, int *outcount, int *indices,
		    const char *func);
/* @i: which of several, or -1. */
int mpii_bad_request(MPI_Request h, const char *func, int i);

#endif
