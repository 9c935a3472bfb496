/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Two leaders who talk over a socket: each sends a length and so many bytes, and
 * reads the same of the other, both at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/errors.h"
#include "process/meet.h"

#define BYTES_MAX (1 << 30) /* nobody has that much to say */

struct flow {
	char *at;
	size_t left;
};

static ssize_t push(int fd, const void *buf, size_t n)
{
	ssize_t r = send(fd, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	return r < 0 && errno == ENOTSOCK ? write(fd, buf, n) : r;
}

static ssize_t pull(int fd, void *buf, size_t n)
{
	ssize_t r = recv(fd, buf, n, MSG_DONTWAIT);

	return r < 0 && errno == ENOTSOCK ? read(fd, buf, n) : r;
}

/* Move what can be moved: 0, or negative errno. */
static int move(int fd, struct flow *f,
		ssize_t (*how)(int fd, void *buf, size_t n))
{
	ssize_t r = how(fd, f->at, f->left);

	if (r == 0)
		return -ECONNRESET;
	if (r < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	f->at += r;
	f->left -= (size_t)r;
	return 0;
}

static ssize_t push_from(int fd, void *buf, size_t n)
{
	return push(fd, buf, n);
}

/* Send all of @out and read all of @in. */
static int exchange(int fd, struct flow out, struct flow in)
{
	int err = 0;

	while (!err && (out.left || in.left)) {
		struct pollfd p = { .fd = fd };

		p.events = (out.left ? POLLOUT : 0) | (in.left ? POLLIN : 0);
		if (poll(&p, 1, -1) < 0) {
			err = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (in.left && p.revents & (POLLIN | POLLHUP | POLLERR))
			err = move(fd, &in, pull);
		if (!err && out.left && p.revents & (POLLOUT | POLLERR))
			err = move(fd, &out, push_from);
	}
	return err;
}

static int lost(int err)
{
	return mpii_fail(err == -EPROTO ? MPI_ERR_OTHER : MPI_ERR_PROC_ABORTED,
			 "the other side went away before both had met: %s",
			 strerror(-err));
}

static int swap(struct mpii_way *way, const void *out, int out_len, void **in,
		int *in_len)
{
	int fd = ((struct mpii_fd_way *)way)->fd, err;

	*in = NULL;
	err = exchange(fd, (struct flow){ (char *)&out_len, sizeof(out_len) },
		       (struct flow){ (char *)in_len, sizeof(*in_len) });
	if (err)
		return lost(err);
	if (*in_len < 0 || *in_len > BYTES_MAX)
		return lost(-EPROTO);
	*in = malloc((size_t)*in_len + 1);
	if (!*in)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = exchange(fd, (struct flow){ (char *)out, (size_t)out_len },
		       (struct flow){ *in, (size_t)*in_len });
	if (!err)
		return MPI_SUCCESS;
	free(*in);
	*in = NULL;
	return lost(err);
}

void mpii_fd_way(struct mpii_fd_way *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->way.swap = swap;
	w->fd = fd;
}
