/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is attached to a dynamic window. */
#ifndef WIN_DYNAMIC_H
#define WIN_DYNAMIC_H

#include "datatype/datatype.h"
#include "win/win.h"

/* Is all of this attached? */
bool win_region_holds(struct mpii_win *w, uint64_t address, uint64_t bytes);
/* ... each piece of bytes [off, off+n) of the packed form of what lies at @address? */
bool win_regions_hold(struct mpii_win *w, uint64_t address,
		      const struct mpii_type *t, MPI_Count off, MPI_Count n);

#endif
