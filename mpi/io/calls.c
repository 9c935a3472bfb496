/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What all calls that read and write share, whichever form they have (forms.c).
 *
 * Arguments that are wrong in a collective call are an error at every rank: the
 * one that has them takes part, with nothing but that news.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "env/errors.h"
#include "io/access.h"
#include "io/forms.h"
#include "io/pool.h"
#include "io/rep.h"
#include "io/shared.h"
#include "pt2pt/status.h"

/* --- arguments --- */

static int check_mode(const struct mpii_file *f, const struct io_form *form)
{
	if (form->write && f->amode & MPI_MODE_RDONLY)
		return mpii_fail(MPI_ERR_READ_ONLY,
				 "\"%s\" was opened with MPI_MODE_RDONLY",
				 f->name);
	if (!form->write && f->amode & MPI_MODE_WRONLY)
		return mpii_fail(MPI_ERR_ACCESS,
				 "\"%s\" was opened with MPI_MODE_WRONLY",
				 f->name);
	if (form->where != IO_SHARED && f->amode & MPI_MODE_SEQUENTIAL)
		return mpii_fail(MPI_ERR_UNSUPPORTED_OPERATION,
				 "\"%s\" was opened with MPI_MODE_SEQUENTIAL, "
				 "which leaves the shared pointer only",
				 f->name);
	return MPI_SUCCESS;
}

static int check_buffer(const struct io_args *g, struct mpii_type **t)
{
	*t = mpii_type_get(g->datatype);
	if (g->count < 0)
		return mpii_fail(MPI_ERR_COUNT,
				 "count is %lld, but must not be negative",
				 (long long)g->count);
	if (!*t)
		return mpii_fail(MPI_ERR_TYPE,
				 g->datatype == MPI_DATATYPE_NULL ?
					 "datatype is MPI_DATATYPE_NULL" :
					 "datatype is not a datatype or was "
					 "freed");
	if (!(*t)->committed)
		return mpii_fail(MPI_ERR_TYPE,
				 "datatype was not committed: call "
				 "MPI_Type_commit first");
	if (g->buf == MPI_IN_PLACE)
		return mpii_fail(MPI_ERR_BUFFER, "buf is MPI_IN_PLACE");
	if (!g->buf && g->count && (*t)->size && (*t)->true_lb == 0)
		return mpii_fail(MPI_ERR_BUFFER, "buf is a null pointer");
	return MPI_SUCCESS;
}

static int check_when(const struct mpii_file *f, const struct io_form *form,
		      const struct io_args *g)
{
	if (form->when == IO_LATER && !g->request)
		return mpii_fail(MPI_ERR_ARG, "request is a null pointer");
	if (form->who == IO_ALL && f->split.begin)
		return mpii_fail(MPI_ERR_UNSUPPORTED_OPERATION,
				 "%s was not followed by %s yet",
				 f->split.begin, f->split.end);
	if (form->where == IO_AT && g->offset < 0)
		return mpii_fail(MPI_ERR_ARG,
				 "offset is %lld, but must not be negative",
				 (long long)g->offset);
	return MPI_SUCCESS;
}

/* The memory's bytes in the file, in whole etypes. */
static int measure(struct io_access *a)
{
	int err = io_rep_size(a->v->rep, a->t, a->count, &a->bytes);

	if (err)
		return err;
	if (a->place.t->size == 0 && a->bytes)
		return mpii_fail(MPI_ERR_TYPE, "the view of \"%s\" has no data",
				 a->f->name);
	if (a->bytes % a->v->esize)
		return mpii_fail(MPI_ERR_TYPE,
				 "%lld bytes are no whole number of etypes, "
				 "which have %lld",
				 (long long)a->bytes, (long long)a->v->esize);
	return MPI_SUCCESS;
}

/* What is filled in before an error stays, to be freed. */
static int fill(struct io_access *a, const struct io_form *form,
		const struct io_args *g)
{
	struct mpii_file *f = a->f;
	struct mpii_type *t;
	int err = check_mode(f, form);

	if (!err)
		err = check_when(f, form, g);
	if (!err)
		err = check_buffer(g, &t);
	if (err)
		return err;
	mpii_type_hold(t);
	a->t = t;
	a->buf = g->buf;
	a->count = g->count;
	pthread_mutex_lock(&f->lock);
	a->v = io_view_hold(f->view);
	pthread_mutex_unlock(&f->lock);
	a->place = io_view_place(a->v);
	return measure(a);
}

