/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Waiting for and testing requests: one, all, any, some.
 *
 * A null handle and an inactive persistent request count as complete with an
 * empty status, and are left out by "any" and "some".
 */
#include <stdio.h>
#include <string.h>

#include "env/errcode.h"
#include "env/errors.h"
#include "pt2pt/complete.h"
#include "pt2pt/grequest.h"
#include "pt2pt/transfer.h"
#include "tools/state.h"

int mpii_bad_request(MPI_Request h, const char *func, int i)
{
	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (i >= 0)
		return mpii_error(NULL, MPI_ERR_REQUEST, func,
				  "array_of_requests[%d] is %p, which is not a "
				  "request or was freed",
				  i, (void *)h);
	return mpii_error(NULL, MPI_ERR_REQUEST, func,
			  "request is %p, which is not a request or was freed",
			  (void *)h);
}

/* Words that were recorded when it completed may by now be another request's. */
static __attribute__((cold)) void hold(struct mpii_comm *c, int err)
{
	mpii_comm_hold(c);
	mpii_say_again(c, err);
}

/* Hand out the result of *h, which is complete, and let go of it. After an
 * error *c is its communicator, held, since it might go with its last request;
 * NULL when it has none. */
static inline int collect(MPI_Request *h, MPI_Status *status,
			  struct mpii_comm **c)
{
	struct mpii_req *r = req_of(*h);
	int err;

	mpii_req_reap(r);
	if (mpii_unlikely(r->kind == MPII_REQ_GREQ))
		mpii_greq_end(r);
	err = r->status.MPI_ERROR;
	if (mpii_unlikely(err)) {
		*c = r->comm;
		if (*c)
			hold(*c, err);
	}
	give_status(status, &r->status);
	mpii_req_retire(r, h);
	return err;
}

/* Raise it, and let go of what collect held. */
static __attribute__((cold)) int raise_held(struct mpii_comm *c, int err,
					    const char *func)
{
	err = mpii_raise(c, err, func);
	if (c)
		mpii_comm_put(c);
	return err;
}

/* What has failed of several that were completed. */
struct failure {
	int code; /* the latest, or MPI_SUCCESS: then nothing else is valid */
	struct mpii_comm *c;		  /* its communicator, held, or NULL */
	char words[MPI_MAX_ERROR_STRING]; /* of all of its class */
};

static __attribute__((cold)) void add_failure(struct failure *f, int code,
					      struct mpii_comm *c)
{
	const char *words = mpii_last_text(code);
	size_t n;

	if (f->code && f->c)
		mpii_comm_put(f->c);
	if (!f->code || mpii_class_of_code(f->code) != mpii_class_of_code(code))
		f->words[0] = '\0';
	f->code = code;
	f->c = c;
	if (!words || strstr(f->words, words))
		return;
	n = strlen(f->words);
	snprintf(f->words + n, sizeof(f->words) - n, "%s%s", n ? "; " : "",
		 words);
}

/* Its words go with the code that is in the statuses, and with the one that says
 * so. */
static __attribute__((cold)) int raise_in_status(const struct failure *f,
						 const char *func)
{
	if (f->words[0])
		mpii_fail_in_status(f->code, f->words);
	return raise_held(f->c, MPI_ERR_IN_STATUS, func);
}

/* --- one --- */

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct mpii_comm *c = NULL;
	struct mpii_req *r;
	int err;

	if (!request)
		return mpii_bad_null(NULL, "MPI_Wait", "request");
	if (*request == MPI_REQUEST_NULL) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	r = mpii_req_get(*request);
	if (mpii_unlikely(!r))
		return mpii_bad_request(*request, "MPI_Wait", -1);
	if (!r->active) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	mpii_req_wait(r);
	err = collect(request, status, &c);
	return mpii_likely(!err) ? err : raise_held(c, err, "MPI_Wait");
}
MPII_ALIAS(Wait);

bool mpii_req_done_now(struct mpii_req *r)
{
	if (mpii_req_done(r))
		return true;
	o2g_progress(mpii.ep);
	return mpii_req_done(r);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct mpii_comm *c = NULL;
	struct mpii_req *r;
	int err;

	if (!request || !flag)
		return mpii_bad_null(NULL, "MPI_Test",
				     request ? "flag" : "request");
	*flag = 1;
	if (*request == MPI_REQUEST_NULL) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	r = mpii_req_get(*request);
	if (mpii_unlikely(!r))
		return mpii_bad_request(*request, "MPI_Test", -1);
	if (!r->active) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	*flag = mpii_req_done_now(r);
	if (!*flag) {
		mpii_polled_requests(O2G_POLL_TEST, request, 1,
				     __builtin_return_address(0));
		return MPI_SUCCESS;
	}
	err = collect(request, status, &c);
	return mpii_likely(!err) ? err : raise_held(c, err, "MPI_Test");
}
MPII_ALIAS(Test);

/* --- several --- */

