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
	ep->file.area_size = s->map_size;
	err = o2gk_user_charge(&ep->charge, ep->file.area_size >> PAGE_SHIFT);
	if (err)
		return err;
	err = account_locked_vm(ep->mm, ep->file.area_size >> PAGE_SHIFT, true);
	if (err)
		return err;
	ep->file.area_pages = ep->file.area_size >> PAGE_SHIFT;
	ep->file.dump_blocks = s->dump_size / O2GD_BLOCK;
	ep->file.dump_free = ep->file.dump_blocks;
	ep->file.area = o2gk_area_alloc(ep->file.area_size);
	ep->file.cq_dump = kvcalloc(s->cq_entries, sizeof(*ep->file.cq_dump),
				    GFP_KERNEL_ACCOUNT);
	ep->file.dump_len = kvcalloc(ep->file.dump_blocks,
				     sizeof(*ep->file.dump_len),
				     GFP_KERNEL_ACCOUNT);
	ep->file.dump_map = kvcalloc(BITS_TO_LONGS(ep->file.dump_blocks),
				     sizeof(unsigned long), GFP_KERNEL_ACCOUNT);
	if (!ep->file.area || !ep->file.cq_dump || !ep->file.dump_len ||
	    !ep->file.dump_map)
		return -ENOMEM; /* o2gk_area_destroy frees what there is */
	ep->file.shared = ep->file.area;
	ep->file.sq = ep->file.area + s->sq_off;
	ep->file.sq_mask = s->sq_entries - 1;
	ep->file.cq = ep->file.area + s->cq_off;
	ep->file.cq_mask = s->cq_entries - 1;
	ep->file.dump = ep->file.area + s->dump_off;
	return 0;
}

void o2gk_area_destroy(struct o2gk_ep *ep)
{
	if (ep->file.area_pages)
		account_locked_vm(ep->mm, ep->file.area_pages, false);
	o2gk_user_uncharge(&ep->charge);
	ep->file.area_pages = 0;
	vfree(ep->file.area);
	kvfree(ep->file.cq_dump);
	kvfree(ep->file.dump_len);
	kvfree(ep->file.dump_map);
	ep->file.area = NULL;
}

/* --- the dump area --- */

void o2gk_dump_free(struct o2gk_ep *ep, u32 dump)
{
	if (!dump)
		return;
	bitmap_clear(ep->file.dump_map, dump - 1, ep->file.dump_len[dump - 1]);
	ep->file.dump_free += ep->file.dump_len[dump - 1];
	ep->file.dump_len[dump - 1] = 0;
}

/*
 * What user space has consumed gives its blocks back, @max entries of the ring at
 * most. How many that were.
 */
static u32 reclaim(struct o2gk_ep *ep, u32 max)
{
	u32 head = READ_ONCE(ep->file.shared->cq_head);
	u32 freed = ep->file.cq_freed;

	if (ep->file.cq_tail - head > ep->file.cq_mask + 1)
		return 0; /* not a position it can have reached */
	for (; max && ep->file.cq_freed != head &&
	       ep->file.cq_freed != ep->file.cq_tail;
	     max--) {
		u32 *dump =
			&ep->file.cq_dump[ep->file.cq_freed & ep->file.cq_mask];

		o2gk_dump_free(ep, *dump);
		*dump = 0;
		ep->file.cq_freed++;
	}
	return ep->file.cq_freed - freed;
}

/*
 * Where there are @n free blocks in a row, from @at on; beyond the end: nowhere. Peers
 * may have left a hole beside each block: only so many are looked at.
 */
static unsigned long find_from(const struct o2gk_ep *ep, unsigned long at,
			       u32 n)
{
	unsigned long last =
		min_t(unsigned long, ep->file.dump_blocks, at + FAR);
	unsigned long end;
	u32 holes;

	for (holes = 0; holes < MAX_HOLES; holes++) {
		at = find_next_zero_bit(ep->file.dump_map, last, at);
		if (at >= last || n > ep->file.dump_blocks - at)
			break;
		end = find_next_bit(ep->file.dump_map, at + n, at);
		if (end == at + n)
			return at;
		at = end + 1;
	}
	return ep->file.dump_blocks;
}

static unsigned long find_blocks(const struct o2gk_ep *ep, u32 n)
{
	unsigned long at;

	if (n == 0 || n > ep->file.dump_free || n > U16_MAX)
		return ep->file.dump_blocks;
	at = find_from(ep, ep->file.dump_next, n);
	if (at >= ep->file.dump_blocks && ep->file.dump_next)
		at = find_from(ep, 0, n);
	return at;
}

