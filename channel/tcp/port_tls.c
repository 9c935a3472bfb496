/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TLS on a port's socket. Whoever has called, or was called, gets one end of a pair of
 * sockets, and talks over it as if it were the connection; a thread has the other end
 * and the connection, and carries bytes between the two until one side closes. It
 * lives as long as the meeting of two jobs, a few round trips.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "call.h"
#include "log.h"
#include "port.h"
#include "tls.h"

#define PIECE 65536

struct carrier {
	int net, plain;
	struct tcp_tls *tls;
	bool closed; /* by the other side: what it has sent is still carried */
	u8 in[PIECE];
	u32 head, tail; /* of in[]: what the plain end has not taken yet */
};

static ssize_t net_send(struct carrier *c, void *buf, size_t n)
{
	struct o2g_seg v = { buf, n };

	return tcp_tls_kernel_sends(c->tls) ?
		       tcp_call_send(c->net, buf, n) :
		       tcp_tls_send(c->tls, &v, n ? 1 : 0);
}

static ssize_t net_recv(struct carrier *c, void *buf, size_t n)
{
	struct o2g_seg v = { buf, n };

	return tcp_tls_kernel_receives(c->tls) ? tcp_call_recv(c->net, buf, n) :
						 tcp_tls_recv(c->tls, &v, 1);
}

static void await(int fd, short events)
{
	struct pollfd p = { fd, events, 0 };

	poll(&p, 1, -1);
}

/* All of it, however long that takes: 0 or negative errno. */
static int send_all(struct carrier *c, u8 *buf, size_t n)
{
	ssize_t sent = 0;

	while (n || tcp_tls_pending(c->tls)) {
		sent = net_send(c, buf, n);
		if (sent == -EAGAIN)
			await(c->net, POLLOUT);
		else if (sent < 0)
			return (int)sent;
		else
			buf += sent, n -= (size_t)sent;
	}
	return 0;
}

/* From the plain end: 0, or negative at its end. */
static int carry_out(struct carrier *c)
{
	u8 buf[PIECE];
	ssize_t n = tcp_call_recv(c->plain, buf, sizeof(buf));

	if (n == -EAGAIN)
		return 0;
	return n <= 0 ? -EPIPE : send_all(c, buf, (size_t)n);
}

/* And to it. */
static int carry_in(struct carrier *c)
{
	ssize_t n;

	if (c->head == c->tail && !c->closed) {
		n = net_recv(c, c->in, sizeof(c->in));
		if (n == -EAGAIN)
			return 0;
		c->closed = n <= 0;
		c->head = 0;
		c->tail = n > 0 ? (u32)n : 0;
	}
	if (c->head == c->tail)
		return c->closed ? -EPIPE : 0;
	n = tcp_call_send(c->plain, c->in + c->head, c->tail - c->head);
	if (n > 0)
		c->head += (u32)n;
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

static int shake_hands(struct carrier *c)
{
	int r;

	while (!(r = tcp_tls_handshake(c->tls)))
		await(c->net, tcp_tls_pending(c->tls) ? POLLOUT : POLLIN);
	if (r < 0)
		o2g_error("a port: encryption could not be agreed on: %s",
			  tcp_tls_reason(c->tls, r));
	return r < 0 ? r : 0;
}

/* GnuTLS may have read ahead of us, so receiving comes before waiting. */
static void carry(struct carrier *c)
{
	int err = shake_hands(c);

	while (!err) {
		struct pollfd p[2] = { { c->net, POLLIN, 0 },
				       { c->plain, POLLIN, 0 } };

		err = carry_in(c);
		if (err)
			break;
		if (c->head != c->tail) {
			p[0].fd = -1;
			p[1].events |= POLLOUT;
		}
		poll(p, 2, -1);
		if (p[1].revents & (POLLIN | POLLHUP | POLLERR))
			err = carry_out(c);
	}
}

static void carrier_free(struct carrier *c)
{
	tcp_tls_destroy(c->tls);
	if (c->net >= 0)
		close(c->net);
	if (c->plain >= 0)
		close(c->plain);
	free(c);
}

static void *run(void *arg)
{
	carry(arg);
	carrier_free(arg);
	return NULL;
}

static int start(struct carrier *c)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 << 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, run, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

int tcp_port_seal(int fd, const u8 secret[TCP_PORT_SECRET],
		  enum tcp_tls_side side)
{
	struct carrier *c = calloc(1, sizeof(*c));
	u8 key[TCP_TLS_KEY];
	int ends[2], err;

	if (!c || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		err = c ? -errno : -ENOMEM;
		free(c);
		close(fd);
		return err;
	}
	c->net = fd;
	c->plain = ends[1];
	tcp_hello_port_key(secret, key);
	c->tls = tcp_tls_create(fd, key, side);
	explicit_bzero(key, sizeof(key));
	err = c->tls ? start(c) : -ENOMEM;
	if (err) {
		carrier_free(c);
		close(ends[0]);
		return err;
	}
	return ends[0];
}
