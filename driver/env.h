/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The core's door to the outside, kernel version; see engine/env/env.h. */
#ifndef O2G_ENV_H
#define O2G_ENV_H

#include <asm/byteorder.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "uapi/o2g.h"

struct o2gk_pin;
struct iovec;

enum o2gk_seg_type {
	O2GK_SEG_KERNEL, /* kaddr */
	O2GK_SEG_LATER, /* a small receive: has no memory until it is matched */
	O2GK_SEG_PAGES, /* pin: pinned pages */
	O2GK_SEG_USER,	/* iov: memory of the endpoint's process */
};

/* A request's memory: one segment, whatever it is made of. */
struct o2g_seg {
	u64 len;
	u64 off; /* where it starts in pin or iov */
	u32 type;
	u32 n; /* elements of iov */
	union {
		void *kaddr;
		const struct o2gk_pin *pin;
		const struct iovec *iov;
	};
};

#define env_assert(cond) WARN_ON_ONCE(!(cond))

/*
 * Used for messages that arrive in one piece of memory; the driver's never do,
 * so only kernel memory is written to here.
 */
static inline void env_seg_write(const struct o2g_seg *to, const void *from,
				 size_t n)
{
	if (!WARN_ON_ONCE(n && to->type != O2GK_SEG_KERNEL))
		memcpy(to->kaddr, from, n);
}

static inline void env_seg_set(struct o2g_seg *seg, const void *memory)
{
	seg->type = O2GK_SEG_KERNEL;
	seg->off = 0;
	seg->kaddr = (void *)memory;
}

/* What that has set; no other memory is in one piece. */
static inline void *env_seg_memory(const struct o2g_seg *seg)
{
	return WARN_ON_ONCE(seg->type != O2GK_SEG_KERNEL) ? NULL : seg->kaddr;
}

#endif
