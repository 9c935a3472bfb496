/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Nonblocking and persistent collectives.
 *
 * The algorithm runs in a fiber, in the very form that the blocking call uses.
 * It begins in the call itself. Where it has to wait for messages the fiber
 * stops, and libo2g is told to continue it when they are there (o2g_after): a
 * thread that is in the library for whatever reason does so, or the progress
 * thread while the program computes. The thread that sees the fiber end marks the
 * request done.
 *
 * The number of a call, which is its tag, is taken in the call, in the order of
 * the program. A persistent collective has one of its own kind, taken when it is
 * made, since its starts may come in any order; one start ends before the next
 * begins at every rank, and messages between two ranks keep their order, so its
 * starts need no numbers.
 */
#include <string.h>

#include "coll/coll.h"
#include "coll/fiber.h"
#include "info/info.h"
#include "pt2pt/status.h"

#define WAIT_BATCH 64 /* requests handed to libo2g at a time */

struct coll_task {
	struct o2g_work work;
	struct coll k;
	struct coll_args args;
	coll_fn *fn;
	struct mpii_fiber *fiber; /* while it runs */
	/* what it waits for, while stopped; on its stack */
	struct o2g_req *const *reqs;
	size_t nreqs;
	/* result */
	atomic_bool done; /* last: then the request's owner may free all this */
	int err;
	int wrong; /* of coll_mismatch, before the end */
	int noted; /* the code that has these words */
	char *words;
	void *arrays; /* of args */
};

/* --- inside the fiber --- */

static void body(void *arg)
{
	struct coll_task *t = arg;

	t->err = t->fn(&t->k, &t->args);
	if (!t->err)
		t->err = t->wrong;
	if (t->err)
		coll_task_note(t, t->err);
}

void coll_task_note(struct coll_task *t, int err)
{
	const char *words = mpii_last_text(err);

	if (!words || t->noted == err)
		return;
	free(t->words);
	t->words = strdup(words);
	t->noted = err;
}

/* Those of reqs from *i on that libo2g still works on, at most a batch. */
static size_t pending(struct mpii_req **reqs, int n, int *i,
		      struct o2g_req **theirs)
{
	size_t k = 0;

	for (; *i < n && k < WAIT_BATCH; ++*i)
		if (reqs[*i] && reqs[*i]->o2g && !o2g_is_done(reqs[*i]->o2g))
			theirs[k++] = reqs[*i]->o2g;
	return k;
}

void coll_task_wait(const struct coll *k, struct mpii_req **reqs, int n)
{
	struct o2g_req *theirs[WAIT_BATCH];
	struct coll_task *t = k->task;
	int i = 0;

	while ((t->nreqs = pending(reqs, n, &i, theirs))) {
		t->reqs = theirs;
		mpii_fiber_stop(t->fiber);
	}
}

int coll_task_wait_all(const struct coll *k, struct mpii_req **reqs, int n)
{
	coll_task_wait(k, reqs, n);
	return coll_received(k, mpii_wait_exact(reqs, n)); /* all are done */
}

int coll_task_send(const struct coll *k, const void *buf, MPI_Count count,
		   struct mpii_type *t, int dest)
{
	struct mpii_req *r;
	int err = coll_isend(k, buf, count, t, dest, &r);

	return err ? err : coll_task_wait_all(k, &r, 1);
}

int coll_task_recv(const struct coll *k, void *buf, MPI_Count count,
		   struct mpii_type *t, int source)
{
	struct mpii_req *r;
	int err = coll_irecv(k, buf, count, t, source, &r);

	return err ? err : coll_task_wait_all(k, &r, 1);
}

int coll_task_sendrecv(const struct coll *k, const void *sbuf, MPI_Count scount,
		       struct mpii_type *st, int dest, void *rbuf,
		       MPI_Count rcount, struct mpii_type *rt, int source)
{
	struct mpii_req *r[2];
	int err = coll_irecv(k, rbuf, rcount, rt, source, &r[0]);

	if (err)
		return err;
	err = coll_isend(k, sbuf, scount, st, dest, &r[1]);
	if (!err)
		return coll_task_wait_all(k, r, 2);
	coll_task_note(k->task, err);
	if (r[0]->o2g)
		o2g_cancel(r[0]->o2g); /* or it would never end */
	coll_task_wait_all(k, r, 1);
	return err;
}

/* --- outside --- */

/* Until it waits or ends. After either the task may be gone. */
static void go_on(struct coll_task *t)
{
	do {
		if (mpii_fiber_resume(t->fiber)) {
			mpii_fiber_destroy(t->fiber);
			t->fiber = NULL;
			atomic_store_explicit(&t->done, true,
					      memory_order_release);
			return;
		}
	} while (o2g_after(mpii.ep, t->reqs, t->nreqs, &t->work));
}

static void continue_work(struct o2g_work *w)
{
	go_on((struct coll_task *)((char *)w -
				   offsetof(struct coll_task, work)));
}

static int poll_task(struct mpii_req *r)
{
	struct coll_task *t = r->state;

	if (!atomic_load_explicit(&t->done, memory_order_acquire))
		return 0;
	mpii_status_empty(&r->status);
	if (t->args.status)
		t->args.status(&t->args, &r->status);
	r->status.MPI_ERROR = t->err;
	if (mpii_unlikely(t->err && t->words && t->noted == t->err))
		mpii_fail(t->err, "%s", t->words);
	return 1;
}

