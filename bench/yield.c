// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Preloaded to MPICH on UCX, makes its waiting loop give the core to others: MPICH has
 * no setting for that, and where ranks outnumber cores it waits for a time slice with
 * every message. Each turn of the loop asks UCX for progress; when there was none, and
 * was none the time before, the rank yields.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*progress)(void *);
	static __thread unsigned in_vain;
	unsigned events;

	if (!progress)
		*(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
	if (!progress)
		abort();
	events = progress(worker);
	if (events)
		in_vain = 0;
	else if (++in_vain > 1)
		sched_yield();
	return events;
}
