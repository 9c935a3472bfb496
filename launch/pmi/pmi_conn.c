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

static int dial(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	int fd = -1, err = ECONNREFUSED;

	err = getaddrinfo(host, port, &hints, &list);
	if (err) {
		o2g_error("cannot find the launcher's host %s: %s", host,
			  gai_strerror(err));
		return -EHOSTUNREACH;
	}
	for (a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
			    a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0)
			break;
		err = errno;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		o2g_error("cannot reach the launcher at %s port %s: %s", host,
			  port, strerror(err));
	return fd < 0 ? -err : fd;
}

static int use_port(struct pmi_conn *c, const char *where)
{
	const char *colon = strrchr(where, ':');
	char host[256];
	int fd;

	if (!colon || !colon[1] || colon - where >= (long)sizeof(host)) {
		o2g_error(
			"PMI_PORT is \"%s\", but HOST:PORT is expected; start the program with mpiexec, or unset PMI_PORT to run it alone",
			where);
		return -EINVAL;
	}
	memcpy(host, where, colon - where);
	host[colon - where] = '\0';
	fd = dial(host, colon + 1);
	if (fd < 0)
		return fd;
	c->fd = fd;
	return 0;
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

static void begin_waiting(struct pmi_conn *c)
{
	if (c->patience_ms >= 0)
		c->until = o2g_now_ns() + c->patience_ms * 1000000ull;
}

static int ms_left(const struct pmi_conn *c)
{
	uint64_t now = o2g_now_ns();

	if (c->patience_ms < 0)
		return -1;
	return now < c->until ? (int)((c->until - now + 999999) / 1000000) : 0;
}

static int late(struct pmi_conn *c)
{
	o2g_error(
		"the launcher does not answer within %d s; start the program with mpiexec, or unset PMI_FD and PMI_PORT to run it alone",
		c->patience_ms / 1000);
	c->lost = true;
	return -ETIMEDOUT;
}

/* Long before patience ends somebody may wonder why nothing happens; once is
 * enough for all ranks. */
static void tell_slow(struct pmi_conn *c)
{
	const char *rank = getenv("PMI_RANK");

	if (!c->slow && (!rank || !strcmp(rank, "0")))
		o2g_warn("waiting for the launcher to answer (%s)",
			 getenv("PMI_FD") ? "PMI_FD is set" : "PMI_PORT is set");
	c->slow = true;
}

/* Until there is something to read or room to write, or until c->until. */
static int wait_for(struct pmi_conn *c, short events)
{
	struct pollfd p = {.fd = c->fd, .events = events};

	for (;;) {
		int left = ms_left(c), r;
		bool first = left > SLOW_MS && !c->slow;

		if (!left)
			return late(c);
		r = poll(&p, 1, first ? SLOW_MS : left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0 && first)
			tell_slow(c);
	}
}

int pmi_conn_send(struct pmi_conn *c, const char *text)
{
	size_t n = strlen(text);
	int err = 0;

	if (c->lost || c->fd < 0)
		return -EPIPE;
	begin_waiting(c);
	while (n && !err) {
		ssize_t r = send(c->fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (r >= 0) {
			text += r;
			n -= r;
		} else if (errno == EAGAIN) {
			err = wait_for(c, POLLOUT);
		} else if (errno != EINTR) {
			return lost(c, strerror(errno));
		}
	}
	return err;
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
	err = wait_for(c, POLLIN);
	if (err)
		return err;
	r = read(c->fd, c->buf + c->have, sizeof(c->buf) - c->have);
	if (r == 0)
		return lost(c, "end of file");
	if (r < 0)
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : lost(c, strerror(errno));
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
	begin_waiting(c);
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
