/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The side that has a port. Those who call are heard side by side, so that a stranger
 * who connects and says nothing keeps nobody waiting; whoever has said hello while
 * another was taken is there for the next accept.
 */
#define _GNU_SOURCE /* accept4 */
#include "port.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "listen.h"
#include "secure.h"
#include "sock.h"
#include "tcp.h"

#define VISITORS 16
#define GRACE_US 250000 /* one that is younger is not thrown out for another */

struct visitor {
	int fd; /* -1: free */
	u64 since_us;
	u32 have;
	struct tcp_challenge challenge;
	struct tcp_answer answer;
};

struct tcp_port {
	pthread_mutex_t lock; /* one accept at a time */
	int fd;
	int stopped; /* eventfd: readable when nobody is to be let in */
	u8 key[TCP_PORT_SECRET];
	struct tcp_addr addrs[TCP_ADDRS];
	u32 naddrs;
	struct visitor visitors[VISITORS];
};

static struct tcp_hello_key key_of(const struct tcp_port *p)
{
	return (struct tcp_hello_key){ p->key, "port" };
}

static int write_name(const struct tcp_port *p, const char *node, char *name,
		      size_t size)
{
	struct tcp_card card = { .naddrs = p->naddrs };
	size_t n = 5;

	if (size < n + 2 * sizeof(p->key) + 2)
		return -ENOSPC;
	tcp_host_name(card.host, sizeof(card.host));
	snprintf(card.node, sizeof(card.node), "%s", node);
	card.port = tcp_listen_port(p->fd);
	memcpy(card.addrs, p->addrs, sizeof(card.addrs));
	strcpy(name, "o2g1:");
	for (size_t i = 0; i < sizeof(p->key); i++)
		n += sprintf(name + n, "%02x", p->key[i]);
	name[n++] = ':';
	return tcp_card_write(&card, 0, name + n, size - n);
}

int tcp_port_open(u32 rank, const char *node, struct tcp_port **port,
		  char *name, size_t size, char *why, size_t why_size)
{
	struct tcp_port *p = calloc(1, sizeof(*p));
	int n, err;

	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	p->fd = -1;
	for (int i = 0; i < VISITORS; i++)
		p->visitors[i].fd = -1;
	p->stopped = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	n = p->stopped < 0 ? -errno :
			     tcp_find_addresses(p->addrs, why, why_size);
	err = n < 0 ? n : 0;
	if (!err) {
		p->naddrs = n;
		err = p->fd = tcp_listen_at(p->addrs, n, rank, why, why_size);
	}
	if (err >= 0 && getrandom(p->key, sizeof(p->key), 0) != sizeof(p->key))
		err = -EIO;
	if (err >= 0)
		err = write_name(p, node, name, size);
	if (err < 0) {
		tcp_port_close(p);
		return err;
	}
	*port = p;
	return 0;
}

static void dismiss(struct visitor *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
}

void tcp_port_stop(struct tcp_port *p)
{
	eventfd_write(p->stopped, 1);
}

