/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sockets: two queues of bytes, and the callbacks of TCP with its rules. What is
 * sent arrives in the sender's call, in softirq, as over lo; at a socket that a
 * process owns it waits until that lets go, and is then handled in its context.
 */
#include "unit.h"

#include <stdlib.h>

#include "net.h"

#define MAX_FDS 1024
static struct socket sockets[MAX_FDS];
static int nsockets; /* there never were more */

/* --- callbacks it has by itself --- */

static void native(struct sock *sk)
{
	sk->native++;
}

/* --- arriving --- */

static bool has_news(const struct sock *sk)
{
	return sk->data_news || sk->state_news || sk->space_news ||
	       sk->error_news;
}

/* One kind at a time; a callback may bring further ones. */
static void tell(struct sock *sk)
{
	if (sk->data_news) {
		sk->data_news = false;
		sk->sk_data_ready(sk);
	} else if (sk->space_news) {
		sk->space_news = false;
		sk->sk_write_space(sk);
	} else if (sk->state_news) {
		sk->state_news = false;
		sk->sk_state_change(sk);
	} else if (sk->error_news) {
		sk->error_news = false;
		sk->sk_error_report(sk);
	}
}

static bool softirq(struct sock *sk)
{
	if (!has_news(sk) || sk->owned)
		return false;
	mock.softirq++;
	mock_hold();
	sk->locked_bh = true;
	tell(sk);
	sk->locked_bh = false;
	mock_let_go();
	mock.softirq--;
	return true;
}

bool mock_net_run(void)
{
	bool any = false, again = true;

	while (again) {
		again = false;
		for (int i = 0; i < nsockets; i++)
			if (sockets[i].sk && softirq(sockets[i].sk))
				again = any = true;
	}
	return any;
}

/* In softirq itself, what is sent waits until that is over. */
void mock_arrive(void)
{
	if (!mock.later && !mock.softirq && !mock.atomic)
		mock_net_run();
}

/* --- locks --- */

void lock_sock(struct sock *sk)
{
	mock_may_sleep(__func__);
	if (sk->owned && mock.on_wait)
		mock.on_wait(); /* whoever has it may let go */
	if (sk->owned)
		mock_bug("it is owned", __func__);
	for (int i = 0; i < nsockets; i++)
		if (sockets[i].sk && sockets[i].sk->owned &&
		    sockets[i].sk->owner == current)
			mock_bug("it owns another socket already", __func__);
	sk->owner = current;
	sk->owned = true;
	mock.mutexes++;
}

/* Somebody else, whom we do not have here, may own it: then lock_sock() would wait. */
bool mock_trylock_sock(struct sock *sk)
{
	if (sk->owned)
		return false;
	lock_sock(sk);
	return true;
}

/* The backlog first: in process context, but nothing there may sleep. */
void release_sock(struct sock *sk)
{
	if (!sk->owned)
		mock_bug("it is not owned", __func__);
	while (has_news(sk)) {
		mock.atomic++;
		tell(sk);
		mock.atomic--;
	}
	sk->owned = false;
	mock.mutexes--;
	mock_arrive();
}

static void check_locked(const struct sock *sk, const char *who)
{
	if (!sk->owned && !sk->locked_bh)
		mock_bug("the socket is not locked", who);
	if (mock.spins)
		mock_bug("a spinlock is held", who);
}

/* --- data --- */

static void append(struct sock *sk, const void *data, size_t n)
{
	if (sk->rx_len + n > sk->rx_size) {
		sk->rx_size = 2 * (sk->rx_len + n);
		sk->rx = realloc(sk->rx, sk->rx_size);
	}
	memcpy(sk->rx + sk->rx_len, data, n);
	sk->rx_len += n;
	sk->data_news = true;
}

void mock_write(struct sock *sk, const void *data, size_t n)
{
	append(sk->peer, data, n);
	mock_run();
}

void mock_raw(int fd, const void *data, size_t n)
{
	append(sockets[fd].sk->peer, data, n);
}

bool sk_stream_is_writeable(const struct sock *sk)
{
	return !sk->peer || sk->peer->rx_len < mock.send_space;
}

/* What is sent has arrived at once, but for what there was no room for. */
bool tcp_rtx_and_write_queues_empty(const struct sock *sk)
{
	return !sk->no_space;
}

int tcp_sendmsg_locked(struct sock *sk, struct msghdr *m, size_t n)
{
	size_t space;
	void *copy;
	int err = mock.send_error;

	check_locked(sk, __func__);
	if (mock.atomic)
		mock_bug("sends from the backlog", __func__);
	if (mock.softirq &&
	    (!sk->locked_bh || sk->sk_allocation != GFP_ATOMIC ||
	     sk->sk_use_task_frag))
		mock_bug("sends in softirq as if in a process", __func__);
	/* Some pass; a broken connection stays broken. */
	if (err == -EAGAIN || err == -ENOMEM || err == -ENOBUFS)
		mock.send_error = 0;
	if (err)
		return err;
	if (!sk->peer || sk->sk_state != TCP_ESTABLISHED)
		return -EPIPE;
	if (mock_fails("sending", __func__, 0))
		return -ENOMEM;
	if (!sk_stream_is_writeable(sk)) {
		sk->no_space = true;
		return -EAGAIN;
	}
	space = mock.send_space - sk->peer->rx_len;
	copy = malloc(n);
	n = copy_from_iter(copy, min(n, space), &m->msg_iter);
	append(sk->peer, copy, n);
	sk->sent += n;
	free(copy);
	if (!n)
		return -EFAULT;
	mock_arrive();
	return (int)n;
}

