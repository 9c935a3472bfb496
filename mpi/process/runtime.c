/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The process as part of its job: who we are, the endpoint, the numbering of
 * contexts. The world model (MPI_Init) and every session use it; it comes to
 * life with the first user.
 *
 * A launcher lets a process join once only. So where sessions are used, the
 * process stays joined when the last one ends, since there may be another; it
 * leaves when the program ends. Without sessions it leaves in MPI_Finalize.
 *
 * Joining is local. Before there are messages ranks have to meet (wireup.c): all
 * of them in MPI_Init, the members of a group where a communicator is made of it.
 * Where the launcher can only let all wait for all, that is the same, and a rank
 * that never met anybody does so when it ends: others may wait for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/choose.h"
#include "io/pool.h"
#include "log.h"
#include "pmi.h"
#include "process/children.h"
#include "process/gone.h"
#include "process/names.h"
#include "process/others.h"
#include "process/port.h"
#include "process/runtime.h"
#include "process/wireup.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { NEVER, JOINED, LEFT } job;
static pid_t process; /* that joined, and not a child of it */
static enum { ALONE, SHARED, ALL } met;

static void leave(void)
{
	io_pool_stop();
	job = LEFT;
	met = ALONE;
	mpii_children_finish();
	mpii_names_unpublish_all();
	mpii_port_close_all();
	mpii_wiredown();
}

static int meet_all(void)
{
	int err = met == ALL ? 0 : mpii_meet_all();

	if (!err)
		met = ALL;
	return err;
}

/* Nobody leaves while others still need answers: the progress thread gives them
 * while we wait. A program that ends while it uses MPI has not left. */
static void at_exit(void)
{
	if (job != JOINED || atomic_load(&mpii.users) || getpid() != process)
		return;
	if (pmi_shares()) {
		/* whoever waits for a rank that has died, and for us, must also see us
		 * go */
		if (met != ALONE && !mpii_gone_any())
			pmi_leave();
	} else {
		meet_all();
		pmi_barrier();
	}
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

int mpii_runtime_hold_all(void)
{
	int err = mpii_runtime_hold();

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = meet_all();
	pthread_mutex_unlock(&lock);
	return err;
}

/* We wait without the lock: other threads may make other communicators, and
 * those we wait for may wait for that. */
int mpii_runtime_meet(const struct mpii_group *g)
{
	bool all;
	int err = 0;

	if (g->size == 1 && g->rank == 0)
		return 0;
	pthread_mutex_lock(&lock);
	if (!pmi_shares())
		err = meet_all();
	else if (met == ALONE)
		err = mpii_meet_share();
	if (!err && met == ALONE)
		met = SHARED;
	all = met == ALL;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < g->size && !err && !all; i++)
		if (!mpii_is_other(mpii_group_peer(g, i)))
			err = mpii_meet_one(mpii_group_peer(g, i));
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
