// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages that the protocol sends. It does so under the lock of a region, and o2g.ko calls
 * us back from its calls; so they are put in line, and sent once the lock is let go of.
 * One at a time takes them off the line, which keeps their order: what that brings
 * about on the way joins the line and is sent by the same loop.
 *
 * The content goes by page, and o2g.ko copies 4 KiB at once: the page is free then.
 */
#include "dsmk.h"

#include <linux/jiffies.h>
#include <linux/slab.h>

#define UNSENT_MOST 32768 /* to a node that does not take them */
#define QUEUE_LOOK 256	  /* messages; then we look how many o2g.ko has */

/* A node that asks, and does not read what it is sent, is given up. */
static void too_many(struct dsmk_node *n, u32 to)
{
	lockdep_assert_held(&n->lock);
	n->liars |= dsm_only(to);
	queue_work(n->wq, &n->loss_work);
}

void dsmk_out_add(struct dsmk_send *s, u32 to, u64 tag, struct page *page)
{
	struct dsmk_node *n = s->node;

	s->to = to;
	s->tag = tag;
	s->page = page;
	s->counted = true;
	spin_lock_bh(&n->lock);
	list_add_tail(&s->link, &n->out);
	if (++n->unsent[to] == UNSENT_MOST)
		too_many(n, to);
	spin_unlock_bh(&n->lock);
}

static void sent(struct o2gk_request *req)
{
	dsmk_send_put(container_of(req, struct dsmk_send, req));
}

/* -ENOMEM, and nothing has happened. That the peer is lost we hear in another way. */
static int send(struct dsmk_node *n, struct dsmk_send *s, u32 flags)
{
	struct page *page = s->page;
	struct o2gk_seg seg = { .kind = O2GK_PAGE,
				.length = PAGE_SIZE,
				.page = page };
	u32 to = s->to;
	int err;

	s->req.done = sent;
	s->req.flags = flags;
	err = o2gk_isend(n->ep, to, s->tag, &seg, page ? 1 : 0, &s->req);
	if (err == -ENOMEM)
		return err;
	if (!(++n->nsent % QUEUE_LOOK) && o2gk_queued(n->ep, to) > UNSENT_MOST)
		dsmk_node_lies(n, to);
	if (err)
		dsmk_send_put(s);
	if (page)
		dsmk_spare_put(n, page);
	return 0;
}

/* The first in line, or NULL and nobody sends any more. */
static struct dsmk_send *next(struct dsmk_node *n)
{
	struct dsmk_send *s =
		list_first_entry_or_null(&n->out, struct dsmk_send, link);

	if (s)
		list_del(&s->link);
	n->sending = s;
	return s;
}

void dsmk_out_flush(struct dsmk_node *n, u32 flags)
{
	struct dsmk_send *s;

	if (list_empty_careful(&n->out))
		return;
	spin_lock_bh(&n->lock);
	s = n->sending ? NULL : next(n);
	spin_unlock_bh(&n->lock);
	while (s && !send(n, s, flags)) {
		spin_lock_bh(&n->lock);
		s = next(n);
		spin_unlock_bh(&n->lock);
	}
	if (!s)
		return;
	spin_lock_bh(&n->lock);
	list_add(&s->link, &n->out);
	n->sending = false;
	spin_unlock_bh(&n->lock);
	queue_delayed_work(n->wq, &n->out_work, flags & O2GK_ATOMIC ? 0 : 1);
}

void dsmk_out_work(struct work_struct *w)
{
	dsmk_out_flush(container_of(to_delayed_work(w), struct dsmk_node,
				    out_work),
		       0);
}

/* The endpoint is closed. */
void dsmk_out_drop(struct dsmk_node *n)
{
	struct dsmk_send *s;

	while ((s = list_first_entry_or_null(&n->out, struct dsmk_send,
					     link))) {
		list_del(&s->link);
		if (s->page)
			put_page(s->page);
		kfree(s);
	}
}
