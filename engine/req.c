/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Requests: allocated in slabs that are never moved, found by the id that peers
 * send back. The generation in an id changes with every use of a slot, so an
 * answer to a request that is over finds nothing.
 */
#include "req.h"

#include <stdlib.h>

#include "async.h"
#include "carrier.h"
#include "progress.h"
#include "wait.h"

int eng_req_add_slab(struct o2g_ep *ep)
{
	struct eng_req **slabs, *slab;

	slabs = realloc(ep->slabs, (ep->nslabs + 1) * sizeof(*slabs));
	if (!slabs)
		return -ENOMEM;
	ep->slabs = slabs;
	if (ep->driver && ep->driver->grow(ep, (ep->nslabs + 1) * ENG_SLAB))
		return -ENOMEM;
	slab = aligned_alloc(_Alignof(struct eng_req),
			     ENG_SLAB * sizeof(*slab));
	if (!slab)
		return -ENOMEM;
	memset(slab, 0, ENG_SLAB * sizeof(*slab));
	for (int i = ENG_SLAB - 1; i >= 0; i--) {
		slab[i].slot = ep->nslabs * ENG_SLAB + i;
		slab[i].core.id = 1ull << 32 | (slab[i].slot + 1);
		slab[i].core.owner = ep;
		slab[i].next = ep->free_reqs;
		ep->free_reqs = &slab[i];
	}
	ep->slabs[ep->nslabs++] = slab;
	return 0;
}

