/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Requests: the objects, and how one completes. The calls that wait for and
 * test them are in complete.c.
 *
 * Objects come from a list of the calling thread; a thread that frees more than
 * it makes passes some on, and a thread that ends passes all on.
 */
#include <stdlib.h>
#include <string.h>

#include "bindings/lang.h"
#include "pt2pt/complete.h"
#include "pt2pt/grequest.h"
#include "pt2pt/request.h"
#include "pt2pt/status.h"
#include "pt2pt/transfer.h"
#include "tools/state.h"

#define CACHE_MOVE 64
#define WAIT_BATCH 64 /* requests handed to libo2g at a time */

__thread struct mpii_req_cache mpii_req_cache
	__attribute__((tls_model("initial-exec")));

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_req *pool;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static atomic_int detached; /* sends given up by the program, not complete */

/* --- objects --- */

struct mpii_req mpii_sent = {
	.obj.magic = MPII_REQ,
	.kind = MPII_REQ_NOOP,
	.active = true,
	.status = { .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG },
};

static inline struct mpii_req **link_of(struct mpii_req *r)
{
	return (struct mpii_req **)&r->comm;
}

static void pass_on(struct mpii_req_cache *c, int n)
{
	struct mpii_req *r;

	pthread_mutex_lock(&pool_lock);
	while (n-- && (r = c->head)) {
		c->head = *link_of(r);
		c->n--;
		*link_of(r) = pool;
		pool = r;
	}
	pthread_mutex_unlock(&pool_lock);
}

void mpii_req_pass_on(void)
{
	pass_on(&mpii_req_cache, CACHE_MOVE);
}

static void thread_ends(void *arg)
{
	struct mpii_req_cache *c = arg;

	pass_on(c, c->n);
	c->registered = false;
}

static void make_key(void)
{
	pthread_key_create(&at_exit, thread_ends);
}

static void take_some(struct mpii_req_cache *c)
{
	struct mpii_req *r;

	pthread_mutex_lock(&pool_lock);
	for (int i = 0; i < CACHE_MOVE && (r = pool); i++) {
		pool = *link_of(r);
		*link_of(r) = c->head;
		c->head = r;
		c->n++;
	}
	pthread_mutex_unlock(&pool_lock);
	if (!c->registered) {
		pthread_once(&once, make_key);
		c->registered = !pthread_setspecific(at_exit, c);
	}
}

struct mpii_req *mpii_req_more(void)
{
	struct mpii_req_cache *c = &mpii_req_cache;

	take_some(c);
	if (!c->head) {
		c->head = calloc(1, sizeof(*c->head));
		c->n += c->head != NULL;
	}
	return c->head;
}

struct mpii_req *mpii_req_create(enum mpii_req_kind kind)
{
	struct mpii_req_cache *c = &mpii_req_cache;
	struct mpii_req *r = c->head ? c->head : mpii_req_more();

	if (mpii_unlikely(!r))
		return NULL;
	c->head = *link_of(r);
	c->n--;
	r->obj.magic = MPII_REQ;
	r->kind = kind;
	r->persistent = false;
	r->active = true;
	r->comm = NULL;
	r->status.MPI_ERROR = MPI_SUCCESS;
	return r;
}

struct mpii_req *mpii_req_persistent(enum mpii_req_kind kind, const void *buf,
				     MPI_Count count, struct mpii_type *t,
				     int peer, int tag, struct mpii_comm *c)
{
	struct mpii_req *r = mpii_req_create(kind);

	if (!r)
		return NULL;
	r->persistent = true;
	r->active = false;
	r->buf = (void *)buf;
	r->count = count;
	r->type = t;
	mpii_type_hold(t);
	r->peer = peer;
	r->tag = tag;
	r->comm = c;
	mpii_comm_hold(c);
	mpii_comm_rest(c, 1);
	return r;
}

struct mpii_req *mpii_req_noop(void)
{
	struct mpii_req *r = mpii_req_create(MPII_REQ_NOOP);

	if (r)
		mpii_status_empty(&r->status);
	return r;
}

void mpii_req_put(struct mpii_req *r)
{
	struct mpii_req_cache *c = &mpii_req_cache;

	if (r == &mpii_sent)
		return;
	if (mpii_unlikely(r->persistent && !r->active))
		mpii_comm_rest(r->comm, -1);
	if (mpii_unlikely(r->hooks))
		mpii_hooks_end(r);
	if (mpii_unlikely(r->release))
		r->release(r);
	if (mpii_unlikely(r->type))
		mpii_type_put(r->type);
	if (r->comm)
		mpii_comm_put(r->comm);
	mpii_obj_end(&r->obj);
	memset(r, 0, sizeof(*r));
	r->obj.magic = MPII_DEAD;
	*link_of(r) = c->head;
	c->head = r;
	if (mpii_unlikely(++c->n > MPII_REQ_CACHE_MAX))
		mpii_req_pass_on();
}

/* --- completion --- */

bool mpii_req_done(struct mpii_req *r)
{
	if (r->o2g)
		return o2g_is_done(r->o2g);
	if (mpii_unlikely(r->poll)) {
		if (!r->poll(r))
			return false;
		r->poll = NULL;
	}
	return true;
}

