// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The mapped memory: completion ring and dump area.
 *
 * User space can write all of it. So the driver keeps its own indices and its
 * own list of who owns which block, never reads back what it wrote, and takes
 * from user space two numbers only: how far it has posted (req.c) and how far
 * it has consumed. Each is read once and checked; a process that lies about them
 * harms its own messages.
 */
#include "o2gk.h"

#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "trace.h"

static_assert(sizeof(struct o2gd_shared) == 128);
static_assert(sizeof(struct o2gd_sqe) == 64);
static_assert(sizeof(struct o2gd_cqe) == 64);

#define MAX_ENTRIES 65536
#define MAX_DUMP BIT(30)
/* How far, and among how many holes, room in the dump area is looked for. */
#define FAR 65536
#define MAX_HOLES 64

static int area_layout(struct o2gd_setup *s)
{
	if (!is_power_of_2(s->sq_entries) || s->sq_entries > MAX_ENTRIES ||
	    !is_power_of_2(s->cq_entries) || s->cq_entries > MAX_ENTRIES ||
	    !PAGE_ALIGNED(s->dump_size) || s->dump_size < 16 * PAGE_SIZE ||
	    s->dump_size > MAX_DUMP)
		return -EINVAL;
	s->sq_off = PAGE_SIZE;
	s->cq_off =
		s->sq_off + PAGE_ALIGN(s->sq_entries * sizeof(struct o2gd_sqe));
	s->dump_off =
		s->cq_off + PAGE_ALIGN(s->cq_entries * sizeof(struct o2gd_cqe));
	s->map_size = (u64)s->dump_off + s->dump_size;
	return 0;
}

int o2gk_area_create(struct o2gk_ep *ep, struct o2gd_setup *s)
{
	int err = area_layout(s);

	if (err)
		return err;
	ep->area_size = s->map_size;
	err = o2gk_user_charge(&ep->charge, ep->area_size >> PAGE_SHIFT);
	if (err)
		return err;
	err = account_locked_vm(ep->mm, ep->area_size >> PAGE_SHIFT, true);
	if (err)
		return err;
	ep->area_pages = ep->area_size >> PAGE_SHIFT;
	ep->dump_blocks = s->dump_size / O2GD_BLOCK;
	ep->dump_free = ep->dump_blocks;
	ep->area = o2gk_area_alloc(ep->area_size);
	ep->cq_dump = kvcalloc(s->cq_entries, sizeof(*ep->cq_dump),
			       GFP_KERNEL_ACCOUNT);
	ep->dump_len = kvcalloc(ep->dump_blocks, sizeof(*ep->dump_len),
				GFP_KERNEL_ACCOUNT);
	ep->dump_map = kvcalloc(BITS_TO_LONGS(ep->dump_blocks),
				sizeof(unsigned long), GFP_KERNEL_ACCOUNT);
	if (!ep->area || !ep->cq_dump || !ep->dump_len || !ep->dump_map)
		return -ENOMEM; /* o2gk_area_destroy frees what there is */
	ep->shared = ep->area;
	ep->sq = ep->area + s->sq_off;
	ep->sq_mask = s->sq_entries - 1;
	ep->cq = ep->area + s->cq_off;
	ep->cq_mask = s->cq_entries - 1;
	ep->dump = ep->area + s->dump_off;
	return 0;
}

void o2gk_area_destroy(struct o2gk_ep *ep)
{
	if (ep->area_pages)
		account_locked_vm(ep->mm, ep->area_pages, false);
	o2gk_user_uncharge(&ep->charge);
	ep->area_pages = 0;
	vfree(ep->area);
	kvfree(ep->cq_dump);
	kvfree(ep->dump_len);
	kvfree(ep->dump_map);
	ep->area = NULL;
}

/* --- the dump area --- */

void o2gk_dump_free(struct o2gk_ep *ep, u32 dump)
{
	if (!dump)
		return;
	bitmap_clear(ep->dump_map, dump - 1, ep->dump_len[dump - 1]);
	ep->dump_free += ep->dump_len[dump - 1];
	ep->dump_len[dump - 1] = 0;
}

/*
 * What user space has consumed gives its blocks back, @max entries of the ring at
 * most. How many that were.
 */
static u32 reclaim(struct o2gk_ep *ep, u32 max)
{
	u32 head = READ_ONCE(ep->shared->cq_head);
	u32 freed = ep->cq_freed;

	if (ep->cq_tail - head > ep->cq_mask + 1)
		return 0; /* not a position it can have reached */
	for (; max && ep->cq_freed != head && ep->cq_freed != ep->cq_tail;
	     max--) {
		u32 *dump = &ep->cq_dump[ep->cq_freed & ep->cq_mask];

		o2gk_dump_free(ep, *dump);
		*dump = 0;
		ep->cq_freed++;
	}
	return ep->cq_freed - freed;
}

/*
 * Where there are @n free blocks in a row, from @at on; beyond the end: nowhere. Peers
 * may have left a hole beside each block: only so many are looked at.
 */
static unsigned long find_from(const struct o2gk_ep *ep, unsigned long at,
			       u32 n)
{
	unsigned long last = min_t(unsigned long, ep->dump_blocks, at + FAR);
	unsigned long end;
	u32 holes;

	for (holes = 0; holes < MAX_HOLES; holes++) {
		at = find_next_zero_bit(ep->dump_map, last, at);
		if (at >= last || n > ep->dump_blocks - at)
			break;
		end = find_next_bit(ep->dump_map, at + n, at);
		if (end == at + n)
			return at;
		at = end + 1;
	}
	return ep->dump_blocks;
}

