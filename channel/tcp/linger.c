/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The slow goodbye.
 *
 * A socket is not just closed: what we sent last may still be in our kernel,
 * and closing one that has unread data makes the kernel send a reset, which
 * destroys it. So the sending side is shut down, what still comes is read and
 * thrown away, and the socket is closed once the peer has closed too or its
 * kernel has acknowledged everything.
 */
#include "linger.h"

#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "tcp.h"

#define LINGER_US 2000000

/* A socket after disconnect: its last bytes are still on their way. */
struct lingering {
	struct chan_watch watch;
	int in; /* of a split connection; -1: the same */
	struct tcp_chan *chan;
	struct o2g_list link;
	u64 deadline_us;
};

/* Throw away what came in. 0: closed; negative errno otherwise. */
static int drain(int fd)
{
	char trash[4096];
	ssize_t n;

	do
		n = recv(fd, trash, sizeof(trash), MSG_DONTWAIT);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

/* May it be closed? */
static bool linger_done(struct lingering *l)
{
	int left = 1;

	if (l->in >= 0)
		drain(l->in);
	if (drain(l->watch.fd) != -EAGAIN)
		return true;
	return (!ioctl(l->watch.fd, SIOCOUTQ, &left) && !left) ||
	       o2g_now_us() >= l->deadline_us;
}

static void close_both(int fd, int in)
{
	close(fd);
	if (in >= 0)
		close(in);
}

static void linger_free(struct lingering *l)
{
	chan_watch_del(l->chan->chan.ep, &l->watch);
	close_both(l->watch.fd, l->in);
	o2g_list_del(&l->link);
	free(l);
}

static void linger_check(struct tcp_chan *c)
{
	struct o2g_list *i, *tmp;

	o2g_list_for_each_safe(i, tmp, &c->lingering) {
		struct lingering *l = container_of(i, struct lingering, link);

		if (linger_done(l))
			linger_free(l);
	}
}

static void linger_timer(struct chan_timer *t)
{
	struct tcp_chan *c = container_of(t, struct tcp_chan, linger_timer);

	linger_check(c);
	if (!o2g_list_empty(&c->lingering))
		chan_timer_set(c->chan.ep, t, 20000);
}

static int linger_ready(struct chan_watch *w, u32 events)
{
	struct lingering *l = container_of(w, struct lingering, watch);

	if (linger_done(l))
		linger_free(l);
	return 0;
}

void tcp_linger_add(struct tcp_chan *c, int fd, int in)
{
	struct lingering *l = calloc(1, sizeof(*l));

	shutdown(fd, SHUT_WR);
	if (!l) {
		close_both(fd, in);
		return;
	}
	l->in = in;
	l->watch.fd = fd;
	l->watch.ready = linger_ready;
	l->chan = c;
	l->deadline_us = o2g_now_us() + LINGER_US;
	if (chan_watch_add(c->chan.ep, &l->watch,
			   EPOLLIN | EPOLLRDHUP | EPOLLET)) {
		close_both(fd, in);
		free(l);
		return;
	}
	o2g_list_add_tail(&l->link, &c->lingering);
	c->linger_timer.fn = linger_timer;
	chan_timer_set(c->chan.ep, &c->linger_timer, 20000);
}

/* The channel closes. Bounded: half a second, and usually one round trip. */
void tcp_linger_finish(struct tcp_chan *c)
{
	struct timespec ms = { 0, 1000000 };

	chan_timer_del(c->chan.ep, &c->linger_timer);
	for (int i = 0; i < 500; i++) {
		linger_check(c);
		if (o2g_list_empty(&c->lingering))
			return;
		nanosleep(&ms, NULL);
	}
	while (!o2g_list_empty(&c->lingering))
		linger_free(
			o2g_list_first(&c->lingering, struct lingering, link));
}
