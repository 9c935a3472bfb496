// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A message that has come must not fail for lack of memory in the middle. So before one is
 * given to the protocol the region has enough records for all that it may send, and pages
 * for the content that it may bring. Where that cannot be had at once, which is in
 * softirq, the message waits and a worker gets the memory.
 *
 * Pages that are given away are kept for the next ones that come, a few of them.
 */
#include "dsmk.h"

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#define SPARES_LOW 8
#define SPARES_MOST 64

/*
 * One message has a home answer all who wait, then call back the copies of all for a
 * writer; or pass them on to the new home.
 */
static u32 most_sends(const struct dsmk_node *n)
{
	return 3 * n->size + 4;
}

/* --- records --- */

struct dsmk_send *dsmk_send_get(struct dsmk_node *n)
{
	struct dsmk_send *s;

	spin_lock_bh(&n->lock);
	s = list_first_entry_or_null(&n->sends, struct dsmk_send, link);
	if (s) {
		list_del(&s->link);
		n->nsends--;
	}
	spin_unlock_bh(&n->lock);
	return s;
}

void dsmk_send_put(struct dsmk_send *s)
{
	struct dsmk_node *n = s->node;
	bool keep;

	spin_lock_bh(&n->lock);
	if (s->counted)
		n->unsent[s->to]--;
	s->counted = false;
	keep = n->nsends < 2 * most_sends(n);
	if (keep) {
		list_add(&s->link, &n->sends);
		n->nsends++;
	}
	spin_unlock_bh(&n->lock);
	if (!keep)
		kfree(s);
}

static bool add_send(struct dsmk_node *n, gfp_t gfp)
{
	struct dsmk_send *s = kzalloc(sizeof(*s), gfp);

	if (!s)
		return false;
	s->node = n;
	dsmk_send_put(s);
	return true;
}

/* --- pages --- */

/* Somebody else may still look at it, such as a system call that began before. */
void dsmk_spare_put(struct dsmk_node *n, struct page *page)
{
	bool keep = false;

	spin_lock_bh(&n->lock);
	if (n->nspares < SPARES_MOST && page_count(page) == 1) {
		list_add(&page->lru, &n->spares);
		n->nspares++;
		keep = true;
	}
	spin_unlock_bh(&n->lock);
	if (!keep)
		put_page(page);
}

static struct page *spare_get(struct dsmk_node *n)
{
	struct page *page;

	spin_lock_bh(&n->lock);
	page = list_first_entry_or_null(&n->spares, struct page, lru);
	if (page) {
		list_del(&page->lru);
		n->nspares--;
	}
	spin_unlock_bh(&n->lock);
	return page;
}

static bool add_spare(struct dsmk_node *n, gfp_t gfp)
{
	struct page *page = alloc_page(gfp);

	if (page)
		dsmk_spare_put(n, page);
	return page;
}

/* --- enough of both --- */

static bool fill(struct dsmk_node *n, u32 spares, gfp_t gfp)
{
	while (READ_ONCE(n->nsends) < most_sends(n))
		if (!add_send(n, gfp))
			return false;
	while (READ_ONCE(n->nspares) < spares)
		if (!add_spare(n, gfp))
			return false;
	return true;
}

int dsmk_stock_fill(struct dsmk_node *n)
{
	struct mem_cgroup *before;
	bool enough;

	if (READ_ONCE(n->nsends) >= most_sends(n) &&
	    READ_ONCE(n->nspares) >= DSMK_READY)
		return 0;
	before = set_active_memcg(n->memcg);
	enough = fill(n, SPARES_LOW, GFP_KERNEL_ACCOUNT);
	set_active_memcg(before);
	if (enough)
		return 0;
	return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
}

/* Others have a part of what the node has, so what a region needs is its own. */
static bool records_ready(struct dsmk_region *r)
{
	struct dsmk_send *s;

	while (r->nrecords < most_sends(r->node)) {
		s = dsmk_send_get(r->node);
		if (!s)
			return false;
		list_add(&s->link, &r->records);
		r->nrecords++;
	}
	return true;
}

struct dsmk_send *dsmk_stock_record(struct dsmk_region *r)
{
	struct dsmk_send *s =
		list_first_entry_or_null(&r->records, struct dsmk_send, link);

	lockdep_assert_held(&r->lock);
	if (s) {
		list_del(&s->link);
		r->nrecords--;
	}
	return s;
}

static bool pages_ready(struct dsmk_region *r)
{
	u32 i;

	for (i = 0; i < DSMK_READY; i++) {
		if (!r->ready[i])
			r->ready[i] = spare_get(r->node);
		if (!r->ready[i])
			return false;
	}
	return true;
}

bool dsmk_stock_check(struct dsmk_region *r)
{
	struct dsmk_node *n = r->node;
	struct mem_cgroup *before;
	bool enough;

	lockdep_assert_held(&r->lock);
	if (records_ready(r) && pages_ready(r))
		return true;
	before = set_active_memcg(n->memcg);
	enough = fill(n, DSMK_READY, GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(before);
	return enough && records_ready(r) && pages_ready(r);
}

/* Nobody else knows the region any more. */
void dsmk_stock_return(struct dsmk_region *r)
{
	struct dsmk_send *s, *next;
	u32 i;

	list_for_each_entry_safe(s, next, &r->records, link)
		dsmk_send_put(s);
	for (i = 0; i < DSMK_READY; i++)
		if (r->ready[i])
			put_page(r->ready[i]);
}

void dsmk_stock_drop(struct dsmk_node *n)
{
	struct dsmk_send *s;
	struct page *page;

	while ((s = dsmk_send_get(n)))
		kfree(s);
	while ((page = spare_get(n)))
		put_page(page);
}
