// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Between two endpoints of one host packets do not go through TCP: they are mail
 * on the link (local.c). Whoever lets go of the sender's ep->lock delivers it,
 * at once and in its own context: the receiver's core gets each packet with the
 * receiver's ep->lock, body and all, as it would in softirq.
 *
 * One at a time delivers, for both directions (link->pumping). The answers that
 * this brings about are also mail, and the same loop delivers them; so no two
 * endpoints' locks are held at once, and nothing calls itself.
 *
 * Order. Once there is a link every packet is mail, in order. What went over TCP
 * before has to be received first: both ends count those bytes. Packets that a
 * link cannot carry, whose body is memory that could not be pinned, are mail until
 * it is their turn, then go by TCP, and what is behind them waits in the same way.
 *
 * A body that goes to memory which only its process can write to is left to a
 * worker of the receiver, with its request claimed already; mail of that
 * direction waits meanwhile.
 */
#include "local.h"

#include <linux/slab.h>
#include <linux/wait_bit.h>

#define TURN 64 /* packets, each page counts as one; then a worker goes on */

static bool is_tcp_drained(const struct o2gk_way *w)
{
	return (s64)(w->tcp_came - w->tcp_sent) >= 0;
}

static struct o2g_tx *first(const struct o2gk_way *w)
{
	return o2g_list_first(&w->mail, struct o2g_tx, link);
}

static bool is_for_tcp(const struct o2g_tx *tx)
{
	return tx->req && (tx->req->seg0.type != O2GK_SEG_PAGES ||
			   tx->left > O2GK_LOCAL_EAGER);
}

/* --- sending; under ep->lock --- */

void o2gk_mail_post(struct o2gk_peer *p, struct o2g_tx *tx)
{
	struct o2gk_link *l = p->link;

	lockdep_assert_held(&p->ep->lock);
	spin_lock(&l->lock);
	o2g_list_add_tail(&tx->link, &l->way[p->side].mail);
	spin_unlock(&l->lock);
	if (list_empty(&p->dirty))
		list_add_tail(&p->dirty, &p->ep->dirty);
}

void o2gk_mail_drop(struct o2gk_link *l, unsigned int side)
{
	struct o2gk_way *w = &l->way[side];

	while (!o2g_list_empty(&w->mail)) {
		struct o2g_tx *tx = first(w);

		o2g_list_del(&tx->link);
		if (!tx->req)
			kfree(container_of(tx, struct o2gk_ctl, tx));
	}
	w->reading = NULL;
}

/* A packet over TCP is received: mail may have waited for that. */
void o2gk_mail_came(struct o2gk_peer *q)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];
	bool go;

	lockdep_assert_held(&q->ep->lock);
	spin_lock(&l->lock);
	w->tcp_came = q->rx_bytes;
	go = is_tcp_drained(w) && !o2g_list_empty(&w->mail);
	spin_unlock(&l->lock);
	if (go)
		o2gk_queue(q, &q->local_work);
}

/* --- receiving --- */

/*
 * The sender has not taken it back while it was copied: then it is the sender's
 * again, and the sender is told. Under the receiver's ep->lock.
 */
static bool give_back(struct o2gk_link *l, struct o2gk_way *w,
		      const struct o2gk_parcel *it)
{
	bool valid;

	if (!it->tx)
		return true;
	spin_lock(&l->lock);
	valid = w->reading == it->tx;
	if (valid)
		o2g_list_add_tail(&it->tx->link, &w->done);
	w->reading = NULL;
	spin_unlock(&l->lock);
	return valid;
}

/* The body is where it belongs, or @why it is not: on with the core. */
static enum o2gd_lost end(struct o2gk_peer *q, struct o2gk_link *l,
			  struct o2gk_way *w, struct o2gk_parcel *it,
			  enum o2gd_lost why)
{
	if (!give_back(l, w, it))
		why = O2GD_LOST_CLOSED;
	if (!why)
		o2gk_parcel_end(q, it);
	q->ep->stats.rx_direct++;
	o2gk_parcel_put(q, it);
	return why;
}

