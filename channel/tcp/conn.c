/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The connection of a pair: made by us or by the peer, lost, closed.
 *
 * When both dial at once, one of the two connections has to go, and both must
 * agree on which. The lower rank decides: it refuses the other's (DUPLICATE)
 * when it has already proved itself on its own dial, and takes it, dropping its
 * own, when it has not. The higher rank always takes what the lower one offers.
 * So at most one is ever accepted: the lower rank never answers a challenge
 * after it has accepted, and never accepts after it has answered, unless that
 * attempt failed. The refused one is only an attempt that failed, never the
 * death of a peer, and what was queued stays in the tcp_conn.
 */
#include "conn.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alive.h"
#include "card.h"
#include "dial.h"
#include "intake.h"
#include "linger.h"
#include "log.h"
#include "recv.h"
#include "secure.h"
#include "send.h"
#include "settings.h"
#include "sock.h"
#include "split.h"
#include "tcp.h"
#include "watch.h"

static void conn_timer(struct chan_timer *t);

struct tcp_conn *tcp_conn_find(struct tcp_chan *c, u32 rank)
{
	struct o2g_list *i;

	o2g_list_for_each(i, &c->conns) {
		struct tcp_conn *k = container_of(i, struct tcp_conn, all);

		if (k->peer->core.rank == rank)
			return k;
	}
	return NULL;
}

static void in_init(struct tcp_in *in)
{
	in->sock.watch.fd = -1;
	in->sock.watch.ready = tcp_in_ready;
	in->lowat = 1;
	in->stage = TCP_STAGE_MAX;
	o2g_stream_init(&in->stream);
	o2g_list_init(&in->more);
}

static void out_init(struct tcp_out *out)
{
	out->fd = out->sock.watch.fd = -1;
	out->sock.watch.ready = tcp_out_ready;
	out->state = TCP_OUT_HELD;
	o2g_list_init(&out->queue);
	o2g_list_init(&out->dirty);
}

struct tcp_conn *tcp_conn_create(struct tcp_chan *c, struct chan_peer *p)
{
	struct tcp_conn *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->chan = c;
	k->peer = p;
	in_init(&k->in);
	out_init(&k->out);
	k->timer.fn = conn_timer;
	o2g_list_init(&k->timer.link);
	o2g_list_add_tail(&k->all, &c->conns);
	c->nconns++;
	return k;
}

/* The peer's packets go through this connection, not through other channels. */
static void conn_bind(struct tcp_conn *k)
{
	k->peer->chan = &k->chan->chan;
	k->peer->link = k;
	k->peer->core.eager_max = o2g_settings()->tcp_eager;
	k->peer->core.can_get = false;
	k->peer->core.inject_max = tcp_encrypts() ? 0 : TCP_SMALL + 1;
}

static bool is_bound(const struct tcp_conn *k)
{
	return k->peer->chan == &k->chan->chan && k->peer->link == k;
}

/* Move it to the front; who falls off the end is watched again. */
void tcp_conn_hot(struct tcp_conn *k)
{
	struct tcp_conn **hot = k->chan->hot, *moved = k;

	if (k->in.intake)
		return;
	for (int i = 0; i < TCP_HOT; i++) {
		struct tcp_conn *old = hot[i];

		hot[i] = moved;
		if (!old || old == k)
			return;
		moved = old;
	}
	tcp_conn_watch(moved);
}

void tcp_conn_broken(struct tcp_conn *k, int err)
{
	k->out.state = TCP_OUT_BROKEN;
	k->out.err = err;
	/* What it sent before it went is still worth reading. */
	tcp_conn_ending(k);
	chan_timer_set(k->chan->chan.ep, &k->timer, 0);
}

static void cool(struct tcp_conn *k)
{
	for (int i = 0; i < TCP_HOT; i++)
		if (k->chan->hot[i] == k)
			k->chan->hot[i] = NULL;
}

/* Take the socket out of the connection. */
static int detach(struct tcp_conn *k)
{
	struct tcp_in *in = &k->in;
	int fd = in->sock.watch.fd;

	if (in->intake)
		in->intake->leave(k);
	in->intake = NULL;
	tcp_conn_unwatch(k);
	in->sock.watch.fd = -1;
	return fd;
}

