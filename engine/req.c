/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Requests: allocated in slabs that are never moved, found by the id that peers
 * send back. The generation in an id changes with every use of a slot, so an
 * answer to a request that is over finds nothing.
 */
#include <stdlib.h>

#include "kernel.h"
#include "user.h"

int user_req_add_slab(struct user_ep *ep)
{
	struct user_req **slabs, *slab;

	slabs = realloc(ep->slabs, (ep->nslabs + 1) * sizeof(*slabs));
	if (!slabs)
		return -ENOMEM;
	ep->slabs = slabs;
	if (ep->kern && kern_grow(ep, (ep->nslabs + 1) * USER_SLAB))
		return -ENOMEM;
	slab = aligned_alloc(_Alignof(struct user_req),
			     USER_SLAB * sizeof(*slab));
	if (!slab)
		return -ENOMEM;
	memset(slab, 0, USER_SLAB * sizeof(*slab));
	for (int i = USER_SLAB - 1; i >= 0; i--) {
		slab[i].slot = ep->nslabs * USER_SLAB + i;
		slab[i].core.id = 1ull << 32 | (slab[i].slot + 1);
		slab[i].core.owner = ep;
		slab[i].next = ep->free_reqs;
		ep->free_reqs = &slab[i];
	}
	ep->slabs[ep->nslabs++] = slab;
	return 0;
}

void user_reqs_cleanup(struct user_ep *ep)
{
	for (u32 i = 0; i < ep->nslabs; i++) {
		for (u32 j = 0; j < USER_SLAB; j++) {
			struct o2g_req *r = &ep->slabs[i][j].core;

			if (r->nsegs > 1 && r->segs != &r->seg0)
				free((void *)r->segs);
		}
		free(ep->slabs[i]);
	}
	free(ep->slabs);
}

/*
 * Copy the list into the request; the caller's may be on its stack. A view takes
 * the place of a list: one empty segment is left for those who look at the first
 * one before anything else.
 */
int user_req_copy_segs(struct o2g_req *r, const struct o2g_seg *segs,
		       unsigned nsegs)
{
	struct o2g_seg *list;

	r->segs = &r->seg0;
	r->nsegs = 0;
	r->len = 0;
	if (nsegs == O2G_VIEW) {
		r->seg0 = (struct o2g_seg){ NULL, 0 };
		r->view = segs->base;
		r->len = segs->len;
		return 0;
	}
	for (unsigned i = 0; i < nsegs; i++)
		r->len += segs[i].len;
	if (!nsegs)
		return 0;
	list = malloc(nsegs * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, segs, nsegs * sizeof(*list));
	r->segs = list;
	r->nsegs = nsegs;
	return 0;
}

void user_req_drop_segs(struct o2g_req *r)
{
	if (r->nsegs > 1)
		free((void *)r->segs);
	r->view = NULL;
}

void user_req_status(const struct user_req *r, struct o2g_status *s)
{
	const struct o2g_req *c = &r->core;

	s->error = c->status;
	s->source = c->peer ? (int)c->peer->rank : O2G_ANY_SOURCE;
	s->tag = c->tag;
	s->length = c->kind == O2G_REQ_RECV ? c->got : c->len;
	s->message_length = c->kind == O2G_REQ_RECV ? c->msg_len : c->len;
}

/* --- the calls --- */

int user_is_done(const struct o2g_req *req)
{
	return atomic_load_explicit(&user_req_of(req)->done,
				    memory_order_acquire);
}

void user_peek_status(const struct o2g_req *req, struct o2g_status *status)
{
	user_req_status(user_req_of(req), status);
}

/* Report and free a completed request. */
static int collect(struct user_ep *ep, struct user_req *r,
		   struct o2g_status *status)
{
	int error = r->core.status;

	if (unlikely(r->fn))
		user_run_callbacks(ep);
	if (status)
		user_req_status(r, status);
	user_req_free(ep, r);
	return error;
}