/* count is in bytes where no type is needed any more */
static MPI_Count room_of(const struct mpii_req *r)
{
	return r->type ? r->count * r->type->size : r->count;
}

/* A message that went through a copy: to where it belongs, and free it. */
static void unpack(struct mpii_req *r, const struct o2g_status *st)
{
	if (r->pack && r->kind == MPII_REQ_RECV)
		mpii_unpack(r->type, r->buf, r->count, 0, r->pack, st->length);
	free(r->pack);
	r->pack = NULL;
}

/* The message is over: from libo2g's result to MPI's. */
static void finish(struct mpii_req *r, const struct o2g_status *st)
{
	r->o2g = NULL;
	if (r->kind == MPII_REQ_RECV)
		mpii_status_from(&r->status, r->comm, r->peer, st);
	else
		mpii_status_empty(&r->status);
	if (mpii_unlikely(r->pack))
		unpack(r, st);
	r->status.MPI_ERROR = MPI_SUCCESS;
	if (mpii_likely(!st->error))
		return;
	if (st->error == -O2G_ERR_CANCELLED)
		r->status.MPI_internal[2] = 1;
	else
		r->status.MPI_ERROR = mpii_message_error(
			r->comm, r->peer, r->tag, st, room_of(r));
}

void mpii_req_reap(struct mpii_req *r)
{
	struct o2g_status st;

	if (!r->o2g) {
		if (mpii_unlikely(r->kind == MPII_REQ_GREQ))
			mpii_greq_query(r);
		return;
	}
	o2g_test(r->o2g, &st);
	finish(r, &st);
}

static int is_done(void *arg)
{
	return mpii_req_done(arg);
}

static void explain_one(struct o2g_state_wait *w, void *arg)
{
	mpii_state_add_req(w, arg);
}

static void explain_several(struct o2g_state_wait *w, void *arg)
{
	const struct mpii_several *s = arg;

	for (int i = 0; i < s->n; i++)
		if (!idle(s->reqs[i]))
			mpii_state_add_req(w, req_of(s->reqs[i]));
}

static void explain_any(struct o2g_state_wait *w, void *arg)
{
	explain_several(w, arg);
	w->any = 1;
}

void mpii_req_explain(void)
{
	mpii_state_explain(is_done, explain_one);
	mpii_state_explain(mpii_all_done, explain_several);
	mpii_state_explain(mpii_any_done, explain_any);
	mpii_sendrecv_explain();
}

void mpii_req_wait(struct mpii_req *r)
{
	struct o2g_status st;

	if (mpii_likely(r->o2g)) {
		o2g_wait(r->o2g, &st);
		finish(r, &st);
	} else if (!mpii_req_done(r)) {
		o2g_wait_until(mpii.ep, is_done, r, -1);
	}
}

void mpii_req_retire(struct mpii_req *r, MPI_Request *h)
{
	if (r->persistent) {
		r->active = false;
		mpii_hooks_done(r);
		mpii_comm_rest(r->comm, 1);
		return;
	}
	mpii_req_drop(r);
	*h = MPI_REQUEST_NULL;
}

/* The next messages from *i on that libo2g still has, at most a batch. */
static int gather(struct mpii_req *const *reqs, int n, int *i, bool sends_only,
		  struct mpii_req **mine, struct o2g_req **theirs)
{
	int k = 0;

	for (; *i < n && k < WAIT_BATCH; ++*i) {
		struct mpii_req *r = reqs[*i];

		if ((uintptr_t)r < MPII_PREDEFINED_END || !r->o2g ||
		    (sends_only && r->kind != MPII_REQ_SEND))
			continue;
		mine[k] = r;
		theirs[k++] = r->o2g;
	}
	return k;
}

static inline void wait_many(struct mpii_req *const *reqs, int n,
			     bool sends_only)
{
	struct mpii_req *mine[WAIT_BATCH];
	struct o2g_req *theirs[WAIT_BATCH];
	struct o2g_status st[WAIT_BATCH];
	int i = 0, k;

	while ((k = gather(reqs, n, &i, sends_only, mine, theirs))) {
		o2g_wait_all(mpii.ep, theirs, (size_t)k, st);
		for (int j = 0; j < k; j++)
			finish(mine[j], &st[j]);
	}
}

void mpii_req_wait_many(struct mpii_req *const *reqs, int n)
{
	wait_many(reqs, n, false);
}

bool mpii_req_wait_sends(struct mpii_req *const *reqs, int n)
{
	wait_many(reqs, n, true);
	for (int i = 0; i < n; i++)
		if ((uintptr_t)reqs[i] >= MPII_PREDEFINED_END &&
		    reqs[i]->active && reqs[i]->kind == MPII_REQ_SEND &&
		    reqs[i]->status.MPI_ERROR)
			return false;
	return true;
}

/* Nothing to do when it is over but to let go of it: packed and persistent ones
 * have a type. */
static inline bool is_plain(const struct mpii_req *r)
{
	return mpii_is_object(r, MPII_REQ) && r->o2g && !r->type;
}

