// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The way from the mpiexec of a spawned job to a proxy of its own on a host where ours
 * is: a socket here, our control stream, and a socket there (proxy_tunnel.c). So no
 * agent is asked again.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "spawned.h"
#include "util.h"

struct tunnel {
	struct tunnel *next;
	int id;
	struct node *node;
	struct watch stream;
	struct buf out;
	bool opened; /* the proxy knows of it */
};

static struct tunnel *tunnels;

static void drop(struct tunnel *t)
{
	struct tunnel **at = &tunnels;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	watch_del(&t->stream);
	close(t->stream.fd);
	buf_cleanup(&t->out);
	free(t);
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
		buf_consume(&t->out, n < 0 ? buf_len(&t->out) : (size_t)n);
	}
	t->stream.events = POLLIN | (buf_len(&t->out) ? POLLOUT : 0);
}

/* Many are made and few are used: the proxy hears of it with the first bytes. */
static void pass_on(struct tunnel *t, const char *data, size_t n)
{
	if (!t->opened)
		chan_send(&t->node->chan, FRAME_TUNNEL_OPEN, t->id, NULL, 0);
	t->opened = true;
	chan_send(&t->node->chan, FRAME_TUNNEL, t->id, data, n);
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
	if (n > 0) {
		pass_on(t, data, n);
		return;
	}
	if (t->opened)
		chan_send(&t->node->chan, FRAME_TUNNEL, t->id, NULL, 0);
	drop(t);
}

int tunnel_make(struct node *n)
{
	static int last;
	struct tunnel *t;
	int fd[2];

	if (!chan_is_open(&n->chan) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return -1;
	set_nonblock(fd[0]);
	t = xmalloc(sizeof(*t));
	t->id = ++last;
	t->node = n;
	t->stream = (struct watch){ .fd = fd[0],
				    .events = POLLIN,
				    .fn = on_stream,
				    .arg = t };
	watch_add(&t->stream);
	t->next = tunnels;
	tunnels = t;
	return fd[1];
}

void tunnel_take(struct node *n, int id, struct reader *data)
{
	struct tunnel *t = tunnels;

	while (t && (t->id != id || t->node != n))
		t = t->next;
	if (!t)
		return;
	if (data->at == data->end) {
		drop(t);
		return;
	}
	buf_append(&t->out, data->at, data->end - data->at);
	flush(t);
}

void tunnel_node_lost(const struct node *n)
{
	struct tunnel *next;

	for (struct tunnel *t = tunnels; t; t = next) {
		next = t->next;
		if (t->node == n)
			drop(t);
	}
}
