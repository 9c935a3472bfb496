/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a connection's sockets are watched for, and what is done when they say so. */
#include "watch.h"

#include <sys/epoll.h>

#include "intake.h"
#include "recv.h"
#include "send.h"
#include "sock.h"
#include "tcp.h"

/* Where it sends. */
static struct tcp_sock *outlet(struct tcp_conn *k)
{
	bool same = k->out.fd == k->in.sock.watch.fd;

	return same ? &k->in.sock : &k->out.sock;
}

/*
 * An intake has its own way to say that something has come. Room is asked for only
 * when there was none: a socket has it nearly always, and an arrival that was read
 * before epoll told of it would still be an event, and wake somebody, because of it.
 */
static u32 events_of(struct tcp_conn *k, const struct tcp_sock *s)
{
	bool full = k->out.state == TCP_OUT_BLOCKED && s == outlet(k);
	u32 events = EPOLLET | (full ? EPOLLOUT : 0);

	if (s == &k->out.sock) /* its end is also the other socket's */
		return events;
	return events | EPOLLRDHUP | (k->in.intake ? 0 : EPOLLIN);
}

/* What there is already is reported. */
int tcp_watch_add(struct tcp_conn *k, struct tcp_sock *s)
{
	u32 events = events_of(k, s);
	int err = chan_watch_add(k->chan->chan.ep, &s->watch, events);

	s->events = err ? 0 : events;
	return err;
}

/* The same here. */
void tcp_watch_room(struct tcp_conn *k, bool yes)
{
	struct tcp_sock *s = outlet(k);
	int err;

	if (!s->events || !(s->events & EPOLLOUT) == !yes)
		return;
	s->events ^= EPOLLOUT;
	err = chan_watch_mod(k->chan->chan.ep, &s->watch, s->events);
	if (err)
		tcp_conn_broken(k, err);
}

/* Adding reports what there is already: nothing is lost in between. */
void tcp_conn_watch(struct tcp_conn *k)
{
	struct tcp_sock *s = &k->in.sock;
	int err = 0;

	k->in.streak = 0;
	if (!s->events && s->watch.fd >= 0)
		err = tcp_watch_add(k, s);
	if (err)
		tcp_conn_broken(k, err);
}

void tcp_conn_unwatch(struct tcp_conn *k)
{
	struct tcp_sock *s = &k->in.sock;

	if (s->events)
		chan_watch_del(k->chan->chan.ep, &s->watch);
	s->events = 0;
}

void tcp_conn_block(struct tcp_conn *k)
{
	k->out.state = TCP_OUT_BLOCKED;
	if (outlet(k) == &k->in.sock)
		tcp_conn_watch(k);
	tcp_watch_room(k, true);
}

static void on_room(struct tcp_conn *k, u32 events)
{
	if (events & EPOLLOUT && k->out.state == TCP_OUT_BLOCKED)
		tcp_push(k);
	else if (!(events & ~EPOLLOUT))
		tcp_watch_room(k, false); /* it was told of for nothing */
}

int tcp_in_ready(struct chan_watch *w, u32 events)
{
	struct tcp_conn *k = container_of(w, struct tcp_conn, in.sock.watch);

	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		tcp_conn_ending(k);
	if (w->fd == k->out.fd)
		on_room(k, events);
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		return tcp_recv(k);
	return 0;
}

/* The other socket says when the peer has gone; this one only when it broke. */
int tcp_out_ready(struct chan_watch *w, u32 events)
{
	struct tcp_conn *k = container_of(w, struct tcp_conn, out.sock.watch);

	if (events & (EPOLLERR | EPOLLHUP)) {
		int err = tcp_sock_error(w->fd);

		tcp_conn_broken(k, err ? err : -EPIPE);
	} else if (w->fd == k->out.fd) {
		on_room(k, events);
	}
	return 0;
}
