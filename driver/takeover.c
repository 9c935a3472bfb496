// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Taking a socket over, and giving it back exactly as it was.
 *
 * While it is ours its callbacks are, sk_user_data points to whoever has taken it,
 * and it has an upper layer protocol, ours, that does nothing. All of that changes
 * together, under sk_callback_lock.
 *
 * The program keeps its descriptor, and what it does with it must not matter:
 *
 *	A listener's children have its callbacks, and nobody would give them
 *	theirs back. A connected socket listens only after connect(AF_UNSPEC), at
 *	the end of which TCP calls sk_error_report: that gives the socket back
 *	(o2gk_is_disconnected). Until then the protocol, which cannot be cloned,
 *	has listen() refused. And sk_user_data is not copied to children at all.
 *
 *	kTLS, SMC and sockmaps would put their callbacks on top of ours, and ours
 *	back when they go: none of them takes a socket that has a protocol.
 *
 * tcp_set_ulp() is not for modules, so the protocol is set here, as that does it,
 * and is not registered: no program can ask for it. TCP looks at it when it frees
 * a socket, which does not happen while we hold its file.
 */
#include "o2gk.h"

#include <linux/rcupdate.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

static const struct tcp_ulp_ops protocol = { .name = "o2g" };

int o2gk_take_over(struct sock *sk, void *owner,
		   const struct o2gk_callbacks *ours,
		   struct o2gk_callbacks *saved)
{
	int err = 0;

	write_lock_bh(&sk->sk_callback_lock);
	/* KCM, sockmap, kTLS and the like, or a second registration. */
	if (sk->sk_user_data || inet_csk(sk)->icsk_ulp_ops) {
		err = -EBUSY;
		goto out;
	}
	saved->data_ready = sk->sk_data_ready;
	saved->state_change = sk->sk_state_change;
	saved->write_space = sk->sk_write_space;
	saved->error_report = sk->sk_error_report;
	inet_csk(sk)->icsk_ulp_ops = &protocol;
	__rcu_assign_sk_user_data_with_flags(sk, owner, SK_USER_DATA_NOCOPY);
	WRITE_ONCE(sk->sk_data_ready, ours->data_ready);
	WRITE_ONCE(sk->sk_state_change, ours->state_change);
	WRITE_ONCE(sk->sk_error_report, ours->error_report);
	if (ours->write_space)
		WRITE_ONCE(sk->sk_write_space, ours->write_space);
out:
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}

void o2gk_give_back(struct sock *sk, const void *owner,
		    const struct o2gk_callbacks *saved)
{
	rcu_read_lock();
	write_lock_bh(&sk->sk_callback_lock);
	if (rcu_dereference_sk_user_data(sk) == owner) {
		WRITE_ONCE(sk->sk_data_ready, saved->data_ready);
		WRITE_ONCE(sk->sk_state_change, saved->state_change);
		WRITE_ONCE(sk->sk_write_space, saved->write_space);
		WRITE_ONCE(sk->sk_error_report, saved->error_report);
		rcu_assign_sk_user_data(sk, NULL);
		inet_csk(sk)->icsk_ulp_ops = NULL;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	rcu_read_unlock();
}

/* One that a reset has closed has still the port of its peer. */
bool o2gk_is_disconnected(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE && !sk->sk_dport;
}
