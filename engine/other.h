/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers of other jobs. */
#ifndef ENG_OTHER_H
#define ENG_OTHER_H

#include "ep.h"

/* The secret has changed, and with it what others know our job by. */
void eng_other_identify(struct o2g_ep *ep);

#endif
