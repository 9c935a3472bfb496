/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_FORKED_H
#define ENG_FORKED_H

#include "ep.h"

/* In the child of a fork its calls fail. */
void eng_forked_add(struct o2g_ep *ep);
void eng_forked_del(struct o2g_ep *ep);

#endif
