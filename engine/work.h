/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_WORK_H
#define ENG_WORK_H

#include "ep.h"

/* To be done without the lock, soon. With the lock; w->fn and w->ep are set. */
void eng_work_add(struct o2g_ep *ep, struct o2g_work *w);

#endif
