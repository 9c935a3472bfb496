/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sockets that the driver makes itself: they listen, accept and connect, and are
 * read and written without a descriptor. One host, so that a port says it all.
 */
#include "unit.h"

#include "net.h"

static u16 next_port = 40000;

int __sock_create(struct net *net, int family, int type, int proto,
		  struct socket **sock, int kern)
{
	mock_may_sleep(__func__);
	if (kern)
		mock_bug("it would not keep its network", __func__);
	if (mock_fails(__func__, __func__, -ENFILE))
		return -ENFILE;
	*sock = mock_sock_open();
	(*sock)->sk->net = net;
	(*sock)->sk->sk_state = TCP_CLOSE;
	(*sock)->file = NULL;
	return 0;
}

static void drop_queue(struct socket *s)
{
	for (u32 i = 0; i < s->nqueue; i++)
		mock_sock_turn_away(s->queue[i]);
	s->nqueue = 0;
}

void sock_release(struct socket *s)
{
	mock_may_sleep(__func__);
	if (s->file)
		mock_bug("its file closes it", __func__);
	drop_queue(s);
	mock_sock_put(s);
	mock_arrive();
}

/* As there, it releases a socket that it has no file for. */
struct file *sock_alloc_file(struct socket *s, int flags, const char *name)
{
	mock_may_sleep(__func__);
	if (mock_fails(__func__, __func__, -ENFILE)) {
		sock_release(s);
		return ERR_PTR(-ENFILE);
	}
	s->file = (struct file *)s;
	return s->file;
}

int kernel_bind(struct socket *s, void *addr, int len)
{
	const struct sockaddr_storage *a = addr;
	u16 port = ntohs(a->port);

	mock_may_sleep(__func__);
	if (mock_fails(__func__, __func__, -EADDRINUSE) ||
	    (port && mock_sock_at(port)))
		return -EADDRINUSE;
	s->sk->sk_num = port ? port : next_port++;
	return 0;
}

int kernel_listen(struct socket *s, int backlog)
{
	mock_may_sleep(__func__);
	if (mock_fails(__func__, __func__, -EADDRINUSE))
		return -EADDRINUSE;
	s->sk->sk_state = TCP_LISTEN;
	return 0;
}

static void hang_up_in_queue(struct socket *s)
{
	mock_sock_put(s->queue[0]);
	memmove(s->queue, s->queue + 1, --s->nqueue * sizeof(s->queue[0]));
}

int kernel_accept(struct socket *s, struct socket **child, int flags)
{
	mock_may_sleep(__func__);
	if (!(flags & O_NONBLOCK))
		mock_bug("waits for callers", __func__);
	if (!s->nqueue)
		return -EAGAIN;
	if (mock_fails(__func__, __func__, 0))
		return -ENOMEM;
	*child = s->queue[0];
	(*child)->refs++;
	hang_up_in_queue(s);
	return 0;
}

/* @s calls whoever listens at @port; the end that is accepted, or NULL. */
static struct socket *call(struct socket *s, u16 port)
{
	struct sock *at = mock_sock_at(port);
	struct socket *child;

	if (!at || at->socket->nqueue == ARRAY_SIZE(at->socket->queue))
		return NULL;
	child = mock_sock_child(at);
	if (!s->sk->sk_num)
		s->sk->sk_num = next_port++;
	mock_sock_join(s, child);
	child->sk->sk_daddr = s->sk->sk_rcv_saddr = mock.caller;
	child->file = NULL;
	at->socket->queue[at->socket->nqueue++] = child;
	at->data_news = true;
	return child;
}

/* An answer comes at once, or never. */
int kernel_connect(struct socket *s, void *addr, int len, int flags)
{
	const struct sockaddr_storage *a = addr;
	struct sock *sk = s->sk;

	mock_may_sleep(__func__);
	if (!(flags & O_NONBLOCK))
		mock_bug("waits for an answer", __func__);
	if (mock_fails(__func__, __func__, 0))
		return -ENETUNREACH;
	sk->sk_state = TCP_SYN_SENT;
	if (mock.silent)
		return -EINPROGRESS;
	if (call(s, ntohs(a->port))) {
		sk->sk_state = TCP_ESTABLISHED;
	} else {
		sk->sk_state = TCP_CLOSE;
		sk->sk_err = ECONNREFUSED;
		sk->error_news = true;
	}
	sk->state_news = true;
	mock_arrive();
	return -EINPROGRESS;
}

int kernel_recvmsg(struct socket *s, struct msghdr *m, struct kvec *vec,
		   size_t n, size_t len, int flags)
{
	struct sock *sk = s->sk;
	int err = sk->sk_err;

	mock_may_sleep(__func__);
	if (!(flags & MSG_DONTWAIT))
		mock_bug("waits for data", __func__);
	assert_int_equal(n, 1);
	if (mock_fails(__func__, __func__, 0))
		return -ENOMEM;
	if (sk->rx_len)
		return (int)mock_sock_take(
			sk, vec->iov_base,
			mock.segment ? min(mock.segment, len) : len);
	sk->sk_err = 0;
	if (err)
		return -err;
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -EAGAIN;
}

int kernel_sendmsg(struct socket *s, struct msghdr *m, struct kvec *vec,
		   size_t n, size_t len)
{
	int sent;

	if (!(m->msg_flags & MSG_DONTWAIT))
		mock_bug("waits for room", __func__);
	iov_iter_kvec(&m->msg_iter, ITER_SOURCE, vec, n, len);
	lock_sock(s->sk);
	sent = tcp_sendmsg_locked(s->sk, m, len);
	release_sock(s->sk);
	return sent;
}

/* --- processes at the other end --- */

int mock_connect(u16 port)
{
	struct socket *s = mock_sock_open();

	s->sk->sk_state = TCP_CLOSE;
	if (!call(s, port)) {
		mock_sock_put(s);
		return -ECONNREFUSED;
	}
	s->sk->sk_state = TCP_ESTABLISHED;
	return mock_sock_fd(s);
}

int mock_serve(u16 port)
{
	struct socket *s = mock_sock_open();

	s->sk->sk_num = port;
	s->sk->sk_state = TCP_LISTEN;
	return mock_sock_fd(s);
}

int mock_take_call(int fd)
{
	struct socket *s = mock_sock(fd)->socket, *child = s->queue[0];

	if (!s->nqueue)
		return -EAGAIN;
	child->refs++;
	hang_up_in_queue(s);
	child->file = (struct file *)child;
	return mock_sock_fd(child);
}

void mock_unserve(int fd)
{
	drop_queue(mock_sock(fd)->socket);
	mock_close(fd);
}

size_t mock_recv(int fd, void *to, size_t n)
{
	return mock_sock_take(mock_sock(fd), to, n);
}
