/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Starting further processes: our launcher does it if it can, and ends them with the
 * job; elsewhere an mpiexec of our own does (own_mpiexec.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "env/errors.h"
#include "pmi.h"
#include "process/children.h"
#include "process/others.h"
#include "process/spawn_info.h"

/* How long the last words of processes that we are not connected to may take. */
#define LEAVE_MS 2000

struct mpii_child {
	struct mpii_child *next;
	int fd;	      /* to its mpiexec; -1: the launcher has started it, */
	int number;   /* and calls it that */
	uint64_t job; /* 0: not connected yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_child *children; /* with an mpiexec of their own */

/* --- starting them --- */

static void free_programs(struct pmi_program *p, int count)
{
	for (int i = 0; p && i < count; i++)
		mpii_spawn_info_free(p[i].info);
	free(p);
}

static int describe(const struct mpii_program *programs, int count,
		    struct pmi_program **out)
{
	struct pmi_program *p = calloc((size_t)count, sizeof(*p));
	int err = p ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");

	for (int i = 0; i < count && !err; i++) {
		p[i] = (struct pmi_program){ .command = programs[i].command,
					     .argv = programs[i].argv,
					     .n = programs[i].n };
		err = mpii_spawn_info(programs[i].info, &p[i].info);
	}
	if (err)
		free_programs(p, count);
	else
		*out = p;
	return err;
}

static int launcher_failed(int err, const char *why)
{
	return mpii_fail(MPI_ERR_SPAWN, "%s",
			 *why	     ? why :
			 err == -EIO ? "the launcher has refused" :
				       strerror(-err));
}

/* MPI_SUCCESS also if the launcher cannot, with *done false. */
static int by_launcher(const struct pmi_program *p, int count, const char *port,
		       struct mpii_child *k, bool *done)
{
	char why[512];
	int err = pmi_spawn(p, count, port, &k->number, why, sizeof(why));

	*done = err != -ENOTSUP;
	k->fd = -1;
	return !err || !*done ? MPI_SUCCESS : launcher_failed(err, why);
}

static void remember(struct mpii_child *k)
{
	pthread_mutex_lock(&lock);
	k->next = children;
	children = k;
	pthread_mutex_unlock(&lock);
}

int mpii_child_start(const struct mpii_program *programs, int count,
		     const char *port, struct mpii_child **child)
{
	struct mpii_child *k = calloc(1, sizeof(*k));
	struct pmi_program *p = NULL;
	bool done = false;
	int err = k ? describe(programs, count, &p) :
		      mpii_fail(MPI_ERR_NO_MEM, "out of memory");

	if (!err)
		err = by_launcher(p, count, port, k, &done);
	if (!err && !done)
		err = mpii_mpiexec_start(p, count, port, &k->fd);
	free_programs(p, count);
	if (err) {
		free(k);
		return err;
	}
	if (k->fd >= 0)
		remember(k);
	*child = k;
	return MPI_SUCCESS;
}

bool mpii_child_is_watched(const struct mpii_child *child)
{
	return child->fd >= 0 || pmi_child_known(child->number);
}

/* --- while it runs --- */

bool mpii_child_runs(struct mpii_child *child)
{
	struct pollfd p = { .fd = child->fd, .events = POLLIN };

	if (child->fd < 0)
		return pmi_child_runs(child->number);
	return poll(&p, 1, 0) == 0;
}

/* Those that have ended leave their descriptor. With the lock. */
static void sweep(void)
{
	struct mpii_child **at = &children;

	while (*at) {
		struct mpii_child *k = *at;

		if (!k->job || mpii_child_runs(k)) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		close(k->fd);
		free(k);
	}
}

void mpii_child_is(struct mpii_child *child, uint64_t job)
{
	if (child->fd < 0) {
		free(child); /* the launcher sees to it */
		return;
	}
	pthread_mutex_lock(&lock);
	child->job = job;
	sweep();
	pthread_mutex_unlock(&lock);
}

void mpii_child_drop(struct mpii_child *child)
{
	struct mpii_child **at = &children;

	pthread_mutex_lock(&lock);
	while (*at && *at != child)
		at = &(*at)->next;
	if (*at)
		*at = child->next;
	pthread_mutex_unlock(&lock);
	if (child->fd >= 0)
		close(child->fd);
	free(child);
}

/* --- the end --- */

/* Are we connected with somebody of that job? */
static bool is_connected(uint64_t job)
{
	int *peers, n = mpii_others_connected(&peers);
	bool yes = false;

	for (int i = 0; i < n && !yes; i++)
		yes = mpii_identity(peers[i]).job == job;
	free(peers);
	return yes;
}

/* MPI_Finalize is for all connected processes, and what others still print must not
 * be cut off by the end of our job. */
static void await_end(struct mpii_child *k)
{
	uint64_t left = 0;

	while (mpii_child_runs(k)) {
		if (!is_connected(k->job)) {
			if (!left)
				left = o2g_now_ns();
			if (o2g_now_ns() - left > LEAVE_MS * 1000000ull)
				break;
		}
		o2g_progress(mpii.ep);
		usleep(500);
	}
}

void mpii_children_finish(void)
{
	pthread_mutex_lock(&lock);
	while (children) {
		struct mpii_child *k = children;

		children = k->next;
		await_end(k);
		/* it may go on without us */
		send(k->fd, "F", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(k->fd);
		free(k);
	}
	pthread_mutex_unlock(&lock);
}
