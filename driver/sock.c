// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Registered sockets: taken over (takeover.c), and given back.
 *
 * The file is held, so the socket and its network namespace stay; closing the
 * descriptor alone sends no FIN.
 *
 * Giving back. Data, state and write-space callbacks run under the socket's lock,
 * so none of them can be in our code once we hold it; the error callback may
 * come without it, so a grace period has to pass before the peer may go. All
 * callbacks do nothing but read, send and queue work; after that grace period
 * nobody can queue any, so cancelling the work is final.
 */
#include "kfront.h"
#include "o2gk.h"

#include <linux/net.h>
#include <linux/rcupdate.h>
#include <net/tcp.h>

#include "trace.h"

/* --- callbacks; called in softirq, or from release_sock in a process --- */

/* The socket's peer, if it is the one that the socket was taken over for. */
static struct o2gk_peer *peer_of(const struct sock *sk)
{
	struct o2gk_peer *p = rcu_dereference_sk_user_data(sk);

	return p && READ_ONCE(p->sk) == sk ? p : NULL;
}

static void data_ready(struct sock *sk)
{
	struct o2gk_peer *p;

	rcu_read_lock();
	p = peer_of(sk);
	if (p)
		o2gk_rx_run(p, sock_owned_by_user_nocheck(sk) ? O2GK_BACKLOG :
								O2GK_SOFTIRQ);
	rcu_read_unlock();
}

static void write_space(struct sock *sk)
{
	struct o2gk_peer *p;

	rcu_read_lock();
	p = peer_of(sk);
	if (p) {
		p->saved.write_space(sk);
		if (sk_stream_is_writeable(sk) && !o2g_list_empty(&p->txq))
			o2gk_queue(p, &p->tx_work);
	}
	rcu_read_unlock();
}

/* A worker finds out what has changed, after it has read the rest. */
static void state_change(struct sock *sk)
{
	struct o2gk_peer *p;

	rcu_read_lock();
	p = peer_of(sk);
	if (p) {
		p->saved.state_change(sk);
		o2gk_queue(p, &p->rx_work);
	}
	rcu_read_unlock();
}

static void error_report(struct sock *sk)
{
	struct o2gk_peer *p;

	rcu_read_lock();
	p = peer_of(sk);
	if (p) {
		p->saved.error_report(sk);
		if (o2gk_is_disconnected(sk)) /* by the program, in a call */
			o2gk_sock_restore(p);
		o2gk_queue(p, &p->rx_work);
	}
	rcu_read_unlock();
}

static const struct o2gk_callbacks ours = { .data_ready = data_ready,
					    .state_change = state_change,
					    .write_space = write_space,
					    .error_report = error_report };

void o2gk_sock_restore(struct o2gk_peer *p)
{
	if (!p->taken_over)
		return;
	WRITE_ONCE(p->taken_over, false);
	if (p->ep->kernel)
		o2gk_kernel_untune(p);
	o2gk_give_back(p->sk, p, &p->saved);
}

/* --- registration --- */

static int check_socket(struct o2gk_ep *ep, const struct sock *sk)
{
	if (!sk_is_tcp(sk) || sk->sk_protocol != IPPROTO_TCP)
		return -EPROTOTYPE;
	/* The namespaces of a machine's networks are kept apart. */
	if (!net_eq(sock_net(sk), ep->net))
		return -EXDEV;
	return 0;
}

/* May the peer get a socket? -EISCONN: it has one, or is lost. */
static int find_peer(struct o2gk_ep *ep, u32 number, struct o2gk_peer **peer)
{
	int err = 0;

	spin_lock_bh(&ep->lock);
	*peer = o2gk_peer_find(ep, number);
	if (!*peer)
		err = -ENOENT;
	else if ((*peer)->sk || (*peer)->lost)
		err = -EISCONN;
	spin_unlock_bh(&ep->lock);
	return err;
}

/* From now on others may use it, as soon as we let go of the socket's lock. */
static void bind_peer(struct o2gk_peer *p, struct socket *sock)
{
	spin_lock_bh(&p->ep->lock);
	p->sock = sock;
	WRITE_ONCE(p->sk, sock->sk); /* o2gk_inject looks without the lock */
	if (p->ep->front->met)
		p->ep->front->met(p);
	spin_unlock_bh(&p->ep->lock);
}

/* Under ep->mutex: one socket at a time for a peer, which is known. */
int o2gk_sock_attach(struct o2gk_ep *ep, u32 number, struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct o2gk_peer *p;
	int err;

	err = check_socket(ep, sk);
	if (err)
		return err;
	tcp_sock_set_nodelay(sk);
	lock_sock(sk);
	err = -ENOTCONN;
	if (sk->sk_state != TCP_ESTABLISHED && sk->sk_state != TCP_CLOSE_WAIT)
		goto err_locked;
	err = find_peer(ep, number, &p);
	if (err)
		goto err_locked;
	err = o2gk_take_over(sk, p, &ours, &p->saved);
	if (err)
		goto err_locked;
	p->taken_over = true;
	if (ep->kernel)
		o2gk_kernel_tune(p, sk);
	bind_peer(p, sock);
	trace_o2g_take(ep->rank, number);
	/* What came before, and what was queued before there was a socket. */
	o2gk_rx_run(p, O2GK_CALLER);
	o2gk_tx_push(p, O2GK_CALLER);
	release_sock(sk);
	o2gk_local_add(p);
	/* FIN or error may have come before the callbacks were ours. */
	o2gk_queue(p, &p->rx_work);
	return 0;

err_locked:
	release_sock(sk);
	return err;
}

/* Under ep->mutex. */
int o2gk_sock_register(struct o2gk_ep *ep, u32 number, int fd)
{
	struct socket *sock;
	int err;

	if (!o2gk_is_number(ep, number))
		return -EINVAL;
	err = o2gk_peer_meet(ep, number);
	if (err)
		return err;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = o2gk_sock_attach(ep, number, sock);
	if (err)
		sockfd_put(sock);
	return err;
}

void o2gk_sock_release(struct o2gk_peer *p)
{
	lock_sock(p->sk);
	if (p->taken_over) {
		o2gk_sock_restore(p);
		p->sk->sk_data_ready(p->sk); /* what is left is theirs */
	}
	release_sock(p->sk);
}

static void cancel(struct o2gk_peer *p, struct work_struct *work)
{
	if (cancel_work_sync(work))
		o2gk_peer_put(p);
}

void o2gk_sock_quiet(struct o2gk_peer *p)
{
	o2gk_local_remove(p);
	/* Either may have queued the other before that was forbidden. */
	cancel(p, &p->rx_work);
	cancel(p, &p->tx_work);
	cancel(p, &p->rx_work);
}
