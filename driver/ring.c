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

/* Where there are @n free blocks in a row; beyond the end: nowhere. */
static unsigned long find_blocks(const struct o2gk_ep *ep, u32 n)
{
	unsigned long at;

	if (n == 0 || n > ep->dump_free || n > U16_MAX)
		return ep->dump_blocks;
	at = bitmap_find_next_zero_area(ep->dump_map, ep->dump_blocks,
					ep->dump_next, n, 0);
	if (at >= ep->dump_blocks && ep->dump_next)
		at = bitmap_find_next_zero_area(ep->dump_map, ep->dump_blocks,
						0, n, 0);
	return at;
}

bool o2gk_dump_fits(struct o2gk_ep *ep, u64 len)
{
	u32 n = DIV_ROUND_UP_ULL(len, O2GD_BLOCK);
	unsigned long at;

	if (n == 1)
		return ep->dump_free;
	at = find_blocks(ep, n);
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
	at = find_blocks(ep, n);
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

void o2gk_dump_free(struct o2gk_ep *ep, u32 dump)
{
	if (!dump)
		return;
	bitmap_clear(ep->dump_map, dump - 1, ep->dump_len[dump - 1]);
	ep->dump_free += ep->dump_len[dump - 1];
	ep->dump_len[dump - 1] = 0;
}

/* --- completions --- */

/* What user space has consumed gives its blocks back. Room in the ring. */
static u32 cq_room(struct o2gk_ep *ep)
{
	u32 head = READ_ONCE(ep->shared->cq_head);
	u32 size = ep->cq_mask + 1;

	if (ep->cq_tail - head > size)
		head = ep->cq_freed; /* not a position it can have reached */
	while (ep->cq_freed != head && ep->cq_freed != ep->cq_tail) {
		u32 *dump = &ep->cq_dump[ep->cq_freed & ep->cq_mask];

		o2gk_dump_free(ep, *dump);
		*dump = 0;
		ep->cq_freed++;
	}
	return size - (ep->cq_tail - ep->cq_freed);
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

void o2gk_cq_flush(struct o2gk_ep *ep)
{
	u32 room = cq_room(ep);

	lockdep_assert_held(&ep->lock);
	while (room-- && !list_empty(&ep->overflow)) {
		struct o2gk_done *d =
			list_first_entry(&ep->overflow, struct o2gk_done, link);

		list_del_init(&d->link);
		cq_write(ep, d);
		WRITE_ONCE(ep->noverflow, ep->noverflow - 1);
	}
	WRITE_ONCE(ep->shared->overflow, ep->noverflow);
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
