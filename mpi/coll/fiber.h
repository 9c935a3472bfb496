/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Fibers: a function with a stack of its own that can stop in the middle and be
 * continued later, by any thread, but by one at a time.
 *
 * Between two stops the thread may change. What belongs to a thread must not be
 * remembered across one: no pointer to a thread-local variable, no errno.
 */
#ifndef MPI_FIBER_H
#define MPI_FIBER_H

#include <stdbool.h>

struct mpii_fiber;

/* NULL: out of memory. It does not run yet. */
struct mpii_fiber *mpii_fiber_create(void (*fn)(void *arg), void *arg);
/* Runs it until it stops or ends. True: it has ended. */
bool mpii_fiber_resume(struct mpii_fiber *f);
/* From inside: back to who resumed it, until the next time. */
void mpii_fiber_stop(struct mpii_fiber *f);
/* Of one that has ended, or never ran. */
void mpii_fiber_destroy(struct mpii_fiber *f);

#endif
