/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_WAIT_H
#define ENG_WAIT_H

#include "ep.h"

void eng_wait_init(struct o2g_ep *ep);
/* o2g_wait_until() with the lock, which is let go of while the thread sleeps. */
int eng_wait_locked(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    int64_t timeout_us);

#endif
