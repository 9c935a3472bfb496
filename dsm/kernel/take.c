// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Pages that others take. A worker of the region unmaps them with the page's lock held, so
 * that nobody maps one before the protocol knows that it is gone; and not before it
 * was used by those who waited for it, or while somebody has a reference to it, such as
 * direct I/O.
 */
#include "dsmk.h"

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>

#define FRESH_US 10000 /* for a thread to map what it has waited for */
#define PINNED_US 100  /* before looking again whether it is in use, at least */
#define PINNED_MOST_US 20000
#define FROZEN_US 1000
#define SLEEP_US 2000 /* what is due later is for a timer */

/* The clock goes round in 72 minutes, and a page may have come before that. */
static u32 held_until(const struct dsmk_slot *s, u32 hold)
{
	u32 now = dsmk_now_us();

	return now - s->came < hold ? s->came + hold : now;
}

void dsmk_take_later(struct dsmk_region *r, u32 page)
{
	struct dsmk_slot *s = &r->slots[page];

	lockdep_assert_held(&r->lock);
	if (!list_empty(&s->taken))
		return;
	s->due = held_until(s, s->flags & DSMK_FRESH ? FRESH_US : r->hold_us);
	list_add_tail(&s->taken, &r->takes);
	r->kick = true;
	wake_up(&r->take_wait);
	mod_delayed_work(r->node->wq, &r->take_work, 0);
}

/* The first that is due, or NULL and *@us: when one is; -1: there is none. */
static struct dsmk_slot *find_due(struct dsmk_region *r, int *us)
{
	u32 now = dsmk_now_us();
	struct dsmk_slot *s;

	*us = -1;
	r->kick = false;
	list_for_each_entry(s, &r->takes, taken) {
		int left = (int)(s->due - now);

		if (left <= 0)
			return s;
		if (*us < 0 || left < *us)
			*us = left;
	}
	return NULL;
}

/* With the page's lock: does anybody have a reference beside us and those waiting for it? */
static bool is_pinned(const struct dsmk_slot *s)
{
	return page_count(s->page) > (int)(2 + s->lockers);
}

/* One that is used for long is looked at less often. */
static u32 look_again(const struct dsmk_slot *s)
{
	u32 now = dsmk_now_us();

	return now +
	       clamp_t(u32, (now - s->came) / 8, PINNED_US, PINNED_MOST_US);
}

/* With the page's lock, and it is not mapped: it goes, if it can. */
static void give(struct dsmk_region *r, struct dsmk_slot *s)
{
	lockdep_assert_held(&r->lock);
	if (r->frozen || !dsmk_stock_check(r)) {
		s->due = dsmk_now_us() + FROZEN_US;
	} else if (is_pinned(s)) {
		s->due = look_again(s);
	} else {
		list_del_init(&s->taken);
		dsm_resume(&r->proto, (u32)(s - r->slots));
	}
}

static void take(struct dsmk_region *r, struct dsmk_slot *s, struct page *page)
{
	loff_t at = (loff_t)(s - r->slots) << PAGE_SHIFT;

	lock_page(page);
	unmap_mapping_range(r->inode->i_mapping, at, PAGE_SIZE, 1);
	spin_lock_bh(&r->lock);
	if (s->page == page)
		give(r, s);
	spin_unlock_bh(&r->lock);
	unlock_page(page);
	put_page(page);
	dsmk_out_flush(r->node, 0);
}

/* One page; 0, or when there is one to take. */
static int take_next(struct dsmk_region *r)
{
	struct page *page = NULL;
	struct dsmk_slot *s;
	int us;

	spin_lock_bh(&r->lock);
	s = find_due(r, &us);
	if (s)
		page = s->page;
	if (page)
		get_page(page);
	else if (s)
		list_del_init(&s->taken); /* it has gone another way */
	spin_unlock_bh(&r->lock);
	if (!s)
		return us;
	if (page)
		take(r, s, page);
	return 0;
}

void dsmk_take_work(struct work_struct *w)
{
	struct dsmk_region *r =
		container_of(to_delayed_work(w), struct dsmk_region, take_work);
	int us;

	for (;;) {
		dsmk_stock_fill(r->node); /* or it is tried again later */
		us = take_next(r);
		if (us < 0 || READ_ONCE(r->closing))
			return;
		if (us > SLEEP_US)
			break;
		if (us)
			wait_event_hrtimeout(r->take_wait, READ_ONCE(r->kick),
					     ns_to_ktime(us * NSEC_PER_USEC));
		cond_resched();
	}
	queue_delayed_work(r->node->wq, &r->take_work,
			   usecs_to_jiffies(us) + 1);
}
