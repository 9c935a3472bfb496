// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Connections: handed to the driver, and what their program does with them then. It may
 * write packets of its own beside the driver's, read, splice, listen, disconnect, and
 * ask for another protocol or for a sockmap.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int socks[NSOCKS], raws[NEPS];

int tcp_pair(int pair[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pair[1] = -1;
	if (!bind(listener, (void *)&a, len) && !listen(listener, 1) &&
	    !getsockname(listener, (void *)&a, &len) &&
	    !connect(pair[0], (void *)&a, len))
		pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return pair[1] < 0 ? -1 : 0;
}

void fuzz_send(int fd, struct o2g_hdr *h)
{
	unsigned char buf[O2G_HDR_SIZE + 8192];
	size_t len = O2G_HDR_SIZE, body, part;

	body = below(one_in(4) ? 8192 : 100);
	h->length = one_in(10) ? odd_number() : body;
	o2g_wire_encode(h, buf);
	if (one_in(10))
		buf[below(O2G_HDR_SIZE)] ^= 1 << below(8);
	if (o2g_wire_body(h))
		len += body;
	/* In pieces: a header may be cut anywhere; and some are urgent. */
	for (size_t at = 0; at < len; at += part) {
		int flags = MSG_DONTWAIT | MSG_NOSIGNAL |
			    (one_in(200) ? MSG_OOB : 0);

		part = one_in(2) ? len - at : 1 + below(len - at);
		if (send(fd, buf + at, part, flags) < 0)
			return;
	}
}

/* --- joining --- */

static void register_socket(int ep, uint32_t peer, int fd)
{
	struct o2gd_socket s = { .peer = peer, .fd = fd };

	ioctl(eps[ep].fd, O2GD_SOCKET, &s);
}

static void join_own(void)
{
	int i, pair[2];

	for (i = 1; i < NEPS; i++) {
		if (tcp_pair(pair))
			continue;
		socks[2 * i] = pair[0];
		socks[2 * i + 1] = pair[1];
		register_socket(0, first_rank + i, pair[0]);
		register_socket(i, first_rank, pair[1]);
	}
}

static void join_raw(int i)
{
	int pair[2];

	if (tcp_pair(pair))
		return;
	raws[i] = pair[0];
	register_socket(i, RAW_RANK, pair[1]);
	if (one_in(4))
		register_socket(i, RAW_RANK, pair[1]);
	close(pair[1]);
}

/* Endpoint 0 to all others and back; each to its like; each to what is none. */
void join(const int between[NEPS])
{
	uint32_t other = first_rank ? 0 : NEPS;

	memset(socks, -1, sizeof(socks));
	memset(raws, -1, sizeof(raws));
	join_own();
	for (int i = 0; i < NEPS; i++) {
		socks[2 * NEPS + i] = between[i];
		register_socket(i, other + i, between[i]);
		join_raw(i);
	}
}

static void new_raw(int i)
{
	struct linger l = { .l_onoff = one_in(2), .l_linger = 0 };
	int dead = raws[i];

	setsockopt(dead, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	join_raw(i);
	close(dead);
}

/* --- what else can be done with a connection --- */

static void disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	connect(fd, &none, sizeof(none));
}

/* A socket that the driver has, or had, and its children. */
static void listen_on(int fd)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int client, child;

	if (one_in(2))
		disconnect(fd);
	if (listen(fd, 5) || getsockname(fd, (void *)&addr, &len))
		return;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (!connect(client, (void *)&addr, sizeof(addr))) {
		child = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
		send(client, memory, below(200), MSG_DONTWAIT);
		close(child);
	}
	close(client);
}

/* A packet that might be one of the driver's, or a part of it. */
static void write_beside(int fd)
{
	struct o2g_hdr h = { .type = (uint8_t)(1 + below(11)),
			     .src = below(NRANKS),
			     .dst = below(NRANKS),
			     .tag = below(4),
			     .length = below(50000),
			     .cookie = (1ull + below(3)) << 32 | below(20),
			     .aux = below(2) };
	uint8_t raw[O2G_HDR_SIZE + 100];

	memset(raw, 1, sizeof(raw));
	o2g_wire_encode(&h, raw);
	send(fd, raw, 1 + below(sizeof(raw)), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void read_beside(int fd)
{
	char buf[256];
	int ends[2];

	if (one_in(4) && !pipe2(ends, O_CLOEXEC)) {
		splice(fd, NULL, ends[1], NULL, 4096, SPLICE_F_NONBLOCK);
		splice(ends[0], NULL, fd, NULL, 4096, SPLICE_F_NONBLOCK);
		close(ends[0]), close(ends[1]);
		return;
	}
	recv(fd, buf, sizeof(buf),
	     MSG_DONTWAIT | (one_in(2) ? MSG_PEEK : 0) |
		     (one_in(8) ? MSG_OOB : 0));
}

static void other_protocol(int fd)
{
	static const char *const names[] = { "tls", "smc", "espintcp", "mptcp",
					     "o2g" };
	const char *name = names[below(5)];

	setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, strlen(name));
}

static void sockmap(int fd)
{
	union bpf_attr attr;
	uint32_t key = 0;
	int map;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_SOCKMAP;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (map < 0)
		return;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&fd;
	syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
	close(map);
}

static void set_option(int fd)
{
	static const struct {
		int level, name;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY },	   { IPPROTO_TCP, TCP_CORK },
		{ IPPROTO_TCP, TCP_QUICKACK },	   { IPPROTO_TCP, TCP_MAXSEG },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT }, { IPPROTO_TCP, TCP_REPAIR },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP }, { SOL_SOCKET, SO_RCVLOWAT },
		{ SOL_SOCKET, SO_RCVBUF },	   { SOL_SOCKET, SO_SNDBUF },
		{ SOL_SOCKET, SO_OOBINLINE },	   { SOL_SOCKET, SO_BUSY_POLL },
		{ SOL_SOCKET, SO_ZEROCOPY }
	};
	size_t i = below(sizeof(options) / sizeof(options[0]));
	int value = (int)(one_in(3) ? odd_number() : below(3));

	setsockopt(fd, options[i].level, options[i].name, &value,
		   sizeof(value));
}

void socket_calls(int i)
{
	int fd = socks[below(NSOCKS)];
	uint32_t peer = number(NRANKS);

	switch (below(12)) {
	case 0:
		shutdown(fd, below(3));
		break;
	case 1:
		set_option(fd);
		break;
	case 2:
		read_beside(fd);
		break;
	case 3:
		if (one_in(20))
			ioctl(eps[i].fd, O2GD_PEER_DOWN, &peer);
		break;
	case 4:
		register_socket(i, peer, one_in(2) ? fd : (int)number(40));
		break;
	case 5:
		other_protocol(fd);
		break;
	case 6:
		if (one_in(10))
			listen_on(fd);
		break;
	case 7:
		if (one_in(5))
			write_beside(fd);
		break;
	case 8:
		sockmap(fd);
		break;
	case 9:
		if (one_in(10))
			disconnect(fd);
		break;
	default:
		new_raw(i);
	}
}