/* The same at its end: the caller closes it. -1: there is none. */
static int take_fd(struct tcp_conn *k)
{
	return k->in.sock.watch.fd < 0 ? -1 : detach(k);
}

/* And the one for sending, of a connection that has two. */
static int take_second(struct tcp_conn *k)
{
	struct tcp_sock *s = &k->out.sock;
	int fd = s->watch.fd;

	if (s->events)
		chan_watch_del(k->chan->chan.ep, &s->watch);
	s->events = 0;
	s->watch.fd = -1;
	return fd;
}

/* Its sends end in an error now. What they have lent must not be taken for good. */
static void close_at_end(int fd, bool reset)
{
	if (fd < 0)
		return;
	if (reset)
		tcp_lend_reset(fd);
	close(fd);
}

/*
 * Nobody else holds it: the peer's link is cleared here or was another
 * channel's, and every list, timer and watch that knows it is left.
 */
void tcp_conn_destroy(struct tcp_conn *k)
{
	bool reset = tcp_lend_open(k);

	if (is_bound(k))
		k->peer->link = NULL;
	tcp_dial_stop(k);
	tcp_split_stop(k);
	tcp_secure_stop(k);
	chan_timer_del(k->chan->chan.ep, &k->timer);
	close_at_end(take_fd(k), reset);
	close_at_end(take_second(k), reset);
	tcp_send_drop(k);
	cool(k);
	o2g_list_del(&k->in.more);
	o2g_list_del(&k->all);
	k->chan->nconns--;
	tcp_tls_destroy(k->tls);
	free(k->in.early);
	free(k->out.buf);
	free(k);
}

/* What comes in on the socket is ours. */
static int attach(struct tcp_conn *k)
{
	const struct tcp_intake *intake = k->chan->intake;
	int err;

	if (intake && !intake->join(k)) {
		k->in.intake = intake;
		cool(k);
	}
	k->in.state = TCP_IN_BUSY;
	err = tcp_watch_add(k, &k->in.sock);
	if (!err && k->out.state == TCP_OUT_BROKEN)
		tcp_conn_broken(k, k->out.err); /* nobody has said so yet */
	return err;
}

/* Who encrypts in each direction: GnuTLS at every call, or the kernel. */
static void use_tls(struct tcp_conn *k)
{
	bool kernel = tcp_tls_kernel_sends(k->tls);

	k->out.tls = kernel ? NULL : k->tls;
	k->in.tls = tcp_tls_kernel_receives(k->tls) ? NULL : k->tls;
	if (kernel && is_bound(k))
		k->peer->core.inject_max = TCP_SMALL + 1;
}

/* Ours, or the engine's? Only a socket that carries its peer is handed over, and
 * none with TLS. */
static int accept_fd(struct tcp_conn *k, int fd)
{
	int err = 1;

	if (is_bound(k) && !k->tls)
		err = chan_ep_handover(k->chan->chan.ep, k->peer, fd);
	if (err < 0)
		return err;
	k->in.sock.watch.fd = k->out.fd = fd;
	if (err == 0) {
		k->state = TCP_HANDED;
		k->out.state = TCP_OUT_CLOSED;
		return 0;
	}
	err = attach(k);
	if (err) {
		detach(k);
		k->in.state = TCP_IN_NONE;
		return err;
	}
	k->state = TCP_OPEN;
	if (k->out.state == TCP_OUT_HELD)
		k->out.state = TCP_OUT_OPEN;
	return 0;
}

static void describe_ends(struct tcp_conn *k, int fd)
{
	size_t n;

	tcp_sock_describe(fd, k->ends, sizeof(k->ends));
	n = strlen(k->ends);
	if (!k->tls || n + 3 > sizeof(k->ends))
		return;
	memcpy(k->ends + n, ", ", 3);
	tcp_tls_describe(k->tls, k->ends + n + 2, sizeof(k->ends) - n - 2);
}

