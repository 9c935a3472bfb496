/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_ENDED_H
#define ENG_ENDED_H

#include "ep.h"

struct eng_peer;

void eng_ended_start(struct o2g_ep *ep);
/* From now on, also in a job of one. */
void eng_ended_look(struct o2g_ep *ep);
/* Somebody looks for a message of this source in vain, and may do so again. */
void eng_ended_probed(struct o2g_ep *ep, u32 source);
/* A peer was lost: what else cannot come to an end? Receives, that is; sends have
 * to wait for the next look. */
void eng_ended_give_up(struct o2g_ep *ep);
/* A peer cannot be reached: if nobody asks why, and the program goes on waiting, a
 * line says so. */
void eng_ended_untold(struct eng_peer *p);
void eng_ended_told(struct eng_peer *p);
/* The endpoint closes: what was sent to peers that were never reached is lost. */
void eng_ended_last_words(struct o2g_ep *ep);
/* Can a message from any source still come? */
bool eng_any_doomed(struct o2g_ep *ep, u64 tag);

#endif
