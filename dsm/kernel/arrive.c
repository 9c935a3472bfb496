// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages that come, most of them in softirq, and are dealt with there: a clean page is
 * granted without anybody being woken. What needs memory that cannot be had there, or
 * comes while a death is being dealt with, stays with o2g.ko, and so does all of the
 * region that comes after it; a worker fetches it in order.
 */
#include "dsmk.h"

#include <linux/sched.h>

/* Under r->lock, and there is what it takes. */
static int receive(struct dsmk_region *r, u32 from, u64 tag, const void *data)
{
	struct dsm_msg m = dsmk_tag_msg(tag);
	bool was_home, is_home;
	int err;

	if (m.page >= r->proto.npages)
		return -EPROTO;
	if (dsm_has(r->proto.dead, from))
		return 0;
	was_home = dsm_home(&r->proto, m.page) == r->proto.self;
	err = dsm_receive(&r->proto, from, &m, data);
	is_home = dsm_home(&r->proto, m.page) == r->proto.self;
	if (is_home && !was_home)
		WRITE_ONCE(r->counts->moved, r->counts->moved + 1);
	return err;
}

static void start_backlog(struct dsmk_region *r)
{
	r->backlog = true;
	queue_work(r->node->wq, &r->backlog_work);
}

/* Is it dealt with? */
static bool arrived(struct dsmk_region *r, const struct o2gk_msg *m)
{
	bool now;
	int err = 0;

	spin_lock_bh(&r->lock);
	now = !r->frozen && !r->backlog && (m->data || !m->length) &&
	      dsmk_stock_check(r);
	if (now)
		err = receive(r, m->source, m->tag, m->length ? m->data : NULL);
	else
		start_backlog(r);
	spin_unlock_bh(&r->lock);
	if (err)
		dsmk_node_lies(r->node, m->source);
	return now;
}

/*
 * Whoever asks for a page of a region that is not here any more is told. Nobody does who
 * keeps to the library: it closes a region when all do.
 */
static void answer_gone(struct dsmk_node *n, const struct o2gk_msg *m)
{
	struct dsm_msg ask = dsmk_tag_msg(m->tag);
	struct dsm_msg gone = { DSM_GONE, DSM_NONE, DSM_HOME, 0, ask.page };

	if (ask.type == DSM_ASK && READ_ONCE(n->nsends) > 1 &&
	    ask.node < n->size)
		dsmk_out_add(n, ask.node,
			     dsmk_tag(dsmk_tag_region(m->tag), &gone), NULL);
}

bool dsmk_arrived(struct o2gk_ep *ep, void *private, const struct o2gk_msg *m)
{
	struct dsmk_node *n = private;
	struct dsmk_region *r;
	bool dealt_with = true;

	if (m->source >= n->size || (m->length && m->length != PAGE_SIZE)) {
		dsmk_node_lies(n, m->source);
		return true;
	}
	r = dsmk_node_region(n, dsmk_tag_region(m->tag));
	if (r) {
		dealt_with = arrived(r, m);
		dsmk_region_put(r);
	} else {
		answer_gone(n, m);
	}
	dsmk_out_flush(n, O2GK_ATOMIC);
	return dealt_with;
}

/* --- what has to wait --- */

/* The oldest one: 0, -EAGAIN: there is none, or nothing came of it. */
static int fetch(struct dsmk_region *r, struct o2gk_msg *m)
{
	struct o2gk_ep *ep = r->node->ep;
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.length = PAGE_SIZE,
				.addr = r->buffer };
	int err;

	if (!o2gk_probe(ep, O2GK_ANY, (u64)r->id << 32, 0xffffull << 32, m))
		return -EAGAIN;
	r->request.done = NULL;
	r->request.flags = 0;
	err = o2gk_irecv(ep, m->source, m->tag, ~0ull, &seg, 1, &r->request);
	if (!err) {
		WRITE_ONCE(r->fetching, m->source + 1);
		err = o2gk_wait_end(ep, &r->request);
		WRITE_ONCE(r->fetching, 0);
	}
	return err == -EAGAIN ? -EIO : err;
}

/* Until there is memory for it, and no death to be dealt with first. */
static void deal_with(struct dsmk_region *r, const struct o2gk_msg *m)
{
	bool now = false;
	int err = 0;

	while (!now && !READ_ONCE(r->closing)) {
		if (dsmk_stock_fill(r->node))
			schedule_timeout_uninterruptible(1);
		spin_lock_bh(&r->lock);
		now = !r->frozen && dsmk_stock_check(r);
		if (now)
			err = receive(r, m->source, m->tag,
				      r->request.length ? r->buffer : NULL);
		spin_unlock_bh(&r->lock);
		if (!now)
			schedule_timeout_uninterruptible(1);
	}
	if (err)
		dsmk_node_lies(r->node, m->source);
	dsmk_out_flush(r->node, 0);
}

void dsmk_backlog_work(struct work_struct *w)
{
	struct dsmk_region *r =
		container_of(w, struct dsmk_region, backlog_work);
	struct o2gk_msg m;
	int err;

	do {
		err = fetch(r, &m);
		if (!err && m.length && r->request.length != PAGE_SIZE)
			dsmk_node_lies(r->node, m.source);
		else if (!err)
			deal_with(r, &m);
		cond_resched();
	} while (err != -EAGAIN && !READ_ONCE(r->closing));

	spin_lock_bh(&r->lock);
	r->backlog = false;
	spin_unlock_bh(&r->lock);
	/* What came in between was told to wait. */
	if (o2gk_probe(r->node->ep, O2GK_ANY, (u64)r->id << 32, 0xffffull << 32,
		       &m)) {
		spin_lock_bh(&r->lock);
		start_backlog(r);
		spin_unlock_bh(&r->lock);
	}
}
