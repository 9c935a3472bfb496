// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Listening, and the acceptor's half of the hello.
 *
 * Whoever connects gets a slot of a table that was allocated before, and a few seconds to
 * prove that it belongs to the job. As in channel/tcp/listen.c a full table gives up its
 * oldest entry if that has had time for a few round trips and has still said nothing;
 * otherwise the newcomer waits, so that many peers that connect at once do not throw each
 * other out. A quarter of the table is kept for those whose address a peer has called
 * from before: strangers do not take it, and do not throw these out.
 *
 * One worker does it all. Callbacks only leave a note and start it.
 */
#include "reach.h"

#include <linux/bitmap.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/tcp.h>

#define SLOTS 256
#define STRANGERS (SLOTS / 4 * 3) /* slots for addresses that we do not know */
#define KNOWN 256		  /* addresses that are remembered */
#define HELLO_MS 5000		  /* to prove who it is */
#define GRACE_MS 20		  /* a slot this young is not taken away */
#define ACCEPTS 64		  /* connections at a time */
#define BACKLOG 128

struct slot {
	struct o2gk_call call;
	struct o2gk_listener *listener;
	struct list_head link; /* one of the listener's three */
	bool stranger;
	unsigned long since;
};

struct o2gk_listener {
	struct o2gk_reach *reach;
	struct socket *sock;
	void (*saved_ready)(struct sock *sk);
	struct delayed_work work;
	/* the worker's: */
	struct socket *waits; /* accepted, and has no slot yet */
	struct list_head free, strangers, acquaintances; /* by age */
	u32 nstrangers;
	u32 seed, known[KNOWN]; /* hashes of addresses, by their low bits */
	/* left by callbacks: */
	DECLARE_BITMAP(news, SLOTS);
	struct slot slots[SLOTS];
};

/* --- callbacks; any context --- */

static void look(struct o2gk_listener *l)
{
	mod_delayed_work(l->reach->wq, &l->work, 0);
}

static void slot_news(struct o2gk_call *c)
{
	struct slot *s = container_of(c, struct slot, call);

	set_bit(s - s->listener->slots, s->listener->news);
	look(s->listener);
}

/* A connection that was not accepted yet has this callback as well, and no listener:
 * what it has sent waits. */
static void listener_ready(struct sock *sk)
{
	struct o2gk_listener *l;

	rcu_read_lock();
	l = rcu_dereference_sk_user_data(sk);
	if (l && sk->sk_state == TCP_LISTEN)
		look(l);
	rcu_read_unlock();
}

static void set_ready(struct sock *sk, void (*ready)(struct sock *sk))
{
	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, ready);
	write_unlock_bh(&sk->sk_callback_lock);
}

/* --- addresses that are known --- */

static u32 address_hash(const struct o2gk_listener *l, const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (o2gk_is_v6(sk))
		return jhash2((const u32 *)&sk->sk_v6_daddr, 4, l->seed);
#endif
	return jhash2((const u32 *)&sk->sk_daddr, 1, l->seed);
}

static bool is_known(const struct o2gk_listener *l, const struct sock *sk)
{
	u32 hash = address_hash(l, sk);

	return l->known[hash % KNOWN] == hash;
}

static void remember(struct o2gk_listener *l, const struct sock *sk)
{
	u32 hash = address_hash(l, sk);

	l->known[hash % KNOWN] = hash;
}

/* --- slots --- */

static void slot_free(struct slot *s)
{
	struct o2gk_listener *l = s->listener;

	o2gk_call_close(&s->call);
	l->nstrangers -= s->stranger;
	list_move_tail(&s->link, &l->free);
}

static void slot_drop(struct slot *s, const char *why)
{
	pr_info_ratelimited("o2g: dropped a connection to port %u: %s\n",
			    s->listener->sock->sk->sk_num, why);
	slot_free(s);
}

/* What becomes of a caller that has proved to be of the job. */
static enum tcp_verdict decide(struct o2gk_reach *r, const struct tcp_answer *a)
{
	u32 src = le32_to_cpu(a->src);

	if (le32_to_cpu(a->dst) != r->rank || src == r->rank)
		return TCP_NOT_ME;
	if (o2gk_hello_is_second(a))
		return TCP_DUPLICATE; /* one socket is enough here */
	switch (r->ops->state(r->owner, src)) {
	case O2GK_REACH_NONE:
		return o2gk_dial_yields(r, src) ? TCP_ACCEPTED : TCP_DUPLICATE;
	case O2GK_REACH_HAS:
		return TCP_DUPLICATE;
	default:
		return TCP_GONE;
	}
}

