/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Noticing that a peer's process has ended: its pidfd becomes readable. A
 * kernel without pidfds is asked four times a second.
 */
#define _GNU_SOURCE
#include "shm.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_EVERY_US 250000

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* A pidfd, -ESRCH when there is no such process, -ENOSYS. */
int shm_pidfd(u32 pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return fd;
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

static void look(struct chan_timer *t)
{
	struct shm *s = container_of(t, struct shm, alive_timer);
	struct o2g_list *at, *tmp;

	s->depth++; /* nothing leaves the list's memory while we walk */
	o2g_list_for_each_safe(at, tmp, &s->links) {
		struct shm_link *l = container_of(at, struct shm_link, all);

		if (!l->polled || !shm_process_ended(l->pid, -1))
			continue;
		l->polled = false;
		ended(l);
		break; /* others may be gone with it; they get their turn */
	}
	s->depth--;
	shm_bury(s);
	chan_timer_set(s->chan.ep, t, LOOK_EVERY_US);
}

/* @pidfd is a descriptor, ours from now on, or negative. */
void shm_watch_process(struct shm_link *l, int pidfd)
{
	struct shm *s = l->shm;

	l->watch.fd = pidfd;
	l->watch.ready = pidfd_ready;
	if (pidfd >= 0 && !chan_watch_add(s->chan.ep, &l->watch, EPOLLIN)) {
		l->has_watch = true;
		return;
	}
	if (pidfd >= 0)
		close(pidfd);
	l->polled = true;
	if (s->alive_timer_set)
		return;
	s->alive_timer_set = true;
	s->alive_timer.fn = look;
	o2g_list_init(&s->alive_timer.link);
	chan_timer_set(s->chan.ep, &s->alive_timer, LOOK_EVERY_US);
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
