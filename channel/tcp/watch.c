/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a connection's sockets are watched for, and what is done when they say so. */
#include "watch.h"

#include <sys/epoll.h>

#include "intake.h"
#include "recv.h"
#include "send.h"
#include "sock.h"
#include "tcp.h"

/*
 * An intake has its own way to say that something has come. Room is asked for only
 * when there was none: a socket has it nearly always, and an arrival that was read
 * before epoll told of it would still be an event, and wake somebody, because of it.
 */
static u32 events_of(const struct tcp_conn *k, const struct chan_watch *w)
{
	u32 room = k->asks_room && w->fd == k->out_fd ? EPOLLOUT : 0;

	if (w == &k->outlet) /* its end is also the other socket's */
		return EPOLLET | room;
	return EPOLLRDHUP | EPOLLET | (k->intake ? 0 : EPOLLIN) | room;
}

int tcp_watch_add(struct tcp_conn *k, struct chan_watch *w)
{
	int err;

	if (w->fd == k->out_fd)
		k->asks_room = k->blocked;
	err = chan_watch_add(k->chan->chan.ep, w, events_of(k, w));
	if (w == &k->watch)
		k->watched = !err;
	return err;
}

/* What there is already is reported, as when it is added. */
void tcp_watch_room(struct tcp_conn *k, bool yes)
{
	bool same = k->watch.fd == k->out_fd;
	struct chan_watch *w = same ? &k->watch : &k->outlet;
	int err;

	if ((same && !k->watched) || k->asks_room == yes)
		return;
	k->asks_room = yes;
	err = chan_watch_mod(k->chan->chan.ep, w, events_of(k, w));
	if (err)
		tcp_conn_broken(k, err);
}

/* Adding reports what there is already: nothing is lost in between. */
void tcp_conn_watch(struct tcp_conn *k)
{
	int err = 0;

	k->streak = 0;
	if (!k->watched && k->watch.fd >= 0)
		err = tcp_watch_add(k, &k->watch);
	if (err)
		tcp_conn_broken(k, err);
}

void tcp_conn_unwatch(struct tcp_conn *k)
{
	if (k->watched)
		chan_watch_del(k->chan->chan.ep, &k->watch);
	k->watched = false;
}

void tcp_conn_block(struct tcp_conn *k)
{
	k->blocked = true;
	if (k->watch.fd == k->out_fd)
		tcp_conn_watch(k);
	tcp_watch_room(k, true);
}

static void on_room(struct tcp_conn *k, u32 events)
{
	if (events & EPOLLOUT && k->blocked) {
		k->blocked = false;
		tcp_push(k);
	} else if (!(events & ~EPOLLOUT)) {
		tcp_watch_room(k, false); /* it was told of for nothing */
	}
}

int tcp_conn_ready(struct chan_watch *w, u32 events)
{
	struct tcp_conn *k = container_of(w, struct tcp_conn, watch);

	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		k->hup = true;
	if (w->fd == k->out_fd)
		on_room(k, events);
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		return tcp_recv(k);
	return 0;
}

/* The other socket says when the peer has gone; this one only when it broke. */
int tcp_outlet_ready(struct chan_watch *w, u32 events)
{
	struct tcp_conn *k = container_of(w, struct tcp_conn, outlet);

	if (events & (EPOLLERR | EPOLLHUP)) {
		int err = tcp_sock_error(w->fd);

		tcp_conn_broken(k, err ? err : -EPIPE);
	} else if (w->fd == k->out_fd) {
		on_room(k, events);
	}
	return 0;
}
