// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "spawned.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

#define LINK_FD 3 /* in the new process; tunnels follow */

static struct spawned *all;
static uint32_t last_id;

const struct spawned *spawned_first(void)
{
	return all;
}

bool spawned_any(void)
{
	for (const struct spawned *s = all; s; s = s->next)
		if (s->pid)
			return true;
	return false;
}

/* --- answers --- */

static void answer(struct chan *origin, int rank, uint32_t id, const char *why)
{
	struct buf b = { 0 };

	if (!origin)
		return;
	buf_put_u32(&b, id);
	buf_put_str(&b, why);
	chan_send(origin, FRAME_SPAWNED, rank, b.data, buf_len(&b));
	buf_cleanup(&b);
}

/* --- its end --- */

/* It has closed its end of the link, so it is about to exit. */
static int await_exit(pid_t pid)
{
	int status = 0;

	if (pid < 0)
		return 0;
	for (int i = 0; i < 500; i++) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got)
			return got == pid ? status : 0;
		usleep(2000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

static void forget(struct spawned *s)
{
	struct spawned **at = &all;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	taken_free(&s->taken, &s->ntaken);
	free(s->why);
	buf_cleanup(&s->link.inbuf);
	buf_cleanup(&s->link.outbuf);
	free(s);
}

static void on_end(struct chan *c)
{
	struct spawned *s = c->arg;
	int status = await_exit(s->pid);
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					 WEXITSTATUS(status);

	spawned_origin_lost(c);
	if (!s->started) {
		answer(s->origin, s->rank, 0,
		       s->why ? s->why : "its mpiexec has ended");
	} else {
		if (s->origin)
			chan_send_u32(s->origin, FRAME_OVER, s->rank, s->id);
		if (!job.code)
			job.code = code;
	}
	/* the channel is in use by whoever has called us: free it later */
	s->origin = NULL;
	s->pid = 0;
	job_check_done();
}

/* Those whose end was seen. */
static void sweep(void)
{
	struct spawned *next;

	for (struct spawned *s = all; s; s = next) {
		next = s->next;
		if (!s->pid)
			forget(s);
	}
}

/* --- what it says --- */

static void on_placed(struct spawned *s, struct reader *data)
{
	taken_free(&s->taken, &s->ntaken);
	while (data->at < data->end && !data->bad) {
		const char *host = read_str(data);
		int ranks = (int)read_u32(data);

		taken_add(&s->taken, &s->ntaken, host, ranks);
	}
}

static void on_frame(struct chan *c, enum frame_type type, int rank,
		     struct reader *data)
{
	struct spawned *s = c->arg;

	switch (type) {
	case FRAME_PLACED:
		on_placed(s, data);
		break;
	case FRAME_STARTED:
		s->started = true;
		answer(s->origin, s->rank, s->id, "");
		break;
	case FRAME_CANNOT:
		free(s->why);
		s->why = xstrdup(read_str(data));
		break;
	case FRAME_SPAWN:
		spawned_start(c, rank, read_str(data));
		break;
	default:
		data->bad = 1;
	}
}

/* --- its start --- */

/* Sockets that the new process inherits, the link first. */
struct inherited {
	int *fd;
	int n;
};

static void inherit(struct inherited *in, int fd)
{
	in->fd = xrealloc(in->fd, (in->n + 1) * sizeof(*in->fd));
	in->fd[in->n++] = fd;
}

static bool is_taken(const struct spawned *s, const char *host)
{
	for (int i = 0; i < s->ntaken; i++)
		if (!strcmp(s->taken[i].host, host))
			return true;
	return false;
}

static void make_tunnels(const struct spawned *s, bool to_all,
			 struct inherited *in, struct strings *words)
{
	for (int i = 0; i < job.nnodes; i++) {
		struct node *n = &job.nodes[i];
		char *number;
		int fd;

		if (n->here || !(to_all || is_taken(s, n->name)))
			continue;
		fd = tunnel_make(n);
		if (fd < 0)
			continue;
		number = xprintf("%d", LINK_FD + in->n);
		inherit(in, fd);
		strings_add(words, "-through");
		strings_add(words, n->name);
		strings_add(words, number);
		free(number);
	}
}

static void set_keys(const struct spawn_plan *p)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->keys.n; i++) {
		buf_append(&b, p->keys.at[i], strlen(p->keys.at[i]));
		buf_append(&b, "\n", 1);
	}
	buf_append(&b, "", 1);
	setenv("O2G_SPAWN_KEYS", b.data, 1);
	unsetenv("MPIEXEC_TIMEOUT"); /* that is for the whole */
}

