// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The table of an endpoint's peers, by number.
 *
 * Ranks of the job become known with their first use, peers of other jobs when they
 * are added. Both only in process context: memory for a peer is asked for there, and
 * charged. Each can be forgotten, and can come back after that.
 */
#include "o2gk.h"

#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#define MAX_OTHERS BIT(20)

static bool is_other(u32 number)
{
	return number >= O2GD_OTHERS && number <= INT_MAX;
}

bool o2gk_is_number(const struct o2gk_ep *ep, u32 number)
{
	return number < ep->size || is_other(number);
}

/* --- looking --- */

/* The one asked for last is asked for again, most often. Under RCU or ep->lock. */
static struct o2gk_peer *look_up(struct o2gk_ep *ep, u32 number)
{
	/* If it is there it is whole. */
	struct o2gk_peer *p = smp_load_acquire(&ep->recent);

	if (likely(p && p->core.rank == number))
		return p;
	p = xa_load(&ep->peers, number);
	return xa_is_value(p) ? NULL : p;
}

struct o2gk_peer *o2gk_peer_find(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p = look_up(ep, number);

	lockdep_assert_held(&ep->lock);
	if (p && p != ep->recent)
		smp_store_release(&ep->recent, p); /* see look_up */
	return p;
}

struct o2gk_peer *o2gk_peer_next(struct o2gk_ep *ep, unsigned long *number)
{
	lockdep_assert_held(&ep->lock);
	return xa_find(&ep->peers, number, ULONG_MAX, O2GK_KNOWN);
}

struct o2gk_peer *o2gk_peer_hold(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p;

	rcu_read_lock();
	p = look_up(ep, number);
	if (p && !refcount_inc_not_zero(&p->refs))
		p = NULL;
	rcu_read_unlock();
	return p;
}

/* Any context. */
void o2gk_peer_put(struct o2gk_peer *p)
{
	if (!refcount_dec_and_test(&p->refs))
		return;
	o2gk_local_put(p);
	if (p->sock)
		sockfd_put(p->sock);
	kfree_rcu(p, rcu);
}

enum o2gd_peer_state o2gk_peer_state(struct o2gk_ep *ep, u32 number)
{
	const struct o2gk_peer *p = o2gk_peer_find(ep, number);

	if (!p)
		return xa_load(&ep->peers, number) ? O2GD_PEER_LOST :
						     O2GD_PEER_UNKNOWN;
	if (p->lost)
		return O2GD_PEER_LOST;
	return p->sk ? O2GD_PEER_OPEN : O2GD_PEER_NO_SOCKET;
}

/* --- coming --- */

static struct o2gk_peer *new_peer(struct o2gk_ep *ep)
{
	struct o2gk_peer *p =
		o2gk_alloc(ep, sizeof(*p), GFP_KERNEL | __GFP_NORETRY);

	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->ep = ep;
	refcount_set(&p->refs, 1);
	o2g_stream_init(&p->stream);
	o2g_list_init(&p->txq);
	o2g_list_init(&p->dead);
	INIT_LIST_HEAD(&p->losing);
	INIT_LIST_HEAD(&p->dirty);
	INIT_LIST_HEAD(&p->serving);
	INIT_LIST_HEAD(&p->done.link);
	INIT_LIST_HEAD(&p->receives);
	INIT_LIST_HEAD(&p->met);
	INIT_LIST_HEAD(&p->untold);
	INIT_WORK(&p->rx_work, o2gk_rx_work);
	INIT_WORK(&p->tx_work, o2gk_tx_work);
	INIT_LIST_HEAD(&p->local);
	INIT_WORK(&p->local_work, o2gk_local_work);
	return p;
}

/* Room in the table; what is stored there under ep->lock takes no memory then. */
static int reserve(struct o2gk_ep *ep, u32 number)
{
	struct mem_cgroup *before = set_active_memcg(ep->memcg);
	int err = xa_reserve_bh(&ep->peers, number,
				GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);

	set_active_memcg(before);
	return err;
}

/* Under ep->lock, with room for it. */
static void insert(struct o2gk_ep *ep, struct o2gk_peer *p, u32 number,
		   u32 wire_rank)
{
	bool given_up = xa_load(&ep->peers, number);

	o2g_peer_init(&ep->core, &p->core, number);
	p->core.wire_rank = wire_rank;
	p->core.eager_max = ep->eager_max;
	p->core.inject_max = O2GD_SMALL + 1;
	if (given_up) { /* nothing of it is there to be lost */
		p->lost = true;
		o2g_proto_peer_cut(&ep->core, &p->core);
	}
	/* Whole before it can be seen: others look without the lock. */
	xa_store_bh(&ep->peers, number, p, GFP_NOWAIT);
	xa_set_mark(&ep->peers, number, O2GK_KNOWN);
	ep->nothers += is_other(number);
}