/* It gets its file, its verdict, and its owner. */
static void let_in(struct o2gk_reach *r, struct o2gk_call *c)
{
	struct socket *sock = o2gk_call_take(c);

	if (o2gk_call_file(sock))
		return; /* it calls again */
	if (o2gk_call_send(sock, &c->verdict, sizeof(c->verdict)))
		sockfd_put(sock);
	else
		o2gk_reach_attach(r, le32_to_cpu(c->answer.src), sock);
}

static void slot_decide(struct slot *s)
{
	struct o2gk_reach *r = s->listener->reach;
	struct o2gk_call *c = &s->call;
	enum tcp_verdict code;

	remember(s->listener, c->sk);
	code = decide(r, &c->answer);
	if (!o2gk_hello_verdict(&r->key, &c->challenge, &c->answer, code,
				&c->verdict)) {
		if (code == TCP_ACCEPTED)
			let_in(r, c);
		else
			o2gk_call_send(c->sock, &c->verdict,
				       sizeof(c->verdict));
	}
	slot_free(s);
}

/* False: its answer is not complete. */
static bool slot_read(struct slot *s)
{
	struct o2gk_call *c = &s->call;
	int got = o2gk_call_read(c, &c->answer, sizeof(c->answer));

	if (!got)
		return false;
	if (got < 0) {
		slot_drop(s, "it closed before proving itself");
		return true;
	}
	switch (o2gk_hello_check_answer(&s->listener->reach->key, &c->challenge,
					&c->answer)) {
	case 0:
		slot_decide(s);
		break;
	case -EBADMSG:
		slot_drop(s, "it does not say hello as a peer of this job");
		break;
	case -EPROTO:
		slot_drop(s, "it has another version of O2G");
		break;
	default:
		slot_drop(s, "it does not know the secret of this job");
	}
	return true;
}

static void slot_start(struct o2gk_listener *l, struct socket *sock,
		       bool stranger)
{
	struct slot *s = list_first_entry(&l->free, struct slot, link);
	struct o2gk_call *c = &s->call;

	if (o2gk_call_open(c, sock))
		return;
	s->since = jiffies;
	s->stranger = stranger;
	l->nstrangers += stranger;
	list_move_tail(&s->link, stranger ? &l->strangers : &l->acquaintances);
	o2gk_hello_challenge(&c->challenge);
	if (o2gk_call_send(c->sock, &c->challenge, sizeof(c->challenge)))
		slot_free(s);
	else
		slot_news(c); /* it may have spoken before it was asked */
}

/* The oldest makes room, unless it is too young. */
static bool make_room(struct o2gk_listener *l, struct list_head *among)
{
	struct slot *s = list_first_entry_or_null(among, struct slot, link);
	unsigned long grace = msecs_to_jiffies(GRACE_MS);

	if (!s || time_after(s->since + grace, jiffies))
		return false;
	if (!slot_read(s))
		slot_drop(s, "it was slow to say hello and others wait");
	return true;
}

/* --- accepting --- */

/* False: there is no slot for it yet. */
static bool seat(struct o2gk_listener *l, struct socket *sock)
{
	bool stranger = !is_known(l, sock->sk);

	if (stranger && l->nstrangers >= STRANGERS &&
	    !make_room(l, &l->strangers))
		return false;
	if (list_empty(&l->free) && !make_room(l, &l->acquaintances))
		return false;
	slot_start(l, sock, stranger);
	return true;
}

static int next_caller(struct o2gk_listener *l, struct socket **sock)
{
	int err;

	*sock = l->waits;
	l->waits = NULL;
	if (*sock)
		return 0;
	err = kernel_accept(l->sock, sock, O_NONBLOCK);
	if (!err)
		set_ready((*sock)->sk, l->saved_ready);
	return err;
}

/* When to look again, in ms; -1: when somebody calls. */
static int accept_some(struct o2gk_listener *l)
{
	struct socket *sock;
	u32 n;
	int err;

	for (n = 0; n < ACCEPTS; n++) {
		err = next_caller(l, &sock);
		if (err == -EAGAIN)
			return -1;
		if (err) /* it has hung up, or there is no memory: nobody tells */
			return GRACE_MS;
		if (!seat(l, sock)) {
			l->waits = sock;
			return GRACE_MS;
		}
	}
	return 0;
}

/* --- the worker --- */

static void read_some(struct o2gk_listener *l)
{
	unsigned int i;

	for_each_set_bit(i, l->news,
			 SLOTS) if (test_and_clear_bit(i, l->news) &&
				    l->slots[i].call.sock)
		slot_read(&l->slots[i]);
}

