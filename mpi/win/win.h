/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Windows: what error handlers, attributes and names need of them. */
#ifndef MPII_WIN_WIN_H
#define MPII_WIN_WIN_H

#include "mpii.h"

struct mpii_errh;
struct mpii_attr;

struct mpii_win {
	struct mpii_obj obj;
	MPI_Win handle;
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	char name[MPI_MAX_OBJECT_NAME];
	/* the predefined attributes */
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
};

/* NULL: not a window. */
static inline struct mpii_win *mpii_win_get(MPI_Win h)
{
	struct mpii_win *w = (struct mpii_win *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END && !mpii_misaligned(h) &&
			       w->obj.magic == MPII_WIN ?
		       w :
		       NULL;
}

#endif
