/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers whose address is not known yet. */
#ifndef ENG_RESOLVE_H
#define ENG_RESOLVE_H

#include "peer.h"

void eng_resolve_init(struct o2g_ep *ep);
/* Ask for its address and connect, now or later: 0, or negative and it is lost. */
int eng_resolve(struct o2g_ep *ep, struct eng_peer *p);
/* It is lost: nobody asks any more. */
void eng_resolve_stop(struct eng_peer *p);
/* Are messages waiting for its address? */
static inline bool eng_resolve_holds(const struct eng_peer *p)
{
	return p->resolving && !o2g_list_empty(&p->cp.core.stalled);
}

#endif
