// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Memory for what a packet brings about: an answer or two, an unexpected message and
 * its body, the reply to a get. It is there before the packet is received. Whoever
 * may not sleep may be refused memory, by the kernel or by the cgroup that pays for
 * the endpoint; then reading stops, and a worker waits for memory and goes on. No
 * connection ends for that.
 *
 * All of it is charged to the cgroup of the process that has set the endpoint up.
 */
#include "o2gk.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>

#define LONGEST_BODY (256u << 10)
#define RETRY_MS 20

void *o2gk_alloc(struct o2gk_ep *ep, size_t n, gfp_t gfp)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	void *p = kmalloc(n, gfp | __GFP_ACCOUNT | __GFP_NOWARN);

	set_active_memcg(before);
	return p;
}

/* --- what a packet needs --- */

/* Memory for how much of its body, if the dump area has none. */
static u64 body_of(const struct o2g_hdr *h)
{
	switch (h->type) {
	case O2G_PKT_EAGER:
		return h->length <= LONGEST_BODY ? h->length : 0;
	case O2G_PKT_DATA: /* a small receive has no memory yet */
		return min_t(u64, h->length, O2GD_SMALL);
	default:
		return 0;
	}
}

static bool has_body(struct o2gk_ep *ep, u64 len)
{
	return len <= O2GD_INLINE || ep->reserve.body_len >= len ||
	       o2gk_dump_fits(ep, len);
}

static bool has(struct o2gk_ep *ep, u64 body)
{
	const struct o2gk_reserve *r = &ep->reserve;

	return r->nanswers >= O2GK_ANSWERS && ep->spare && r->reply &&
	       has_body(ep, body);
}

/* --- filling it; under ep->lock --- */

static void add_answer(struct o2gk_reserve *r, struct o2gk_ctl *ctl)
{
	if (!ctl)
		return;
	if (r->nanswers >= O2GK_ANSWERS) { /* something else was missing */
		kfree(ctl);
		return;
	}
	o2g_list_add_tail(&ctl->tx.link, &r->answers);
	r->nanswers++;
}

static void add_body(struct o2gk_reserve *r, void *body, u64 len)
{
	if (!body)
		return;
	kfree(r->body);
	r->body = body;
	r->body_len = len;
}

/* Is there memory for what this packet brings about? */
bool o2gk_reserve(struct o2gk_ep *ep, const struct o2g_hdr *h)
{
	struct o2gk_reserve *r = &ep->reserve;
	u64 body = body_of(h);
	u32 n;

	lockdep_assert_held(&ep->lock);
	if (likely(has(ep, body)))
		return true;
	for (n = r->nanswers; n < O2GK_ANSWERS; n++)
		add_answer(r, o2gk_ctl_alloc(ep, 0, GFP_NOWAIT));
	if (!ep->spare)
		ep->spare = o2gk_unexp_new(ep, GFP_NOWAIT);
	if (!r->reply)
		r->reply = o2gk_alloc(ep, sizeof(*r->reply), GFP_NOWAIT);
	if (!has_body(ep, body))
		add_body(r, o2gk_alloc(ep, body, GFP_NOWAIT), body);
	return has(ep, body);
}

/* --- in a worker, without locks of the endpoint --- */

/* All of it, whatever is missing; what there is already stays. */
static void fill(struct o2gk_ep *ep, u64 len)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NORETRY;
	struct o2gk_unexp *unexp = o2gk_unexp_new(ep, gfp);
	struct o2gk_req *reply = o2gk_alloc(ep, sizeof(*reply), gfp);
	void *body = len > O2GD_INLINE ? o2gk_alloc(ep, len, gfp) : NULL;
	struct o2gk_ctl *ctl[O2GK_ANSWERS];
	u32 i;

	for (i = 0; i < O2GK_ANSWERS; i++)
		ctl[i] = o2gk_ctl_alloc(ep, 0, gfp);
	spin_lock_bh(&ep->lock);
	for (i = 0; i < O2GK_ANSWERS; i++)
		add_answer(&ep->reserve, ctl[i]);
	if (!ep->spare)
		swap(ep->spare, unexp);
	if (!ep->reserve.reply)
		swap(ep->reserve.reply, reply);
	if (ep->reserve.body_len < len)
		add_body(&ep->reserve, body, len);
	else
		kfree(body);
	spin_unlock_bh(&ep->lock);
	o2gk_unexp_drop(unexp);
	kfree(reply);
}

static bool is_there(struct o2gk_ep *ep, u64 body)
{
	bool there;

	spin_lock_bh(&ep->lock);
	there = has(ep, body);
	spin_unlock_bh(&ep->lock);
	return there;
}

bool o2gk_reserve_fill(struct o2gk_ep *ep)
{
	fill(ep, 0);
	return is_there(ep, 0);
}

/* Whoever gives the peer up may wait for us, in a call that cannot be killed. */
void o2gk_reserve_wait(struct o2gk_peer *p, const struct o2g_hdr *h)
{
	struct o2gk_ep *ep = p->ep;
	u64 body = body_of(h);

	while (!is_there(ep, body) && !o2gk_is_leaving(p)) {
		fill(ep, body);
		if (is_there(ep, body))
			break;
		schedule_timeout_uninterruptible(msecs_to_jiffies(RETRY_MS));
	}
}

/* --- using it; under ep->lock --- */

struct o2gk_ctl *o2gk_reserve_answer(struct o2gk_ep *ep)
{
	struct o2gk_reserve *r = &ep->reserve;
	struct o2g_tx *tx;

	if (o2g_list_empty(&r->answers))
		return NULL;
	tx = o2g_list_first(&r->answers, struct o2g_tx, link);
	o2g_list_del(&tx->link);
	r->nanswers--;
	return container_of(tx, struct o2gk_ctl, tx);
}

struct o2gk_req *o2gk_reserve_reply(struct o2gk_ep *ep)
{
	struct o2gk_req *reply = ep->reserve.reply;

	ep->reserve.reply = NULL;
	return reply;
}

void *o2gk_reserve_body(struct o2gk_ep *ep, u64 len)
{
	void *body;

	if (ep->reserve.body_len < len)
		return o2gk_alloc(ep, len, GFP_NOWAIT);
	body = ep->reserve.body;
	ep->reserve.body = NULL;
	ep->reserve.body_len = 0;
	return body;
}

void o2gk_reserve_free(struct o2gk_ep *ep)
{
	struct o2gk_ctl *ctl;

	while ((ctl = o2gk_reserve_answer(ep)))
		kfree(ctl);
	o2gk_unexp_drop(ep->spare);
	ep->spare = NULL;
	kfree(ep->reserve.reply);
	kfree(ep->reserve.body);
}
