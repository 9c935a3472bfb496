/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a process and `o2g names` say to each other over a socket of a port: a length and
 * so many bytes, which are strings with their NUL. A question is a letter, a service
 * and a port; the answer a number, 0 or an errno, and a port. A name is kept as long as
 * the connection that has published it, so those of processes that die go with them.
 */
#ifndef NAME_SERVICE_H
#define NAME_SERVICE_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define NAME_PUBLISH "P"
#define NAME_LOOKUP "L"
#define NAME_UNPUBLISH "U"
#define NAME_MESSAGE_MAX (64 << 10)

/* Three strings at most, in a buffer. */
struct name_message {
	uint32_t len;
	char text[NAME_MESSAGE_MAX];
};

/* False: it does not fit. */
static inline bool name_add(struct name_message *m, const char *text)
{
	size_t n = strlen(text) + 1;

	if (n > sizeof(m->text) - m->len)
		return false;
	memcpy(m->text + m->len, text, n);
	m->len += (uint32_t)n;
	return true;
}

/* The string at *at, which goes behind it; "" beyond the last. */
static inline const char *name_take(const struct name_message *m, uint32_t *at)
{
	const char *text = m->text + *at;

	if (*at >= m->len || !memchr(text, 0, m->len - *at))
		return "";
	*at += (uint32_t)strlen(text) + 1;
	return text;
}

/* Sockets of a port do not block. 0: try again; or negative errno. */
static inline int name_wait(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno == EINTR)
		return 0;
	if (errno != EAGAIN)
		return -errno;
	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static inline int name_send(int fd, const struct name_message *m)
{
	const char *p = (const char *)m;
	size_t left = sizeof(m->len) + m->len;
	int err;

	while (left) {
		ssize_t n = send(fd, p, left, MSG_NOSIGNAL);

		err = n < 0 ? name_wait(fd, POLLOUT) : 0;
		if (err)
			return err;
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static inline int name_read(int fd, void *to, size_t size)
{
	char *p = to;
	int err;

	while (size) {
		ssize_t n = recv(fd, p, size, 0);

		if (n == 0)
			return -ECONNRESET;
		err = n < 0 ? name_wait(fd, POLLIN) : 0;
		if (err)
			return err;
		p += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static inline int name_receive(int fd, struct name_message *m)
{
	int err = name_read(fd, &m->len, sizeof(m->len));

	if (!err && m->len > sizeof(m->text))
		err = -EPROTO;
	return err ? err : name_read(fd, m->text, m->len);
}

#endif