static bool wait_plain_batch(MPI_Request *reqs, int n, bool sends_only)
{
	struct o2g_req *theirs[WAIT_BATCH];
	struct o2g_status st[WAIT_BATCH];
	bool good;

	for (int i = 0; i < n; i++) {
		struct mpii_req *r = (struct mpii_req *)reqs[i];

		theirs[i] = NULL;
		if (reqs[i] == MPI_REQUEST_NULL || r == &mpii_sent)
			continue;
		if (mpii_unlikely((uintptr_t)r < MPII_PREDEFINED_END ||
				  !is_plain(r)))
			return false;
		if (!sends_only || r->kind == MPII_REQ_SEND)
			theirs[i] = r->o2g;
	}
	good = !o2g_wait_errors(mpii.ep, theirs, (size_t)n, st);
	for (int i = 0; i < n; i++) {
		struct mpii_req *r = (struct mpii_req *)reqs[i];

		if (mpii_unlikely(!good) && theirs[i] && st[i].error) {
			finish(r, &st[i]);
			continue;
		}
		if (theirs[i]) {
			r->o2g = NULL;
			mpii_req_drop(r);
		}
		if (theirs[i] || r == &mpii_sent)
			reqs[i] = MPI_REQUEST_NULL;
	}
	return good;
}

static bool has_sends(const MPI_Request *reqs, int n)
{
	for (int i = 0; i < n; i++) {
		const struct mpii_req *r = (const struct mpii_req *)reqs[i];

		if ((uintptr_t)r >= MPII_PREDEFINED_END && r != &mpii_sent &&
		    mpii_is_object(r, MPII_REQ) && r->kind == MPII_REQ_SEND)
			return true;
	}
	return false;
}

static inline int batch(int n, int i)
{
	return n - i < WAIT_BATCH ? n - i : WAIT_BATCH;
}

bool mpii_req_wait_plain(MPI_Request *reqs, int n)
{
	bool good = mpii_running();

	if (good && has_sends(reqs, n))
		for (int i = 0; good && i < n; i += WAIT_BATCH)
			good = wait_plain_batch(reqs + i, batch(n, i), true);
	for (int i = 0; good && i < n; i += WAIT_BATCH)
		good = wait_plain_batch(reqs + i, batch(n, i), false);
	return good;
}

static inline int wait_all(struct mpii_req **reqs, int n, bool exact)
{
	int err = MPI_SUCCESS;

	mpii_req_wait_many(reqs, n);
	for (int i = 0; i < n; i++) {
		struct mpii_req *r = reqs[i];

		if (!r)
			continue;
		mpii_req_wait(r);
		if (!err)
			err = r->status.MPI_ERROR;
		if (!err && exact && r->kind == MPII_REQ_RECV)
			err = mpii_check_length(r->peer,
						mpii_status_bytes(&r->status),
						room_of(r));
		mpii_req_put(r);
		reqs[i] = NULL;
	}
	return err;
}

int mpii_wait_all(struct mpii_req **reqs, int n)
{
	return wait_all(reqs, n, false);
}

int mpii_wait_exact(struct mpii_req **reqs, int n)
{
	return wait_all(reqs, n, true);
}

/* --- requests that the program has given up --- */

/* From whichever thread completes it. */
static void detached_done(void *arg)
{
	struct mpii_req *r = arg;
	struct o2g_status st;

	o2g_peek_status(r->o2g, &st);
	/* Nobody asks for its status, and at the end of the job there may be
	 * no communicator left to make one from. */
	unpack(r, &st);
	if (r->kind == MPII_REQ_SEND)
		atomic_fetch_sub(&detached, 1);
	mpii_req_put(r);
}

void mpii_req_detach(struct mpii_req *r)
{
	struct o2g_req *o2g = r->o2g;

	if (r == &mpii_sent)
		return;
	r->persistent = false;
	mpii_obj_end(&r->obj);
	if (!o2g) {
		mpii_req_put(r);
		return;
	}
	/* A receive that nobody will answer must not keep MPI_Finalize. */
	if (r->kind == MPII_REQ_SEND)
		atomic_fetch_add(&detached, 1);
	o2g_on_done(o2g, detached_done, r);
	o2g_detach(o2g);
}

static int none_detached(void *arg)
{
	return atomic_load(&detached) == 0;
}

void mpii_detached_drain(void)
{
	o2g_wait_until(mpii.ep, none_detached, NULL, -1);
}

/* --- waking --- */

/* A message to ourselves: its arrival wakes all who sleep. */
void mpii_wake(void)
{
	/* of MPI_COMM_SELF's contexts, whether it is there or not */
	uint64_t tag = (uint64_t)(MPII_CTX_COUNT + MPII_CTX_GROUP) << 32 |
		       INT32_MAX;
	struct o2g_seg none = { NULL, 0 };
	struct o2g_req *r;

	if (o2g_irecv(mpii.ep, mpii.rank, tag, 0, &none, 1, &r))
		return;
	o2g_detach(r);
	o2g_send(mpii.ep, mpii.rank, tag, NULL, 0, 0);
}