/* The same; what user space is done with is taken back first if there is no other. */
static unsigned long find_or_reclaim(struct o2gk_ep *ep, u32 n)
{
	unsigned long at = find_blocks(ep, n);

	if (at < ep->file.dump_blocks || !ep->file.dump_blocks ||
	    !reclaim(ep, O2GK_STEP))
		return at;
	return find_blocks(ep, n);
}

bool o2gk_dump_fits(struct o2gk_ep *ep, u64 len)
{
	unsigned long at =
		find_or_reclaim(ep, DIV_ROUND_UP_ULL(len, O2GD_BLOCK));

	if (at < ep->file.dump_blocks)
		ep->file.dump_next = at; /* which is found at once then */
	return at < ep->file.dump_blocks;
}

u32 o2gk_dump_alloc(struct o2gk_ep *ep, u64 len)
{
	u32 n = DIV_ROUND_UP_ULL(len, O2GD_BLOCK);
	unsigned long at;

	if (n == 0 || n > ep->file.dump_blocks || n > U16_MAX)
		return 0;
	at = find_or_reclaim(ep, n);
	if (at >= ep->file.dump_blocks) {
		ep->stats.dump_full++;
		return 0;
	}
	bitmap_set(ep->file.dump_map, at, n);
	ep->file.dump_free -= n;
	ep->file.dump_len[at] = n;
	ep->file.dump_next = at + n < ep->file.dump_blocks ? at + n : 0;
	return at + 1;
}

/* --- completions --- */

/* A few for each that is added are enough to keep up. */
static u32 cq_room(struct o2gk_ep *ep)
{
	reclaim(ep, 4);
	return ep->file.cq_mask + 1 - (ep->file.cq_tail - ep->file.cq_freed);
}

static void cq_write(struct o2gk_ep *ep, struct o2gk_done *d)
{
	struct o2gd_cqe *to = &ep->file.cq[ep->file.cq_tail & ep->file.cq_mask];

	ep->file.cq_dump[ep->file.cq_tail & ep->file.cq_mask] = d->dump;
	d->dump = 0;
	memcpy((u8 *)to + sizeof(to->seq), (u8 *)&d->cqe + sizeof(to->seq),
	       sizeof(*to) - sizeof(to->seq));
	/* After all the rest: user space reads this word first. */
	smp_store_release(&to->seq, ep->file.cq_tail + 1);
	WRITE_ONCE(ep->file.cq_tail, ep->file.cq_tail + 1);
	ep->file.wake = true;
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
	if (likely(list_empty(&ep->file.overflow) && cq_room(ep))) {
		cq_write(ep, d);
		return;
	}
	if (d->req)
		d->req->phase = O2GK_WAITING;
	list_add_tail(&d->link, &ep->file.overflow);
	WRITE_ONCE(ep->file.noverflow, ep->file.noverflow + 1);
	WRITE_ONCE(ep->file.shared->overflow, ep->file.noverflow);
	ep->stats.overflows++;
	ep->file.wake = true;
}

/* A portion; false: there is more to move, and room for it. */
bool o2gk_cq_flush(struct o2gk_ep *ep)
{
	bool more = reclaim(ep, O2GK_STEP) == O2GK_STEP;
	u32 n;

	lockdep_assert_held(&ep->lock);
	for (n = 0; n < O2GK_STEP && !list_empty(&ep->file.overflow); n++) {
		struct o2gk_done *d = list_first_entry(&ep->file.overflow,
						       struct o2gk_done, link);

		if (!cq_room(ep))
			break;
		list_del_init(&d->link);
		cq_write(ep, d);
		WRITE_ONCE(ep->file.noverflow, ep->file.noverflow - 1);
	}
	WRITE_ONCE(ep->file.shared->overflow, ep->file.noverflow);
	return n < O2GK_STEP && !more;
}

/* It is not to be told any more. */
void o2gk_cq_forget(struct o2gk_ep *ep, struct o2gk_done *d)
{
	lockdep_assert_held(&ep->lock);
	if (list_empty(&d->link))
		return;
	list_del_init(&d->link);
	WRITE_ONCE(ep->file.noverflow, ep->file.noverflow - 1);
	WRITE_ONCE(ep->file.shared->overflow, ep->file.noverflow);
}

/* Has user space consumed everything? */
bool o2gk_cq_seen(const struct o2gk_ep *ep)
{
	return READ_ONCE(ep->file.shared->cq_head) ==
		       READ_ONCE(ep->file.cq_tail) &&
	       !READ_ONCE(ep->file.noverflow);
}
