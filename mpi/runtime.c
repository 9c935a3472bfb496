/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The process as part of its job: who we are, the endpoint, the numbering of
 * contexts. The world model (MPI_Init) and every session use it; it comes to
 * life with the first user.
 *
 * A launcher lets a process join once only. So where sessions are used, the
 * process stays joined when the last one ends, since there may be another; it
 * leaves when the program ends. Without sessions it leaves in MPI_Finalize.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/choose.h"
#include "comm.h"
#include "log.h"
#include "pmi.h"
#include "process.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEVER, JOINED, LEFT } job;
static pid_t process; /* that joined, and not a child of it */

static void leave(void)
{
	job = LEFT;
	mpii_wiredown();
}

/* Nobody leaves while others still need answers: the progress thread gives them
 * while we wait. A program that ends while it uses MPI has not left. */
static void at_exit(void)
{
	if (job != JOINED || atomic_load(&mpii.users) || getpid() != process)
		return;
	pmi_barrier();
	leave();
}

static int join(void)
{
	int err;

	if (job == LEFT) {
		o2g_error("MPI cannot be used again after MPI_Finalize, unless "
			  "there was a session before it");
		return -ESHUTDOWN;
	}
	err = mpii_wireup();
	if (err)
		return err;
	mpii_context_start();
	coll_choose_start();
	process = getpid();
	job = JOINED;
	return 0;
}

int mpii_runtime_hold(void)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (job != JOINED)
		err = join();
	if (!err)
		atomic_fetch_add(&mpii.users, 1);
	pthread_mutex_unlock(&lock);
	return err;
}

void mpii_runtime_stay(void)
{
	static bool registered;

	pthread_mutex_lock(&lock);
	if (!registered)
		registered = !atexit(at_exit);
	pthread_mutex_unlock(&lock);
}

void mpii_runtime_put(bool stay)
{
	pthread_mutex_lock(&lock);
	if (atomic_fetch_sub(&mpii.users, 1) == 1 && !stay)
		leave();
	pthread_mutex_unlock(&lock);
}
