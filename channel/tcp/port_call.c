/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The side that calls a port. Its addresses are tried one after another. Once we are
 * connected there is no limit but the caller's: whoever has the port may not have come
 * to its accept yet. If it ends meanwhile, the connection does as well.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "port.h"
#include "secure.h"
#include "sock.h"
#include "tcp.h"

#define CONNECT_MS 3000 /* for one address, if there are others */
#define TRIES 5		/* the port may have been short of something */

static int parse_key(const char *hex, u8 key[TCP_PORT_SECRET])
{
	unsigned byte;

	if (strspn(hex, "0123456789abcdef") != 2 * TCP_PORT_SECRET)
		return -EINVAL;
	for (int i = 0; i < TCP_PORT_SECRET; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -EINVAL;
		key[i] = (u8)byte;
	}
	return 0;
}

int tcp_port_parse(const char *name, struct tcp_card *card,
		   u8 key[TCP_PORT_SECRET])
{
	const size_t at = 5 + 2 * TCP_PORT_SECRET;

	if (strncmp(name, "o2g1:", 5) || strlen(name) >= TCP_PORT_NAME ||
	    parse_key(name + 5, key) || name[at] != ':')
		return -EINVAL;
	return tcp_card_read(name + at + 1, card);
}

/* What is left until @until_us, at most @most. */
static int left_ms(u64 until_us, int most)
{
	u64 now = o2g_now_us(), ms;

	if (until_us == ~0ull)
		return most;
	ms = until_us > now ? (until_us - now) / 1000 + 1 : 0;
	return most < 0 || ms < (u64)most ? (int)ms : most;
}

static int wait_for(int fd, short events, u64 until_us, int most)
{
	struct pollfd p = { fd, events, 0 };
	int r;

	do
		r = poll(&p, 1, left_ms(until_us, most));
	while (r < 0 && errno == EINTR);
	return r > 0 ? 0 : -ETIMEDOUT;
}

static int connect_to(const struct tcp_addr *a, u16 port, u64 until_us,
		      int most)
{
	struct sockaddr_storage ss;
	socklen_t len = tcp_addr_to_sock(a, port, &ss);
	int fd = tcp_sock_create(a->family), err = 0;

	if (fd < 0)
		return fd;
	tcp_sock_limit_silence(fd, true);
	if (connect(fd, (struct sockaddr *)&ss, len))
		err = errno == EINPROGRESS ?
			      wait_for(fd, POLLOUT, until_us, most) :
			      -errno;
	if (!err)
		err = tcp_sock_error(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int read_whole(int fd, void *to, u32 size, u64 until_us)
{
	u32 have = 0;
	int r;

	while (!(r = tcp_sock_read(fd, to, size, &have))) {
		r = wait_for(fd, POLLIN, until_us, -1);
		if (r)
			return r;
	}
	return r < 0 ? -ECONNRESET : 0;
}

static int say_hello(int fd, const struct tcp_hello_key *key, u64 until_us,
		     u8 secret[TCP_PORT_SECRET])
{
	struct tcp_challenge c;
	struct tcp_answer a;
	struct tcp_verdict_msg v;
	char host[64];
	u32 version;
	int err = read_whole(fd, &c, sizeof(c), until_us);

	if (err)
		return err;
	tcp_host_name(host, sizeof(host));
	err = tcp_hello_check_challenge(&c, tcp_encrypts(), &version);
	if (err == -EKEYREJECTED)
		o2g_error(
			"the job that has the port %s and ours %s: both need the same O2G_ENCRYPT",
			tcp_encrypts() ? "does not encrypt" : "encrypts",
			tcp_encrypts() ? "does" : "does not");
	if (err || tcp_hello_answer(key, &c, TCP_CALL, 0, 0, host, &a))
		return -EPROTO;
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
		return -ECONNRESET;
	err = read_whole(fd, &v, sizeof(v), until_us);
	if (err)
		return err;
	if (!tcp_hello_check_verdict(key, &c, &a, &v) ||
	    le32_to_cpu(v.code) != TCP_ACCEPTED)
		return -EPROTO;
	tcp_hello_derive(key, &c, &a, secret);
	return 0;
}

/* One round through the addresses. */
static int try_all(const struct tcp_addr *to, u32 n, u16 port,
		   const struct tcp_hello_key *key, u64 until_us,
		   u8 secret[TCP_PORT_SECRET])
{
	int err = -EHOSTUNREACH;

	for (u32 i = 0; i < n; i++) {
		int fd = connect_to(&to[i], port, until_us,
				    n > 1 ? CONNECT_MS : -1);

		if (fd < 0) {
			err = fd;
			continue;
		}
		err = say_hello(fd, key, until_us, secret);
		if (!err)
			return fd;
		close(fd);
		if (err == -ETIMEDOUT)
			break;
	}
	return err;
}

int tcp_port_call(const char *name, const char *node, int timeout_ms,
		  u8 secret[TCP_PORT_SECRET])
{
	struct tcp_addr ours[TCP_ADDRS], to[TCP_ADDRS];
	u64 until = ~0ull;
	u8 secret_key[TCP_PORT_SECRET];
	struct tcp_hello_key key = { secret_key, "port" };
	struct tcp_card card;
	char why[256];
	int n, fd;

	if (tcp_port_parse(name, &card, secret_key))
		return -EINVAL;
	if (timeout_ms >= 0)
		until = o2g_now_us() + (u64)timeout_ms * 1000;
	n = tcp_find_addresses(ours, why, sizeof(why));
	if (n < 0)
		return n;
	n = tcp_addr_order(ours, n, card.addrs, card.naddrs,
			   !strcmp(card.node, node), to, TCP_ADDRS);
	for (int i = 0; i < TRIES; i++) {
		fd = try_all(to, n, card.port, &key, until, secret);
		if (fd != -ECONNRESET)
			break;
		usleep(50000);
	}
	explicit_bzero(secret_key, sizeof(secret_key));
	if (fd >= 0 && tcp_encrypts())
		return tcp_port_seal(fd, secret, TCP_TLS_CLIENT);
	return fd == -ECONNRESET || fd == -EPROTO ? -ECONNREFUSED : fd;
}