int user_test(struct o2g_req *req, struct o2g_status *status)
{
	struct user_ep *ep = user_ep_of_req(req);
	struct o2g_status s;
	int done;

	user_lock(ep);
	ep->calls++;
	done = user_is_done(req);
	if (!done) {
		user_flush(ep);
		user_look(ep);
		user_settle(ep);
		done = user_is_done(req);
	}
	if (done) {
		collect(ep, user_req_of(req), &s);
		if (status)
			*status = s;
	}
	user_unlock(ep);
	return done;
}

static int is_done_cond(void *req)
{
	return user_is_done(req);
}

int user_wait(struct o2g_req *req, struct o2g_status *status)
{
	struct user_ep *ep = user_ep_of_req(req);
	int error;

	user_lock(ep);
	if (!user_is_done(req)) {
		ep->awaited = req->len;
		user_wait_locked(ep, is_done_cond, req, -1);
	}
	error = collect(ep, user_req_of(req), status);
	user_unlock(ep);
	return error;
}

struct all {
	struct o2g_req *const *reqs;
	size_t n, first; /* those before are done */
};

static int all_done(void *arg)
{
	struct all *a = arg;

	for (; a->first < a->n; a->first++)
		if (a->reqs[a->first] && !user_is_done(a->reqs[a->first]))
			return 0;
	return 1;
}

static inline void wait_locked(struct user_ep *ep, struct o2g_req *const *reqs,
			       size_t n)
{
	struct all a = { reqs, n, 0 };

	if (!all_done(&a)) {
		ep->awaited = reqs[a.first]->len;
		user_wait_locked(ep, all_done, &a, -1);
	}
}

/* Report and free them; the first error. */
static int collect_all(struct user_ep *ep, struct o2g_req *const *reqs,
		       size_t n, struct o2g_status *statuses)
{
	int error = 0;

	for (size_t i = 0; i < n; i++) {
		int err;

		if (!reqs[i])
			continue;
		err = collect(ep, user_req_of(reqs[i]),
			      statuses ? &statuses[i] : NULL);
		if (unlikely(err) && !error)
			error = err;
	}
	return error;
}

int user_wait_all(struct o2g_ep *o, struct o2g_req *const *reqs, size_t n,
		  struct o2g_status *statuses)
{
	struct user_ep *ep = user_of(o);
	int error;

	user_lock(ep);
	wait_locked(ep, reqs, n);
	error = collect_all(ep, reqs, n, statuses);
	user_unlock(ep);
	return error;
}

int user_wait_errors(struct o2g_ep *o, struct o2g_req *const *reqs, size_t n,
		     struct o2g_status *statuses)
{
	struct user_ep *ep = user_of(o);
	int error = 0;
	size_t i;

	user_lock(ep);
	wait_locked(ep, reqs, n);
	for (i = 0; i < n; i++) {
		struct user_req *r;

		if (!reqs[i])
			continue;
		r = user_req_of(reqs[i]);
		if (unlikely(r->core.status || r->fn))
			break;
		user_req_free(ep, r);
	}
	/* Those before went well. */
	if (unlikely(i < n)) {
		memset(statuses, 0, i * sizeof(*statuses));
		error = collect_all(ep, reqs + i, n - i, statuses + i);
	}
	user_unlock(ep);
	return error;
}

void user_detach(struct o2g_req *req)
{
	struct user_ep *ep = user_ep_of_req(req);

	user_lock(ep);
	if (user_is_done(req))
		user_req_free(ep, user_req_of(req));
	else
		user_req_of(req)->detached = true;
	user_unlock(ep);
}

void user_on_done(struct o2g_req *req, void (*fn)(void *), void *arg)
{
	struct user_ep *ep = user_ep_of_req(req);
	struct user_req *r = user_req_of(req);

	user_lock(ep);
	if (user_is_done(req)) {
		fn(arg);
	} else {
		r->fn = fn;
		r->arg = arg;
	}
	user_unlock(ep);
}