/* The receiver is lost; the sender hears of that soon, in another way. */
static void forget(struct o2gk_peer *q, struct o2gk_link *l, struct o2gk_way *w,
		   struct o2gk_parcel *it)
{
	spin_lock(&l->lock);
	w->reading = NULL;
	spin_unlock(&l->lock);
	o2gk_parcel_put(q, it);
}

/*
 * There is no memory for what it brings about: it is the first again, and a worker
 * gets some. One with a request may have been taken back meanwhile.
 */
static void put_back(struct o2gk_peer *q, struct o2gk_link *l,
		     struct o2gk_way *w, struct o2gk_parcel *it)
{
	struct o2g_tx *tx = it->tx ? it->tx : &it->ctl->tx;

	spin_lock(&l->lock);
	if (!it->tx || w->reading == it->tx)
		o2g_list_add_tail(&tx->link, w->mail.next);
	w->reading = NULL;
	w->next = it->hdr;
	w->is_starved = true;
	spin_unlock(&l->lock);
	o2gk_pin_put(q->ep, it->pin);
	o2gk_queue(q, &q->local_work);
}

void o2gk_mail_feed(struct o2gk_peer *q)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];
	bool starved;

	spin_lock_bh(&l->lock);
	starved = w->is_starved;
	spin_unlock_bh(&l->lock);
	if (!starved)
		return;
	o2gk_reserve_wait(q, &w->next);
	spin_lock_bh(&l->lock);
	w->is_starved = false;
	spin_unlock_bh(&l->lock);
}

/* Without the process there is no going on: a worker does. */
static void leave_to_worker(struct o2gk_peer *q, struct o2gk_link *l,
			    struct o2gk_way *w, const struct o2gk_parcel *it)
{
	spin_lock(&l->lock);
	w->late = *it;
	if (it->rx.sink.segs == &it->rx.put_seg)
		w->late.rx.sink.segs = &w->late.rx.put_seg;
	w->is_late = true;
	spin_unlock(&l->lock);
	o2gk_queue(q, &q->local_work);
}

/* Under the receiver's ep->lock. */
static void receive(struct o2gk_peer *q, struct o2gk_link *l,
		    struct o2gk_way *w, struct o2gk_parcel *it)
{
	enum o2gd_lost why;

	if (q->lost || q->doom || o2gk_is_leaving(q)) {
		forget(q, l, w, it);
		return;
	}
	if (!o2gk_reserve(q->ep, &it->hdr)) {
		put_back(q, l, w, it);
		return;
	}
	why = o2gk_parcel_begin(q, it);
	if (!why && o2gk_parcel_to_user(it)) {
		leave_to_worker(q, l, w, it);
		return;
	}
	if (!why)
		why = o2gk_parcel_copy(q, it);
	why = end(q, l, w, it, why);
	if (why)
		o2gk_peer_doom(q, why, it->detail);
}

void o2gk_mail_late(struct o2gk_peer *q)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];
	enum o2gd_lost why = 0;
	bool late;

	spin_lock_bh(&l->lock);
	late = w->is_late;
	spin_unlock_bh(&l->lock);
	if (!late)
		return;
	if (!q->lost)
		why = o2gk_parcel_copy_held(q, &w->late);
	o2gk_ep_lock(q->ep);
	if (q->lost)
		forget(q, l, w, &w->late);
	else
		why = end(q, l, w, &w->late, why);
	if (why)
		o2gk_peer_lost(q, why, w->late.detail);
	o2gk_ep_unlock(q->ep, O2GK_WORKER, q);
	spin_lock_bh(&l->lock);
	w->is_late = false;
	if (l->end[!q->side]) /* it may be done with its request */
		o2gk_queue(l->end[!q->side], &l->end[!q->side]->tx_work);
	spin_unlock_bh(&l->lock);
}