/* Bytes are consumed: who waited for room hears of it. */
static void consume(struct sock *sk, size_t n)
{
	if (n)
		memmove(sk->rx, sk->rx + n, sk->rx_len - n);
	sk->rx_len -= n;
	if (sk->peer && sk->peer->no_space && n) {
		sk->peer->no_space = false;
		sk->peer->space_news = true;
	}
}

size_t mock_sock_take(struct sock *sk, void *to, size_t n)
{
	n = min(n, sk->rx_len);
	if (n)
		memcpy(to, sk->rx, n);
	consume(sk, n);
	return n;
}

size_t mock_read(int fd)
{
	size_t n = sockets[fd].sk->rx_len;

	consume(sockets[fd].sk, n);
	return n;
}

int tcp_read_sock(struct sock *sk, read_descriptor_t *desc,
		  sk_read_actor_t actor)
{
	/* A copy at an odd place of its own size: reading beyond it is seen. */
	size_t all = 0;
	int used = 1;

	check_locked(sk, __func__);
	while (sk->rx_len && used > 0 && desc->count) {
		size_t n = mock.segment ? min(mock.segment, sk->rx_len) :
					  sk->rx_len;
		unsigned char *copy = malloc(n + 3);
		struct sk_buff skb = { .data = copy, .len = n + 3 };
		size_t off = 0;

		memcpy(copy + 3, sk->rx, n);
		while (off < n) {
			used = actor(desc, &skb, (unsigned int)off + 3,
				     n - off);
			if (used <= 0)
				break;
			if ((size_t)used > n - off)
				mock_bug("uses more than there is", __func__);
			off += (size_t)used;
		}
		free(copy);
		consume(sk, off);
		all += off;
	}
	return (int)all;
}

int skb_copy_bits(const struct sk_buff *skb, int off, void *to, int n)
{
	if (mock_fails("unreadable data", __func__, 0))
		return -EFAULT;
	memcpy(to, skb->data + off, (size_t)n);
	mock.copied += (size_t)n;
	return 0;
}

int skb_copy_datagram_iter(const struct sk_buff *skb, int off,
			   struct iov_iter *to, int n)
{
	if (mock_fails("unreadable data", __func__, 0))
		return -EFAULT;
	return copy_to_iter(skb->data + off, (size_t)n, to) == (size_t)n ?
		       0 :
		       -EFAULT;
}

void tcp_sock_set_nodelay(struct sock *sk)
{
	mock_may_sleep(__func__);
}

/* --- the end of a connection --- */

static void fin(struct sock *sk)
{
	struct sock *peer = sk->peer;

	sk->sk_state = TCP_CLOSE;
	if (!peer || peer->sk_shutdown & RCV_SHUTDOWN)
		return;
	peer->sk_shutdown |= RCV_SHUTDOWN;
	if (peer->sk_state == TCP_ESTABLISHED)
		peer->sk_state = TCP_CLOSE_WAIT;
	peer->state_news = true;
}

int kernel_sock_shutdown(struct socket *sock, int how)
{
	mock_may_sleep(__func__);
	fin(sock->sk);
	sock->sk->sk_shutdown |= how + 1;
	sock->sk->state_news = true; /* whoever polls it is told */
	return 0;
}

void mock_reset(struct sock *sk)
{
	sk->sk_err = ECONNRESET;
	sk->sk_state = TCP_CLOSE;
	sk->error_news = true;
	sk->state_news = true;
	mock_run();
}

/* Both ends are on their own. */
static void part(struct sock *sk)
{
	if (sk->peer)
		sk->peer->peer = NULL;
	sk->peer = NULL;
}

/* As tcp_disconnect() does it: errors are reported in the caller's context. */
void mock_disconnect(int fd)
{
	struct sock *sk = sockets[fd].sk;

	lock_sock(sk);
	fin(sk);
	part(sk);
	sk->sk_err = ECONNRESET;
	sk->sk_shutdown = 0;
	sk->sk_dport = 0;
	sk->rx_len = 0;
	mock.atomic++;
	sk->sk_error_report(sk);
	mock.atomic--;
	release_sock(sk);
}

int mock_set_ulp(int fd, const struct tcp_ulp_ops *ops)
{
	struct sock *sk = sockets[fd].sk;

	if (sk->icsk_ulp_ops)
		return -EEXIST;
	sk->icsk_ulp_ops = ops;
	return 0;
}

