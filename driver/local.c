// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Two endpoints of one host.
 *
 * When both ends of a connection are registered, they get a link, and no packet
 * goes over the connection any more. Most are mail (mail.c). Those with much data
 * are copied here, once: DATA and PUT whose bodies are in the sender's pages,
 * pinned when the send was submitted. Such a packet is put on the link; a worker
 * of the receiver takes it, asks its core where the body goes, copies, and puts it
 * on the way back; a worker of the sender takes it from there and goes on. So no
 * lock of one endpoint is taken by the other, and no two sockets are locked at
 * once.
 *
 * DATA and PUT belong to a request that is named in them, so they may overtake
 * mail; only packets of one request must not overtake each other. That is why the
 * first one decides for all. Who says BYE waits for the link to be empty
 * (o2gk_local_leaving).
 *
 * A sender that gives up while its packet is being copied takes the packet off
 * the link. Its pages stay until the copy is over, which holds a reference, and
 * the receiver then does not believe what it has copied: see parcel_back.
 *
 * Locks: link->lock is taken with ep->lock held, or alone. Nothing is taken under
 * it. all_lock comes before ep->lock.
 */
#include "local.h"

#include <linux/moduleparam.h>
#include <linux/slab.h>

#define BUCKETS 256

/* For who measures, or looks for what goes over lo. */
static bool direct = true;
module_param(direct, bool, 0644);
MODULE_PARM_DESC(
	direct,
	"connections made from now on between endpoints of this host do not use TCP");

/* Every peer with a socket, by the ports of its connection. */
static DEFINE_MUTEX(all_lock);
static struct list_head all_peers[BUCKETS];

void o2gk_local_init(void)
{
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		INIT_LIST_HEAD(&all_peers[i]);
}

/* --- links --- */

static void way_init(struct o2gk_way *w)
{
	o2g_list_init(&w->todo);
	o2g_list_init(&w->mail);
	o2g_list_init(&w->done);
}

static void way_start(struct o2gk_way *w)
{
	way_init(w);
	w->tcp_sent = S64_MAX;
}

static struct o2gk_link *link_create(void)
{
	struct o2gk_link *l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);

	if (!l)
		return NULL;
	spin_lock_init(&l->lock);
	refcount_set(&l->refs, 2);
	way_start(&l->way[0]);
	way_start(&l->way[1]);
	return l;
}

/* The same for both ends. */
static struct list_head *bucket(const struct sock *sk)
{
	return &all_peers[(sk->sk_num + ntohs(sk->sk_dport)) % BUCKETS];
}

/* A connection that is over may have had the same addresses. */
static bool is_open(const struct o2gk_peer *p)
{
	return READ_ONCE(p->sk->sk_state) == TCP_ESTABLISHED &&
	       READ_ONCE(p->taken_over) && !READ_ONCE(p->lost);
}

static struct o2gk_peer *find_other_end(const struct o2gk_peer *p)
{
	struct o2gk_peer *q;

	if (!is_open(p))
		return NULL;
	list_for_each_entry(q, bucket(p->sk), local)
		if (!q->link && is_open(q) && o2gk_other_end(p->sk, q->sk))
			return q;
	return NULL;
}

static void set_link(struct o2gk_peer *p, struct o2gk_link *l)
{
	spin_lock_bh(&p->ep->lock);
	spin_lock(&l->lock);
	l->way[p->side].tcp_sent = p->tx_bytes;
	l->way[!p->side].tcp_came = p->rx_bytes;
	spin_unlock(&l->lock);
	p->core.eager_max = min_t(u64, p->core.eager_max, O2GK_LOCAL_EAGER);
	/* The link is whole before anybody can see it. */
	smp_store_release(&p->link, l);
	spin_unlock_bh(&p->ep->lock);
}

static void join(struct o2gk_link *l, struct o2gk_peer *p, struct o2gk_peer *q)
{
	l->end[0] = p;
	p->side = 0;
	l->end[1] = q;
	q->side = 1;
	set_link(p, l);
	set_link(q, l);
	/* What was sent to them before they knew of the link. */
	o2gk_queue(p, &p->local_work);
	o2gk_queue(q, &q->local_work);
}

/* @p has got its socket. Without memory for a link there is none. */
void o2gk_local_add(struct o2gk_peer *p)
{
	struct o2gk_link *l = READ_ONCE(direct) ? link_create() : NULL;
	struct o2gk_peer *q;

	mutex_lock(&all_lock);
	q = find_other_end(p);
	list_add(&p->local, bucket(p->sk));
	if (q && l) {
		join(l, p, q);
		l = NULL;
	}
	mutex_unlock(&all_lock);
	kfree(l);
}