void tcp_port_close(struct tcp_port *p)
{
	for (int i = 0; i < VISITORS; i++)
		dismiss(&p->visitors[i]);
	if (p->fd >= 0)
		close(p->fd);
	if (p->stopped >= 0)
		close(p->stopped);
	explicit_bzero(p->key, sizeof(p->key));
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* --- those who call --- */

static struct visitor *place_for(struct tcp_port *p)
{
	struct visitor *oldest = &p->visitors[0];

	for (int i = 0; i < VISITORS; i++) {
		if (p->visitors[i].fd < 0)
			return &p->visitors[i];
		if (p->visitors[i].since_us < oldest->since_us)
			oldest = &p->visitors[i];
	}
	if (o2g_now_us() - oldest->since_us < GRACE_US)
		return NULL;
	dismiss(oldest);
	return oldest;
}

static void let_in(struct tcp_port *p)
{
	struct visitor *v = place_for(p);
	int fd;

	if (!v)
		return;
	/* cppcheck-suppress nullPointer */
	fd = accept4(p->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	v->fd = fd;
	v->since_us = o2g_now_us();
	v->have = 0;
	tcp_sock_limit_silence(fd, true);
	if (!tcp_came_in_at(fd, p->addrs, p->naddrs) ||
	    tcp_hello_challenge(&v->challenge, tcp_encrypts()) ||
	    send(fd, &v->challenge, sizeof(v->challenge),
		 MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(v->challenge))
		dismiss(v);
}

/* Has it said hello, and does it have our name? */
static bool proves_itself(const struct tcp_port *p, const struct visitor *v)
{
	struct tcp_hello_key key = key_of(p);

	return tcp_hello_purpose(&v->answer) == TCP_CALL &&
	       tcp_hello_check_answer(&key, &v->challenge, &v->answer);
}

/* Its descriptor, which is then not the visitor's any more; or -EAGAIN. */
static int hear(struct tcp_port *p, struct visitor *v,
		u8 secret[TCP_PORT_SECRET])
{
	struct tcp_hello_key key = key_of(p);
	struct tcp_verdict_msg verdict;
	int fd = v->fd, r;

	r = tcp_sock_read(fd, &v->answer, sizeof(v->answer), &v->have);
	if (!r && o2g_now_us() - v->since_us < TCP_HELLO_US)
		return -EAGAIN;
	if (r <= 0 || !proves_itself(p, v)) {
		dismiss(v);
		return -EAGAIN;
	}
	tcp_hello_verdict(&key, &v->challenge, &v->answer, TCP_ACCEPTED,
			  &verdict);
	if (send(fd, &verdict, sizeof(verdict), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    sizeof(verdict)) {
		dismiss(v);
		return -EAGAIN;
	}
	tcp_hello_derive(&key, &v->challenge, &v->answer, secret);
	v->fd = -1;
	return fd;
}

static int hear_all(struct tcp_port *p, u8 secret[TCP_PORT_SECRET])
{
	int fd = -EAGAIN;

	for (int i = 0; i < VISITORS && fd < 0; i++)
		if (p->visitors[i].fd >= 0)
			fd = hear(p, &p->visitors[i], secret);
	return fd;
}

/* Until somebody calls or says something, or the time is up; -ECANCELED: stopped. */
static int listen_for(struct tcp_port *p, u64 until_us)
{
	struct pollfd fds[VISITORS + 2] = { { p->fd, POLLIN, 0 },
					    { p->stopped, POLLIN, 0 } };
	u64 now = o2g_now_us();
	int n = 2, ms = -1;

	for (int i = 0; i < VISITORS; i++)
		if (p->visitors[i].fd >= 0)
			fds[n++] =
				(struct pollfd){ p->visitors[i].fd, POLLIN, 0 };
	if (until_us != ~0ull)
		ms = until_us > now ? (int)((until_us - now) / 1000) + 1 : 0;
	/* visitors have a limit of their own */
	if (n > 2 && (ms < 0 || ms > 250))
		ms = 250;
	if (poll(fds, n, ms) <= 0)
		return 0;
	if (fds[1].revents)
		return -ECANCELED;
	if (fds[0].revents)
		let_in(p);
	return 0;
}

/* Other threads may be waiting there, for longer than we want to. */
static int take_turn(struct tcp_port *p, u64 until_us)
{
	struct timespec t = { (time_t)(until_us / 1000000),
			      (long)(until_us % 1000000) * 1000 };

	if (until_us == ~0ull)
		return -pthread_mutex_lock(&p->lock);
	return -pthread_mutex_clocklock(&p->lock, CLOCK_MONOTONIC, &t);
}

int tcp_port_accept(struct tcp_port *p, int timeout_ms,
		    u8 secret[TCP_PORT_SECRET])
{
	u64 until = ~0ull;
	int fd, err;

	if (timeout_ms >= 0)
		until = o2g_now_us() + (u64)timeout_ms * 1000;
	err = take_turn(p, until);
	if (err)
		return err;
	while ((fd = hear_all(p, secret)) < 0 && !err && o2g_now_us() < until)
		err = listen_for(p, until);
	pthread_mutex_unlock(&p->lock);
	if (fd >= 0 && tcp_encrypts())
		fd = tcp_port_seal(fd, secret, TCP_TLS_SERVER);
	if (fd == -EAGAIN)
		return err ? err : -ETIMEDOUT;
	return fd;
}
