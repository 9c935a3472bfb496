/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The process: what every chapter may ask about it. */
#ifndef MPII_PROCESS_PROCESS_H
#define MPII_PROCESS_PROCESS_H

#include "mpii.h"

/* The world model: MPI_Init to MPI_Finalize. */
enum mpii_world_state {
	MPII_WORLD_NOT_YET,
	MPII_WORLD_STARTING, /* so that a second thread is refused as well */
	MPII_WORLD_RUNNING,
	MPII_WORLD_FINALIZED,
};

struct mpii_process {
	atomic_int world;     /* enum mpii_world_state */
	atomic_int users;     /* the world model and sessions: runtime.c */
	atomic_bool sessions; /* there was one */
	atomic_bool multiple; /* threads may be in MPI at the same time */
	bool forked; /* this is a child: nothing shared is ours to write to */
	int rank, size; /* in MPI_COMM_WORLD */
	int provided;	/* thread level */
	struct o2g_ep *ep;
	int appnum, universe_size;
	pthread_t main_thread;
	char host[MPI_MAX_PROCESSOR_NAME];
};
extern struct mpii_process mpii;

/* May MPI be used, in whichever model? */
static inline bool mpii_running(void)
{
	return atomic_load_explicit(&mpii.users, memory_order_relaxed) > 0;
}
/* Are MPI_COMM_WORLD and MPI_COMM_SELF there? */
static inline bool mpii_world_running(void)
{
	return atomic_load_explicit(&mpii.world, memory_order_relaxed) ==
	       MPII_WORLD_RUNNING;
}

/* After an error, ends the job: tells the launcher, then exits. Does not return. */
_Noreturn void mpii_abort(int code, const char *text);
/* The same for some ranks of the world, in ascending order, and us among them;
 * for all where the launcher knows no other way. */
_Noreturn void mpii_abort_some(int code, const char *text, const int *ranks,
			       int n);

#endif
