// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What PMI-1 and PMI-2 share: the way to and from the launcher. A launcher that goes away is noticed here
 * and said once; after that every call fails with -EPIPE.
 */
#include "pmi_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"

#define SLOW_MS 5000

static int set_cloexec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags < 0 ? -errno : fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static int use_fd(struct pmi_conn *c, const char *fd_text)
{
	struct stat st;
	char *end;
	long fd;

	errno = 0;
	fd = strtol(fd_text, &end, 10);
	if (errno || end == fd_text || *end || fd < 0 || fd > INT_MAX) {
		o2g_error(
			"PMI_FD is \"%s\", which is not a descriptor; start the program with mpiexec, or unset PMI_FD to run it alone",
			fd_text);
		return -EINVAL;
	}
	/* A variable inherited without its descriptor, which may by now be
	 * anything: writing to a file of the user's must not happen. A pipe is
	 * no launcher's either, since answers have to come the same way. */
	if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		o2g_error(
			"PMI_FD is %ld, but no launcher is behind that descriptor; start the program with mpiexec, or unset PMI_FD to run it alone",
			fd);
		return -EBADF;
	}
	set_cloexec(fd);
	c->fd = fd;
	return 0;
}

static void begin_waiting(struct pmi_conn *c, int ms)
{
	if (ms >= 0)
		c->until = o2g_now_ns() + ms * 1000000ull;
}

static int ms_left(const struct pmi_conn *c)
{
	uint64_t now = o2g_now_ns();

	if (c->patience_ms < 0)
		return -1;
	return now < c->until ? (int)((c->until - now + 999999) / 1000000) : 0;
}

/* Long before patience ends somebody may wonder why nothing happens; once is
 * enough for all ranks. */
static void tell_slow(struct pmi_conn *c)
{
	const char *rank = getenv("PMI_RANK");

	if (!c->slow && (!rank || !strcmp(rank, "0")))
		o2g_warn("waiting for the launcher to answer (%s)",
			 getenv("PMI_FD") ? "PMI_FD is set" :
					    "PMI_PORT is set");
	c->slow = true;
}

/* Until there is something to read or room to write. -ETIMEDOUT: c->until has
 * come. */
static int wait_for(struct pmi_conn *c, short events)
{
	struct pollfd p = { .fd = c->fd, .events = events };

	for (;;) {
		int left = ms_left(c), r;
		bool first = left > SLOW_MS && !c->slow;

		if (!left)
			return -ETIMEDOUT;
		r = poll(&p, 1, first ? SLOW_MS : left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0 && first)
			tell_slow(c);
	}
}

/* A host that drops what it gets would keep a blocking connect for minutes. */
static int connect_to(struct pmi_conn *c, const struct addrinfo *a)
{
	socklen_t len = sizeof(int);
	int err;

	if (!connect(c->fd, a->ai_addr, a->ai_addrlen))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	err = wait_for(c, POLLOUT);
	if (err)
		return err;
	return getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -errno :
								     -err;
}

static int dial_one(struct pmi_conn *c, const struct addrinfo *a)
{
	int err;

	c->fd = socket(a->ai_family,
		       a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       a->ai_protocol);
	if (c->fd < 0)
		return -errno;
	err = connect_to(c, a);
	if (err)
		pmi_conn_close(c);
	return err;
}

/* The addresses of a host share the patience for one launcher. */
static int dial_any(struct pmi_conn *c, const struct addrinfo *list)
{
	int n = 0, err = -ECONNREFUSED;

	for (const struct addrinfo *a = list; a; a = a->ai_next)
		n++;
	for (const struct addrinfo *a = list; a && err; a = a->ai_next) {
		begin_waiting(c, c->patience_ms / n);
		err = dial_one(c, a);
	}
	return err;
}

static int dial(struct pmi_conn *c, const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int err = getaddrinfo(host, port, &hints, &list);

	if (err) {
		o2g_error("cannot find the launcher's host %s: %s", host,
			  gai_strerror(err));
		return -EHOSTUNREACH;
	}
	err = dial_any(c, list);
	freeaddrinfo(list);
	if (err)
		o2g_error(
			"cannot reach the launcher at %s port %s: %s (PMI_PORT is set); start the program with mpiexec, or unset PMI_PORT to run it alone",
			host, port,
			err == -ETIMEDOUT ? "no answer" : strerror(-err));
	return err;
}

static int use_port(struct pmi_conn *c, const char *where)
{
	const char *colon = strrchr(where, ':');
	char host[256];

	if (!colon || !colon[1] || colon - where >= (long)sizeof(host)) {
		o2g_error(
			"PMI_PORT is \"%s\", but HOST:PORT is expected; start the program with mpiexec, or unset PMI_PORT to run it alone",
			where);
		return -EINVAL;
	}
	memcpy(host, where, colon - where);
	host[colon - where] = '\0';
	return dial(c, host, colon + 1);
}

