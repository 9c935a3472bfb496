/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Handlers, and the messages that are for them. */
#ifndef ENG_SERVE_H
#define ENG_SERVE_H

#include "peer.h"

void eng_serve_init(struct o2g_ep *ep);
void eng_serve_cleanup(struct o2g_ep *ep);
/* From the core: the peer's next message can be handled. */
void eng_serve_peer(struct o2g_core *c, struct o2g_peer *p);
/* The driver has this one, and hands over no other of the peer until it is handled. */
void eng_serve_handed(struct eng_peer *p, u64 tag, u64 len, u64 handle);
/* Its messages are dropped; not while one is being handled. */
void eng_serve_forget(struct eng_peer *p);

#endif
