// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * mpiexec's part of `o2g why`: a socket for those who ask, and -why, which asks by
 * itself when nothing has moved for a while. Only the user and root are answered.
 */
#define _GNU_SOURCE
#include "why.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"
#include "why_socket.h"

#define ANSWER_MS 3000 /* a proxy that takes longer is left out */

struct client {
	struct watch w;
	struct buf out;
	struct client *next;
	bool served;
};

static struct watch listener;
static struct client *clients;
static struct timer answer_timer, stir_timer;
static bool asking;
static struct buf *states; /* of the ranks */
static int answers;	   /* nodes that have said all */

/* --- those who ask --- */

static void drop(struct client *c)
{
	struct client **p = &clients;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	watch_del(&c->w);
	close(c->w.fd);
	buf_cleanup(&c->out);
	free(c);
}

static void on_client(struct watch *w, short revents)
{
	struct client *c = w->arg;
	ssize_t n;

	if (!c->served) { /* it has nothing to say: it has gone */
		drop(c);
		return;
	}
	n = write(w->fd, buf_head(&c->out), buf_len(&c->out));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_consume(&c->out, n);
	if (n <= 0 || !buf_len(&c->out))
		drop(c);
}

static void put_rank(struct buf *b, int rank)
{
	const struct job_rank *r = &job.ranks[rank];
	size_t n = buf_len(&states[rank]);

	buf_put_str(b, job_host(rank));
	buf_put_u32(b, r->exited);
	buf_put_u32(b, (uint32_t)r->status);
	buf_put_u32(b, r->state);
	buf_put_u32(b, (uint32_t)n);
	if (n)
		buf_append(b, buf_head(&states[rank]), n);
}

static void serve(struct client *c)
{
	buf_put_u32(&c->out, WHY_VERSION);
	buf_put_u32(&c->out, (uint32_t)job.place.size);
	for (int r = 0; r < job.place.size; r++)
		put_rank(&c->out, r);
	c->served = true;
	c->w.events = POLLOUT;
}

static void answer(void)
{
	asking = false;
	timer_clear(&answer_timer);
	for (struct client *c = clients; c; c = c->next)
		if (!c->served)
			serve(c);
	for (int r = 0; r < job.place.size; r++)
		buf_cleanup(&states[r]);
	memset(states, 0, job.place.size * sizeof(*states));
}

static void on_answer_time(struct timer *t)
{
	answer();
}

static int nodes_to_ask(void)
{
	int n = 0;

	for (int i = 0; i < job.nnodes; i++)
		n += !job.nodes[i].done && job.nodes[i].chan.greeted;
	return n;
}

static void ask(void)
{
	if (asking)
		return;
	asking = true;
	answers = 0;
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done && job.nodes[i].chan.greeted)
			chan_send(&job.nodes[i].chan, FRAME_LOOK, -1, NULL, 0);
	timer_set(&answer_timer, nodes_to_ask() ? ANSWER_MS : 0);
}

void why_state(struct node *n, int rank, struct reader *data)
{
	size_t len = data->end - data->at;

	if (!asking)
		return;
	if (rank >= 0 && rank < job.place.size) {
		if (!buf_len(&states[rank]) && len)
			buf_append(&states[rank], data->at, len);
	} else if (++answers >= nodes_to_ask()) {
		answer();
	}
}

static bool may_ask(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	       (who.uid == geteuid() || who.uid == 0);
}

static void on_connect(struct watch *w, short revents)
{
	struct client *c;
	int fd;

	/* cppcheck-suppress nullPointer */
	fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	if (!may_ask(fd)) {
		close(fd);
		return;
	}
	c = xmalloc(sizeof(*c));
	c->w = (struct watch){ .fd = fd,
			       .events = POLLIN,
			       .fn = on_client,
			       .arg = c };
	c->next = clients;
	clients = c;
	watch_add(&c->w);
	ask();
}

/* --- -why --- */

static struct {
	uint64_t since_ns; /* nothing has moved */
	uint64_t digest;   /* ... since it was this */
	uint64_t sum;	   /* of those that have answered */
	bool busy, told;
	int answers, asked;
	pid_t pid; /* of o2g */
} quiet;

/* The tool beside us, or the one in PATH. */
static _Noreturn void become_tool(pid_t of)
{
	char self[PATH_MAX], pid[16], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 8);

	signals_restore();
	dup2(STDERR_FILENO, STDOUT_FILENO);
	snprintf(pid, sizeof(pid), "%d", of);
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		strcpy(slash, "/o2g");
		execl(self, "o2g", "why", pid, NULL);
	}
	execlp("o2g", "o2g", "why", pid, NULL);
	say("cannot run o2g to explain what the ranks wait for: %s",
	    strerror(errno));
	_exit(EXIT_NOT_RUN);
}

static void explain(void)
{
	pid_t self = getpid();

	if (quiet.pid)
		return;
	say("nothing has moved for %d s (-why %d)", job.opt->why, job.opt->why);
	quiet.pid = fork();
	if (quiet.pid == 0)
		become_tool(self);
	if (quiet.pid < 0)
		quiet.pid = 0;
}

static void judge(void)
{
	uint64_t now = o2g_now_ns();

	if (quiet.busy || quiet.sum != quiet.digest || !quiet.since_ns) {
		quiet.since_ns = now;
		quiet.told = quiet.told && quiet.sum == quiet.digest;
		quiet.digest = quiet.sum;
		return;
	}
	if (quiet.told || now - quiet.since_ns < job.opt->why * 1000000000ull)
		return;
	quiet.told = true;
	explain();
}

void why_stirred(struct node *n, int rank, struct reader *data)
{
	uint32_t busy = read_u32(data), low = read_u32(data);

	quiet.busy |= busy;
	quiet.sum += ((uint64_t)read_u32(data) << 32 | low) * (n->index + 1);
	if (++quiet.answers == quiet.asked)
		judge();
}

static unsigned stir_ms(void)
{
	return job.opt->why >= 10 ? 2000 : job.opt->why * 200u;
}

static bool still_starting(void)
{
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done && !job.nodes[i].chan.greeted)
			return true;
	return false;
}

static void on_stir_time(struct timer *t)
{
	if (quiet.pid && waitpid(quiet.pid, NULL, WNOHANG) == quiet.pid)
		quiet.pid = 0;
	timer_set(t, stir_ms());
	if (still_starting())
		quiet.since_ns = 0;
	quiet.asked = nodes_to_ask();
	quiet.answers = 0;
	quiet.busy = false;
	quiet.sum = 0;
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done && job.nodes[i].chan.greeted)
			chan_send(&job.nodes[i].chan, FRAME_STIR, -1, NULL, 0);
}

/* --- the start --- */

/* Nobody can ask without it, but that is all. */
static void listen_here(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n;

	if (fd < 0)
		return;
	n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, WHY_SOCKET,
		     (unsigned)geteuid(), (int)getpid());
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) ||
	    listen(fd, 8)) {
		close(fd);
		return;
	}
	listener =
		(struct watch){ .fd = fd, .events = POLLIN, .fn = on_connect };
	watch_add(&listener);
}

void why_init(void)
{
	states = xmalloc(job.place.size * sizeof(*states));
	answer_timer.fn = on_answer_time;
	listen_here();
	stir_timer.fn = on_stir_time;
	if (job.opt->why)
		timer_set(&stir_timer, stir_ms());
}