int mpii_check_several(int count, MPI_Request *reqs, const char *func)
{
	if (count < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "count is %d, but must not be negative",
				  count);
	if (count > 0 && !reqs)
		return mpii_bad_null(NULL, func, "array_of_requests");
	for (int i = 0; i < count; i++)
		if (mpii_unlikely(reqs[i] != MPI_REQUEST_NULL &&
				  !mpii_req_get(reqs[i])))
			return mpii_bad_request(reqs[i], func, i);
	return MPI_SUCCESS;
}

int mpii_all_done(void *arg)
{
	struct mpii_several *s = arg;

	for (; s->first < s->n; s->first++)
		if (!idle(s->reqs[s->first]) &&
		    !mpii_req_done(req_of(s->reqs[s->first])))
			return 0;
	return 1;
}

int mpii_any_done(void *arg)
{
	struct mpii_several *s = arg;

	for (s->first = 0; s->first < s->n; s->first++)
		if (!idle(s->reqs[s->first]) &&
		    mpii_req_done(req_of(s->reqs[s->first])))
			return 1;
	return 0;
}

bool mpii_all_idle(const MPI_Request *reqs, int n)
{
	for (int i = 0; i < n; i++)
		if (!idle(reqs[i]))
			return false;
	return true;
}

/*
 * Collect the i-th of several into statuses[k]. After the first error every
 * status gets its MPI_ERROR, those before it too.
 */
static void collect_into(MPI_Request *req, MPI_Status *statuses, int k,
			 struct failure *f)
{
	MPI_Status *s = statuses ? &statuses[k] : MPI_STATUS_IGNORE;
	struct mpii_comm *mine = NULL;
	int err = MPI_SUCCESS;

	if (idle(*req))
		give_empty(s);
	else
		err = collect(req, s, &mine);
	if (mpii_unlikely(err)) {
		for (int i = 0; !f->code && statuses && i < k; i++)
			statuses[i].MPI_ERROR = MPI_SUCCESS;
		add_failure(f, err, mine);
	}
	if (mpii_unlikely(f->code) && s)
		s->MPI_ERROR = err;
}

static int collect_all(int n, MPI_Request *reqs, MPI_Status *statuses,
		       const char *func)
{
	struct failure f;

	f.code = MPI_SUCCESS;
	for (int i = 0; i < n; i++)
		collect_into(&reqs[i], statuses, i, &f);
	return mpii_likely(!f.code) ? MPI_SUCCESS : raise_in_status(&f, func);
}

/* The same after a failure, when some may not be over: they stay. */
static __attribute__((cold)) int
collect_done(int n, MPI_Request *reqs, MPI_Status *statuses, const char *func)
{
	struct failure f;

	f.code = MPI_SUCCESS;
	for (int i = 0; i < n; i++)
		if (idle(reqs[i]) || mpii_req_done(req_of(reqs[i])))
			collect_into(&reqs[i], statuses, i, &f);
	for (int i = 0; i < n; i++)
		if (statuses && !idle(reqs[i]))
			statuses[i].MPI_ERROR = MPI_ERR_PENDING;
	return raise_in_status(&f, func);
}

/* How long others are waited for when a send has failed. */
#define GRACE_US 1000000

/* Messages can be waited for in any order. Sends come first: what is received may
 * be the answer to one, and if that has failed nobody answers. Other kinds may
 * depend on each other, so all must be looked at while waiting. False: a send has
 * failed, and not all are over. */
static bool wait_for_all(int n, MPI_Request *reqs)
{
	struct mpii_req *const *messages = (struct mpii_req *const *)reqs;
	struct mpii_several s = { reqs, n, 0 };

	for (int i = 0; i < n; i++) {
		if (idle(reqs[i]) || !req_of(reqs[i])->poll)
			continue;
		o2g_wait_until(mpii.ep, mpii_all_done, &s, -1);
		return true;
	}
	if (mpii_unlikely(!mpii_req_wait_sends(messages, n)))
		return !o2g_wait_until(mpii.ep, mpii_all_done, &s, GRACE_US);
	mpii_req_wait_many(messages, n);
	return true;
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[],
		 MPI_Status array_of_statuses[])
{
	int err;

	if (array_of_statuses == MPI_STATUSES_IGNORE && array_of_requests &&
	    count > 0 && mpii_req_wait_plain(array_of_requests, count))
		return MPI_SUCCESS;
	err = mpii_check_several(count, array_of_requests, "MPI_Waitall");
	if (mpii_unlikely(err))
		return err;
	if (mpii_unlikely(!wait_for_all(count, array_of_requests)))
		return collect_done(count, array_of_requests, array_of_statuses,
				    "MPI_Waitall");
	return collect_all(count, array_of_requests, array_of_statuses,
			   "MPI_Waitall");
}
MPII_ALIAS(Waitall);

