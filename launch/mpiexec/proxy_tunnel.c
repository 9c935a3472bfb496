// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A job that was spawned has an mpiexec of its own, and that a proxy of its own on
 * each host. We start it where no agent need be asked again, and carry its control
 * stream inside ours: a tunnel.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy.h"
#include "util.h"

struct tunnel {
	struct tunnel *next;
	int id;
	struct watch stream; /* fd: to the other proxy */
	struct buf out;
	bool ended; /* nothing more comes from mpiexec */
};

static struct tunnel *tunnels;

bool proxy_tunnel_any(void)
{
	return tunnels;
}

static struct tunnel *find(int id)
{
	struct tunnel *t = tunnels;

	while (t && t->id != id)
		t = t->next;
	return t;
}

static void drop(struct tunnel *t)
{
	struct tunnel **at = &tunnels;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	watch_del(&t->stream);
	close(t->stream.fd);
	buf_cleanup(&t->out);
	chan_send(&proxy.up, FRAME_TUNNEL, t->id, NULL, 0);
	free(t);
	proxy_finish();
}

static void flush(struct tunnel *t)
{
	while (buf_len(&t->out)) {
		ssize_t n = send(t->stream.fd, buf_head(&t->out),
				 buf_len(&t->out), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		/* that it has ended is seen where it is read */
		buf_consume(&t->out, n < 0 ? buf_len(&t->out) : (size_t)n);
	}
	t->stream.events = POLLIN | (buf_len(&t->out) ? POLLOUT : 0);
	if (t->ended && !buf_len(&t->out))
		shutdown(t->stream.fd, SHUT_WR);
}

static void on_stream(struct watch *w, short revents)
{
	static char data[65536];
	struct tunnel *t = w->arg;
	ssize_t n;

	if (revents & POLLOUT)
		flush(t);
	if (!(revents & ~POLLOUT))
		return;
	n = read(w->fd, data, sizeof(data));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		chan_send(&proxy.up, FRAME_TUNNEL, t->id, data, n);
	else
		drop(t);
}

static _Noreturn void become_proxy(int fd)
{
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	setrlimit(RLIMIT_NOFILE, &proxy.files);
	execl("/proc/self/exe", "o2g-proxy", "--proxy", NULL);
	say("cannot run another o2g-proxy on %s: %s", proxy.start.host,
	    strerror(errno));
	_exit(EXIT_NOT_RUN);
}

void proxy_tunnel_open(int id)
{
	struct tunnel *t;
	int fd[2];
	pid_t pid;

	if (find(id))
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		chan_send(&proxy.up, FRAME_TUNNEL, id, NULL, 0);
		return;
	}
	pid = fork();
	if (pid == 0)
		become_proxy(fd[1]);
	close(fd[1]); /* without a process this is the end of the tunnel */
	set_nonblock(fd[0]);
	t = xmalloc(sizeof(*t));
	t->id = id;
	t->stream = (struct watch){ .fd = fd[0],
				    .events = POLLIN,
				    .fn = on_stream,
				    .arg = t };
	watch_add(&t->stream);
	t->next = tunnels;
	tunnels = t;
}

void proxy_tunnel_take(int id, struct reader *data)
{
	struct tunnel *t = find(id);

	if (!t)
		return;
	t->ended |= data->at == data->end;
	buf_append(&t->out, data->at, data->end - data->at);
	flush(t);
}