/*
 * @p is being closed: its other end does not see it any more, so that its work
 * can be cancelled. Process context.
 */
void o2gk_local_remove(struct o2gk_peer *p)
{
	struct o2gk_link *l;

	mutex_lock(&all_lock);
	list_del_init(&p->local);
	l = p->link;
	mutex_unlock(&all_lock);
	if (!l)
		return;
	spin_lock_bh(&l->lock);
	l->end[p->side] = NULL;
	spin_unlock_bh(&l->lock);
	o2gk_mail_close(p);
}

void o2gk_local_put(struct o2gk_peer *p)
{
	struct o2gk_link *l = p->link;

	if (!l || !refcount_dec_and_test(&l->refs))
		return;
	o2gk_mail_drop(l, 0); /* what was given back for want of memory */
	o2gk_mail_drop(l, 1);
	kfree(l);
}

/*
 * The program also has a descriptor of the connection, and may write to it what it
 * likes. But only what the driver has sent there is received.
 */
bool o2gk_local_expects(struct o2gk_peer *p, u64 bytes)
{
	struct o2gk_link *l = p->link;
	u64 sent;

	lockdep_assert_held(&p->ep->lock);
	if (!l)
		return true;
	spin_lock(&l->lock);
	sent = l->way[!p->side].tcp_sent;
	spin_unlock(&l->lock);
	return (s64)(sent - p->rx_bytes - bytes) >= 0;
}

/* --- sending; under ep->lock --- */

/* Is it worth pinning the memory of this send? */
bool o2gk_local_wants(struct o2gk_ep *ep, const struct o2gd_sqe *e)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep, e->peer);
	bool wants = p && READ_ONCE(p->link);

	if (p)
		o2gk_peer_put(p);
	return wants;
}

bool o2gk_local_takes(struct o2gk_peer *p, const struct o2g_hdr *h,
		      struct o2g_req *req)
{
	struct o2gk_req *r = o2gk_req_of(req);
	bool large = h->length > O2GK_LOCAL_EAGER;

	if (!p->link || req->seg0.type != O2GK_SEG_PAGES)
		return false;
	if (h->type == O2G_PKT_PUT)
		return large;
	if (h->type != O2G_PKT_DATA)
		return false;
	if (!h->aux) /* the first */
		r->direct = large;
	return r->direct;
}

void o2gk_local_xmit(struct o2gk_peer *p, struct o2g_tx *tx)
{
	struct o2gk_link *l = p->link;
	struct o2gk_peer *q;

	lockdep_assert_held(&p->ep->lock);
	spin_lock_bh(&l->lock);
	o2g_list_add_tail(&tx->link, &l->way[p->side].todo);
	q = l->end[!p->side];
	if (q)
		o2gk_queue(q, &q->local_work);
	spin_unlock_bh(&l->lock);
}

/* Nothing of @p's is to be sent any more. */
void o2gk_local_drop(struct o2gk_peer *p)
{
	struct o2gk_link *l = p->link;

	if (!l)
		return;
	spin_lock_bh(&l->lock);
	o2g_list_splice(&l->way[p->side].mail, &p->dead);
	l->way[p->side].reading = NULL;
	way_init(&l->way[p->side]);
	l->way[p->side].busy = NULL;
	o2gk_parcel_take_back(p, &l->way[p->side]);
	spin_unlock_bh(&l->lock);
}

static struct o2g_tx *take_first(struct o2g_list *list)
{
	struct o2g_tx *tx;

	if (o2g_list_empty(list))
		return NULL;
	tx = o2g_list_first(list, struct o2g_tx, link);
	o2g_list_del(&tx->link);
	return tx;
}

static struct o2g_tx *take_done(struct o2gk_peer *p)
{
	struct o2gk_link *l = p->link;
	struct o2g_tx *tx;

	spin_lock_bh(&l->lock);
	tx = take_first(&l->way[p->side].done);
	spin_unlock_bh(&l->lock);
	return tx;
}

/*
 * Go on with what the other end has copied. The receive path does so before each
 * packet: what the other end says may rest on its having copied it.
 */