/* Where it begins; pointers move on by what is asked for. */
static int place(struct io_access *a, const struct io_form *form,
		 const struct io_args *g)
{
	struct mpii_file *f = a->f;
	MPI_Offset etypes = a->bytes / a->v->esize, at = g->offset;
	int err = MPI_SUCCESS;

	if (form->where == IO_POINTER) {
		pthread_mutex_lock(&f->lock);
		at = f->position;
		f->position += etypes;
		pthread_mutex_unlock(&f->lock);
	} else if (form->where == IO_SHARED) {
		at = 0;
		if (!a->ordered)
			err = io_shared_advance(f, etypes, &at);
	}
	return err ? err : io_access_from(a, at);
}

/* A read that met the end of the file leaves the pointer there. */
static void step_back(struct io_access *a)
{
	struct mpii_file *f = a->f;
	MPI_Offset end = (a->pos + a->bytes) / a->v->esize;

	pthread_mutex_lock(&f->lock);
	if (f->position == end)
		f->position = (a->pos + a->done) / a->v->esize;
	pthread_mutex_unlock(&f->lock);
}

static void give_status(MPI_Status *status, const struct io_access *a)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	mpii_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, a->native);
}

/* The end of an access of this rank alone: its code, with words. */
static int conclude(struct io_access *a)
{
	int err = io_access_end(a);

	return a->error ? io_fail(a->f, a->error, io_access_verb(a)) : err;
}

/* --- now --- */

static int alone_now(struct io_access *a, const struct io_form *form)
{
	int err = io_access_begin(a);

	if (err)
		return err;
	io_independent(a);
	err = conclude(a);
	if (form->where == IO_POINTER && a->done < a->bytes)
		step_back(a);
	return err;
}

static int all_now(struct io_access *a, const struct io_form *form, int code)
{
	struct coll k = coll_begin(a->f->comm);
	int err;

	err = io_collective(&k, a, code);
	if (form->where == IO_POINTER && !code && a->done < a->bytes)
		step_back(a);
	return err;
}

static int do_now(struct io_access *a, const struct io_form *form,
		  const struct io_args *g, int code)
{
	if (form->who == IO_ALL)
		code = all_now(a, form, code);
	else if (!code)
		code = alone_now(a, form);
	if (!code || a->done)
		give_status(g->status, a);
	return code;
}

/* --- later, alone: a thread of the pool does it --- */

struct later {
	struct io_job job;
	struct io_access a;
	int code; /* of what was done in the call itself */
	_Atomic(enum { RUNNING, DONE, ORPHAN }) state;
};

static void later_free(struct later *l)
{
	io_access_free(&l->a);
	free(l);
}

static int later_poll(struct mpii_req *r)
{
	struct later *l = r->state;

	if (atomic_load_explicit(&l->state, memory_order_acquire) != DONE)
		return 0;
	r->status.MPI_ERROR = l->code ? l->code : conclude(&l->a);
	mpii_status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, l->a.native);
	return 1;
}

/* The request goes, perhaps before its access has ended. */
static void later_release(struct mpii_req *r)
{
	struct later *l = r->state;
	unsigned state = RUNNING;

	if (!atomic_compare_exchange_strong(&l->state, &state, ORPHAN))
		later_free(l);
}

static void later_run(struct io_job *j)
{
	struct later *l = (struct later *)j;
	struct mpii_file *f = l->a.f;
	unsigned state = RUNNING;

	io_independent(&l->a);
	if (!atomic_compare_exchange_strong(&l->state, &state, DONE)) {
		if (!l->a.write)
			io_access_end(&l->a);
		later_free(l);
	}
	/* Whoever closes the file waits for this. */
	atomic_fetch_sub(&f->pending, 1);
	mpii_wake();
}

/* Functions of the program are called by its own threads only. */
static bool calls_program(const struct io_access *a)
{
	return a->staged && !io_rep_is_ours(a->v->rep);
}

static int alone_later(struct io_access *a, struct mpii_req **req)
{
	struct later *l = calloc(1, sizeof(*l));
	struct mpii_req *r = mpii_req_create(MPII_REQ_IO);
	int err;

	if (!l || !r) {
		free(l);
		if (r)
			mpii_req_put(r);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	err = io_access_begin(a);
	l->job.fn = later_run;
	l->a = *a;
	*a = (struct io_access){ .f = NULL };
	r->state = l;
	r->poll = later_poll;
	r->release = later_release;
	r->comm = l->a.f->comm;
	mpii_comm_hold(r->comm);
	*req = r;
	if (err || calls_program(&l->a)) {
		l->code = err;
		if (!err)
			io_independent(&l->a);
		l->state = DONE;
		return MPI_SUCCESS;
	}
	atomic_fetch_add(&l->a.f->pending, 1);
	io_pool_submit(&l->job);
	return MPI_SUCCESS;
}

/* --- later, all: a fiber does it --- */

struct later_all {
	struct io_access a;
	int code;
};

static int run_all(const struct coll *k, const struct coll_args *args)
{
	struct later_all *l = args->own;
	int err = io_collective(k, &l->a, l->code);

	atomic_fetch_sub(&l->a.f->pending, 1);
	return err;
}

static void all_status(const struct coll_args *args, MPI_Status *status)
{
	struct later_all *l = args->own;

	mpii_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, l->a.native);
}