/* -EEXIST: it is known already. */
static int make_known(struct o2gk_ep *ep, u32 number, u32 wire_rank)
{
	struct o2gk_peer *p = new_peer(ep);
	int err = p ? reserve(ep, number) : -ENOMEM;

	if (!err) {
		spin_lock_bh(&ep->lock);
		if (o2gk_peer_find(ep, number))
			err = -EEXIST;
		else if (ep->nothers >= MAX_OTHERS && is_other(number))
			err = -ENFILE;
		else
			insert(ep, p, number, wire_rank);
		spin_unlock_bh(&ep->lock);
	}
	if (err)
		kfree(p);
	return err;
}

int o2gk_peer_meet(struct o2gk_ep *ep, u32 number)
{
	bool known;
	int err;

	rcu_read_lock();
	known = look_up(ep, number);
	rcu_read_unlock();
	if (likely(known))
		return 0;
	if (number >= ep->size)
		return -ENOTCONN;
	err = make_known(ep, number, number);
	return err == -EEXIST ? 0 : err;
}

int o2gk_peer_add(struct o2gk_ep *ep, u32 number, u32 wire_rank)
{
	if (!is_other(number))
		return -EINVAL;
	if (READ_ONCE(ep->nothers) >= MAX_OTHERS)
		return -ENFILE; /* nor is room in the table taken for it */
	return make_known(ep, number, wire_rank);
}

/* --- going --- */

/*
 * A worker may have the lock that waits for a page of this process. Nobody can say how
 * long; but the process can be killed, and then nobody waits for its pages any more.
 */
static void lock_to_lose(struct o2gk_ep *ep, struct sock *sk)
{
	while (!o2gk_trylock_sock(sk)) {
		if (!ep->mm || fatal_signal_pending(current)) {
			if (ep->mm)
				o2gk_recall(ep);
			lock_sock(sk);
			return;
		}
		schedule_timeout_killable(1);
	}
}

/* With or without a socket; whoever calls has a reference. */
static void lose(struct o2gk_peer *p)
{
	struct o2gk_ep *ep = p->ep;
	struct sock *sk = READ_ONCE(p->sk); /* ep->mutex: it stays so */

	WRITE_ONCE(p->leaving, true); /* or its workers wait, with its locks */
	if (sk)
		lock_to_lose(ep, sk);
	o2gk_ep_lock(ep);
	o2gk_peer_lost(p, O2GD_LOST_LOCAL, 0);
	o2gk_ep_unlock(ep, sk ? O2GK_WORKER : O2GK_CALLER, sk ? p : NULL);
	if (sk)
		release_sock(sk);
	o2gk_lost_finish(p);
}

/* A rank that is not known is marked, and no more. */
static int down_unknown(struct o2gk_ep *ep, u32 number)
{
	int err = reserve(ep, number);

	if (err)
		return err;
	spin_lock_bh(&ep->lock);
	if (!o2gk_peer_find(ep, number))
		xa_store_bh(&ep->peers, number, xa_mk_value(1), GFP_NOWAIT);
	spin_unlock_bh(&ep->lock);
	return 0;
}

/* The mutex keeps the peer from getting a socket meanwhile. */
int o2gk_peer_down(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p;

	o2gk_ep_lock(ep);
	o2gk_sq_drain_all(ep); /* a receive posted before makes it known */
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
	p = o2gk_peer_hold(ep, number);
	if (!p && number < ep->size)
		return down_unknown(ep, number);
	if (!p)
		return -ENOENT;
	lose(p);
	o2gk_peer_put(p);
	return 0;
}

/* Out of the table; messages of it that nobody has asked for go as well. */
static void take_out(struct o2gk_ep *ep, struct o2gk_peer *p)
{
	o2gk_ep_lock(ep);
	while (!o2g_proto_forget(&ep->core, &p->core, O2GK_STEP) ||
	       !o2gk_served_drop(p, O2GK_STEP)) {
		o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
		cond_resched();
		o2gk_ep_lock(ep);
	}
	xa_erase_bh(&ep->peers, p->core.rank);
	if (ep->recent == p)
		WRITE_ONCE(ep->recent, NULL);
	ep->nothers -= is_other(p->core.rank);
	ep->front->forget(p);
	list_del_init(&p->dirty);
	o2gk_ep_unlock(ep, O2GK_CALLER, NULL);
}

/* It was only marked. */
static int forget_mark(struct o2gk_ep *ep, u32 number)
{
	void *mark;

	spin_lock_bh(&ep->lock);
	mark = xa_load(&ep->peers, number);
	if (xa_is_value(mark))
		xa_erase_bh(&ep->peers, number);
	spin_unlock_bh(&ep->lock);
	return mark ? 0 : -ENOENT;
}

int o2gk_peer_forget(struct o2gk_ep *ep, u32 number)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep, number);

	if (!p)
		return forget_mark(ep, number);
	lose(p);
	if (p->sk)
		o2gk_sock_release(p);
	WRITE_ONCE(p->forgotten, true);
	synchronize_rcu();
	o2gk_sock_quiet(p);
	take_out(ep, p);
	o2gk_peer_put(p); /* the table's */
	o2gk_peer_put(p);
	return 0;
}