int mock_listen(int fd)
{
	struct sock *sk = sockets[fd].sk;

	if (sk->sk_state != TCP_CLOSE || sk->sk_dport)
		return -EINVAL;
	if (sk->icsk_ulp_ops && !sk->icsk_ulp_ops->clone)
		return -EINVAL;
	sk->sk_state = TCP_LISTEN;
	return 0;
}

/* --- descriptors --- */

struct socket *mock_sock_open(void)
{
	struct socket *s = sockets;
	struct sock *sk = calloc(1, sizeof(*sk));

	while (s->sk)
		s++;
	assert_true(s < sockets + MAX_FDS);
	nsockets = max(nsockets, mock_sock_fd(s) + 1);
	*sk = (struct sock){ .sk_protocol = IPPROTO_TCP,
			     .sk_family = AF_INET,
			     .sk_state = TCP_ESTABLISHED,
			     .sk_allocation = GFP_KERNEL,
			     .sk_use_task_frag = true,
			     .net = &mock_net,
			     .socket = s,
			     .sk_data_ready = native,
			     .sk_state_change = native,
			     .sk_write_space = native,
			     .sk_error_report = native };
	*s = (struct socket){ .sk = sk, .refs = 1, .file = (struct file *)s };
	mock.socks++;
	return s;
}

void mock_sock_put(struct socket *s)
{
	struct sock *sk = s->sk;

	if (--s->refs)
		return;
	if (sk->sk_user_data || sk->icsk_ulp_ops || sk->owned ||
	    sk->sk_data_ready != native || sk->sk_state_change != native ||
	    sk->sk_write_space != native || sk->sk_error_report != native ||
	    sk->sk_allocation != GFP_KERNEL)
		mock_bug("the socket is not as it was", __func__);
	fin(sk);
	part(sk);
	free(sk->rx);
	free(sk);
	s->sk = NULL;
	mock.socks--;
}

void mock_sock_turn_away(struct socket *s)
{
	s->sk->sk_data_ready = native;
	mock_sock_put(s);
}

void mock_sock_join(struct socket *a, struct socket *b)
{
	a->sk->peer = b->sk;
	b->sk->peer = a->sk;
	a->sk->sk_dport = ntohs(b->sk->sk_num);
	b->sk->sk_dport = ntohs(a->sk->sk_num);
}

void mock_tcp_pair(int fd[2])
{
	struct socket *a = mock_sock_open(), *b = mock_sock_open();

	a->sk->sk_num = 1000 + 2 * (a - sockets);
	b->sk->sk_num = a->sk->sk_num + 1;
	mock_sock_join(a, b);
	a->sk->sk_rcv_saddr = b->sk->sk_daddr = 0x0a000001;
	b->sk->sk_rcv_saddr = 0x0a000002;
	/* Far away it may have an address that is another one's here. */
	a->sk->sk_daddr = mock.near ? 0x0a000002 : 0x0a000003;
	fd[0] = (int)(a - sockets);
	fd[1] = (int)(b - sockets);
}

/* As sk_clone_lock() does it. */
struct socket *mock_sock_child(const struct sock *listener)
{
	struct socket *child = mock_sock_open();
	struct sock *sk = child->sk;

	assert_int_equal(listener->sk_state, TCP_LISTEN);
	sk->sk_data_ready = listener->sk_data_ready;
	sk->sk_state_change = listener->sk_state_change;
	sk->sk_write_space = listener->sk_write_space;
	sk->sk_error_report = listener->sk_error_report;
	if (!((uintptr_t)listener->sk_user_data & SK_USER_DATA_NOCOPY))
		sk->sk_user_data = listener->sk_user_data;
	sk->net = listener->net;
	sk->sk_num = listener->sk_num;
	return child;
}

int mock_accept(int fd)
{
	return mock_sock_fd(mock_sock_child(sockets[fd].sk));
}

int mock_sock_fd(const struct socket *s)
{
	return (int)(s - sockets);
}

struct sock *mock_sock_at(u16 port)
{
	for (int i = 0; i < nsockets; i++)
		if (sockets[i].sk && sockets[i].sk->sk_state == TCP_LISTEN &&
		    sockets[i].sk->sk_num == port)
			return sockets[i].sk;
	return NULL;
}

struct sock *mock_sock(int fd)
{
	return sockets[fd].sk;
}

void mock_close(int fd)
{
	mock_sock_put(&sockets[fd]);
}

struct socket *sockfd_lookup(int fd, int *err)
{
	*err = -EBADF;
	if (fd < 0 || fd >= MAX_FDS || !sockets[fd].sk ||
	    mock_fails(__func__, __func__, -EBADF))
		return NULL;
	*err = 0;
	sockets[fd].refs++;
	return &sockets[fd];
}

/* fput() leaves the rest to a worker or to the way back to user space. */
void sockfd_put(struct socket *s)
{
	if (!s->file)
		mock_bug("it has no file", __func__);
	mock_sock_put(s);
}
