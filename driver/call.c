// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The socket of a hello. It has our callbacks meanwhile, as a peer's has later
 * (takeover.c), and gets its own back before it is handed over or closed.
 *
 * Sockets are made as for a process: those of the kernel itself do not keep their
 * network namespace, but TCP goes on with them after they were closed.
 */
#include "call.h"

#include <linux/file.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/tcp.h>
#include <net/tcp.h>

/* A peer that has gone without a word is found out after so many seconds. */
#define SILENCE_S 60

/* --- callbacks; any context --- */

static void news(struct sock *sk)
{
	struct o2gk_call *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && READ_ONCE(c->sk) == sk)
		c->wake(c);
	rcu_read_unlock();
}

static const struct o2gk_callbacks ours = { .data_ready = news,
					    .state_change = news,
					    .error_report = news };

/* --- opening and closing --- */

/* As processes have them: channel/tcp/sock.c. */
static void set_options(struct sock *sk)
{
	tcp_sock_set_nodelay(sk);
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, SILENCE_S / 3);
	tcp_sock_set_keepintvl(sk, SILENCE_S / 6);
	tcp_sock_set_keepcnt(sk, 4);
}

int o2gk_call_socket(struct net *net, int family, struct socket **sock)
{
	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	return __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, sock, 0);
}

int o2gk_call_file(struct socket *sock)
{
	/* Failing, it closes the socket. */
	return PTR_ERR_OR_ZERO(sock_alloc_file(sock, O_NONBLOCK, NULL));
}

static void close_socket(struct socket *sock)
{
	if (sock->file)
		sockfd_put(sock);
	else
		sock_release(sock);
}

int o2gk_call_open(struct o2gk_call *c, struct socket *sock)
{
	struct sock *sk = sock->sk;
	int err;

	set_options(sk);
	c->have = 0;
	WRITE_ONCE(c->sk, sk);
	lock_sock(sk);
	err = o2gk_take_over(sk, c, &ours, &c->saved);
	release_sock(sk);
	if (err) {
		WRITE_ONCE(c->sk, NULL);
		close_socket(sock);
		return err;
	}
	c->sock = sock;
	return 0;
}

struct socket *o2gk_call_take(struct o2gk_call *c)
{
	struct socket *sock = c->sock;

	lock_sock(c->sk);
	o2gk_give_back(c->sk, c, &c->saved);
	release_sock(c->sk);
	WRITE_ONCE(c->sk, NULL);
	c->sock = NULL;
	return sock;
}

void o2gk_call_close(struct o2gk_call *c)
{
	if (c->sock)
		close_socket(o2gk_call_take(c));
}

/* --- messages --- */

int o2gk_call_read(struct o2gk_call *c, void *to, u32 size)
{
	while (c->have < size) {
		struct kvec vec = { to + c->have, size - c->have };
		struct msghdr m = {};
		int n = kernel_recvmsg(c->sock, &m, &vec, 1, vec.iov_len,
				       MSG_DONTWAIT);

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return n;
		if (!n)
			return -ECONNRESET;
		c->have += n;
	}
	c->have = 0;
	return 1;
}

/* A new socket has room for a message; one that has not is broken. */
int o2gk_call_send(struct socket *sock, const void *from, u32 size)
{
	struct kvec vec = { (void *)from, size };
	struct msghdr m = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int n = kernel_sendmsg(sock, &m, &vec, 1, size);

	if (n < 0)
		return n;
	return n == size ? 0 : -EPIPE;
}