int tcp_conn_open(struct tcp_conn *k, int fd)
{
	int err;

	tcp_dial_stop(k);
	chan_timer_del(k->chan->chan.ep, &k->timer);
	if (k->tls)
		use_tls(k);
	err = accept_fd(k, fd);
	if (err)
		return err;
	describe_ends(k, fd);
	o2g_debug("tcp: connected to rank %u: %s", k->peer->core.rank, k->ends);
	tcp_alive_start(k->chan);
	if (k->state == TCP_HANDED)
		return 0;
	tcp_conn_hot(k);
	tcp_push(k);
	return 0;
}

void tcp_conn_orphan(struct tcp_conn *k)
{
	if (!k->dial && k->state == TCP_DIALING)
		chan_timer_set(k->chan->chan.ep, &k->timer, tcp_timeout_us());
}

/* --- a socket for each direction: split.c --- */

/* Nobody answers on it, so the kernel need not hurry to acknowledge. */
static void receives_only(int fd)
{
	int no = 0;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &no, sizeof(no));
}

static void add_second(struct tcp_conn *k, int fd)
{
	int err;

	k->sockets = TCP_TWO;
	k->out.sock.watch.fd = fd;
	err = tcp_watch_add(k, &k->out.sock);
	if (err)
		tcp_conn_broken(k, err);
}

/* What waits in the second socket is read as it is at the beginning. */
void tcp_conn_receive_on(struct tcp_conn *k, int fd)
{
	int err;

	add_second(k, detach(k));
	k->in.sock.watch.fd = fd;
	k->in.lowat = 1;
	o2g_stream_init(&k->in.stream);
	receives_only(fd);
	err = attach(k);
	if (err)
		tcp_conn_broken(k, err);
}

void tcp_conn_send_on(struct tcp_conn *k, int fd)
{
	add_second(k, fd);
	tcp_send_moved(k);
}

void tcp_conn_has_moved(struct tcp_conn *k)
{
	k->out.last_here = NULL;
	tcp_watch_room(k, false);
	k->out.fd = k->out.sock.watch.fd;
	receives_only(k->in.sock.watch.fd);
}

void tcp_conn_lost(struct tcp_conn *k, int err, const char *fmt, ...)
{
	struct chan_peer *p = k->peer;
	char why[700];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (k->ends[0] && n < (int)sizeof(why))
		snprintf(why + n, sizeof(why) - n, " (%s)", k->ends);
	tcp_conn_dead(k);
	/* The engine disconnects only what it knows. */
	if (!is_bound(k))
		tcp_conn_destroy(k);
	chan_peer_lost(p, err, "%s", why);
}

static void conn_timer(struct chan_timer *t)
{
	struct tcp_conn *k = container_of(t, struct tcp_conn, timer);

	if (k->dial) {
		tcp_dial_timer(k);
	} else if (k->state == TCP_DIALING) {
		tcp_conn_lost(k, -O2G_ERR_PEER,
			      "its connection broke before it was set up");
	} else if (k->out.state == TCP_OUT_BROKEN) {
		tcp_recv(k);
	}
}

/* --- the hello of a pair --- */

struct tcp_hello_key tcp_other_key(const struct chan_peer *p, u32 secret)
{
	return (struct tcp_hello_key){ chan_secret(p->other, secret), "" };
}

struct tcp_hello_key tcp_conn_key(const struct tcp_conn *k)
{
	return k->peer->other ? tcp_other_key(k->peer, k->secret) :
				k->chan->key;
}

int tcp_conn_answer(const struct tcp_conn *k, const struct tcp_challenge *c,
		    enum tcp_purpose purpose, struct tcp_answer *a)
{
	const struct tcp_chan *chan = k->chan;
	const struct chan_ep *ep = chan->chan.ep;
	struct tcp_hello_key key = tcp_conn_key(k);
	const char *host = chan->host;
	char name[TCP_HOST_SIZE];

	if (k->peer->other) {
		purpose = purpose == TCP_SECOND ? TCP_OTHER_SECOND :
						  TCP_OTHER_FIRST;
		tcp_hello_name(name, chan_ep_job_id(ep), host);
		host = name;
	}
	return tcp_hello_answer(&key, c, purpose, chan_ep_rank(ep),
				k->peer->core.wire_rank, host, a);
}

