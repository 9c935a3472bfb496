// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Nodes that die, and those that lie, which is the same to us. The protocol wants to hear
 * of a death for all pages before anything else; a region may have many, so it is frozen
 * meanwhile: messages and faults wait, and the lock is let go of now and then.
 */
#include "dsmk.h"

#include <linux/sched.h>

#define PORTION 256

void dsmk_node_lost(struct dsmk_node *n, u32 peer)
{
	if (peer >= n->size)
		return;
	spin_lock_bh(&n->lock);
	if (!dsm_has(n->dead, peer)) {
		n->dead |= dsm_only(peer);
		n->untold |= dsm_only(peer);
		queue_work(n->wq, &n->loss_work);
	}
	spin_unlock_bh(&n->lock);
	wake_up_all(&n->wait);
}

void dsmk_node_lies(struct dsmk_node *n, u32 peer)
{
	if (peer >= n->size)
		return;
	spin_lock_bh(&n->lock);
	n->liars |= dsm_only(peer);
	spin_unlock_bh(&n->lock);
	queue_work(n->wq, &n->loss_work);
}

static u32 tell_portion(struct dsmk_region *r, u32 who, u32 page)
{
	u32 end = min(page + PORTION, r->proto.npages);

	if (dsmk_stock_fill(r->node))
		schedule_timeout_uninterruptible(1);
	spin_lock_bh(&r->lock);
	while (page < end && dsmk_stock_check(r))
		dsm_lost(&r->proto, who, page++, 1);
	spin_unlock_bh(&r->lock);
	dsmk_out_flush(r->node, 0);
	cond_resched();
	return page;
}

static void tell(struct dsmk_region *r, u32 who)
{
	u32 page = 0;

	if (dsm_has(r->proto.dead, who))
		return;
	spin_lock_bh(&r->lock);
	r->frozen = true;
	spin_unlock_bh(&r->lock);
	while (page < r->proto.npages && !READ_ONCE(r->closing))
		page = tell_portion(r, who, page);
	spin_lock_bh(&r->lock);
	r->frozen = false;
	WRITE_ONCE(r->counts->lost, 1);
	spin_unlock_bh(&r->lock);
	dsmk_wake_all(r);
}

/* The next that has not heard of it. */
static struct dsmk_region *next_region(struct dsmk_node *n, u32 who)
{
	struct dsmk_region *r, *found = NULL;

	spin_lock_bh(&n->lock);
	list_for_each_entry(r, &n->regions, link) {
		if (!dsm_has(READ_ONCE(r->proto.dead), who) &&
		    refcount_inc_not_zero(&r->refs)) {
			found = r;
			break;
		}
	}
	spin_unlock_bh(&n->lock);
	return found;
}

static dsm_set take_set(struct dsmk_node *n, dsm_set *set)
{
	dsm_set all;

	spin_lock_bh(&n->lock);
	all = *set;
	*set = 0;
	spin_unlock_bh(&n->lock);
	return all;
}

void dsmk_loss_work(struct work_struct *w)
{
	struct dsmk_node *n = container_of(w, struct dsmk_node, loss_work);
	dsm_set liars = take_set(n, &n->liars), dead;
	struct dsmk_region *r;

	for (; liars; liars &= liars - 1) {
		o2gk_disconnect(n->ep, dsm_first(liars));
		dsmk_node_lost(n, dsm_first(liars));
	}
	for (dead = take_set(n, &n->untold); dead; dead &= dead - 1) {
		while ((r = next_region(n, dsm_first(dead)))) {
			tell(r, dsm_first(dead));
			dsmk_region_put(r);
		}
	}
}