static void drop_late(struct list_head *among)
{
	unsigned long time = msecs_to_jiffies(HELLO_MS);
	struct slot *s, *next;

	list_for_each_entry_safe(s, next, among, link) {
		if (time_after(s->since + time, jiffies))
			return;
		if (!slot_read(s))
			slot_drop(s, "it did not say hello in time");
	}
}

static void set_timer(struct o2gk_listener *l, int ms)
{
	bool idle = list_empty(&l->strangers) && list_empty(&l->acquaintances);

	if (ms < 0 && !idle)
		ms = HELLO_MS / 5;
	if (ms >= 0)
		queue_delayed_work(l->reach->wq, &l->work,
				   msecs_to_jiffies(ms));
}

static void listen_work(struct work_struct *work)
{
	struct o2gk_listener *l =
		container_of(work, struct o2gk_listener, work.work);
	struct o2gk_reach *r = l->reach;
	struct o2gk_reach_scope scope;

	o2gk_reach_enter(r, &scope);
	if (!r->closing && r->listener == l) {
		read_some(l);
		drop_late(&l->strangers);
		drop_late(&l->acquaintances);
		set_timer(l, accept_some(l));
	}
	o2gk_reach_leave(r, &scope);
}

/* --- from outside --- */

static struct o2gk_listener *new_listener(struct o2gk_reach *r)
{
	struct mem_cgroup *before = set_active_memcg(r->memcg);
	struct o2gk_listener *l = kvcalloc(1, sizeof(*l), GFP_KERNEL_ACCOUNT);
	u32 i;

	set_active_memcg(before);
	if (!l)
		return NULL;
	l->reach = r;
	get_random_bytes(&l->seed, sizeof(l->seed));
	INIT_DELAYED_WORK(&l->work, listen_work);
	INIT_LIST_HEAD(&l->free);
	INIT_LIST_HEAD(&l->strangers);
	INIT_LIST_HEAD(&l->acquaintances);
	for (i = 0; i < SLOTS; i++) {
		l->slots[i].listener = l;
		l->slots[i].call.wake = slot_news;
		list_add_tail(&l->slots[i].link, &l->free);
	}
	return l;
}

static int open_socket(struct o2gk_listener *l,
		       const struct sockaddr_storage *addr, int len)
{
	struct sockaddr_storage at = *addr;
	struct socket *sock;
	int err = o2gk_call_socket(l->reach->net, at.ss_family, &sock);

	if (err)
		return err;
	sock_set_reuseaddr(sock->sk);
	err = kernel_bind(sock, (void *)&at, len);
	if (err) {
		sock_release(sock);
		return err;
	}
	l->sock = sock;
	l->saved_ready = sock->sk->sk_data_ready;
	return 0;
}

/* Children have no use for the listener, and their own callback back when accepted. */
static int start(struct o2gk_listener *l)
{
	struct sock *sk = l->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	__rcu_assign_sk_user_data_with_flags(sk, l, SK_USER_DATA_NOCOPY);
	WRITE_ONCE(sk->sk_data_ready, listener_ready);
	write_unlock_bh(&sk->sk_callback_lock);
	return kernel_listen(l->sock, BACKLOG);
}

/* It is r->listener no more. Those who wait to be accepted are turned away. */
static void destroy(struct o2gk_listener *l)
{
	struct sock *sk = l->sock->sk;
	u32 i;

	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(sk->sk_data_ready, l->saved_ready);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	for (i = 0; i < SLOTS; i++)
		o2gk_call_close(&l->slots[i].call);
	if (l->waits)
		sock_release(l->waits);
	sock_release(l->sock);
	synchronize_rcu(); /* nobody is in a callback */
	cancel_delayed_work_sync(&l->work);
	kvfree(l);
}

int o2gk_reach_listen(struct o2gk_reach *r, const struct sockaddr_storage *addr,
		      int len, u16 *port)
{
	struct o2gk_listener *l = new_listener(r);
	int err;

	if (!l)
		return -ENOMEM;
	err = open_socket(l, addr, len);
	if (err) {
		kvfree(l);
		return err;
	}
	mutex_lock(&r->mutex);
	err = r->closing ? -ESHUTDOWN : r->listener ? -EALREADY : start(l);
	if (!err) {
		r->listener = l;
		*port = l->sock->sk->sk_num;
		look(l); /* some may have come before it was ours */
	}
	mutex_unlock(&r->mutex);
	if (err)
		destroy(l);
	return err;
}

void o2gk_reach_unlisten(struct o2gk_reach *r)
{
	struct o2gk_listener *l;

	mutex_lock(&r->mutex);
	l = r->listener;
	r->listener = NULL;
	mutex_unlock(&r->mutex);
	if (l)
		destroy(l);
}
