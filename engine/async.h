/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_ASYNC_H
#define ENG_ASYNC_H

#include "ep.h"

/* Without the thread, which it warns of, messages wait while the program computes. */
void eng_async_start(struct o2g_ep *ep);
void eng_async_stop(struct o2g_ep *ep);
/* Something large is under way and the program leaves the library: have the
 * thread armed if it does not come back to wait at once. */
void eng_async_want(struct o2g_ep *ep);
void eng_async_arm(struct o2g_ep *ep);
/* There is work for the thread. */
void eng_async_kick(struct o2g_ep *ep);
/* A long wait has ended: called when async_parked is set. */
void eng_async_unpark(struct o2g_ep *ep);
/* The program waits: called when one of the two flags is set. */
void eng_async_disarm(struct o2g_ep *ep);

#endif