int pmi_conn_open(struct pmi_conn *c)
{
	const char *fd = getenv("PMI_FD"), *port = getenv("PMI_PORT");

	if (fd)
		return use_fd(c, fd);
	if (port)
		return use_port(c, port);
	o2g_error(
		"O2G_LAUNCHER asks for PMI, but neither PMI_FD nor PMI_PORT is set; unset it, and start the program with mpiexec");
	return -EINVAL;
}

void pmi_conn_close(struct pmi_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->have = c->used = 0;
}

static int lost(struct pmi_conn *c, const char *why)
{
	if (!c->lost)
		o2g_error("lost the launcher (%s): it has died or was killed",
			  why);
	c->lost = true;
	return -EPIPE;
}

static int wait_for_answer(struct pmi_conn *c, short events)
{
	int err = wait_for(c, events);

	if (err != -ETIMEDOUT)
		return err;
	o2g_error(
		"the launcher does not answer within %d s; start the program with mpiexec, or unset PMI_FD and PMI_PORT to run it alone",
		c->patience_ms / 1000);
	c->lost = true;
	return err;
}

int pmi_conn_send(struct pmi_conn *c, const char *text)
{
	size_t n = strlen(text);
	int err = 0;

	if (c->lost || c->fd < 0)
		return -EPIPE;
	begin_waiting(c, c->patience_ms);
	while (n && !err) {
		ssize_t r = send(c->fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (r >= 0) {
			text += r;
			n -= r;
		} else if (errno == EAGAIN) {
			err = wait_for_answer(c, POLLOUT);
		} else if (errno != EINTR) {
			return lost(c, strerror(errno));
		}
	}
	return err;
}

static int is_readable(const struct pmi_conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0 ? 0 : -EINPROGRESS;
}

static int read_more(struct pmi_conn *c)
{
	ssize_t r;
	int err;

	if (c->have == sizeof(c->buf)) {
		o2g_error("the launcher sent a message of more than %d bytes",
			  PMI_LINE_MAX);
		return -EPROTO;
	}
	err = c->nowait ? is_readable(c) : wait_for_answer(c, POLLIN);
	if (err)
		return err;
	r = read(c->fd, c->buf + c->have, sizeof(c->buf) - c->have);
	if (r == 0)
		return lost(c, "end of file");
	if (r < 0)
		return errno == EINTR || errno == EAGAIN ?
			       0 :
			       lost(c, strerror(errno));
	c->have += r;
	return 0;
}

/* Forgets what was handed out last. */
static int begin_recv(struct pmi_conn *c)
{
	if (c->lost || c->fd < 0)
		return -EPIPE;
	c->have -= c->used;
	memmove(c->buf, c->buf + c->used, c->have);
	c->used = 0;
	begin_waiting(c, c->patience_ms);
	return 0;
}

int pmi_conn_recv(struct pmi_conn *c, char **line)
{
	int err = begin_recv(c);
	char *nl;

	if (err)
		return err;
	while (!(nl = memchr(c->buf, '\n', c->have))) {
		err = read_more(c);
		if (err)
			return err;
	}
	*nl = '\0';
	c->used = nl + 1 - c->buf;
	*line = c->buf;
	return 0;
}

static int read_until(struct pmi_conn *c, size_t n)
{
	int err = 0;

	while (c->have < n && !err)
		err = read_more(c);
	return err;
}

int pmi_conn_recv_counted(struct pmi_conn *c, char **text)
{
	char count[PMI2_COUNT + 1] = "", *end;
	unsigned long n;
	int err;

	err = begin_recv(c);
	if (!err)
		err = read_until(c, PMI2_COUNT);
	if (err)
		return err;
	memcpy(count, c->buf, PMI2_COUNT);
	n = strtoul(count, &end, 10);
	if (end == count || end[strspn(end, " ")] ||
	    n >= sizeof(c->buf) - PMI2_COUNT)
		return pmi_bad_answer(count, "the length of a message");
	err = read_until(c, PMI2_COUNT + n);
	if (err)
		return err;
	/* The text moves over its count, and so leaves room for its end. */
	memmove(c->buf, c->buf + PMI2_COUNT, n);
	c->buf[n] = '\0';
	c->used = PMI2_COUNT + n;
	*text = c->buf;
	return 0;
}

int pmi_bad_answer(const char *got, const char *expected)
{
	o2g_error("the launcher answered \"%.200s\", but %s was expected", got,
		  expected);
	return -EPROTO;
}

int pmi_conn_hello(struct pmi_conn *c, int version)
{
	int rc = 0, theirs = version, err;
	char question[64], cmd[32], *line;

	snprintf(question, sizeof(question),
		 "cmd=init pmi_version=%d pmi_subversion=%d\n", version,
		 version == 1);
	err = pmi_conn_send(c, question);
	if (!err)
		err = pmi_conn_recv(c, &line);
	if (err)
		return err;
	if (pmi_field(line, "cmd", cmd, sizeof(cmd)) ||
	    strcmp(cmd, "response_to_init"))
		return pmi_bad_answer(line, "response_to_init");
	pmi_field_int(line, "pmi_version", &theirs);
	pmi_field_int(line, "rc", &rc);
	if (rc && theirs == version)
		return pmi_bad_answer(line, "rc=0");
	return theirs;
}