void o2gk_mail_close(struct o2gk_peer *q)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];

	wait_var_event(&l->pumping, !READ_ONCE(l->pumping));
	if (cancel_work_sync(&q->local_work))
		o2gk_peer_put(q);
	if (!w->is_late)
		return;
	w->is_late = false;
	o2gk_ep_lock(q->ep);
	forget(q, l, w, &w->late);
	o2gk_ep_unlock(q->ep, O2GK_LINK, q);
}

/* --- delivering; without any lock --- */

/* What can be delivered; under link->lock. */
static bool next(const struct o2gk_link *l, unsigned int *side)
{
	for (*side = 0; *side < 2; ++*side) {
		const struct o2gk_way *w = &l->way[*side];

		if (o2g_list_empty(&w->mail) || w->is_late || w->is_starved ||
		    !l->end[!*side] || !is_tcp_drained(w))
			continue;
		if (l->end[*side] || !is_for_tcp(first(w)))
			return true;
	}
	return false;
}

/* The first of @p's mail is to go by TCP; a worker or the caller sends it. */
static void to_tcp(struct o2gk_link *l, struct o2gk_peer *p)
{
	struct o2gk_way *w = &l->way[p->side];

	o2gk_ep_lock(p->ep);
	spin_lock(&l->lock);
	if (!o2g_list_empty(&w->mail) && is_for_tcp(first(w))) {
		struct o2g_tx *tx = first(w);

		o2g_list_del(&tx->link);
		o2gk_tx_enqueue(p, tx);
		w->tcp_sent = p->tx_bytes;
	}
	spin_unlock(&l->lock);
	o2gk_ep_unlock(p->ep, O2GK_LINK, NULL);
}

static void deliver(struct o2gk_link *l, struct o2gk_peer *p,
		    struct o2gk_peer *q, struct o2gk_parcel *it)
{
	bool has_request = it->tx;

	o2gk_ep_lock(q->ep);
	receive(q, l, &l->way[!q->side], it);
	o2gk_ep_unlock(q->ep, O2GK_LINK, q);
	if (!p || !has_request)
		return;
	o2gk_ep_lock(p->ep);
	o2gk_local_sent(p);
	o2gk_ep_unlock(p->ep, O2GK_LINK, p);
}

/* The first of @side's mail, taken; false: it is not to be delivered. */
static bool take(struct o2gk_link *l, unsigned int side, struct o2gk_parcel *it)
{
	struct o2gk_way *w = &l->way[side];
	struct o2g_tx *tx = first(w);

	if (is_for_tcp(tx))
		return false;
	o2g_list_del(&tx->link);
	o2gk_parcel_take(it, tx);
	w->reading = it->tx;
	return true;
}

void o2gk_mail_pump(struct o2gk_link *l)
{
	unsigned int side;
	struct o2gk_parcel it;
	int turn = TURN;

	/* All the way: whoever sleeps here would hold up both ends. */
	local_bh_disable();
	spin_lock(&l->lock);
	if (l->pumping)
		goto out; /* he sees what we would deliver */
	l->pumping = true;
	while (turn > 0 && next(l, &side)) {
		struct o2gk_peer *p = l->end[side], *q = l->end[!side];
		bool taken = take(l, side, &it);

		spin_unlock(&l->lock);
		turn--;
		if (taken) {
			turn -= it.len >> PAGE_SHIFT;
			deliver(l, p, q, &it);
		} else {
			to_tcp(l, p);
		}
		spin_lock(&l->lock);
	}
	if (next(l, &side))
		o2gk_queue(l->end[!side], &l->end[!side]->local_work);
	WRITE_ONCE(l->pumping, false);
	smp_mb(); /* or whoever closes is not seen waiting, and does not see it */
	wake_up_var(&l->pumping);
out:
	spin_unlock(&l->lock);
	local_bh_enable();
}