static _Noreturn void become_mpiexec(const struct spawn_plan *p,
				     const struct inherited *in, char **words)
{
	int high = LINK_FD + in->n, null = open("/dev/null", O_RDONLY);

	setsid(); /* signals come from us, once */
	signals_restore();
	dup2(null, STDIN_FILENO);
	/* out of the way first: some may be where others are to be */
	for (int i = 0; i < in->n; i++)
		in->fd[i] = fcntl(in->fd[i], F_DUPFD_CLOEXEC, high);
	for (int i = 0; i < in->n; i++)
		dup2(in->fd[i], LINK_FD + i);
	set_keys(p);
	execv("/proc/self/exe", words);
	_exit(EXIT_NOT_RUN);
}

static void run(struct spawned *s, const struct spawn_plan *p)
{
	struct inherited in = { 0 };
	struct strings words = { 0 };
	char *number = xprintf("%u", s->id);
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		fail(EXIT_TROUBLE, "no socket for a spawned job: %s",
		     strerror(errno));
	inherit(&in, fd[1]);
	strings_add(&words, "mpiexec");
	strings_add(&words, "-under");
	strings_add(&words, "3");
	strings_add(&words, number);
	make_tunnels(s, p->names_hosts, &in, &words);
	for (size_t i = 0; i < p->words.n; i++)
		strings_add(&words, p->words.at[i]);
	s->pid = fork();
	if (s->pid == 0)
		become_mpiexec(p, &in, words.at);
	if (s->pid < 0)
		s->why = xprintf("no process for its mpiexec: %s",
				 strerror(errno));
	for (int i = 0; i < in.n; i++)
		close(in.fd[i]); /* without a process this is its end */
	free(in.fd);
	free(number);
	strings_cleanup(&words);
	s->link.arg = s;
	s->link.greeted = true;
	s->link.on_frame = on_frame;
	s->link.on_end = on_end;
	chan_open(&s->link, fd[0], fd[0]);
}

void spawned_start(struct chan *origin, int rank, const char *request)
{
	struct spawn_plan plan = { 0 };
	struct spawned *s;

	sweep();
	if (job.ending) {
		answer(origin, rank, 0, "the job is being ended");
		return;
	}
	spawn_plan(&plan, request);
	if (plan.why) {
		answer(origin, rank, 0, plan.why);
		spawn_plan_free(&plan);
		return;
	}
	s = xmalloc(sizeof(*s));
	s->id = ++last_id;
	s->origin = origin;
	s->rank = rank;
	s->taken = plan.taken;
	s->ntaken = plan.ntaken;
	plan.taken = NULL;
	plan.ntaken = 0;
	s->next = all;
	all = s;
	run(s, &plan);
	spawn_plan_free(&plan);
}

/* --- all of them --- */

void spawned_origin_lost(const struct chan *origin)
{
	for (struct spawned *s = all; s; s = s->next)
		if (s->origin == origin)
			s->origin = NULL;
}

void spawned_end_all(void)
{
	for (struct spawned *s = all; s; s = s->next)
		chan_send(&s->link, FRAME_END, -1, NULL, 0);
}

void spawned_signal(int sig)
{
	for (struct spawned *s = all; s; s = s->next)
		if (s->pid > 0)
			kill(s->pid, sig);
}
