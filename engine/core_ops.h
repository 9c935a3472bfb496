/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_CORE_OPS_H
#define ENG_CORE_OPS_H

#include "ep.h"

extern const struct o2g_core_ops eng_core_ops;

/* Something completed or arrived: wake whoever sleeps. With the lock. */
void eng_tell(struct o2g_ep *ep);
static inline void eng_event(struct o2g_ep *ep)
{
	if (unlikely(ep->listeners))
		eng_tell(ep);
}
void eng_match_grow(struct o2g_ep *ep);

#endif
