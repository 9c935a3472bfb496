/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The tool information interface, MPI_T: what its files share.
 *
 * Control variables are the O2G_ settings, performance variables what libo2g
 * counts, events what the chapters report with mpii_event. MPI_T calls no error
 * handler and returns classes of its own. A tool may pass a null pointer for
 * any result that it does not want.
 */
#ifndef MPI_TOOLS_H
#define MPI_TOOLS_H

#include "mpii.h"

/* Between MPI_T_init_thread and MPI_T_finalize? */
bool mpii_tools_on(void);
#define TOOLS_ON()                                        \
	do {                                              \
		if (!mpii_tools_on())                     \
			return MPI_T_ERR_NOT_INITIALIZED; \
	} while (0)

/* A string as MPI_T returns it: cut to *len, and *len becomes its full length
 * with the terminating zero. */
void mpii_tools_string(const char *from, char *to, int *len);

/* Set *p unless the tool passed a null pointer. */
#define GIVE(p, v)                \
	do {                      \
		if (p)            \
			*(p) = v; \
	} while (0)

/* 0 and 1, with names (tools.c). */
extern struct MPI_ABI_T_enum mpii_switch;

/* How many there are of each, for the categories. */
int mpii_cvars(void);
int mpii_pvars(void);
int mpii_events(void);
/* Which performance variables belong to the queues; the rest is traffic. */
int mpii_pvars_of_queues(void);

#endif