static void all_free(const struct coll_args *args)
{
	struct later_all *l = args->own;

	io_access_free(&l->a);
	free(l);
}

static int all_later(struct io_access *a, const struct io_form *form, int code,
		     struct mpii_req **req)
{
	struct later_all *l = calloc(1, sizeof(*l));
	struct coll_args args = { .own = l,
				  .status = all_status,
				  .free = all_free };
	MPI_Request request;
	const struct coll_how how = { .func = form->func,
				      .when = COLL_LATER,
				      .request = &request };
	struct mpii_file *f = a->f;
	int err;

	if (!l)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	l->a = *a;
	l->code = code;
	*a = (struct io_access){ .f = NULL };
	atomic_fetch_add(&f->pending, 1);
	err = coll_call_later(&how, f->comm, run_all, &args);
	if (err)
		atomic_fetch_sub(&f->pending, 1);
	else
		*req = (struct mpii_req *)request;
	return err;
}

static int do_later(struct io_access *a, const struct io_form *form, int code,
		    struct mpii_req **req)
{
	if (form->who == IO_ALL)
		return all_later(a, form, code, req);
	return code ? code : alone_later(a, req);
}

/* --- every call --- */

static int start_split(struct mpii_file *f, const struct io_form *form,
		       struct io_access *a, int code)
{
	struct mpii_req *r;
	int err = do_later(a, form, code, &r);

	if (!err)
		f->split = (struct io_split){ form->func, form->end, r };
	return err;
}

static int start_request(struct io_access *a, const struct io_form *form,
			 const struct io_args *g, int code)
{
	struct mpii_req *r;
	int err = do_later(a, form, code, &r);

	if (!err)
		*g->request = (MPI_Request)r;
	return err;
}

static int no_jobs(void *arg)
{
	return atomic_load(&((struct mpii_file *)arg)->pending) == 0;
}

/* The call fails here and now; the others learn it from a collective of which
 * this rank's part goes on without a request of the program. */
static void tell_others(struct mpii_file *f, struct io_access *a,
			const struct io_form *form, int code)
{
	struct io_orphan *o = malloc(sizeof(*o));

	if (!o || all_later(a, form, code, &o->req)) {
		free(o);
		return;
	}
	pthread_mutex_lock(&f->lock);
	o->next = f->orphans;
	f->orphans = o;
	pthread_mutex_unlock(&f->lock);
}

void io_drain(struct mpii_file *f)
{
	struct io_orphan *o;

	if (!no_jobs(f))
		o2g_wait_until(mpii.ep, no_jobs, f, -1);
	while ((o = f->orphans)) {
		f->orphans = o->next;
		mpii_req_wait(o->req);
		mpii_req_put(o->req);
		free(o);
	}
}

int io_call(const struct io_form *form, const struct io_args *g)
{
	struct mpii_file *f = mpii_file_get(g->fh);
	struct io_access a = { .f = f,
			       .write = form->write,
			       .ordered = form->where == IO_SHARED &&
					  form->who == IO_ALL };
	int err;

	if (!f)
		return mpii_bad_file(g->fh, form->func);
	io_file_hold(f);
	err = fill(&a, form, g);
	if (!err)
		err = place(&a, form, g);
	if (form->when == IO_NOW)
		err = do_now(&a, form, g, err);
	else if (err && form->who == IO_ALL)
		tell_others(f, &a, form, err);
	else if (form->when == IO_LATER)
		err = start_request(&a, form, g, err);
	else
		err = start_split(f, form, &a, err);
	io_access_free(&a);
	return err ? io_raise(f, err, form->func) : MPI_SUCCESS;
}

/* The second half of a split collective. */
int io_end(MPI_File fh, const void *buf, MPI_Status *status, const char *func)
{
	struct mpii_file *f = mpii_file_get(fh);
	struct mpii_req *r;
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!f->split.begin || strcmp(f->split.end, func) != 0)
		return io_error(f, MPI_ERR_UNSUPPORTED_OPERATION, func, "%s%s",
				f->split.begin ? "it cannot end " :
						 "no split collective is "
						 "active",
				f->split.begin ? f->split.begin : "");
	r = f->split.req;
	f->split.begin = NULL;
	mpii_req_wait(r);
	err = r->status.MPI_ERROR;
	if (status != MPI_STATUS_IGNORE)
		mpii_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG,
				mpii_status_bytes(&r->status));
	mpii_req_put(r);
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