static unsigned long find_blocks(const struct o2gk_ep *ep, u32 n)
{
	unsigned long at;

	if (n == 0 || n > ep->dump_free || n > U16_MAX)
		return ep->dump_blocks;
	at = find_from(ep, ep->dump_next, n);
	if (at >= ep->dump_blocks && ep->dump_next)
		at = find_from(ep, 0, n);
	return at;
}

/* The same; what user space is done with is taken back first if there is no other. */
static unsigned long find_or_reclaim(struct o2gk_ep *ep, u32 n)
{
	unsigned long at = find_blocks(ep, n);

	if (at < ep->dump_blocks || !ep->dump_blocks || !reclaim(ep, O2GK_STEP))
		return at;
	return find_blocks(ep, n);
}

bool o2gk_dump_fits(struct o2gk_ep *ep, u64 len)
{
	unsigned long at =
		find_or_reclaim(ep, DIV_ROUND_UP_ULL(len, O2GD_BLOCK));

	if (at < ep->dump_blocks)
		ep->dump_next = at; /* which is found at once then */
	return at < ep->dump_blocks;
}

u32 o2gk_dump_alloc(struct o2gk_ep *ep, u64 len)
{
	u32 n = DIV_ROUND_UP_ULL(len, O2GD_BLOCK);
	unsigned long at;

	if (n == 0 || n > ep->dump_blocks || n > U16_MAX)
		return 0;
	at = find_or_reclaim(ep, n);
	if (at >= ep->dump_blocks) {
		ep->stats.dump_full++;
		return 0;
	}
	bitmap_set(ep->dump_map, at, n);
	ep->dump_free -= n;
	ep->dump_len[at] = n;
	ep->dump_next = at + n < ep->dump_blocks ? at + n : 0;
	return at + 1;
}

/* --- completions --- */

/* A few for each that is added are enough to keep up. */
static u32 cq_room(struct o2gk_ep *ep)
{
	reclaim(ep, 4);
	return ep->cq_mask + 1 - (ep->cq_tail - ep->cq_freed);
}

static void cq_write(struct o2gk_ep *ep, struct o2gk_done *d)
{
	struct o2gd_cqe *to = &ep->cq[ep->cq_tail & ep->cq_mask];

	ep->cq_dump[ep->cq_tail & ep->cq_mask] = d->dump;
	d->dump = 0;
	memcpy((u8 *)to + sizeof(to->seq), (u8 *)&d->cqe + sizeof(to->seq),
	       sizeof(*to) - sizeof(to->seq));
	/* After all the rest: user space reads this word first. */
	smp_store_release(&to->seq, ep->cq_tail + 1);
	WRITE_ONCE(ep->cq_tail, ep->cq_tail + 1);
	ep->wake = true;
	if (d->req) {
		d->req->phase = O2GK_FREE;
		d->req->gen++;
		d->req->core.id = 0;
	}
}

void o2gk_cq_post(struct o2gk_ep *ep, struct o2gk_done *d)
{
	lockdep_assert_held(&ep->lock);
	if (d->req) /* the loss of a peer has an event of its own */
		trace_o2g_complete(ep->rank, d->cqe.slot, d->cqe.status,
				   d->cqe.source, d->cqe.tag, d->cqe.length);
	if (likely(list_empty(&ep->overflow) && cq_room(ep))) {
		cq_write(ep, d);
		return;
	}
	if (d->req)
		d->req->phase = O2GK_WAITING;
	list_add_tail(&d->link, &ep->overflow);
	WRITE_ONCE(ep->noverflow, ep->noverflow + 1);
	WRITE_ONCE(ep->shared->overflow, ep->noverflow);
	ep->stats.overflows++;
	ep->wake = true;
}

/* A portion; false: there is more to move, and room for it. */
bool o2gk_cq_flush(struct o2gk_ep *ep)
{
	bool more = reclaim(ep, O2GK_STEP) == O2GK_STEP;
	u32 n;

	lockdep_assert_held(&ep->lock);
	for (n = 0; n < O2GK_STEP && !list_empty(&ep->overflow); n++) {
		struct o2gk_done *d =
			list_first_entry(&ep->overflow, struct o2gk_done, link);

		if (!cq_room(ep))
			break;
		list_del_init(&d->link);
		cq_write(ep, d);
		WRITE_ONCE(ep->noverflow, ep->noverflow - 1);
	}
	WRITE_ONCE(ep->shared->overflow, ep->noverflow);
	return n < O2GK_STEP && !more;
}

/* It is not to be told any more. */
void o2gk_cq_forget(struct o2gk_ep *ep, struct o2gk_done *d)
{
	lockdep_assert_held(&ep->lock);
	if (list_empty(&d->link))
		return;
	list_del_init(&d->link);
	WRITE_ONCE(ep->noverflow, ep->noverflow - 1);
	WRITE_ONCE(ep->shared->overflow, ep->noverflow);
}

/* Has user space consumed everything? */
bool o2gk_cq_seen(const struct o2gk_ep *ep)
{
	return READ_ONCE(ep->shared->cq_head) == READ_ONCE(ep->cq_tail) &&
	       !READ_ONCE(ep->noverflow);
}
