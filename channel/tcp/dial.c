/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The initiator's half: several addresses, one connection.
 *
 * Addresses are tried best first. One that fails makes room for the next at
 * once; one that stays silent gets company after a quarter of a second. When
 * all have failed they are tried again until O2G_TCP_TIMEOUT is over: the peer
 * may be short of descriptors. Only when all of its addresses refuse, several
 * times, it is given up sooner: it listened before anybody knew them, so it does
 * not any more. Any number may be connecting, but only one at a time is sent our
 * answer, since the peer would believe each of them.
 *
 * Once TCP has connected, the peer has all the time it wants for its part of the
 * hello: it may be stopped, or compute without a progress thread. TCP watches over
 * its host. A stranger at the port looks just the same, so this ends where another
 * address tells that the peer is not there, and for an address that has hung up on
 * us several times.
 *
 *	IDLE -> CONNECTING -> CHALLENGED -> ANSWERED -> the connection
 *	   \________\_____________\____________\-> FAILED -> IDLE
 */
#include "dial.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "conn.h"
#include "log.h"
#include "secure.h"
#include "sock.h"
#include "tcp.h"

#define STAGGER_US 250000 /* before the next address is tried as well */
#define RETRY_US 100000	  /* before the whole list is tried again, */
#define RECALL_US \
	10000	   /* and after an address has hung up for the first time */
#define REFUSALS 5 /* of the whole list: nobody is there */
#define HANGUPS 3  /* of an address: it is not waited for any more */

enum attempt_state { IDLE, CONNECTING, CHALLENGED, ANSWERED, FAILED };

struct attempt {
	struct chan_watch watch;
	struct tcp_conn *conn;
	struct tcp_addr to;
	enum attempt_state state;
	int err;	  /* why it failed last; 0: no answer so far */
	const char *what; /* the same as text, when there is no errno for it */
	u32 hangups;	  /* times that it was connected, for nothing */
	u32 have;	  /* bytes of the message being read */
	struct tcp_challenge challenge;
	struct tcp_answer answer;
	struct tcp_verdict_msg verdict;
};

struct tcp_dial {
	u16 port;
	u64 deadline_us;
	bool extended; /* somebody slow has been waited for */
	u32 refused;   /* rounds in a row in which nobody was there */
	u32 n;
	struct attempt at[];
};

static void advance(struct tcp_conn *k);

static void attempt_close(struct attempt *a)
{
	int fd = a->watch.fd;

	if (fd < 0)
		return;
	chan_watch_del(a->conn->chan->chan.ep, &a->watch);
	close(fd);
	a->watch.fd = -1;
}

static struct attempt *find_state(struct tcp_dial *d, enum attempt_state state)
{
	for (u32 i = 0; i < d->n; i++)
		if (d->at[i].state == state)
			return &d->at[i];
	return NULL;
}

bool tcp_dial_committed(const struct tcp_conn *k)
{
	return k->dial && find_state(k->dial, ANSWERED);
}

static void extend(struct tcp_dial *d)
{
	d->deadline_us = o2g_now_us() + tcp_timeout_us();
	d->extended = true;
}

/*
 * @what tells of one that was connected. One of us may have been away for so long
 * that the other did not wait: then there is time for another, even if the deadline
 * has passed.
 */
static void attempt_fail(struct attempt *a, int err, const char *what)
{
	struct tcp_dial *d = a->conn->dial;
	bool late = d->extended || o2g_now_us() >= d->deadline_us;

	if (what && a->hangups++ < HANGUPS && late)
		extend(d);
	attempt_close(a);
	a->state = FAILED;
	a->err = err;
	a->what = what;
}

/* --- the hello --- */

/* Of another job: the latest secret, and the ones before when that is not known there. */
static void choose_secret(struct attempt *a)
{
	const struct chan_other *o = a->conn->peer->other;
	u32 n = !o			   ? 0 :
		o->nsecrets < CHAN_SECRETS ? o->nsecrets :
					     CHAN_SECRETS;

	if (n)
		a->conn->secret = o->nsecrets - 1 - a->hangups % n;
}

