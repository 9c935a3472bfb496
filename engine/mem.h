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
/* ... and then: an operation, with the operands' place for the results; a few bytes. */
int eng_mem_atomic(struct o2g_core *c, const struct o2g_seg *seg, u32 op,
		   u32 type, void *operands, u64 n);
bool eng_mem_peek(struct o2g_core *c, const struct o2g_seg *seg, u64 *to);
void eng_mems_cleanup(struct o2g_ep *ep);

#endif
