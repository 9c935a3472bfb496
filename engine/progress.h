/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_PROGRESS_H
#define ENG_PROGRESS_H

#include "ep.h"

int eng_progress_init(struct o2g_ep *ep);
void eng_progress_cleanup(struct o2g_ep *ep);
/* One cheap round over the channels; with the lock. */
int eng_poll(struct o2g_ep *ep);
/* The same for whoever asks now and then: sometimes also at the descriptors. */
int eng_look(struct o2g_ep *ep);
/* What the descriptors have, waiting up to timeout_ms; the lock is held, and
 * released only while it sleeps. */
int eng_poll_fds(struct o2g_ep *ep, int timeout_ms);
/* Arrivals wake whoever sleeps on the descriptors; true: something is there. */
bool eng_arm(struct o2g_ep *ep);
void eng_disarm(struct o2g_ep *ep);
void eng_flush(struct o2g_ep *ep);

#endif