void eng_reqs_cleanup(struct o2g_ep *ep)
{
	for (u32 i = 0; i < ep->nslabs; i++) {
		for (u32 j = 0; j < ENG_SLAB; j++) {
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
int eng_req_copy_segs(struct o2g_req *r, const struct o2g_seg *segs,
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

void eng_req_drop_segs(struct o2g_req *r)
{
	if (r->nsegs > 1)
		free((void *)r->segs);
	r->view = NULL;
}

void eng_req_status(const struct eng_req *r, struct o2g_status *s)
{
	const struct o2g_req *c = &r->core;

	s->error = c->status;
	s->source = c->peer ? (int)c->peer->rank : O2G_ANY_SOURCE;
	s->tag = c->tag;
	s->length = c->kind == O2G_REQ_RECV ? c->got : c->len;
	s->message_length = c->kind == O2G_REQ_RECV ? c->msg_len : c->len;
}

void eng_req_finish(struct o2g_ep *ep, struct eng_req *r, int status)
{
	r->core.state = O2G_ST_DONE;
	r->core.status = status;
	ep->core.ops->complete(&ep->core, &r->core);
}

/*
 * A request longer than ENG_ASYNC_MIN that is not over may need us while the program
 * computes: a send because its rest is still to go out, a receive if its message
 * is too long to come without asking, or if so many are under way that they fill
 * a socket which nobody reads. Others can wait until it comes back, and the driver
 * needs nobody.
 */
#define ASYNC_MIN_ANY (64 << 10) /* from whom is not known */
#define ASYNC_MANY 4

static bool needs_us(const struct o2g_ep *ep, const struct o2g_req *r)
{
	u64 eager = r->peer ? r->peer->eager_max : ASYNC_MIN_ANY;

	return r->kind != O2G_REQ_RECV || r->len > eager ||
	       ep->reqs_in_use >= ASYNC_MANY;
}

void eng_req_may_need_us(struct o2g_ep *ep, const struct eng_req *r)
{
	if (!eng_is_done(&r->core) && !r->in_driver && needs_us(ep, &r->core))
		eng_async_want(ep);
}

/* --- the calls --- */

int o2g_is_done(const struct o2g_req *req)
{
	return eng_is_done(req);
}

void o2g_peek_status(const struct o2g_req *req, struct o2g_status *status)
{
	eng_req_status(eng_req_of(req), status);
}

static bool is_done_with(const struct eng_req *r, int receives, u64 tag,
			 u64 ignore)
{
	const struct o2g_req *c = &r->core;
	u64 is = receives ? c->match.tag : c->tag;

	return c->kind == (receives ? O2G_REQ_RECV : O2G_REQ_SEND) &&
	       eng_is_done(c) && !((is ^ tag) & ~ignore);
}

unsigned o2g_count_done(struct o2g_ep *ep, int receives, uint64_t tag,
			uint64_t ignore)
{
	unsigned n = 0;

	ep_enter_or_exit(ep);
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < ENG_SLAB; j++)
			n += is_done_with(&ep->slabs[i][j], receives, tag,
					  ignore);
	/* those that are free look as they did at their end */
	for (const struct eng_req *r = ep->free_reqs; r; r = r->next)
		n -= is_done_with(r, receives, tag, ignore);
	ep_unlock(ep);
	return n;
}

/* Report and free a completed request. */
static int collect(struct o2g_ep *ep, struct eng_req *r,
		   struct o2g_status *status)
{
	int error = r->core.status;

	if (unlikely(r->fn))
		eng_run_callbacks(ep);
	if (status)
		eng_req_status(r, status);
	eng_req_free(ep, r);
	return error;
}

int o2g_test(struct o2g_req *req, struct o2g_status *status)
{
	struct o2g_ep *ep = ep_of_req(req);
	struct o2g_status s;
	int done;

	ep_enter_or_exit(ep);
	ep->calls++;
	done = eng_is_done(req);
	if (!done) {
		eng_flush(ep);
		eng_look(ep);
		ep_settle(ep);
		done = eng_is_done(req);
	}
	if (done) {
		collect(ep, eng_req_of(req), &s);
		if (status)
			*status = s;
	}
	ep_unlock(ep);
	return done;
}

int eng_req_cond(void *req)
{
	return eng_is_done(req);
}

int o2g_wait(struct o2g_req *req, struct o2g_status *status)
{
	struct o2g_ep *ep = ep_of_req(req);
	int error;

	ep_enter_or_exit(ep);
	if (!eng_is_done(req)) {
		ep->awaited = req->len;
		eng_wait_locked(ep, eng_req_cond, req, -1);
	}
	error = collect(ep, eng_req_of(req), status);
	ep_unlock(ep);
	return error;
}

int eng_all_cond(void *arg)
{
	struct eng_several *a = arg;

	for (; a->first < a->n; a->first++)
		if (a->reqs[a->first] && !eng_is_done(a->reqs[a->first]))
			return 0;
	return 1;
}

static inline void wait_locked(struct o2g_ep *ep, struct o2g_req *const *reqs,
			       size_t n)
{
	struct eng_several a = { reqs, n, 0 };

	if (!eng_all_cond(&a)) {
		ep->awaited = reqs[a.first]->len;
		eng_wait_locked(ep, eng_all_cond, &a, -1);
	}
}

/* Report and free them; the first error. */
static int collect_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		       struct o2g_status *statuses)
{
	int error = 0;

	for (size_t i = 0; i < n; i++) {
		int err;

		if (!reqs[i])
			continue;
		err = collect(ep, eng_req_of(reqs[i]),
			      statuses ? &statuses[i] : NULL);
		if (unlikely(err) && !error)
			error = err;
	}
	return error;
}

int o2g_wait_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 struct o2g_status *statuses)
{
	int error;

	ep_enter_or_exit(ep);
	wait_locked(ep, reqs, n);
	error = collect_all(ep, reqs, n, statuses);
	ep_unlock(ep);
	return error;
}

int o2g_wait_errors(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		    struct o2g_status *statuses)
{
	int error = 0;
	size_t i;

	ep_enter_or_exit(ep);
	wait_locked(ep, reqs, n);
	for (i = 0; i < n; i++) {
		struct eng_req *r;

		if (!reqs[i])
			continue;
		r = eng_req_of(reqs[i]);
		if (unlikely(r->core.status || r->fn))
			break;
		eng_req_free(ep, r);
	}
	/* Those before went well. */
	if (unlikely(i < n)) {
		memset(statuses, 0, i * sizeof(*statuses));
		error = collect_all(ep, reqs + i, n - i, statuses + i);
	}
	ep_unlock(ep);
	return error;
}

int eng_any_cond(void *arg)
{
	struct eng_several *a = arg;

	for (size_t i = 0; i < a->n; i++) {
		if (a->reqs[i] && eng_is_done(a->reqs[i])) {
			a->first = i;
			return 1;
		}
	}
	return 0;
}

int o2g_wait_any(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 size_t *index, struct o2g_status *status)
{
	struct eng_several a = { reqs, n, 0 };
	size_t i = 0;

	while (i < n && !reqs[i])
		i++;
	if (i == n)
		return -ENOENT;
	if (!eng_any_cond(&a))
		o2g_wait_until(ep, eng_any_cond, &a, -1);
	*index = a.first;
	return o2g_wait(reqs[a.first], status);
}

void o2g_detach(struct o2g_req *req)
{
	struct o2g_ep *ep = ep_of_req(req);

	if (!ep_enter(ep))
		return;
	if (eng_is_done(req))
		eng_req_free(ep, eng_req_of(req));
	else
		eng_req_of(req)->detached = true;
	ep_unlock(ep);
}

void o2g_on_done(struct o2g_req *req, void (*fn)(void *), void *arg)
{
	struct o2g_ep *ep = ep_of_req(req);
	struct eng_req *r = eng_req_of(req);

	if (!ep_enter(ep))
		return;
	if (r->in_driver)
		ep->driver->called_back(ep, r);
	if (eng_is_done(req)) {
		fn(arg);
	} else {
		r->fn = fn;
		r->arg = arg;
	}
	ep_unlock(ep);
}
