/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Two sockets for a connection, one for each direction.
 *
 * Where the kernel moves what arrives to memory of ours (bpf/), a socket that only
 * receives is never touched by our processor: all that TCP does for it happens on
 * the sender's. One that also sends is. Its state goes from core to core with every
 * message, and whoever answers waits until the kernel, which is still at the end of
 * receiving, lets go of it: together an eighth of half a round trip.
 * Reading with recv() gains nothing by this, it would only acknowledge more. So the
 * intake asks for it, for connections that are worth another descriptor.
 *
 *	caller                                  called
 *	  |==== first socket, both ways ==========|
 *	  |---- second socket: connect, hello --->|
 *	  |<--- verdict --------------------------|
 *	  |<--- MOVED, on the first --------------|  the last that it sends there
 *	  |==== first socket ====================>|
 *	  |<=== second socket ====================|
 *
 * Who made the first socket calls again, since it knows where the other listens.
 * What was under way when MOVED was sent is read before it, so nothing overtakes
 * anything. When the second socket cannot be had all stays as it was; but once the
 * caller has answered the other may have moved, however long it takes until we hear
 * of that, so there is no end to waiting then.
 */
#include "split.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conn.h"
#include "log.h"
#include "sock.h"
#include "tcp.h"

enum split_state { CONNECTING, ANSWERED, STANDS };

/* The caller's, until it receives on the second socket. */
struct tcp_split {
	struct tcp_conn *conn;
	struct chan_watch watch; /* the second socket */
	struct chan_timer timer; /* for an end of connecting, or to follow */
	enum split_state state;
	u32 have; /* bytes of the message being read */
	struct tcp_challenge challenge;
	struct tcp_answer answer;
	struct tcp_verdict_msg verdict;
};

/* Descriptors are needed for other peers first. */
static bool affords(struct tcp_chan *c, int fd)
{
	struct rlimit lim = { 0, 0 };
	struct o2g_list *i;
	u32 n = 0;

	o2g_list_for_each(i, &c->conns) {
		struct tcp_conn *k = container_of(i, struct tcp_conn, all);

		n += k->sockets == TCP_CALLING || k->sockets == TCP_TWO;
	}
	getrlimit(RLIMIT_NOFILE, &lim);
	return n < TCP_SPLITS && (rlim_t)fd < lim.rlim_cur / 2;
}

/* Could its directions be parted, by the end that is @side? */
static bool could_part(const struct tcp_conn *k, enum tcp_sockets side)
{
	bool flows = k->in.state == TCP_IN_PLAIN || k->in.state == TCP_IN_BUSY;

	return k->chan->splits && k->sockets == side && flows &&
	       k->out.state != TCP_OUT_BROKEN &&
	       k->in.intake == k->chan->intake;
}

/* --- the caller --- */

int tcp_split_take(struct tcp_conn *k)
{
	struct tcp_split *s = k->split;
	int fd;

	if (!s)
		return -1;
	fd = s->watch.fd;
	k->split = NULL;
	k->sockets = TCP_ALONE;
	chan_timer_del(k->chan->chan.ep, &s->timer);
	chan_watch_del(k->chan->chan.ep, &s->watch);
	free(s);
	return fd;
}

void tcp_split_stop(struct tcp_conn *k)
{
	int fd = tcp_split_take(k);

	if (fd >= 0)
		close(fd);
}

/* No second socket. It matters only if the peer has moved to it. */
static void fail(struct tcp_split *s, const char *why)
{
	struct tcp_conn *k = s->conn;

	o2g_debug("tcp: no second socket to rank %u: %s", k->peer->core.rank,
		  why);
	tcp_split_stop(k);
	if (k->in.state == TCP_IN_MOVED)
		tcp_conn_lost(k, -O2G_ERR_PEER,
			      "its second connection broke: %s", why);
}

static void follow(struct tcp_conn *k)
{
	tcp_conn_receive_on(k, tcp_split_take(k));
	o2g_debug("tcp: a socket for each direction to rank %u",
		  k->peer->core.rank);
}

static void on_timer(struct chan_timer *t)
{
	struct tcp_split *s = container_of(t, struct tcp_split, timer);

	if (s->state == STANDS)
		follow(s->conn);
	else
		fail(s, "no answer");
}