/* The same answer at both ends, to the opposite question. */
static bool we_are_lower(const struct tcp_chan *c, const struct chan_peer *p)
{
	u64 ours = chan_ep_job_id(c->chan.ep);

	if (p->other && p->other->job != ours)
		return ours < p->other->job;
	return chan_ep_rank(c->chan.ep) < p->core.wire_rank;
}

enum tcp_verdict tcp_conn_offer(struct tcp_chan *c, struct chan_peer *p,
				const char *host, struct tcp_conn **conn)
{
	struct tcp_conn *k = p ? tcp_conn_find(c, p->core.rank) : NULL;

	if (!p || p->core.down)
		return TCP_GONE;
	if (k && (k->state != TCP_DIALING || k->secure))
		return k->state == TCP_DEAD ? TCP_GONE : TCP_DUPLICATE;
	if (k && tcp_dial_committed(k) && we_are_lower(c, p))
		return TCP_DUPLICATE;
	if (!k)
		k = tcp_conn_create(c, p);
	if (!k)
		return TCP_GONE;
	/* Carried by another channel already: still hear what it sends here. */
	if (!p->chan)
		conn_bind(k);
	if (!p->host[0])
		snprintf(p->host, sizeof(p->host), "%s", host);
	*conn = k;
	return TCP_ACCEPTED;
}

int tcp_connect(struct chan *chan, struct chan_peer *p, const char *text)
{
	struct tcp_chan *c = tcp_chan_of(chan);
	struct tcp_conn *k = tcp_conn_find(c, p->core.rank);
	struct tcp_addr to[TCP_ADDRS];
	struct tcp_card card;
	int err;
	u32 n;

	if (k) { /* it has called us, while another channel carried it */
		conn_bind(k);
		return 0;
	}
	if (tcp_card_read(text, &card))
		return -EINVAL;
	n = tcp_addr_order(c->addrs, c->naddrs, card.addrs, card.naddrs,
			   !strcmp(card.node, chan_ep_node(chan->ep)), to,
			   TCP_ADDRS);
	if (!n)
		return -EHOSTUNREACH;
	k = tcp_conn_create(c, p);
	if (!k)
		return -ENOMEM;
	conn_bind(k);
	snprintf(p->host, sizeof(p->host), "%s", card.host);
	err = tcp_dial_start(k, to, n, card.port);
	if (err)
		tcp_conn_destroy(k);
	return err;
}

void tcp_disconnect(struct chan *chan, struct chan_peer *p, bool orderly)
{
	struct tcp_conn *k = p->link;
	int fd, second;

	if (!k)
		return;
	if (orderly && k->out.state != TCP_OUT_BROKEN && !tcp_lend_open(k)) {
		tcp_push(k);
		fd = take_fd(k);
		second = k->sockets == TCP_TWO ? take_second(k) :
						 tcp_split_take(k);
		if (fd >= 0)
			tcp_linger_add(k->chan, k->out.fd,
				       k->out.fd == fd ? second : fd);
	}
	tcp_conn_destroy(k);
}

void tcp_forget(struct chan *chan, struct chan_peer *p)
{
	struct tcp_conn *k = tcp_conn_find(tcp_chan_of(chan), p->core.rank);

	if (k)
		tcp_conn_destroy(k);
}

void tcp_deny(struct chan *c, const void *base, size_t len)
{
	struct o2g_list *l, *tmp;

	o2g_list_for_each_safe(l, tmp, &tcp_chan_of(c)->conns) {
		struct tcp_conn *k = container_of(l, struct tcp_conn, all);

		if (k->in.stream.in_body)
			chan_rx_deny(&k->in.rx, base, len);
	}
}

void tcp_describe(struct chan *c, struct chan_peer *p, char *buf, size_t size)
{
	struct tcp_conn *k = p->link;

	snprintf(buf, size, "%s",
		 k && k->ends[0]	     ? k->ends :
		 k && (k->dial || k->secure) ? "connecting" :
					       "not connected");
}