void o2gk_local_sent(struct o2gk_peer *p)
{
	struct o2gk_ep *ep = p->ep;
	struct o2g_tx *tx;

	lockdep_assert_held(&ep->lock);
	while (p->link && (tx = take_done(p))) {
		ep->stats.tx_worker++;
		o2g_proto_sent(&ep->core, tx->req);
	}
}

/* Has the other end still to copy something of @p's? */
bool o2gk_local_leaving(struct o2gk_peer *p)
{
	struct o2gk_link *l = p->link;
	struct o2gk_way *w;
	bool busy;

	lockdep_assert_held(&p->ep->lock);
	if (!l)
		return false;
	w = &l->way[p->side];
	spin_lock_bh(&l->lock);
	busy = w->busy || w->reading || w->is_late ||
	       !o2g_list_empty(&w->todo) || !o2g_list_empty(&w->mail);
	spin_unlock_bh(&l->lock);
	return busy;
}

/* --- receiving much; in a worker, with the socket's lock of the receiver --- */

static bool parcel_next(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];
	struct o2g_tx *tx;

	spin_lock_bh(&l->lock);
	tx = take_first(&w->todo);
	w->busy = tx;
	if (tx) {
		o2gk_parcel_take(it, tx);
		w->held = it;
	}
	spin_unlock_bh(&l->lock);
	return tx;
}

/* Back to the sender; false: it has given up, and its memory is not ours. */
static bool parcel_back(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	struct o2gk_link *l = q->link;
	struct o2gk_way *w = &l->way[!q->side];
	struct o2gk_peer *p;
	bool valid;

	spin_lock_bh(&l->lock);
	w->held = NULL;
	valid = w->busy == it->tx;
	if (valid) {
		w->busy = NULL;
		o2g_list_add_tail(&it->tx->link, &w->done);
		p = l->end[!q->side];
		if (p)
			o2gk_queue(p, &p->tx_work);
	}
	spin_unlock_bh(&l->lock);
	return valid;
}

static enum o2gd_lost begin(struct o2gk_peer *q, struct o2gk_parcel *it)
{
	enum o2gd_lost why = O2GD_LOST_LOCAL;

	o2gk_ep_lock(q->ep);
	while (!o2gk_is_leaving(q) && !o2gk_reserve(q->ep, &it->hdr)) {
		o2gk_ep_unlock(q->ep, O2GK_WORKER, q);
		o2gk_reserve_wait(q, &it->hdr);
		o2gk_ep_lock(q->ep);
	}
	if (!o2gk_is_leaving(q))
		why = o2gk_parcel_begin(q, it);
	o2gk_ep_unlock(q->ep, O2GK_WORKER, q);
	return why;
}

static void end(struct o2gk_peer *q, struct o2gk_parcel *it, enum o2gd_lost why)
{
	struct o2gk_ep *ep = q->ep;

	o2gk_ep_lock(ep);
	if (!why)
		o2gk_parcel_end(q, it);
	else
		o2gk_peer_lost(q, why, it->detail);
	ep->stats.rx_direct++;
	ep->stats.rx_bytes_worker += it->len;
	o2gk_parcel_put(q, it);
	o2gk_ep_unlock(ep, O2GK_WORKER, q);
}

static bool receive_one(struct o2gk_peer *q)
{
	enum o2gd_lost why;
	struct o2gk_parcel it;

	if (q->lost || !q->taken_over || !parcel_next(q, &it))
		return false;
	why = begin(q, &it);
	if (!why)
		why = o2gk_parcel_copy_held(q, &it);
	if (!parcel_back(q, &it))
		why = O2GD_LOST_CLOSED;
	end(q, &it, why);
	return true;
}

/* As its process, while that lives. */
static void work_as(struct o2gk_peer *q, struct o2gk_link *l)
{
	struct o2gk_borrower b;
	bool has_mm = o2gk_borrow(q->ep, &b), more;

	do {
		o2gk_mail_feed(q);
		lock_sock(q->sk);
		o2gk_mail_late(q);
		more = receive_one(q);
		release_sock(q->sk);
		o2gk_mail_pump(l);
		cond_resched();
	} while (more);
	if (has_mm)
		o2gk_unborrow(q->ep, &b);
}

void o2gk_local_work(struct work_struct *work)
{
	struct o2gk_peer *q = container_of(work, struct o2gk_peer, local_work);
	/* If it is there it is whole. */
	struct o2gk_link *l = smp_load_acquire(&q->link);

	if (l) /* or not yet: see join */
		work_as(q, l);
	o2gk_peer_put(q);
}