enum o2g_proto_reason tcp_split_moved(struct tcp_conn *k,
				      const struct o2g_hdr *h)
{
	if (!k->split || k->split->state == CONNECTING ||
	    h->src != k->peer->core.wire_rank ||
	    h->dst != k->chan->core->rank || h->credit)
		return O2G_PROTO_BAD_STATE;
	k->in.state = TCP_IN_MOVED;
	/* Not from here: whoever reads the first socket is not done with it. */
	if (k->split->state == STANDS)
		chan_timer_set(k->chan->chan.ep, &k->split->timer, 0);
	return O2G_PROTO_OK;
}

static int answer(struct tcp_split *s)
{
	struct tcp_conn *k = s->conn;
	struct tcp_chan *c = k->chan;
	u32 version;

	if (tcp_hello_check_challenge(&s->challenge, false, &version) ||
	    tcp_conn_answer(k, &s->challenge, TCP_SECOND, &s->answer) ||
	    send(s->watch.fd, &s->answer, sizeof(s->answer),
		 MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(s->answer))
		return -EPROTO;
	chan_timer_del(c->chan.ep, &s->timer);
	s->have = 0;
	s->state = ANSWERED;
	return 0;
}

static int on_verdict(struct tcp_split *s)
{
	struct tcp_conn *k = s->conn;
	struct tcp_hello_key key = tcp_conn_key(k);

	if (!tcp_hello_check_verdict(&key, &s->challenge, &s->answer,
				     &s->verdict))
		return -EPERM;
	if (le32_to_cpu(s->verdict.code) != TCP_ACCEPTED)
		return -ECONNREFUSED;
	s->state = STANDS;
	if (k->in.state == TCP_IN_MOVED)
		follow(k);
	return 0;
}

static int advance(struct tcp_split *s)
{
	int r;

	if (s->state == CONNECTING) {
		r = tcp_sock_read(s->watch.fd, &s->challenge,
				  sizeof(s->challenge), &s->have);
		return r > 0 ? answer(s) : r;
	}
	if (s->state == ANSWERED) {
		r = tcp_sock_read(s->watch.fd, &s->verdict, sizeof(s->verdict),
				  &s->have);
		return r > 0 ? on_verdict(s) : r;
	}
	return 0; /* what comes then is read once we follow */
}

static int on_ready(struct chan_watch *w, u32 events)
{
	struct tcp_split *s = container_of(w, struct tcp_split, watch);
	int err = events & (EPOLLERR | EPOLLHUP) ? tcp_sock_error(w->fd) : 0;

	if (!err)
		err = advance(s);
	if (err)
		fail(s, strerror(-err));
	return 0; /* it may be gone */
}

/* A socket that is being connected to where @k leads to, or negative errno. */
static int call_again(struct tcp_conn *k)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int fd;

	if (getpeername(k->in.sock.watch.fd, (struct sockaddr *)&ss, &len))
		return -errno;
	fd = tcp_sock_create(ss.ss_family);
	if (fd < 0)
		return fd;
	if (affords(k->chan, fd) &&
	    (!connect(fd, (struct sockaddr *)&ss, len) || errno == EINPROGRESS))
		return fd;
	close(fd);
	return -EAGAIN;
}

void tcp_split_start(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;
	struct tcp_split *s;

	if (!could_part(k, TCP_CALLER))
		return;
	k->sockets = TCP_ALONE; /* unless it works out */
	s = calloc(1, sizeof(*s));
	if (!s)
		return;
	s->conn = k;
	s->timer.fn = on_timer;
	o2g_list_init(&s->timer.link);
	s->watch.ready = on_ready;
	s->watch.fd = call_again(k);
	if (s->watch.fd < 0 || chan_watch_add(c->chan.ep, &s->watch,
					      EPOLLIN | EPOLLRDHUP | EPOLLET)) {
		if (s->watch.fd >= 0)
			close(s->watch.fd);
		free(s);
		return;
	}
	k->split = s;
	k->sockets = TCP_CALLING;
	chan_timer_set(c->chan.ep, &s->timer, tcp_timeout_us());
}

/* --- the one that is called --- */

enum tcp_verdict tcp_split_offer(struct tcp_chan *c, struct chan_peer *p,
				 int fd, struct tcp_conn **conn)
{
	struct tcp_conn *k = p ? tcp_conn_find(c, p->core.rank) : NULL;

	if (!k || !could_part(k, TCP_CALLED) || !affords(c, fd))
		return TCP_DUPLICATE;
	*conn = k;
	return TCP_ACCEPTED;
}
