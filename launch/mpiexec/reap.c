// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

void reap_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of a process, from /proc/PID/stat; the name in it may hold
 * anything, so look behind the last parenthesis. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], *p;
	int fd, parent;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	p = strrchr(text, ')');
	return p && sscanf(p + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

static void kill_children(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    parent_of(e->d_name) == getpid())
			kill(atoi(e->d_name), SIGKILL);
	closedir(dir);
}

/*
 * Killing a child hands us its children, so this goes on until there are none.
 * Safe to kill by number: a child of ours keeps its number until we wait.
 */
void reap_all(unsigned ms)
{
	uint64_t until = o2g_now_ns() + ms * 1000000ull;
	unsigned pause_us = 100;

	while (o2g_now_ns() < until) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid > 0)
			continue;
		if (pid < 0 && errno == ECHILD)
			return;
		kill_children();
		usleep(pause_us);
		pause_us = pause_us < 10000 ? pause_us * 2 : pause_us;
	}
}
