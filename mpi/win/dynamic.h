/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is attached to a dynamic window. */
#ifndef WIN_DYNAMIC_H
#define WIN_DYNAMIC_H

#include "win/win.h"

/* Is all of this attached, in one piece? */
bool win_region_holds(struct mpii_win *w, uint64_t address, uint64_t bytes);

#endif
