/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "sock.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "addr.h"
#include "log.h"
#include "settings.h"

#define PORTS_TRIED 64

u64 tcp_timeout_us(void)
{
	int64_t s = o2g_settings()->tcp_timeout;

	return (s > 0 ? s : 1) * 1000000ull;
}

/* Six at least: a third of it, and a sixth, are whole seconds too. */
unsigned tcp_silence_s(void)
{
	int64_t s = o2g_settings()->tcp_silence;

	return s < 6 ? 6 : s > 3600 ? 3600 : (unsigned)s;
}

static void set_int(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

void tcp_sock_buffers(int fd)
{
	const struct o2g_settings *s = o2g_settings();

	if (s->tcp_sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUF, s->tcp_sndbuf);
	if (s->tcp_rcvbuf)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, s->tcp_rcvbuf);
}

/*
 * BBR sends on a timer's beat and does more work for every acknowledgement. On
 * a long way with losses that pays; between the hosts of a cluster it costs: 4
 * MiB messages over veth came at 310 MB/s with it and at 460 MB/s with cubic.
 */
static void set_congestion(int fd)
{
	const char *asked = o2g_settings()->tcp_congestion;
	char now[32] = "";
	socklen_t len = sizeof(now) - 1;

	if (!*asked)
		return;
	if (strcmp(asked, "auto")) {
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, asked,
			       strlen(asked)))
			o2g_warn(
				"O2G_TCP_CONGESTION is \"%s\": %s; sysctl net.ipv4.tcp_allowed_congestion_control lists what is allowed",
				asked, strerror(errno));
		return;
	}
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, now, &len) ||
	    strncmp(now, "bbr", 3))
		return;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5))
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

void tcp_sock_options(int fd)
{
	set_congestion(fd);
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, tcp_silence_s() / 3);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, tcp_silence_s() / 6);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	return fd;
}

static int with_options(int fd)
{
	if (fd >= 0) {
		tcp_sock_buffers(fd);
		tcp_sock_options(fd);
	}
	return fd;
}

int tcp_sock_create(int family)
{
	return with_options(new_socket(family));
}

/* The port that the kernel gives it, or 0. */
static u16 bind_anywhere(int fd, int family)
{
	struct tcp_addr any = { .family = (u8)family }, a;
	struct sockaddr_storage ss;
	socklen_t len = tcp_addr_to_sock(&any, 0, &ss);
	u16 port;

	if (bind(fd, (struct sockaddr *)&ss, len))
		return 0;
	len = sizeof(ss);
	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return 0;
	tcp_addr_from_sock(&ss, &a, &port);
	return port;
}

/* The kernel chooses, and is asked again: it knows which ports are not to be used. */
int tcp_sock_create_at(int family, bool (*fits)(const void *arg, u16 port),
		       const void *arg)
{
	for (int i = 0; i < PORTS_TRIED; i++) {
		int fd = new_socket(family);
		u16 port = fd < 0 ? 0 : bind_anywhere(fd, family);

		if (port && fits(arg, port))
			return with_options(fd);
		if (fd >= 0)
			close(fd);
		if (!port)
			break;
	}
	return tcp_sock_create(family);
}

int tcp_sock_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return -err;
}

bool tcp_sock_connected(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	return fd >= 0 && !getpeername(fd, (struct sockaddr *)&ss, &len);
}

void tcp_sock_limit_silence(int fd, bool on)
{
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT,
		on ? (int)tcp_silence_s() * 1000 : 0);
}

int tcp_sock_read(int fd, void *to, u32 size, u32 *have)
{
	while (*have < size) {
		ssize_t n = recv(fd, (char *)to + *have, size - *have,
				 MSG_DONTWAIT);

		if (n > 0)
			*have += n;
		else if (n == 0)
			return -ECONNRESET;
		else if (errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			return -errno;
	}
	return 1;
}

static int end_text(int fd, int (*get)(int, struct sockaddr *, socklen_t *),
		    char *buf, size_t size)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char ip[TCP_ADDR_TEXT];
	struct tcp_addr a;
	u16 port;

	if (get(fd, (struct sockaddr *)&ss, &len) ||
	    (ss.ss_family != AF_INET && ss.ss_family != AF_INET6))
		return snprintf(buf, size, "?");
	tcp_addr_from_sock(&ss, &a, &port);
	tcp_addr_ip(&a, ip, sizeof(ip));
	return snprintf(buf, size, a.family == AF_INET ? "%s:%u" : "[%s]:%u",
			ip, port);
}

static int name_of_sock(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int name_of_peer(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

void tcp_sock_describe(int fd, char *buf, size_t size)
{
	char from[TCP_ADDR_TEXT + 8], to[TCP_ADDR_TEXT + 8];

	end_text(fd, name_of_sock, from, sizeof(from));
	end_text(fd, name_of_peer, to, sizeof(to));
	snprintf(buf, size, "%s -> %s", from, to);
}
