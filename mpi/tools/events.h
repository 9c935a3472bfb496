/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What other chapters report to tools. Each event carries two ints.
 * Report outside of locks: a tool's callback runs at once and may call MPI.
 */
#ifndef MPI_TOOLS_EVENTS_H
#define MPI_TOOLS_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>

enum mpii_event {
	MPII_EVENT_ERROR,     /* code, class */
	MPII_EVENT_COMM_NEW,  /* context, size */
	MPII_EVENT_COMM_FREE, /* context, size */
	MPII_EVENT_WIN_NEW,   /* context, size */
	MPII_EVENT_WIN_FREE,  /* context, size */
	MPII_EVENT_COUNT
};

extern atomic_int mpii_events_wanted; /* registrations that exist */

void mpii_event_raise(enum mpii_event e, int a, int b);

static inline void mpii_event(enum mpii_event e, int a, int b)
{
	if (__builtin_expect(atomic_load_explicit(&mpii_events_wanted,
						  memory_order_relaxed),
			     0))
		mpii_event_raise(e, a, b);
}

#endif
