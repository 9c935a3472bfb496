/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One-sided operations: the calls. A request is filled in and given to the carrier
 * of the peer. One that the program did not ask for is detached; a counter is told when
 * the data has left and when all is done.
 */
#include <stdlib.h>

#include "apply.h"
#include "carrier.h"
#include "counter.h"
#include "wait.h"

/* --- starting --- */

static int check_target(const struct o2g_target *at, u64 span)
{
	if (!at->counter && !at->req)
		return -EINVAL;
	if (at->offset > at->key->len || span > at->key->len - at->offset)
		return -ERANGE;
	return 0;
}

/* The peer, connected; the quick way first. */
static inline struct eng_peer *peer_of(struct o2g_ep *ep, int rank, int *err)
{
	struct eng_peer *p = eng_peer_known(ep, rank);

	return likely(p && p->cp.chan) ? p : eng_peer_connect(ep, rank, err);
}

/*
 * The request is complete but for where it goes. Afterwards it may be over and
 * gone, if nobody is to get it.
 */
static int start(struct o2g_ep *ep, struct eng_peer *p, struct eng_req *r,
		 const struct o2g_target *at)
{
	int err;

	r->core.peer = &p->cp.core;
	r->core.key = at->key->key;
	r->core.offset = at->offset;
	r->core.tag = 0;
	r->detached = !at->req;
	ep->moved = r->core.len;
	if (at->counter)
		eng_counter_start(at->counter, r);
	err = carrier_of(ep, p)->rma(ep, r);
	if (unlikely(err)) {
		if (at->counter)
			eng_counter_cancel(r);
		eng_req_free(ep, r);
	} else if (at->req) {
		*at->req = &r->core;
	}
	return err;
}

static int move(struct o2g_ep *ep, enum o2g_req_kind kind,
		const struct o2g_target *at, const struct o2g_seg *segs,
		unsigned nsegs)
{
	struct eng_peer *p;
	struct eng_req *r;
	int err = 0;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = peer_of(ep, at->peer, &err);
	if (unlikely(!p))
		goto out;
	r = eng_req_new(ep, segs, nsegs);
	err = r ? check_target(at, r->core.len) : -ENOMEM;
	if (likely(!err)) {
		r->core.kind = kind;
		err = start(ep, p, r, at);
	} else if (r) {
		eng_req_free(ep, r);
	}
out:
	ep_unlock(ep);
	return err;
}

int o2g_rma_put(struct o2g_ep *ep, const struct o2g_target *to,
		const struct o2g_seg *segs, unsigned nsegs)
{
	return move(ep, O2G_REQ_PUT, to, segs, nsegs);
}

int o2g_rma_get(struct o2g_ep *ep, const struct o2g_target *from,
		const struct o2g_seg *segs, unsigned nsegs)
{
	return move(ep, O2G_REQ_GET, from, segs, nsegs);
}

int o2g_put(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	struct o2g_target to = { peer, key, offset, NULL, req };

	return move(ep, O2G_REQ_PUT, &to, segs, nsegs);
}

int o2g_get(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	struct o2g_target from = { peer, key, offset, NULL, req };

	return move(ep, O2G_REQ_GET, &from, segs, nsegs);
}

/* --- single elements --- */

static void set_result(struct o2g_req *r, void *result, size_t len)
{
	r->result = (struct o2g_seg){ result, len };
	r->result_segs = &r->result;
	r->n_result_segs = 1;
	r->result_view = NULL;
	r->flags = result ? O2G_REQF_FETCH : 0;
}

/* @operands has one, or for CAS two behind each other. */
static int element(struct o2g_ep *ep, const struct o2g_target *at, u32 op,
		   u32 type, const void *operands, void *result)
{
	u32 size = o2g_atomic_size(type);
	u32 len = op == O2G_AOP_CAS ? 2 * size : size;
	struct eng_peer *p;
	struct eng_req *r;
	int err = check_target(at, size);

	if (unlikely(err))
		return err;
	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = peer_of(ep, at->peer, &err);
	if (unlikely(!p))
		goto out;
	r = eng_req_alloc(ep);
	err = -ENOMEM;
	if (unlikely(!r))
		goto out;
	memcpy(r->core.operand, operands, len);
	r->core.seg0 = (struct o2g_seg){ r->core.operand, len };
	r->core.segs = &r->core.seg0;
	r->core.nsegs = 1;
	r->core.len = len;
	r->core.kind = O2G_REQ_ATOMIC;
	r->core.op = (u8)op;
	r->core.type = (u8)type;
	set_result(&r->core, result, size);
	err = start(ep, p, r, at);
out:
	ep_unlock(ep);
	return err;
}

int o2g_fetch_op(struct o2g_ep *ep, const struct o2g_target *at, enum o2g_op op,
		 enum o2g_type type, const void *operand, void *result)
{
	u64 nothing = 0;

	if (unlikely(!o2g_op_exists(op, type) ||
		     (op == O2G_NO_OP ? !result : !operand)))
		return -EINVAL;
	return element(ep, at, op, type, op == O2G_NO_OP ? &nothing : operand,
		       result);
}

