/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "secure.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conn.h"
#include "dial.h"
#include "log.h"
#include "settings.h"
#include "sock.h"
#include "tcp.h"

struct tcp_secure {
	struct chan_watch watch;
	struct tcp_conn *conn;
};

bool tcp_encrypts(void)
{
	return o2g_settings()->encrypt;
}

/* Leaves the socket open. */
static int detach(struct tcp_conn *k)
{
	int fd = k->secure->watch.fd;

	chan_watch_del(k->chan->chan.ep, &k->secure->watch);
	free(k->secure);
	k->secure = NULL;
	return fd;
}

void tcp_secure_stop(struct tcp_conn *k)
{
	if (k->secure)
		close(detach(k));
}

static void secured(struct tcp_conn *k)
{
	int fd = detach(k);

	tcp_sock_limit_silence(fd, false);
	if (tcp_conn_open(k, fd)) {
		close(fd);
		tcp_conn_lost(k, -O2G_ERR_PEER, "out of resources");
	}
}

static int on_ready(struct chan_watch *w, u32 events)
{
	struct tcp_conn *k = container_of(w, struct tcp_secure, watch)->conn;
	int r = 0;

	if (events & (EPOLLERR | EPOLLHUP))
		r = tcp_sock_error(w->fd);
	if (!r)
		r = tcp_tls_handshake(k->tls);
	if (r > 0)
		secured(k);
	else if (r < 0)
		tcp_conn_lost(k, -O2G_ERR_PEER,
			      "encryption could not be agreed on: %s",
			      tcp_tls_reason(k->tls, r));
	return 0; /* the connection may be gone */
}

static int start(struct tcp_conn *k, int fd, const u8 key[TCP_TLS_KEY],
		 enum tcp_tls_side side)
{
	struct tcp_secure *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->conn = k;
	s->watch.fd = fd;
	s->watch.ready = on_ready;
	tcp_tls_destroy(k->tls); /* of an attempt that went wrong */
	k->tls = tcp_tls_create(fd, key, side);
	err = k->tls ? chan_watch_add(k->chan->chan.ep, &s->watch,
				      EPOLLIN | EPOLLOUT | EPOLLRDHUP |
					      EPOLLET) :
		       -ENOMEM;
	if (err) {
		free(s);
		return err;
	}
	k->secure = s;
	return 0;
}

int tcp_secure_open(struct tcp_conn *k, int fd, const struct tcp_challenge *c,
		    const struct tcp_answer *a, enum tcp_tls_side side)
{
	struct tcp_hello_key hello = tcp_conn_key(k);
	u8 key[TCP_TLS_KEY];
	int err;

	if (!tcp_encrypts())
		return tcp_conn_open(k, fd);
	tcp_hello_tls_key(&hello, c, a, key);
	/* A host that is gone is noticed; a peer may take its time. */
	tcp_sock_limit_silence(fd, true);
	tcp_dial_stop(k);
	chan_timer_del(k->chan->chan.ep, &k->timer);
	err = start(k, fd, key, side);
	explicit_bzero(key, sizeof(key));
	return err;
}
