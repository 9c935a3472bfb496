// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a message from one kernel module to another costs, in instructions of the machine:
 * for lab/shows/modules.sh. Two ends in this module send to each other in turn, a message
 * each, from a thread; what comes is received where it arrives.
 *
 *	bare=0	endpoints of o2g.ko, with a receive posted
 *	bare=1	sockets: kernel_sendmsg(), and what data_ready finds is copied
 *
 * The marks are those of lab/mark.h.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "o2g_kernel.h"

#define MOST 4096
#define WARM 100 /* messages that are not counted */

static bool bare;
module_param(bare, bool, 0444);
static uint messages = 1000, size = 8;
module_param(messages, uint, 0444);
module_param(size, uint, 0444);

struct end {
	u64 came; /* bytes */
	int err;
	char in[MOST], out[MOST];
	/* bare */
	struct socket *sock;
	/* or not */
	struct o2gk_ep *ep;
	struct o2gk_request receive, send;
};
static struct end ends[2];

static void mark_first(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 1, 'G', '2', 'O'" ::
			     : "memory");
}

static void mark_second(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 2, 'G', '2', 'O'" ::
			     : "memory");
}

static u32 number(const struct end *e)
{
	return e - ends;
}

/* --- endpoints --- */

static void came(struct o2gk_request *req);

static int post(struct end *e)
{
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = e->in,
				.length = size };

	e->receive.done = came;
	e->receive.context = e;
	e->receive.flags = O2GK_ATOMIC;
	return o2gk_irecv(e->ep, !number(e), 1, ~0ull, &seg, 1, &e->receive);
}

static void came(struct o2gk_request *req)
{
	struct end *e = req->context;

	if (req->status)
		return;
	e->err = post(e);
	WRITE_ONCE(e->came, e->came + req->length);
}

static void sent(struct o2gk_request *req)
{
}

static int send_message(struct end *e)
{
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = e->out,
				.length = size };

	e->send.done = sent;
	return o2gk_isend(e->ep, !number(e), 1, &seg, 1, &e->send);
}

static int open_end(u32 rank, const struct o2gk_owner *owner)
{
	const struct o2gk_config config = {
		.rank = rank,
		.size = 2,
		.secret = "both ends of this module know it",
		.job = "cost"
	};
	struct o2gk_ep *ep =
		o2gk_open(current->nsproxy->net_ns, &config, owner, NULL);

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	ends[rank].ep = ep;
	return 0;
}

static int open_endpoints(void)
{
	static const struct o2gk_owner owner;
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int err = open_end(0, &owner);

	if (!err)
		err = open_end(1, &owner);
	if (err)
		return err;
	err = o2gk_listen(ends[0].ep, (void *)&at, sizeof(at));
	if (err < 0)
		return err;
	at.sin_port = htons(err);
	err = o2gk_connect(ends[1].ep, 0, (void *)&at, sizeof(at), 10000);
	if (err)
		return err;
	while (!o2gk_is_connected(ends[0].ep, 1)) /* it is on its way */
		msleep(10);
	err = post(&ends[0]);
	return err ? err : post(&ends[1]);
}

/* --- sockets --- */

static int take(read_descriptor_t *desc, struct sk_buff *skb,
		unsigned int offset, size_t len)
{
	struct end *e = desc->arg.data;

	e->err = skb_copy_bits(skb, offset, e->in, min_t(size_t, len, size));
	WRITE_ONCE(e->came, e->came + len);
	return len;
}

static void data_ready(struct sock *sk)
{
	read_descriptor_t desc = { .count = 1 };

	rcu_read_lock();
	desc.arg.data = rcu_dereference_sk_user_data(sk);
	if (desc.arg.data)
		tcp_read_sock(sk, &desc, take);
	rcu_read_unlock();
}

static int send_bare(struct end *e)
{
	struct kvec v = { e->out, size };
	struct msghdr m = { .msg_flags = MSG_DONTWAIT };
	int n = kernel_sendmsg(e->sock, &m, &v, 1, size);

	return n < 0 ? n : n == size ? 0 : -EIO;
}

static void take_over(struct end *e)
{
	struct sock *sk = e->sock->sk;

	tcp_sock_set_nodelay(sk);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, e);
	sk->sk_data_ready = data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

static int connect_to(struct socket *listener)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int err = kernel_bind(listener, (void *)&at, sizeof(at));

	if (!err)
		err = kernel_listen(listener, 1);
	at.sin_port = htons(listener->sk->sk_num);
	if (!err)
		err = kernel_connect(ends[1].sock, (void *)&at, sizeof(at), 0);
	return err ? err : kernel_accept(listener, &ends[0].sock, 0);
}

static int open_sockets(void)
{
	struct net *net = current->nsproxy->net_ns;
	struct socket *listener;
	int err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
				   &listener);

	if (err)
		return err;
	err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &ends[1].sock);
	if (!err)
		err = connect_to(listener);
	sock_release(listener);
	if (err)
		return err;
	take_over(&ends[0]);
	take_over(&ends[1]);
	return 0;
}

/* --- both --- */

static int send_one(struct end *from, struct end *to)
{
	u64 until = to->came + size;
	unsigned int turns = 0;
	int err = bare ? send_bare(from) : send_message(from);

	/* It is there when the call returns, but for what a worker does. */
	while (!err && READ_ONCE(to->came) < until) {
		if (++turns > 5000)
			return -ETIME;
		usleep_range(1000, 2000);
	}
	return err ? err : to->err;
}

static int play(unsigned int n)
{
	int err = 0;

	while (n-- && !err)
		err = send_one(&ends[n % 2], &ends[!(n % 2)]);
	return err;
}

static void close_end(struct end *e)
{
	if (e->ep)
		o2gk_close(e->ep);
	if (e->sock)
		sock_release(e->sock);
}

static void close_both(void)
{
	close_end(&ends[0]);
	close_end(&ends[1]);
}

static int __init cost_init(void)
{
	int err;

	if (!size || size > MOST)
		return -EINVAL;
	err = bare ? open_sockets() : open_endpoints();
	if (!err)
		err = play(WARM);
	mark_first();
	if (!err)
		err = play(messages);
	mark_second();
	if (err)
		close_both();
	return err;
}
module_init(cost_init);

static void __exit cost_exit(void)
{
	close_both();
}
module_exit(cost_exit);

MODULE_DESCRIPTION("What a message between modules costs");
MODULE_LICENSE("Dual BSD/GPL");
