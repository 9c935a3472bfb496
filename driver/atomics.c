// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Atomic operations on registered memory, by instructions of the processor on its pinned
 * pages: integers of 1 to 8 bytes, naturally aligned. They take no lock that a process
 * may hold, and a process that updates the same memory by such instructions itself does
 * not disturb them. All else is refused, and the peer is told: floating point, which the
 * kernel has none of; what is not aligned, where an instruction that crosses a cache line
 * is a fault on some machines; memory that is not pinned, which would have to be waited
 * for.
 */
#include "o2gk.h"

#include <linux/highmem.h>

#include "atomic.h"

/* One element; its operand, or two of compare-and-swap, become the value from before. */
static void update(void *at, u32 op, u32 type, void *operand)
{
	u32 size = o2g_atomic_size(type);
	u64 old;

	if (op != O2G_AOP_CAS) {
		o2g_atomic_apply(o2g_atomic_integer, op, type, at, operand,
				 operand, 1);
		return;
	}
	old = o2g_atomic_cas(type, at, o2g_atomic_read(operand, size),
			     o2g_atomic_read(operand + size, size));
	memcpy(operand, &old, size);
}

/* An element that is aligned is within one page. */
static int update_page(const struct o2gk_pin *pin, u64 off, u32 op, u32 type,
		       void *operand)
{
	const struct bio_vec *bv = o2gk_bvec_at(pin, &off);
	u32 size = o2g_atomic_size(type), at;
	char *page;

	for (; off >= bv->bv_len; bv++)
		off -= bv->bv_len;
	at = bv->bv_offset + off;
	if (at & (size - 1) || size > bv->bv_len - off)
		return -EOPNOTSUPP;
	page = kmap_local_page(o2gk_nth_page(bv->bv_page, at >> PAGE_SHIFT));
	update(page + offset_in_page(at), op, type, operand);
	kunmap_local(page);
	return 0;
}

/* From the core. Few elements: it refuses packets of more than O2G_SHORT bytes. */
int o2gk_atomic(struct o2g_core *c, const struct o2g_seg *seg, u32 op, u32 type,
		void *operands, u64 n)
{
	u32 size = o2g_atomic_size(type);
	u64 i;
	int err;

	if (seg->type != O2GK_SEG_PAGES || o2g_atomic_is_float(type))
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		err = update_page(seg->pin, seg->off + i * size, op, type,
				  operands + i * size);
		if (err)
			return err;
	}
	return 0;
}
