/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Requests: allocated in slabs that are never moved, found by the id that peers
 * send back.
 */
#ifndef ENG_REQ_H
#define ENG_REQ_H

#include "ep.h"

#define ENG_SLAB 256 /* requests allocated at a time */

/* Ours comes before the core's, which ends with what small messages leave
 * alone: theirs takes three cache lines in all. */
struct eng_req {
	union {
		_Alignas(64) u32 marks; /* all of them: mostly there is none */
		struct {
			atomic_bool done;   /* set last; then only its owner
					   * touches it */
			bool detached : 1;  /* free it on completion */
			bool unwatched : 1; /* nobody waits for it; so far */
			bool timed : 1;	    /* eng_copies of its peer */
			bool in_driver : 1; /* the driver has it (too, if
					     * SHARED) */
			bool counted : 1;   /* ... and is in kern->callbacks */
			bool has_counter : 1;
			bool departed : 1; /* ... which knows that it left */
		};
	};
	u32 slot;	      /* core.id is uses << 32 | slot + 1 */
	struct eng_req *next; /* free list, or callbacks to run */
	void (*fn)(void *arg);
	void *arg;
	struct o2g_req core; /* core.owner is the endpoint */
	struct o2g_counter *counter;
};

static inline struct eng_req *eng_req_of(const struct o2g_req *r)
{
	return container_of(r, struct eng_req, core);
}
static inline struct o2g_ep *ep_of_req(const struct o2g_req *r)
{
	return r->owner;
}

static inline bool eng_is_done(const struct o2g_req *req)
{
	return atomic_load_explicit(&eng_req_of(req)->done,
				    memory_order_acquire);
}

/* Conditions to wait for, which a watch (watch.c) can tell from others. */
struct eng_several {
	struct o2g_req *const *reqs;
	size_t n;
	size_t first; /* all: those before are done; any: the one that is */
};
int eng_req_cond(void *req);
int eng_all_cond(void *several);
int eng_any_cond(void *several);

int eng_req_add_slab(struct o2g_ep *ep);

static inline struct eng_req *eng_req_alloc(struct o2g_ep *ep)
{
	struct eng_req *r = ep->free_reqs;

	if (unlikely(!r)) {
		if (eng_req_add_slab(ep))
			return NULL;
		r = ep->free_reqs;
	}
	ep->free_reqs = r->next;
	ep->reqs_in_use++;
	r->core.flags = 0;
	r->core.state = O2G_ST_NEW;
	r->core.status = 0;
	r->marks = 0;
	r->fn = NULL;
	return r;
}

void eng_req_drop_segs(struct o2g_req *r);
static inline void eng_req_free(struct o2g_ep *ep, struct eng_req *r)
{
	if (unlikely(r->core.nsegs != 1))
		eng_req_drop_segs(&r->core);
	r->core.nsegs = 0;
	r->core.id += 1ull << 32;
	r->next = ep->free_reqs;
	ep->free_reqs = r;
	ep->reqs_in_use--;
}

void eng_reqs_cleanup(struct o2g_ep *ep);
void eng_req_status(const struct eng_req *r, struct o2g_status *s);
int eng_req_copy_segs(struct o2g_req *r, const struct o2g_seg *segs,
		      unsigned nsegs);
static inline int eng_req_set_segs(struct o2g_req *r,
				   const struct o2g_seg *segs, unsigned nsegs)
{
	if (unlikely(nsegs != 1))
		return eng_req_copy_segs(r, segs, nsegs);
	r->seg0 = segs[0];
	r->segs = &r->seg0;
	r->nsegs = 1;
	r->len = segs[0].len;
	return 0;
}

/* With its segments, or NULL when out of memory. */
static inline struct eng_req *
eng_req_new(struct o2g_ep *ep, const struct o2g_seg *segs, unsigned nsegs)
{
	struct eng_req *r = eng_req_alloc(ep);

	if (unlikely(!r))
		return NULL;
	if (likely(!eng_req_set_segs(&r->core, segs, nsegs)))
		return r;
	eng_req_free(ep, r);
	return NULL;
}

/* A receive from anybody, so far. */
static inline void eng_req_set_recv(struct o2g_req *r, u64 tag, u64 ignore)
{
	r->kind = O2G_REQ_RECV;
	r->peer = NULL;
	r->tag = tag;
	r->got = 0;
	r->msg_len = 0;
	r->match.tag = tag;
	r->match.ignore = ignore;
	r->match.src = O2G_MATCH_ANY;
}

/* It is over, but not by the core. */
void eng_req_finish(struct o2g_ep *ep, struct eng_req *r, int status);

/* The program leaves with this request under way: does it need us meanwhile? */
void eng_req_may_need_us(struct o2g_ep *ep, const struct eng_req *r);
#define ENG_ASYNC_MIN (32 << 10)
static inline void eng_req_left(struct o2g_ep *ep, const struct eng_req *r)
{
	if (unlikely(r->core.len > ENG_ASYNC_MIN))
		eng_req_may_need_us(ep, r);
}

#endif
