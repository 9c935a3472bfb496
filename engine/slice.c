/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A thread's slice, for schedulers that have deadlines (EEVDF). A thread that wakes
 * up competes with the one that computes by the end of its slice: with one of 0.1 ms
 * it comes first, where with the usual 3 ms it waits for most of the other's turn.
 */
#include "slice.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_NS 100000 /* the shortest that the kernel grants */

/* The kernel's struct sched_attr, as it was first: its header and libc's collide. */
struct attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

void eng_short_slice(void)
{
	struct attr a = { 0 };

	/* Only the slice changes: somebody may have chosen the rest. */
	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != 0)
		return;
	a.size = sizeof(a);
	a.runtime = SHORT_NS;
	/* Refused, it stays as it was: slower, not wrong. */
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}