int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
		 MPI_Status array_of_statuses[])
{
	struct mpii_several s = { array_of_requests, count, 0 };
	int err = mpii_check_several(count, array_of_requests, "MPI_Testall");

	if (mpii_unlikely(err))
		return err;
	if (!flag)
		return mpii_bad_null(NULL, "MPI_Testall", "flag");
	*flag = mpii_all_done(&s);
	if (!*flag) {
		o2g_progress(mpii.ep);
		*flag = mpii_all_done(&s);
	}
	if (!*flag) {
		mpii_polled_requests(O2G_POLL_TESTALL, array_of_requests, count,
				     __builtin_return_address(0));
		return MPI_SUCCESS;
	}
	return collect_all(count, array_of_requests, array_of_statuses,
			   "MPI_Testall");
}
MPII_ALIAS(Testall);

static int collect_any(struct mpii_several *s, int *index, MPI_Status *status,
		       const char *func)
{
	struct mpii_comm *c = NULL;
	int err;

	*index = s->first;
	err = collect(&s->reqs[s->first], status, &c);
	return mpii_likely(!err) ? err : raise_held(c, err, func);
}

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *index,
		 MPI_Status *status)
{
	struct mpii_several s = { array_of_requests, count, 0 };
	int err = mpii_check_several(count, array_of_requests, "MPI_Waitany");

	if (mpii_unlikely(err))
		return err;
	if (!index)
		return mpii_bad_null(NULL, "MPI_Waitany", "index");
	if (mpii_all_idle(array_of_requests, count)) {
		*index = MPI_UNDEFINED;
		give_empty(status);
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s))
		o2g_wait_until(mpii.ep, mpii_any_done, &s, -1);
	return collect_any(&s, index, status, "MPI_Waitany");
}
MPII_ALIAS(Waitany);

int PMPI_Testany(int count, MPI_Request array_of_requests[], int *index,
		 int *flag, MPI_Status *status)
{
	struct mpii_several s = { array_of_requests, count, 0 };
	int err = mpii_check_several(count, array_of_requests, "MPI_Testany");

	if (mpii_unlikely(err))
		return err;
	if (!index || !flag)
		return mpii_bad_null(NULL, "MPI_Testany",
				     index ? "flag" : "index");
	*flag = 1;
	*index = MPI_UNDEFINED;
	if (mpii_all_idle(array_of_requests, count)) {
		give_empty(status);
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s)) {
		o2g_progress(mpii.ep);
		*flag = mpii_any_done(&s);
	}
	if (!*flag) {
		mpii_polled_requests(O2G_POLL_TESTANY, array_of_requests, count,
				     __builtin_return_address(0));
		return MPI_SUCCESS;
	}
	return collect_any(&s, index, status, "MPI_Testany");
}
MPII_ALIAS(Testany);

/* Collect all that are done now. */
static int collect_some(int n, MPI_Request *reqs, int *outcount, int *indices,
			MPI_Status *statuses, const char *func)
{
	struct failure f;
	int k = 0;

	f.code = MPI_SUCCESS;
	for (int i = 0; i < n; i++) {
		if (idle(reqs[i]) || !mpii_req_done(req_of(reqs[i])))
			continue;
		indices[k] = i;
		collect_into(&reqs[i], statuses, k++, &f);
	}
	*outcount = k;
	return mpii_likely(!f.code) ? MPI_SUCCESS : raise_in_status(&f, func);
}

int mpii_check_some(int incount, MPI_Request *reqs, int *outcount, int *indices,
		    const char *func)
{
	int err = mpii_check_several(incount, reqs, func);

	if (err)
		return err;
	if (!outcount)
		return mpii_bad_null(NULL, func, "outcount");
	if (!indices && incount > 0)
		return mpii_bad_null(NULL, func, "array_of_indices");
	return MPI_SUCCESS;
}

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
		  int array_of_indices[], MPI_Status array_of_statuses[])
{
	struct mpii_several s = { array_of_requests, incount, 0 };
	int err = mpii_check_some(incount, array_of_requests, outcount,
				  array_of_indices, "MPI_Waitsome");

	if (mpii_unlikely(err))
		return err;
	if (mpii_all_idle(array_of_requests, incount)) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s))
		o2g_wait_until(mpii.ep, mpii_any_done, &s, -1);
	return collect_some(incount, array_of_requests, outcount,
			    array_of_indices, array_of_statuses,
			    "MPI_Waitsome");
}
MPII_ALIAS(Waitsome);

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
		  int array_of_indices[], MPI_Status array_of_statuses[])
{
	struct mpii_several s = { array_of_requests, incount, 0 };
	int err = mpii_check_some(incount, array_of_requests, outcount,
				  array_of_indices, "MPI_Testsome");

	if (mpii_unlikely(err))
		return err;
	if (mpii_all_idle(array_of_requests, incount)) {
		*outcount = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (!mpii_any_done(&s)) {
		o2g_progress(mpii.ep);
		if (!mpii_any_done(&s))
			mpii_polled_requests(O2G_POLL_TESTSOME,
					     array_of_requests, incount,
					     __builtin_return_address(0));
	}
	return collect_some(incount, array_of_requests, outcount,
			    array_of_indices, array_of_statuses,
			    "MPI_Testsome");
}
MPII_ALIAS(Testsome);
