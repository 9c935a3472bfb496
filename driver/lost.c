// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What is refused and dropped of a peer's, and its end: it is lost once. */
#include "o2gk.h"

#include <linux/slab.h>

#include "trace.h"

void o2gk_drop(struct o2gk_peer *p, enum o2gd_drop why, u64 n)
{
	p->drops[why] += n;
	trace_o2g_refuse(p->ep->rank, p->core.rank, why, n);
}

static_assert(O2GD_DROP_BAD_LENGTH - O2GD_DROP_BAD_VERSION + 2 ==
	      O2G_WIRE_REASONS);
static_assert(O2GD_DROP_AFTER_BYE - O2GD_DROP_WRONG_ENDPOINT + 2 ==
	      O2G_PROTO_REASONS);

/* What a connection's end has cost. Without a detail it came over local.c. */
static void count_loss(struct o2gk_peer *p, enum o2gd_lost why, u64 detail)
{
	if (why == O2GD_LOST_HEADER && detail)
		o2gk_drop(p, O2GD_DROP_BAD_VERSION + detail - 1, 1);
	else if (why == O2GD_LOST_PACKET && detail)
		o2gk_drop(p, O2GD_DROP_WRONG_ENDPOINT + detail - 1, 1);
	else if (why == O2GD_LOST_PACKET)
		o2gk_drop(p, O2GD_DROP_BAD_STATE, 1);
	else if (why == O2GD_LOST_MEMORY)
		o2gk_drop(p, O2GD_DROP_NO_BODY, 1);
	else if (why == O2GD_LOST_ERROR && (!detail || detail == EFAULT))
		o2gk_drop(p, O2GD_DROP_FAULT, 1);
	else if (p->stream.have || p->stream.in_body)
		o2gk_drop(p, O2GD_DROP_CUT, 1);
	if (p->txq_len)
		o2gk_drop(p, O2GD_DROP_UNSENT, p->txq_len);
}

/* --- what needed it, in portions --- */

static void drop_packet(struct o2gk_peer *p)
{
	struct o2g_tx *tx = o2g_list_first(&p->dead, struct o2g_tx, link);

	o2g_list_del(&tx->link);
	if (!tx->req)
		kfree(container_of(tx, struct o2gk_ctl, tx));
}

/*
 * A portion; under ep->lock. Packets come before requests, which they may be of. No
 * receive is posted for it any more, so those that were looked at are over.
 */
static void take_apart(struct o2gk_peer *p)
{
	struct o2gk_ep *ep = p->ep;
	u32 left = O2GK_STEP;

	lockdep_assert_held(&ep->lock);
	for (; left && !o2g_list_empty(&p->dead); left--)
		drop_packet(p);
	while (left && p->core.posted && ep->front->end_posted(p))
		left--;
	if (!left ||
	    !o2g_proto_peer_reap(&ep->core, &p->core, -O2G_ERR_PEER, left))
		return;
	ep->front->lost(p);
	list_del_init(&p->losing);
	o2gk_peer_put(p);
}

static void rest(struct o2gk_ep *ep)
{
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
	cond_resched();
	o2gk_ep_lock(ep);
}

void o2gk_lost_finish(struct o2gk_peer *p)
{
	o2gk_ep_lock(p->ep);
	while (!list_empty(&p->losing)) {
		take_apart(p);
		rest(p->ep);
	}
	o2gk_ep_unlock(p->ep, O2GK_WORKER, NULL);
}

void o2gk_lost_finish_all(struct o2gk_ep *ep)
{
	o2gk_ep_lock(ep);
	while (!list_empty(&ep->losing)) {
		take_apart(list_first_entry(&ep->losing, struct o2gk_peer,
					    losing));
		rest(ep);
	}
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

/* --- the loss --- */

static void fill_cqe(struct o2gk_peer *p, enum o2gd_lost why, u64 detail)
{
	struct o2gd_cqe *cqe = &p->done.cqe;

	cqe->slot = O2GD_SLOT_PEER;
	cqe->source = p->core.rank;
	cqe->status = -O2G_ERR_PEER;
	cqe->tag = why;
	cqe->length = detail;
}

void o2gk_peer_lost(struct o2gk_peer *p, enum o2gd_lost why, u64 detail)
{
	struct o2gk_ep *ep = p->ep;

	lockdep_assert_held(&ep->lock);
	if (p->lost)
		return;
	o2gk_sq_drain(ep); /* receives posted before this are part of it */
	trace_o2g_lose(ep->rank, p->core.rank, why, detail);
	count_loss(p, why, detail);
	fill_cqe(p, why, detail);
	p->lost = true;
	o2gk_tx_drop(p);
	o2gk_mem_put(ep, p->put_mem);
	p->put_mem = NULL;
	o2g_proto_peer_cut(&ep->core, &p->core);
	o2gk_served_lost(p);
	refcount_inc(&p->refs);
	list_add_tail(&p->losing, &ep->losing);
	take_apart(p);
	if (!list_empty(&ep->losing) && !ep->closing)
		queue_work(ep->wq, &ep->work);
	if (p->sk) /* gives the socket back and closes it */
		o2gk_queue(p, &p->rx_work);
}

void o2gk_peer_doom(struct o2gk_peer *p, enum o2gd_lost why, u64 detail)
{
	lockdep_assert_held(&p->ep->lock);
	if (!p->doom) {
		p->doom = why;
		p->doom_detail = detail;
	}
	o2gk_queue(p, &p->rx_work);
}

void o2gk_doom_all(struct o2gk_ep *ep)
{
	unsigned long number = 0;
	struct o2gk_peer *p;
	u32 n = 0;

	o2gk_ep_lock(ep);
	for (; (p = o2gk_peer_next(ep, &number)); number++) {
		o2gk_peer_doom(p, O2GD_LOST_LOCAL, 0);
		if (++n % O2GK_STEP == 0)
			rest(ep);
	}
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}