int o2g_compare_swap(struct o2g_ep *ep, const struct o2g_target *at,
		     enum o2g_type type, const void *compare, const void *swap,
		     void *result)
{
	u32 size = o2g_atomic_size(type);
	u8 operands[16];

	if (unlikely(!size || !compare || !swap))
		return -EINVAL;
	memcpy(operands, compare, size);
	memcpy(operands + size, swap, size);
	return element(ep, at, O2G_AOP_CAS, type, operands, result);
}

/* --- many --- */

static u64 length_of(const struct o2g_seg *segs, unsigned nsegs)
{
	u64 len = 0;

	if (nsegs == O2G_VIEW)
		return segs->len;
	for (unsigned i = 0; i < nsegs; i++)
		len += segs[i].len;
	return len;
}

/*
 * Operands and results in one list, which goes with the request. It has two segments
 * of operands at least, by which the request knows that there is a list.
 */
static int set_lists(struct o2g_req *r, const struct o2g_seg *segs,
		     unsigned nsegs, const struct o2g_seg *result,
		     unsigned nresult)
{
	bool view = nsegs == O2G_VIEW;
	unsigned n = view ? 0 : nsegs, room = n < 2 ? 2 : n;
	struct o2g_seg *list = calloc((size_t)room + nresult, sizeof(*list));

	if (!list)
		return -ENOMEM;
	if (n)
		memcpy(list, segs, n * sizeof(*list));
	memcpy(list + room, result, nresult * sizeof(*list));
	r->segs = list;
	r->nsegs = room;
	r->len = length_of(segs, nsegs);
	r->view = view ? segs->base : NULL;
	r->result_segs = list + room;
	r->n_result_segs = nresult;
	r->result_view = NULL;
	r->flags = O2G_REQF_FETCH;
	return 0;
}

static int set_data(struct o2g_req *r, const struct o2g_seg *segs,
		    unsigned nsegs, const struct o2g_seg *result,
		    unsigned nresult)
{
	if (!result)
		return eng_req_set_segs(r, segs, nsegs);
	if (nresult != 1 && nresult != O2G_VIEW)
		return set_lists(r, segs, nsegs, result, nresult);
	if (nresult == 1) {
		set_result(r, result->base, result->len);
	} else {
		set_result(r, NULL, 0);
		r->n_result_segs = 0;
		r->result_view = result->base;
	}
	r->flags = O2G_REQF_FETCH;
	return eng_req_set_segs(r, segs, nsegs);
}

static int check_accumulate(const struct o2g_target *at, enum o2g_op op,
			    enum o2g_type type, u64 len, u64 result_len,
			    bool fetch)
{
	if (!o2g_op_exists(op, type) || len % o2g_type_size(type) ||
	    (fetch && result_len != len) || (op == O2G_NO_OP && !fetch))
		return -EINVAL;
	return check_target(at, len);
}

int o2g_accumulate(struct o2g_ep *ep, const struct o2g_target *at,
		   enum o2g_op op, enum o2g_type type,
		   const struct o2g_seg *segs, unsigned nsegs,
		   const struct o2g_seg *result, unsigned nresult)
{
	u64 result_len = result ? length_of(result, nresult) : 0, len;
	struct eng_peer *p;
	struct eng_req *r;
	int err;

	if (op == O2G_NO_OP)
		nsegs = 0; /* there is nothing to send */
	len = op == O2G_NO_OP ? result_len : length_of(segs, nsegs);
	err = check_accumulate(at, op, type, len, result_len, result);
	if (err)
		return err;
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	ep->calls++;
	p = peer_of(ep, at->peer, &err);
	if (!p)
		goto out;
	r = eng_req_alloc(ep);
	err = r ? set_data(&r->core, segs, nsegs, result, nresult) : -ENOMEM;
	if (!err) {
		r->core.kind = O2G_REQ_ATOMIC;
		r->core.op = (u8)op;
		r->core.type = (u8)type;
		r->core.len = len;
		err = start(ep, p, r, at);
	} else if (r) {
		eng_req_free(ep, r);
	}
out:
	ep_unlock(ep);
	return err;
}

/* --- waiting --- */

static int all_done(void *counter)
{
	return !((struct o2g_counter *)counter)->pending;
}

static int all_departed(void *counter)
{
	return !((struct o2g_counter *)counter)->local;
}

int o2g_flush(struct o2g_ep *ep, struct o2g_counter *counter)
{
	int error;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	if (likely(counter->pending)) {
		ep->awaited = ep->moved;
		eng_wait_locked(ep, all_done, counter, -1);
	}
	error = counter->error;
	counter->error = 0;
	ep_unlock(ep);
	return error;
}

int o2g_flush_local(struct o2g_ep *ep, struct o2g_counter *counter)
{
	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	if (counter->local)
		eng_wait_locked(ep, all_departed, counter, -1);
	ep_unlock(ep);
	return 0;
}

int o2g_in_order(struct o2g_ep *ep, int rank)
{
	struct eng_peer *p;
	int yes = 1;

	if (!ep_enter(ep))
		return 0;
	p = eng_peer_known(ep, rank);
	if (p)
		yes = o2g_list_empty(&p->cp.core.ops) &&
		      o2g_list_empty(&p->held_rma);
	ep_unlock(ep);
	return yes;
}
