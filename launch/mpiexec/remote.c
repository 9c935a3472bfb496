// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Starts the proxies. On this host it is a child; elsewhere the agent is run
 * as `AGENT host PATH/o2g-proxy`, one word without arguments, so that it makes
 * no difference whether the agent passes its words on as they are or hands
 * them to a shell, as ssh does. All else goes through the control stream.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"
#include "spawned.h"
#include "util.h"

/* No terminal is left to it, so asking for a password would only hang. A host
 * that has gone is noticed within a minute. */
#define DEFAULT_AGENT                                   \
	"ssh -x -o BatchMode=yes -o ConnectTimeout=10 " \
	"-o ServerAliveInterval=15"

const char *remote_agent(void)
{
	return job.opt->agent ? job.opt->agent : "ssh";
}

#define SAFE                         \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@"

/* For a shell: as it is if harmless, else in quotes. */
static char *quote(const char *text)
{
	struct buf b = { 0 };

	if (!text[strspn(text, SAFE)])
		return xstrdup(text);
	buf_append(&b, "'", 1);
	for (; *text; text++)
		buf_append(&b, *text == '\'' ? "'\\''" : text,
			   *text == '\'' ? 4 : 1);
	buf_append(&b, "'", 2);
	return b.data;
}

/* What to run on the other side. */
static char *proxy_command(void)
{
	char self[PATH_MAX], *path, *slash, *word;
	ssize_t n;

	if (job.opt->proxy)
		return quote(job.opt->proxy);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return xstrdup("o2g-proxy");
	self[n] = '\0';
	slash = strrchr(self, '/');
	path = xprintf("%.*s/o2g-proxy", (int)(slash - self), self);
	if (access(path, X_OK) == 0) {
		word = quote(path);
	} else {
		char *quoted = quote(self);

		word = xprintf("%s --proxy", quoted);
		free(quoted);
	}
	free(path);
	return word;
}

static _Noreturn void become_agent(const struct node *n, int fd)
{
	char *script;

	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	/* Ctrl-C is ours to pass on, in order; it must not cut the stream. */
	setsid();
	signals_restore();
	if (n->here) {
		const char *self = (const char *)getauxval(AT_EXECFN);

		/* The very same file, even if there is another by now. */
		execl("/proc/self/exe", "o2g-proxy", "--proxy", NULL);
		if (self) /* no /proc */
			execl(self, "o2g-proxy", "--proxy", NULL);
		say("cannot run %s: %s", self ? self : "/proc/self/exe",
		    strerror(errno));
		_exit(EXIT_NOT_RUN);
	}
	script = xprintf("exec %s \"$@\"",
			 job.opt->agent ? job.opt->agent : DEFAULT_AGENT);
	execl("/bin/sh", "sh", "-c", script, "mpiexec", n->name,
	      proxy_command(), NULL);
	say("cannot run /bin/sh: %s", strerror(errno));
	_exit(EXIT_NOT_RUN);
}

void remote_start(struct node *n)
{
	int fd[2], way = n->here ? -1 : under_tunnel(n->name);

	if (way >= 0) {
		chan_open(&n->chan, way, way);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		fail(EXIT_TROUBLE, "cannot reach %s: %s", n->name,
		     strerror(errno));
	n->pid = fork();
	if (n->pid == 0)
		become_agent(n, fd[1]);
	if (n->pid < 0)
		fail(EXIT_TROUBLE, "cannot start a process for %s: %s", n->name,
		     strerror(errno));
	close(fd[1]);
	chan_open(&n->chan, fd[0], fd[0]);
}

static bool reap(struct node *n)
{
	if (n->pid && waitpid(n->pid, &n->status, WNOHANG) == n->pid)
		n->pid = 0;
	return !n->pid;
}

void remote_reap(void)
{
	for (int i = 0; i < job.nnodes; i++)
		reap(&job.nodes[i]);
}

const char *remote_fate(struct node *n)
{
	static char text[64];

	for (int i = 0; i < 50 && !reap(n); i++)
		usleep(10000);
	if (n->pid)
		return "closed its connection";
	if (WIFSIGNALED(n->status))
		snprintf(text, sizeof(text), "was killed by signal %d",
			 WTERMSIG(n->status));
	else
		snprintf(text, sizeof(text), "ended with code %d",
			 WEXITSTATUS(n->status));
	return text;
}

void remote_abandon(void)
{
	for (int i = 0; i < job.nnodes; i++) {
		struct node *n = &job.nodes[i];

		if (n->chan.greeted || n->done)
			continue;
		/* Should a proxy come to life yet, it finds its stream closed.
		 */
		chan_close(&n->chan);
		n->done = true;
		if (n->pid)
			kill(-n->pid, SIGTERM);
	}
}

static bool all_reaped(void)
{
	bool all = true;

	for (int i = 0; i < job.nnodes; i++)
		all &= reap(&job.nodes[i]);
	return all;
}

static void kill_agents(int sig)
{
	for (int i = 0; i < job.nnodes; i++)
		if (job.nodes[i].pid)
			kill(-job.nodes[i].pid, sig);
}

void remote_finish(void)
{
	for (int i = 0; i < job.nnodes; i++)
		chan_close(&job.nodes[i].chan);
	for (unsigned us = 100; us < 400000; us += us / 2) {
		if (all_reaped())
			return;
		usleep(us);
	}
	/* Proxies end by themselves, and agents with them, unless they hang. */
	kill_agents(SIGTERM);
	usleep(200000);
	if (!all_reaped())
		kill_agents(SIGKILL);
}
