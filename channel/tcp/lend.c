/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A large message is handed to TCP by reference to its pages: vmsplice() puts them
 * into a pipe, splice() moves them on to the socket. That saves the sender's copy; the
 * only one left is the receiver's. The message is complete when the receiver says
 * that it has copied all of it (O2G_PKTF_REFERENCE), since until then it may look at the
 * pages themselves: docs/protocol.md.
 *
 * The pipe is empty whenever nobody is in here, so one does for all connections: what
 * a socket does not take is thrown away, and looked up again next time. Pipes are
 * limited for each user. It is made for the first message that needs it, and if that
 * is refused, or some memory has no pages to lend, the message is copied. Whether
 * lending pays is found out by lend_choice.c.
 */
#define _GNU_SOURCE
#include "lend.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/uio.h>

#include "call.h"
#include "lazy.h"
#include "tcp.h"

#define PIPE_SIZE (256u << 10)
#define PIPE_LEAST (64u << 10) /* a smaller one takes too many calls */
#define LEND_LEAST (16u << 10) /* the rest of a body is copied */

void tcp_lender_init(struct tcp_lender *l)
{
	l->in = l->out = l->sink = -1;
	l->refused = false;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tcp_lender_close(struct tcp_lender *l)
{
	close_fd(&l->in);
	close_fd(&l->out);
	close_fd(&l->sink);
}

static bool lender_open(struct tcp_lender *l)
{
	int ends[2];

	if (l->in >= 0 || l->refused)
		return !l->refused;
	l->refused = true;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	l->out = ends[0];
	l->in = ends[1];
	fcntl(l->in, F_SETPIPE_SZ, PIPE_SIZE);
	l->sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	l->refused = l->sink < 0 ||
		     fcntl(l->in, F_GETPIPE_SZ) < (int)PIPE_LEAST;
	if (l->refused)
		tcp_lender_close(l);
	return !l->refused;
}

bool tcp_lend_wants(const struct tcp_conn *k, const struct o2g_tx *tx)
{
	return tx->req && tx->req->flags & O2G_REQF_REFERENCE &&
	       tx->left >= LEND_LEAST && !k->chan->lender.refused && !k->tls &&
	       !tcp_lend_compares(k, tx->req);
}

/*
 * splice() has no MSG_NOSIGNAL. The program must not be killed, or find a signal that
 * it has not caused.
 */
static ssize_t splice_quietly(int from, int to, size_t len, bool more)
{
	unsigned int flags = SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0);
	struct timespec now = { 0, 0 };
	sigset_t quiet, before, pending;
	ssize_t n;

	sigemptyset(&quiet);
	sigaddset(&quiet, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &quiet, &before);
	sigpending(&pending);
	do
		n = splice(from, NULL, to, NULL, len, flags);
	while (n < 0 && errno == EINTR);
	n = n < 0 ? -errno : n;
	if (n == -EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&quiet, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

/* What is in the pipe, or nothing. */
static ssize_t fill(struct tcp_lender *l, char *at, u64 len)
{
	struct iovec v = { at, len < PIPE_SIZE ? len : PIPE_SIZE };
	ssize_t n;

	do
		n = vmsplice(l->in, &v, 1, SPLICE_F_NONBLOCK);
	while (n < 0 && (errno == EINTR ||
			 (errno == EFAULT &&
			  o2g_lazy_touch(v.iov_base, v.iov_len, false))));
	return n < 0 ? 0 : n;
}

static void empty(struct tcp_lender *l, u64 held)
{
	while (held) {
		ssize_t n = splice(l->out, NULL, l->sink, NULL, held,
				   SPLICE_F_NONBLOCK);

		if (n <= 0 && errno != EINTR)
			break;
		held -= n > 0 ? (u64)n : 0;
	}
	if (!held)
		return;
	/* Nobody may find these in it. */
	tcp_lender_close(l);
	l->refused = true;
}

ssize_t tcp_lend(struct tcp_conn *k, const struct o2g_tx *tx, u64 *tried)
{
	struct tcp_lender *l = &k->chan->lender;
	char *at = (char *)tx->req->segs[0].base + tx->off;
	ssize_t held, n, sent = 0;

	held = lender_open(l) ? fill(l, at, tx->left) : 0;
	if (!held)
		return -EOPNOTSUPP;
	k->out.lent = true;
	*tried = (u64)held;
	do {
		n = splice_quietly(l->out, k->out.fd, (size_t)(held - sent),
				   (u64)held < tx->left);
		sent += n > 0 ? n : 0;
	} while (n > 0 && sent < held);
	empty(l, (u64)(held - sent));
	return sent ? sent : n ? n : -EAGAIN;
}

bool tcp_lend_open(const struct tcp_conn *k)
{
	const struct o2g_list *waiting = &k->peer->core.waiting, *i;

	if (!k->out.lent)
		return false;
	for (i = waiting->next; i != waiting; i = i->next)
		if (container_of(i, struct o2g_req, link)->flags &
		    O2G_REQF_REFERENCE)
			return true;
	return false;
}

void tcp_lend_reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

bool tcp_lend_is_reset(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}
