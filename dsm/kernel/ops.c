// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What the protocol asks of its engine. All of it runs under region->lock, often in
 * softirq, so nothing here waits or unmaps. Giving a page away takes both, and the
 * protocol lets an engine do that later: dsmk_held() says that the page is held, take.c
 * unmaps it, and dsm_resume() goes on. A page that is nowhere mapped goes at once.
 */
#include "dsmk.h"

#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/pagemap.h>

u32 dsmk_now_us(void)
{
	return (u32)ktime_to_us(ktime_get());
}

/* What the program may also write to, so it is only ever added to. */
static void count(u64 *n, u64 more)
{
	WRITE_ONCE(*n, READ_ONCE(*n) + more);
}

static void count_writer(struct dsmk_region *r, u32 page, u32 node)
{
	struct dsm_page_counts *c = &r->counts->page[page];

	if (r->proto.pages[page].writer != node + 1 || !READ_ONCE(c->writers))
		c->handovers++;
	c->writers |= dsm_only(node);
}

/* One of those that were made ready for this message. */
static struct page *take_ready(struct dsmk_region *r)
{
	struct page *page = NULL;
	u32 i;

	for (i = 0; i < DSMK_READY && !page; i++)
		swap(page, r->ready[i]);
	return page;
}

/* @data as a page that goes with a message: one of ours, or what has just come. */
static struct page *page_to_send(struct dsmk_region *r, u32 index,
				 const void *data)
{
	struct page *page = r->slots[index].page;

	if (page && data == page_address(page)) {
		get_page(page);
		return page;
	}
	if (r->lifted && data == page_address(r->lifted)) {
		page = r->lifted;
		r->lifted = NULL;
		return page;
	}
	page = take_ready(r);
	if (!WARN_ON_ONCE(!page))
		memcpy(page_address(page), data, PAGE_SIZE);
	return page;
}

static void op_send(void *ctx, unsigned int to, const struct dsm_msg *msg,
		    const void *data)
{
	struct dsmk_region *r = ctx;
	struct dsmk_send *s = dsmk_stock_record(r);

	if (WARN_ON_ONCE(!s))
		return;
	count(&r->counts->messages, 1);
	count(&r->counts->bytes, sizeof(*msg) + (data ? PAGE_SIZE : 0));
	if (msg->type == DSM_GRANT && msg->access == DSM_WRITE)
		count_writer(r, msg->page, to);
	dsmk_out_add(s, to, dsmk_tag(r->id, msg),
		     data ? page_to_send(r, msg->page, data) : NULL);
}

/*
 * Where the content of a page goes. A home that lies may grant what is not here and not
 * send it: then it is zeros, and not what somebody else has left there.
 */
static struct page *slot_page(struct dsmk_region *r, u32 index, bool cleared)
{
	struct dsmk_slot *s = &r->slots[index];

	if (s->page)
		return s->page;
	s->page = take_ready(r);
	if (!WARN_ON_ONCE(!s->page) && cleared)
		clear_page(page_address(s->page));
	return s->page;
}

static void op_install(void *ctx, u32 index, enum dsm_access access,
		       unsigned int flags, const void *data)
{
	struct dsmk_region *r = ctx;
	struct dsmk_slot *s = &r->slots[index];
	bool had = s->page;
	struct page *page = slot_page(r, index, !(flags & DSM_DATA));

	if (r->proto.pages[index].home == r->proto.self + 1 &&
	    access == DSM_WRITE)
		count_writer(r, index, r->proto.self);
	if (page && flags & DSM_DATA)
		memcpy(page_address(page), data, PAGE_SIZE);
	else if (page && had && flags & DSM_ZERO)
		clear_page(page_address(page));
	s->came = dsmk_now_us();
	WRITE_ONCE(r->counts->page[index].came, s->came);
	if (s->flags & DSMK_WAITED)
		s->flags = DSMK_FRESH;
	dsmk_wake(r, index);
}

/* take.c has unmapped it. */
static void op_protect(void *ctx, u32 index)
{
	struct dsmk_region *r = ctx;

	r->slots[index].flags &= ~DSMK_FRESH;
}

static const void *op_take(void *ctx, u32 index, bool wanted)
{
	struct dsmk_region *r = ctx;
	struct dsmk_slot *s = &r->slots[index];
	struct page *page = slot_page(r, index, true);

	count(&r->counts->taken, 1);
	r->counts->page[index].taken++;
	s->page = NULL;
	s->flags &= ~DSMK_FRESH;
	if (r->lifted)
		dsmk_spare_put(r->node, r->lifted);
	r->lifted = page;
	return page && wanted ? page_address(page) : NULL;
}

static const void *op_data(void *ctx, u32 index)
{
	struct page *page = slot_page(ctx, index, true);

	return page_address(page ? page : ZERO_PAGE(0));
}

/*
 * Whoever maps a page has its lock and then looks, with ours, whether it may be mapped.
 * So if nobody has the page's lock and it is not mapped, it stays so until we are done.
 */
static bool is_idle(const struct dsmk_slot *s)
{
	bool idle;

	if (!s->page)
		return true;
	if (s->flags & DSMK_FRESH || !trylock_page(s->page))
		return false;
	idle = !folio_mapped(page_folio(s->page)) && page_count(s->page) == 1;
	unlock_page(s->page);
	return idle;
}

static bool op_held(void *ctx, u32 index)
{
	struct dsmk_region *r = ctx;

	if (is_idle(&r->slots[index]))
		return false;
	dsmk_take_later(r, index);
	return true;
}

static void op_fail(void *ctx, u32 index)
{
	dsmk_wake(ctx, index);
}

const struct dsm_ops dsmk_ops = { .send = op_send,
				  .install = op_install,
				  .protect = op_protect,
				  .take = op_take,
				  .data = op_data,
				  .held = op_held,
				  .fail = op_fail };