static void answer(struct attempt *a)
{
	choose_secret(a);
	if (tcp_conn_answer(a->conn, &a->challenge, TCP_FIRST, &a->answer) ||
	    send(a->watch.fd, &a->answer, sizeof(a->answer),
		 MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(a->answer)) {
		attempt_fail(a, -errno, NULL);
		return;
	}
	a->have = 0;
	a->state = ANSWERED;
}

/* Nobody is being asked and somebody could be. */
static void answer_next(struct tcp_dial *d)
{
	struct attempt *a;

	while (!find_state(d, ANSWERED) && (a = find_state(d, CHALLENGED)))
		answer(a);
}

static void on_challenge(struct attempt *a)
{
	struct tcp_conn *k = a->conn;
	u32 version = 0;

	switch (tcp_hello_check_challenge(&a->challenge, tcp_encrypts(),
					  &version)) {
	case 0:
		a->state = CHALLENGED;
		answer_next(k->dial);
		return;
	case -EKEYREJECTED:
		tcp_conn_lost(k, -EPROTO,
			      "it %s and we %s: all ranks need the same",
			      tcp_encrypts() ? "does not encrypt" :
					       "encrypts (O2G_ENCRYPT=1)",
			      tcp_encrypts() ? "do (O2G_ENCRYPT=1)" : "do not");
		return;
	case -EPROTO:
		tcp_conn_lost(
			k, -EPROTO,
			"it speaks version %u of the O2G hello and we speak %u: all ranks need the same version of O2G",
			version, TCP_HELLO_VERSION);
		return;
	default:
		attempt_fail(a, -EPROTO, "something that is not O2G answers");
		advance(k);
	}
}

/* The peer has accepted: it is the connection. The attempt is gone afterwards. */
static void take(struct attempt *a)
{
	struct tcp_conn *k = a->conn;
	struct tcp_challenge c = a->challenge;
	struct tcp_answer ours = a->answer;
	int fd = a->watch.fd;

	chan_watch_del(k->chan->chan.ep, &a->watch);
	a->watch.fd = -1;
	tcp_sock_limit_silence(fd, false);
	k->sockets = TCP_CALLER;
	if (tcp_secure_open(k, fd, &c, &ours, TCP_TLS_CLIENT)) {
		close(fd);
		tcp_conn_lost(k, -O2G_ERR_PEER, "out of resources");
	}
}

static void on_verdict(struct attempt *a)
{
	struct tcp_conn *k = a->conn;
	struct tcp_hello_key key = tcp_conn_key(k);

	if (!tcp_hello_check_verdict(&key, &a->challenge, &a->answer,
				     &a->verdict)) {
		attempt_fail(a, -EPERM, "it does not know our secret");
		advance(k);
		return;
	}
	switch (le32_to_cpu(a->verdict.code)) {
	case TCP_ACCEPTED:
		take(a);
		return;
	case TCP_GONE:
		tcp_conn_lost(k, -O2G_ERR_PEER,
			      "it has given up the connection to us");
		return;
	case TCP_NOT_ME:
		attempt_fail(a, -EADDRINUSE, "another rank answers there");
		break;
	default:
		attempt_fail(a, -EALREADY, "it is connecting to us");
	}
	advance(k);
}

static bool hung_up(int err)
{
	return err == -ECONNRESET || err == -EPIPE;
}

static int attempt_ready(struct chan_watch *w, u32 events)
{
	struct attempt *a = container_of(w, struct attempt, watch);
	struct tcp_conn *k = a->conn;
	int r = 0;

	if (events & (EPOLLERR | EPOLLHUP))
		r = tcp_sock_error(w->fd);
	if (!r && a->state == CONNECTING)
		r = tcp_sock_read(w->fd, &a->challenge, sizeof(a->challenge),
				  &a->have);
	else if (!r && a->state == ANSWERED)
		r = tcp_sock_read(w->fd, &a->verdict, sizeof(a->verdict),
				  &a->have);
	else if (!r && events & EPOLLRDHUP)
		r = -ECONNRESET;
	if (r < 0) {
		attempt_fail(a, r, hung_up(r) ? "it hangs up" : NULL);
		advance(k);
	} else if (r > 0 && a->state == CONNECTING) {
		on_challenge(a);
	} else if (r > 0) {
		on_verdict(a);
	}
	return 0; /* the attempt may be gone */
}

/* --- trying --- */

static bool is_marked(const void *arg, u16 port)
{
	const struct tcp_conn *k = ((const struct attempt *)arg)->conn;

	return tcp_hello_is_marked(&k->chan->key, k->peer->core.wire_rank,
				   port);
}

/* Whoever was hung up on may have been one of many strangers to it: see listen.c. */
static int attempt_socket(const struct attempt *a)
{
	if (a->hangups && !a->conn->peer->other)
		return tcp_sock_create_at(a->to.family, is_marked, a);
	return tcp_sock_create(a->to.family);
}

static int attempt_start(struct attempt *a)
{
	struct tcp_conn *k = a->conn;
	struct sockaddr_storage ss;
	socklen_t len = tcp_addr_to_sock(&a->to, k->dial->port, &ss);
	int fd = attempt_socket(a), err;

	if (fd < 0)
		return fd;
	a->watch.fd = fd;
	a->watch.ready = attempt_ready;
	a->have = 0;
	tcp_sock_limit_silence(fd, true);
	if (connect(fd, (struct sockaddr *)&ss, len) && errno != EINPROGRESS)
		err = -errno;
	else
		err = chan_watch_add(k->chan->chan.ep, &a->watch,
				     EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	if (err) {
		close(fd);
		a->watch.fd = -1;
		return err;
	}
	a->state = CONNECTING;
	return 0;
}

static void set_timer(struct tcp_conn *k, u64 us)
{
	u64 now = o2g_now_us(), left;

	left = k->dial->deadline_us > now ? k->dial->deadline_us - now : 0;
	chan_timer_set(k->chan->chan.ep, &k->timer, us < left ? us : left);
}

/* Until the list is tried again; never, if none has failed. */
static u64 retry_us(struct tcp_dial *d)
{
	for (u32 i = 0; i < d->n; i++)
		if (d->at[i].state == FAILED && d->at[i].hangups == 1)
			return RECALL_US;
	return find_state(d, FAILED) ? RETRY_US : ~0ull;
}

/* After a change: prove ourselves where that is possible, and start the next
 * address that was not tried in this round. */
static void advance(struct tcp_conn *k)
{
	struct attempt *a;
	int err;

	answer_next(k->dial);
	while ((a = find_state(k->dial, IDLE))) {
		err = attempt_start(a);
		if (!err) {
			set_timer(k, STAGGER_US);
			return;
		}
		if (err == -EMFILE || err == -ENFILE)
			tcp_no_fds(k->chan, err, "connect");
		a->state = FAILED;
		a->err = err;
		a->what = NULL;
	}
	set_timer(k, retry_us(k->dial));
}

/* Even if it has broken since: then nobody has told us yet. */
static bool has_connected(const struct attempt *a)
{
	return a->state == CHALLENGED || a->state == ANSWERED ||
	       tcp_sock_connected(a->watch.fd);
}

static const char *outcome(const struct attempt *a)
{
	if (a->what)
		return a->what;
	if (a->err)
		return strerror(-a->err);
	return has_connected(a) ?
		       "something accepts connections, but says nothing" :
		       "no answer";
}

/* The addresses that were tried, and what came of it. */
static void describe(const struct tcp_dial *d, char *buf, size_t size)
{
	char text[TCP_ADDR_TEXT];
	size_t n = 0;

	for (u32 i = 0; i < d->n && n < size; i++)
		n += snprintf(buf + n, size - n, "%s%s (%s)", i ? ", " : "",
			      tcp_addr_ip(&d->at[i].to, text, sizeof(text)),
			      outcome(&d->at[i]));
}

static void give_up(struct tcp_conn *k)
{
	struct tcp_dial *d = k->dial;
	struct tcp_chan *c = k->chan;
	char theirs[300], ours[200], text[TCP_ADDR_TEXT];
	size_t n = 0;

	describe(d, theirs, sizeof(theirs));
	for (u32 i = 0; i < c->naddrs && n < sizeof(ours); i++)
		n += snprintf(ours + n, sizeof(ours) - n, "%s%s", i ? ", " : "",
			      tcp_addr_text(&c->addrs[i], text, sizeof(text)));
	tcp_conn_lost(
		k, -EHOSTUNREACH,
		"no connection in %llu s (O2G_TCP_TIMEOUT) to port %u of %s, from %s; O2G_TCP_INTERFACES chooses the interfaces",
		(unsigned long long)tcp_timeout_us() / 1000000, d->port, theirs,
		ours);
}

static bool all_refuse(const struct tcp_dial *d)
{
	for (u32 i = 0; i < d->n; i++)
		if (d->at[i].state != FAILED || d->at[i].err != -ECONNREFUSED)
			return false;
	return true;
}

static void nobody_there(struct tcp_conn *k)
{
	char theirs[300];

	describe(k->dial, theirs, sizeof(theirs));
	tcp_conn_lost(
		k, -ECONNREFUSED,
		"its process has ended, since nobody listens at port %u of %s; or a firewall refuses connections",
		k->dial->port, theirs);
}

static bool is_ours(const struct tcp_chan *c, const struct tcp_addr *a)
{
	for (u32 i = 0; i < c->naddrs; i++)
		if (tcp_addr_same_ip(&c->addrs[i], a))
			return true;
	return false;
}

/* Nobody listens, or somebody else: and a peer listens at all of its addresses. An
 * address that we have as well may lead to us, and tells nothing. */
static bool is_wrong(const struct attempt *a)
{
	bool wrong = a->err == -ECONNREFUSED || a->err == -EPROTO ||
		     a->err == -EPERM || a->err == -EADDRINUSE;

	return wrong && !is_ours(a->conn->chan, &a->to);
}

/* Is the peer there, as far as we can know, and has only not said so? */
static bool may_be_slow(const struct tcp_dial *d)
{
	bool connected = false;

	for (u32 i = 0; i < d->n; i++) {
		const struct attempt *a = &d->at[i];

		if (a->hangups < HANGUPS && has_connected(a))
			connected = true;
		else if (is_wrong(a))
			return false;
	}
	return connected;
}

/* Once: in a large job many may be slow, and all have the same reason. */
static void say_slow(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;

	if (c->slow_said)
		return;
	c->slow_said = true;
	o2g_warn(
		"tcp: rank %u on %s has not answered for %llu s, but its host has: waiting, since it may be stopped or busy (or another program has its port %u)",
		k->peer->core.rank, k->peer->host,
		(unsigned long long)tcp_timeout_us() / 1000000, k->dial->port);
}

void tcp_dial_timer(struct tcp_conn *k)
{
	struct tcp_dial *d = k->dial;

	if (o2g_now_us() >= d->deadline_us) {
		if (!may_be_slow(d)) {
			give_up(k);
			return;
		}
		say_slow(k);
		extend(d);
	}
	d->refused = all_refuse(d) ? d->refused + 1 : 0;
	if (d->refused == REFUSALS) {
		nobody_there(k);
		return;
	}
	if (!find_state(d, IDLE))
		for (u32 i = 0; i < d->n; i++)
			if (d->at[i].state == FAILED)
				d->at[i].state = IDLE;
	advance(k);
}

int tcp_dial_start(struct tcp_conn *k, const struct tcp_addr *to, u32 n,
		   u16 port)
{
	struct tcp_dial *d = calloc(1, sizeof(*d) + n * sizeof(d->at[0]));

	if (!d)
		return -ENOMEM;
	d->port = port;
	d->n = n;
	d->deadline_us = o2g_now_us() + tcp_timeout_us();
	for (u32 i = 0; i < n; i++) {
		d->at[i].conn = k;
		d->at[i].to = to[i];
		d->at[i].watch.fd = -1;
	}
	k->dial = d;
	advance(k);
	return 0;
}

void tcp_dial_stop(struct tcp_conn *k)
{
	struct tcp_dial *d = k->dial;

	if (!d)
		return;
	for (u32 i = 0; i < d->n; i++)
		attempt_close(&d->at[i]);
	k->dial = NULL;
	chan_timer_del(k->chan->chan.ep, &k->timer);
	free(d);
}
