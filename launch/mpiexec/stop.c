// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Ctrl-Z. A rank leads a session of its own, so that the kernel gives it a share of
 * the processors of its own (autogroup). Its process group is an orphan by that, in
 * which the kernel has no SIGTSTP stop anybody. So we do what the signal would have
 * done: stop those that leave it as it was, and leave those alone that ignore it;
 * whoever has a handler gets to run it first.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

#define HANDLER_MS 100

enum reaction { STOPS, HANDLES, IGNORES };

static bool has_bit(const char *status, const char *field, int sig)
{
	const char *at = strstr(status, field);

	return at && strtoull(at + strlen(field), NULL, 16) >> (sig - 1) & 1;
}

static enum reaction reaction_of(pid_t pid)
{
	char path[64], text[4096];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	if (has_bit(text, "\nSigIgn:", SIGTSTP))
		return IGNORES;
	return has_bit(text, "\nSigCgt:", SIGTSTP) ? HANDLES : STOPS;
}

static void stop_handled(struct timer *t)
{
	for (int i = 0; i < proxy.nranks; i++) {
		struct rank *r = &proxy.ranks[i];

		if (r->stopping && r->pid > 0)
			kill(-r->pid, SIGSTOP);
		r->stopping = false;
	}
}

static struct timer handled = { .fn = stop_handled };

void stop_ranks(void)
{
	for (int i = 0; i < proxy.nranks; i++) {
		struct rank *r = &proxy.ranks[i];
		enum reaction how;

		if (r->pid <= 0)
			continue;
		how = reaction_of(r->pid);
		r->stopping = how == HANDLES;
		kill(-r->pid, how == STOPS ? SIGSTOP : SIGTSTP);
		if (r->stopping)
			timer_set(&handled, HANDLER_MS);
	}
}

void stop_over(void)
{
	timer_clear(&handled);
	for (int i = 0; i < proxy.nranks; i++)
		proxy.ranks[i].stopping = false;
}
