/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Noticing that a peer's process has ended: its pidfd becomes readable. A
 * kernel without pidfds is asked four times a second. A peer in the hall gets
 * its pidfd a moment after it was met: meeting many at once is quick.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_EVERY_US 250000
#define FIRST_LOOK_US 5000

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* A pidfd, -ESRCH when there is no such process, -ENOSYS. */
int shm_pidfd(u32 pid)
{
	static atomic_bool none; /* valgrind complains about each attempt */
	int fd;

	if (atomic_load_explicit(&none, memory_order_relaxed))
		return -ENOSYS;
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0)
		return fd;
	if (errno == ENOSYS)
		atomic_store_explicit(&none, true, memory_order_relaxed);
	return errno == ESRCH ? -ESRCH : -ENOSYS;
}

/* Ended, and its parent has not asked for its status yet. */
static bool is_zombie(u32 pid)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	/* "pid (name) state": the name may hold anything, even brackets */
	for (int c; (c = getc(f)) != EOF;)
		if (c == ')' && getc(f) == ' ')
			state = getc(f);
	fclose(f);
	return state == 'Z' || state == 'X';
}

bool shm_process_ended(u32 pid, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (pidfd >= 0)
		return poll(&p, 1, 0) > 0;
	return (kill(pid, 0) && errno == ESRCH) || is_zombie(pid);
}

/*
 * The peer's process has ended: take what is left and lose it. What it sent
 * before still counts. One that said goodbye is missed
 * only if we have something left for it.
 */
static void ended(struct shm_link *l)
{
	struct shm *s = l->shm;

	l->is_silent = true;
	s->depth++;
	shm_drain(l);
	if (!l->dead && l->bound &&
	    (!l->p->core.said_bye || !o2g_list_empty(&l->queue)))
		chan_peer_lost(l->p, -O2G_ERR_PEER, "its process has ended");
	if (!l->dead) {
		shm_unwatch_process(l);
		shm_scan_del(l);
	}
	s->depth--;
	shm_bury(s);
}

static int pidfd_ready(struct chan_watch *w, u32 events)
{
	ended(container_of(w, struct shm_link, watch));
	return 1;
}

static bool watch(struct shm_link *l, int pidfd)
{
	l->watch.fd = pidfd;
	l->watch.ready = pidfd_ready;
	l->has_watch = !chan_watch_add(l->shm->chan.ep, &l->watch, EPOLLIN);
	return l->has_watch;
}

/* A process that was given the number of another has not its memory. Where it
 * cannot be read nobody can tell. */
static bool is_another(const struct shm_link *l)
{
	return l->can_get && !shm_can_get(l->shm, l);
}

/* True: it has ended. It is watched from now on if that is possible. */
static bool look_at(struct shm_link *l)
{
	int pidfd = l->seg.base ? shm_pidfd(l->pid) : -ENOSYS;

	if (pidfd < 0)
		return pidfd == -ESRCH || shm_process_ended(l->pid, -1);
	if (shm_process_ended(l->pid, pidfd) || is_another(l)) {
		close(pidfd);
		return true;
	}
	l->polled = !watch(l, pidfd);
	if (l->polled)
		close(pidfd);
	return false;
}

static struct shm_link *find_ended(struct shm *s)
{
	struct o2g_list *at;

	o2g_list_for_each(at, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (l->polled && look_at(l))
			return l;
	}
	return NULL;
}

static bool any_polled(struct shm *s)
{
	struct o2g_list *at;

	o2g_list_for_each(at, &s->links)
		if (container_of(at, struct shm_link, all)->polled)
			return true;
	return false;
}

static void look_again(struct shm *s)
{
	s->alive_timer_set = any_polled(s);
	if (s->alive_timer_set)
		chan_timer_set(s->chan.ep, &s->alive_timer, LOOK_EVERY_US);
}

static void look(struct chan_timer *t)
{
	struct shm *s = container_of(t, struct shm, alive_timer);
	struct shm_link *l;

	s->depth++; /* nothing leaves the list's memory while we walk */
	while ((l = find_ended(s))) { /* others may be gone with it */
		l->polled = false;
		ended(l);
	}
	s->depth--;
	shm_bury(s);
	look_again(s);
}

static void look_later(struct shm_link *l)
{
	struct shm *s = l->shm;

	l->polled = true;
	if (s->alive_timer_set)
		return;
	s->alive_timer_set = true;
	s->alive_timer.fn = look;
	o2g_list_init(&s->alive_timer.link);
	chan_timer_set(s->chan.ep, &s->alive_timer, FIRST_LOOK_US);
}

/* @pidfd is a descriptor, ours from now on, or negative. */
void shm_watch_process(struct shm_link *l, int pidfd)
{
	if (pidfd >= 0 && watch(l, pidfd))
		return;
	if (pidfd >= 0)
		close(pidfd);
	look_later(l);
}

void shm_unwatch_process(struct shm_link *l)
{
	l->polled = false;
	if (!l->has_watch)
		return;
	l->has_watch = false;
	chan_watch_del(l->shm->chan.ep, &l->watch);
	close(l->watch.fd);
}
