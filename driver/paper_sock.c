// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The sockets of the eight calls: taken over, and given back. See sock.c. */
#include "paper.h"

#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "trace.h"

/* --- callbacks --- */

static struct o2gk_paper_sock *sock_of(const struct sock *sk)
{
	struct o2gk_paper_sock *s = rcu_dereference_sk_user_data(sk);

	return s && s->sk == sk ? s : NULL;
}

static void data_ready(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = sock_of(sk);
	if (s)
		o2gk_paper_rx_run(s, O2GK_SOFTIRQ);
	rcu_read_unlock();
}

static void state_change(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = sock_of(sk);
	if (s) {
		s->saved.state_change(sk);
		if (!READ_ONCE(s->paper->closing))
			queue_work(s->paper->wq, &s->work);
	}
	rcu_read_unlock();
}

static void error_report(struct sock *sk)
{
	struct o2gk_paper_sock *s;

	rcu_read_lock();
	s = sock_of(sk);
	if (s) {
		s->saved.error_report(sk);
		if (o2gk_is_disconnected(sk))
			o2gk_paper_sock_restore(s);
		if (!READ_ONCE(s->paper->closing))
			queue_work(s->paper->wq, &s->work);
	}
	rcu_read_unlock();
}

static const struct o2gk_callbacks ours = { .data_ready = data_ready,
					    .state_change = state_change,
					    .error_report = error_report };

void o2gk_paper_sock_restore(struct o2gk_paper_sock *s)
{
	if (!s->taken_over)
		return;
	s->taken_over = false;
	o2gk_give_back(s->sk, s, &s->saved);
}

/* --- registration; under paper->mutex --- */

static void work(struct work_struct *w)
{
	o2gk_paper_rx_turn(container_of(w, struct o2gk_paper_sock, work),
			   O2GK_WORKER);
}

static struct o2gk_paper_sock *new_sock(struct o2gk_paper *paper, u32 rank,
					struct socket *sock)
{
	struct o2gd_paper_sock *told = (void *)(paper->shared + 1);
	struct o2gk_paper_sock *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->paper = paper;
	s->rank = rank;
	s->sock = sock;
	s->sk = sock->sk;
	s->told = &told[paper->nsocks];
	s->info.rank = rank;
	s->info.state = O2GD_PAPER_OPEN;
	o2g_stream_init(&s->stream);
	INIT_LIST_HEAD(&s->held);
	INIT_LIST_HEAD(&s->job);
	INIT_WORK(&s->work, work);
	return s;
}

static int check_socket(const struct o2gk_paper *paper, const struct sock *sk)
{
	if (!sk_is_tcp(sk) || sk->sk_protocol != IPPROTO_TCP)
		return -EPROTOTYPE;
	return net_eq(sock_net(sk), paper->net) ? 0 : -EXDEV;
}

/* From now on its messages arrive, the first ones right here. */
static int start(struct o2gk_paper_sock *s)
{
	struct o2gk_paper *paper = s->paper;
	int err = -ENOTCONN;

	lock_sock(s->sk);
	if (s->sk->sk_state == TCP_ESTABLISHED ||
	    s->sk->sk_state == TCP_CLOSE_WAIT)
		err = o2gk_take_over(s->sk, s, &ours, &s->saved);
	if (!err) {
		s->taken_over = true;
		o2gk_paper_lock(paper);
		s->open = true;
		o2gk_paper_tell(s);
		WRITE_ONCE(paper->shared->open, ++paper->nopen);
		WRITE_ONCE(paper->shared->nsocks, paper->nsocks + 1);
		o2gk_paper_unlock(paper);
		trace_o2g_take(O2GK_PAPER_NO_RANK, s->rank);
	}
	release_sock(s->sk);
	return err;
}

static int add(struct o2gk_paper *paper, u32 rank, struct socket *sock)
{
	struct o2gk_paper_sock *s;
	int err = check_socket(paper, sock->sk);

	if (err)
		return err;
	s = new_sock(paper, rank, sock);
	if (!s)
		return -ENOMEM;
	err = xa_err(xa_store_bh(&paper->by_rank, rank, s, GFP_KERNEL_ACCOUNT));
	if (!err)
		err = start(s);
	if (err) {
		xa_erase_bh(&paper->by_rank, rank);
		/* o2gk_paper_can_arrive may just be looking at it */
		o2gk_paper_lock(paper);
		o2gk_paper_unlock(paper);
		kfree(s);
		return err;
	}
	paper->socks[paper->nsocks] = s;
	smp_store_release(&paper->nsocks, paper->nsocks + 1); /* whole by now */
	o2gk_paper_rx_turn(s, O2GK_CALLER);
	return 0;
}

int o2gk_paper_sock_add(struct o2gk_paper *paper, u32 rank, int fd)
{
	struct socket *sock;
	int err;

	if (rank > INT_MAX)
		return -EINVAL;
	if (xa_load(&paper->by_rank, rank))
		return -EEXIST;
	if (paper->nsocks == paper->max_socks)
		return -ENOSPC;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = add(paper, rank, sock);
	if (err)
		sockfd_put(sock);
	return err;
}

/* The file is gone, so nobody else is here but the network and workers. */
void o2gk_paper_sock_release_all(struct o2gk_paper *paper)
{
	u32 i;

	for (i = 0; i < paper->nsocks; i++) {
		struct o2gk_paper_sock *s = paper->socks[i];

		lock_sock(s->sk);
		if (s->taken_over) {
			o2gk_paper_sock_restore(s);
			s->sk->sk_data_ready(s->sk); /* the rest is theirs */
		}
		release_sock(s->sk);
	}
	synchronize_rcu(); /* error_report comes without the socket's lock */
	for (i = 0; i < paper->nsocks; i++) {
		struct o2gk_paper_sock *s = paper->socks[i];

		cancel_work_sync(&s->work); /* without our callbacks: final */
		if (s->recv)
			o2gk_paper_recv_drop(paper, s->recv);
		sockfd_put(s->sock);
		kfree(s);
	}
}

/* Workers find out, and end what waits for them. */
void o2gk_paper_shut(struct o2gk_paper *paper)
{
	u32 n = smp_load_acquire(&paper->nsocks); /* whole by then */
	u32 i;

	for (i = 0; i < n; i++)
		kernel_sock_shutdown(paper->socks[i]->sock, SHUT_RDWR);
}
