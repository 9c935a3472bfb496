/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_MEM_H
#define ENG_MEM_H

#include "ep.h"

struct o2g_mem {
	struct o2g_ep *ep;
	u64 key;
	char *base;
	size_t len;
	unsigned access;
	u32 slot;
};

/* From the core, for a key that came from the network. */
int eng_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		 u64 len, bool write, struct o2g_seg *seg);
void eng_mems_cleanup(struct o2g_ep *ep);

#endif