static int start(struct mpii_req *r)
{
	struct coll_task *t = r->state;

	free(t->words);
	t->words = NULL;
	t->noted = MPI_SUCCESS;
	t->wrong = MPI_SUCCESS;
	atomic_store_explicit(&t->done, false, memory_order_relaxed);
	t->fiber = mpii_fiber_create(body, t);
	if (!t->fiber)
		return mpii_fail(MPI_ERR_NO_MEM,
				 "no memory for the collective's stack");
	r->poll = poll_task;
	go_on(t);
	return MPI_SUCCESS;
}

/* --- keeping the arguments --- */

static void hold_side(struct coll_side *s)
{
	if (s->t)
		mpii_type_hold(s->t);
	for (int i = 0; s->types && i < s->n; i++)
		mpii_type_hold(s->types[i]);
}

static void put_side(struct coll_side *s)
{
	if (s->t)
		mpii_type_put(s->t);
	for (int i = 0; s->types && i < s->n; i++)
		mpii_type_put(s->types[i]);
}

static size_t array_bytes(const struct coll_side *s)
{
	return (s->counts ? s->n * sizeof(*s->counts) : 0) +
	       (s->displs ? s->n * sizeof(*s->displs) : 0) +
	       (s->types ? s->n * sizeof(*s->types) : 0);
}

static void *copy_array(char **at, const void *from, int n, size_t size)
{
	void *to = *at;

	memcpy(to, from, n * size);
	*at += n * size;
	return to;
}

static void copy_arrays(struct coll_side *s, char **at)
{
	if (s->counts)
		s->counts = copy_array(at, s->counts, s->n, sizeof(*s->counts));
	if (s->displs)
		s->displs = copy_array(at, s->displs, s->n, sizeof(*s->displs));
	if (s->types)
		s->types = copy_array(at, s->types, s->n, sizeof(*s->types));
}

static bool keep_args(struct coll_task *t, const struct coll_args *a)
{
	size_t bytes = array_bytes(&a->s) + array_bytes(&a->r);
	char *at = malloc(bytes + 1);

	if (!at)
		return false;
	t->arrays = at;
	t->args = *a;
	copy_arrays(&t->args.s, &at);
	copy_arrays(&t->args.r, &at);
	hold_side(&t->args.s);
	hold_side(&t->args.r);
	if (t->args.op)
		mpii_op_hold(t->args.op);
	return true;
}

static void release(struct mpii_req *r)
{
	struct coll_task *t = r->state;

	put_side(&t->args.s);
	put_side(&t->args.r);
	if (t->args.op)
		mpii_op_put(t->args.op);
	if (t->args.free)
		t->args.free(&t->args);
	free(t->arrays);
	free(t->words);
	free(t);
}

static struct mpii_req *create(struct mpii_comm *c, coll_fn *fn,
			       const struct coll_args *a)
{
	struct mpii_req *r = mpii_req_create(MPII_REQ_COLL);
	struct coll_task *t = calloc(1, sizeof(*t));

	if (!r || !t || !keep_args(t, a)) {
		free(t);
		if (r)
			mpii_req_put(r);
		return NULL;
	}
	t->work.fn = continue_work;
	/* A program with one thread does not expect its functions in two. */
	t->work.callers_only = a->op && !a->op->predefined &&
			       mpii.provided < MPI_THREAD_MULTIPLE;
	t->fn = fn;
	r->state = t;
	r->release = release;
	r->comm = c;
	mpii_comm_hold(c);
	return r;
}

unsigned coll_task_number(const struct mpii_req *r)
{
	const struct coll_task *t = r->state;

	return (unsigned)t->k.tag % COLL_TAGS;
}

/* --- the calls --- */

/* The number of a call that is made now, whatever becomes of it. */
static struct coll number(const struct coll_how *how, struct mpii_comm *c)
{
	unsigned n;

	if (how->when != COLL_INIT)
		return coll_begin(c);
	n = atomic_fetch_add_explicit(&c->coll_init_seq, 1,
				      memory_order_relaxed);
	return (struct coll){ .c = c,
			      .context = c->context + MPII_CTX_COLL,
			      .tag = n % COLL_TAGS | COLL_TAG_PERSISTENT };
}

static int check_how(const struct coll_how *how, struct mpii_comm *c)
{
	if (!how->request)
		return mpii_bad_null(c, how->func, "request");
	if (how->when == COLL_INIT && how->info != MPI_INFO_NULL &&
	    !mpii_info_get(how->info))
		return mpii_error(c, MPI_ERR_INFO, how->func,
				  "info is not an info object or was freed");
	return MPI_SUCCESS;
}

int coll_call_later(const struct coll_how *how, struct mpii_comm *c,
		    coll_fn *fn, const struct coll_args *a)
{
	struct coll_task *t;
	struct mpii_req *r;
	struct coll k;
	int err = check_how(how, c);

	if (err) /* refused, and so not counted */
		return err;
	k = number(how, c);
	r = create(c, fn, a);
	if (!r) {
		if (a->free)
			a->free(a);
		return mpii_no_mem(c, how->func);
	}
	t = r->state;
	t->k = k;
	t->k.task = t;
	t->k.wrong = &t->wrong;
	if (how->when != COLL_INIT)
		coll_note(&k, how->func, a->root);
	if (how->when == COLL_INIT) {
		r->persistent = true;
		r->active = false;
		mpii_comm_rest(c, 1);
		r->start = start;
	} else {
		err = start(r);
	}
	if (err) {
		mpii_req_put(r);
		return mpii_raise(c, err, how->func);
	}
	*how->request = (MPI_Request)r;
	return MPI_SUCCESS;
}
