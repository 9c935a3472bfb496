/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The arguments of the calls that make windows, and their info. */
#ifndef WIN_CREATE_H
#define WIN_CREATE_H

#include "win/pscw.h"
#include "win/win.h"

struct win_args {
	const char *func;
	int flavor;
	void *base;
	MPI_Aint size, disp_unit;
	MPI_Info info;
	void *baseptr; /* where the program wants the address, or NULL */
	MPI_Win *win;
};

int win_make(const struct win_args *a, MPI_Comm comm);

/* info.c. False: out of memory. */
bool win_info_take(struct mpii_win *w, const struct mpii_info *from);
int win_info_alignment(const struct mpii_win *w);
/* Is the memory of a shared window to be one piece? */
bool win_info_contiguous(const struct mpii_win *w);

/* dynamic.c */
void win_regions_free(struct mpii_win *w);

/* Is the memory of all members mapped here? */
static inline bool win_all_direct(const struct mpii_win *w)
{
	for (int i = 0; i < w->n; i++)
		if (!w->peers[i].direct)
			return false;
	return true;
}

#endif
