// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Messages that come, most of them in softirq, and are dealt with there: a clean page is
 * granted without anybody being woken. What needs memory that cannot be had there, or
 * comes while a death is being dealt with, stays with o2g.ko, and so does all that comes
 * after it from the same node; a worker fetches it in order. It fetches as many as
 * were told to stay: what is behind them may just be on its way to dsmk_arrived().
 */
#include "dsmk.h"

#include <linux/sched.h>

/* Under r->lock, and there is what it takes. */
static int receive(struct dsmk_region *r, u32 from, u64 tag, const void *data)
{
	struct dsm_msg m = dsmk_tag_msg(tag);
	bool was_home, is_home;
	int err;

	if (m.page >= r->proto.npages || m.node >= r->node->size)
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

/* It stays with o2g.ko; under r->lock. */
static void put_off(struct dsmk_region *r, u32 from)
{
	r->late |= dsm_only(from);
	r->nlate[from]++;
	queue_work(r->node->wq, &r->late_work);
}

/* Is it dealt with? */
static bool arrived(struct dsmk_region *r, const struct o2gk_msg *m)
{
	bool now;
	int err = 0;

	spin_lock_bh(&r->lock);
	now = !r->frozen && !dsm_has(r->late, m->source) &&
	      (m->data || !m->length) && dsmk_stock_check(r);
	if (now)
		err = receive(r, m->source, m->tag, m->length ? m->data : NULL);
	else
		put_off(r, m->source);
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
	struct dsmk_send *s;

	if (ask.type != DSM_ASK || ask.node >= n->size)
		return;
	s = dsmk_send_get(n);
	if (s)
		dsmk_out_add(s, ask.node,
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

/* The next node in turn whose messages wait, and how many do; or 0. */
static u32 next_late(struct dsmk_region *r, u32 *from)
{
	u32 n = 0;

	spin_lock_bh(&r->lock);
	if (r->late) {
		*from = r->served = dsm_after(r->late, r->served);
		n = r->nlate[*from];
	}
	spin_unlock_bh(&r->lock);
	return n;
}

/* So many of them wait no longer; under r->lock. */
static void no_longer_late(struct dsmk_region *r, u32 from, u32 n)
{
	r->nlate[from] -= n;
	if (!r->nlate[from])
		r->late &= ~dsm_only(from);
}

static void forget_late(struct dsmk_region *r, u32 from, u32 n)
{
	spin_lock_bh(&r->lock);
	no_longer_late(r, from, n);
	spin_unlock_bh(&r->lock);
}

static int receive_late(struct dsmk_region *r, const struct o2gk_msg *m)
{
	struct o2gk_ep *ep = r->node->ep;
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.length = PAGE_SIZE,
				.addr = r->buffer };
	int err =
		o2gk_irecv(ep, m->source, m->tag, ~0ull, &seg, 1, &r->request);

	if (!err)
		err = o2gk_wait_end(ep, &r->request);
	return err;
}

/* The oldest of a node: 0; -ENOENT: there is none; or nothing came of it. */
static int fetch(struct dsmk_region *r, u32 from, struct o2gk_msg *m)
{
	int err = -ESHUTDOWN;

	if (!o2gk_probe(r->node->ep, from, (u64)r->id << 32, 0xffffull << 32,
			m))
		return -ENOENT;
	r->request.done = NULL;
	r->request.flags = 0;
	WRITE_ONCE(r->fetching, from + 1);
	smp_mb(); /* whoever closes the region ends our waiting, or we see it */
	if (!READ_ONCE(r->closing))
		err = receive_late(r, m);
	WRITE_ONCE(r->fetching, 0);
	return err == -ENOENT ? -EIO : err;
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
		if (now) {
			err = receive(r, m->source, m->tag,
				      r->request.length ? r->buffer : NULL);
			no_longer_late(r, m->source, 1);
		}
		spin_unlock_bh(&r->lock);
		if (!now)
			schedule_timeout_uninterruptible(1);
	}
	if (err)
		dsmk_node_lies(r->node, m->source);
	dsmk_out_flush(r->node, 0);
}

void dsmk_late_work(struct work_struct *w)
{
	struct dsmk_region *r = container_of(w, struct dsmk_region, late_work);
	struct o2gk_msg m;
	u32 from, n;
	int err;

	while (!READ_ONCE(r->closing) && (n = next_late(r, &from))) {
		err = fetch(r, from, &m);
		if (!err && r->request.length &&
		    r->request.length != PAGE_SIZE) {
			dsmk_node_lies(r->node, from);
			err = -EPROTO;
		}
		if (!err)
			deal_with(r, &m);
		else /* without any, all that waited has gone with the node */
			forget_late(r, from, err == -ENOENT ? n : 1);
		cond_resched();
	}
}
