// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Two endpoints of one host: the data of a long message goes straight from the
 * sender's pages to the receiver's.
 *
 * When both ends of a connection are registered, they get a link. Everything
 * still goes over the connection but the bodies of DATA packets, which are left
 * in the sender's pages, pinned when the send was submitted. A packet is put on
 * the link; a worker of the receiver takes it, asks its core where the body goes,
 * copies, and puts it on the way back; a worker of the sender takes it from there
 * and goes on. So no lock of one endpoint is taken by the other, and no two
 * sockets are locked at once.
 *
 * DATA belongs to a request that is named in it, so it may overtake what is in
 * the socket; only packets of one request must not overtake each other. That is
 * why the first one decides for all. Who says BYE waits for the link to be empty
 * (o2gk_local_leaving).
 *
 * A sender that gives up while its packet is being copied takes the packet off
 * the link. Its pages stay until the copy is over, which holds a reference, and
 * the receiver then does not believe what it has copied: see job_end.
 *
 * Locks: link->lock is taken with ep->lock held, or alone. Nothing is taken under
 * it. all_lock comes before ep->lock.
 */
#include "o2gk.h"

#include <linux/bvec.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "trace.h"

#define BUCKETS 256

/* Packets of one direction: struct o2g_tx of the sender's requests. */
struct way {
	struct o2g_list todo, done;
	struct o2g_tx *busy; /* being copied: in neither list */
};

struct o2gk_link {
	spinlock_t lock; /* taken with softirqs off */
	refcount_t refs; /* of its two peers */
	struct o2gk_peer *end[2]; /* NULL: it is being closed */
	struct way way[2];	  /* by the sender's side */
};

/* Every peer with a socket, by the ports of its connection. */
static DEFINE_MUTEX(all_lock);
static struct list_head all_peers[BUCKETS];

/* A packet, as the receiver needs it while the sender may go away. */
struct job {
	struct o2g_tx *tx; /* not to be looked into */
	struct o2g_hdr hdr;
	struct o2gk_pin *pin;
	u64 off, len; /* in the pin */
};

void o2gk_local_init(void)
{
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		INIT_LIST_HEAD(&all_peers[i]);
}

/* --- links --- */

static void way_init(struct way *w)
{
	o2g_list_init(&w->todo);
	o2g_list_init(&w->done);
	w->busy = NULL;
}

static struct o2gk_link *link_create(void)
{
	struct o2gk_link *l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);

	if (!l)
		return NULL;
	spin_lock_init(&l->lock);
	refcount_set(&l->refs, 2);
	way_init(&l->way[0]);
	way_init(&l->way[1]);
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
	       !READ_ONCE(p->lost);
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
	p->core.eager_max = min_t(u64, p->core.eager_max, O2GK_LOCAL_EAGER);
	/* The link is whole before anybody can see it. */
	smp_store_release(&p->link, l);
	spin_unlock_bh(&p->ep->lock);
}

/* What was sent to it before it knew of the link. */
static void catch_up(struct o2gk_peer *q, struct o2gk_link *l)
{
	spin_lock_bh(&l->lock);
	if (!o2g_list_empty(&l->way[!q->side].todo))
		o2gk_queue(q, &q->local_work);
	spin_unlock_bh(&l->lock);
}

static void join(struct o2gk_link *l, struct o2gk_peer *p, struct o2gk_peer *q)
{
	l->end[0] = p;
	p->side = 0;
	l->end[1] = q;
	q->side = 1;
	set_link(p, l);
	set_link(q, l);
	catch_up(p, l);
	catch_up(q, l);
}

/* @p has got its socket. Without memory for a link there is none. */
void o2gk_local_add(struct o2gk_peer *p)
{
	struct o2gk_link *l = link_create();
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
	cancel_work_sync(&p->local_work);
}

void o2gk_local_put(struct o2gk_peer *p)
{
	if (p->link && refcount_dec_and_test(&p->link->refs))
		kfree(p->link);
}

/* --- sending; under ep->lock --- */

/* Is it worth pinning the memory of this send? */
bool o2gk_local_wants(const struct o2gk_ep *ep, const struct o2gd_sqe *e)
{
	const struct o2gk_peer *p;

	if (e->op != O2GD_OP_SEND || e->peer >= ep->size)
		return false;
	p = READ_ONCE(ep->peers[e->peer]);
	return p && READ_ONCE(p->link) && e->len > READ_ONCE(p->core.eager_max);
}

static struct o2gk_pin *pin_of(struct o2g_req *req)
{
	struct o2gk_req *r = o2gk_req_of(req);

	return r->mem ? r->mem->pin : r->pin;
}

bool o2gk_local_takes(struct o2gk_peer *p, const struct o2g_hdr *h,
		      struct o2g_req *req)
{
	struct o2gk_req *r = o2gk_req_of(req);

	if (h->type != O2G_PKT_DATA || req->seg0.type != O2GK_SEG_PAGES)
		return false;
	if (!h->aux) /* the first */
		r->direct = p->link;
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
	way_init(&l->way[p->side]);
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
	bool busy;

	lockdep_assert_held(&p->ep->lock);
	if (!l)
		return false;
	spin_lock_bh(&l->lock);
	busy = l->way[p->side].busy ||
	       !o2g_list_empty(&l->way[p->side].todo);
	spin_unlock_bh(&l->lock);
	return busy;
}

/* --- receiving; in a worker, with the socket's lock of the receiver --- */

static bool job_take(struct o2gk_peer *q, struct job *j)
{
	struct o2gk_link *l = q->link;
	struct way *w = &l->way[!q->side];
	struct o2g_tx *tx;

	spin_lock_bh(&l->lock);
	tx = take_first(&w->todo);
	if (tx) {
		w->busy = tx;
		j->tx = tx;
		o2g_wire_decode(tx->hdr, &j->hdr);
		j->pin = pin_of(tx->req);
		refcount_inc(&j->pin->refs);
		j->off = tx->req->seg0.off + tx->off;
		j->len = tx->left;
	}
	spin_unlock_bh(&l->lock);
	return tx;
}

/* Back to the sender; false: it has given up, and its memory is not ours. */
static bool job_end(struct o2gk_peer *q, struct job *j)
{
	struct o2gk_link *l = q->link;
	struct way *w = &l->way[!q->side];
	struct o2gk_peer *p;
	bool valid;

	spin_lock_bh(&l->lock);
	valid = w->busy == j->tx;
	if (valid) {
		w->busy = NULL;
		o2g_list_add_tail(&j->tx->link, &w->done);
		p = l->end[!q->side];
		if (p)
			o2gk_queue(p, &p->tx_work);
	}
	spin_unlock_bh(&l->lock);
	o2gk_pin_free(j->pin);
	return valid;
}

static bool copy_pages(const struct job *j, struct iov_iter *to)
{
	const struct bio_vec *bv = j->pin->bvec;
	u64 off = j->off, left = j->len;

	for (; left; bv++) {
		size_t n;

		if (off >= bv->bv_len) {
			off -= bv->bv_len;
			continue;
		}
		n = min_t(u64, bv->bv_len - off, left);
		if (copy_page_to_iter(bv->bv_page, bv->bv_offset + off, n,
				      to) != n)
			return false;
		left -= n;
		off = 0;
	}
	return true;
}

/* Copy to where the receiver's core wants it: 0, or why the peer is lost. */
static enum o2gd_lost copy_body(struct o2gk_peer *q, const struct job *j,
				const struct o2g_sink *s)
{
	struct iov_iter to;
	struct kvec v;

	if (s->segs->type == O2GK_SEG_USER && current->mm != q->ep->mm)
		return O2GD_LOST_LOCAL; /* the process is dead */
	if (s->segs->type == O2GK_SEG_KERNEL) {
		v.iov_base = s->segs->kaddr + s->off;
		v.iov_len = j->len;
		iov_iter_kvec(&to, ITER_DEST, &v, 1, j->len);
	} else {
		o2gk_seg_iter(s->segs, ITER_DEST, s->off, j->len, &to);
	}
	return copy_pages(j, &to) ? 0 : O2GD_LOST_ERROR;
}

/* What a packet from the network goes through in rx.c. */
static enum o2gd_lost begin(struct o2gk_peer *q, const struct job *j,
			    struct o2g_rx *rx)
{
	struct o2gk_ep *ep = q->ep;
	enum o2gd_lost why = 0;

	trace_o2g_receive(ep->rank, q->core.rank, &j->hdr);
	o2gk_ep_lock(ep);
	if (o2g_proto_rx_begin(&ep->core, &q->core, &j->hdr, rx))
		why = O2GD_LOST_PACKET;
	else if (rx->sink.segs->type == O2GK_SEG_LATER &&
		 o2gk_recv_resolve(ep, rx->req))
		why = O2GD_LOST_MEMORY;
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
	return why;
}

static void end(struct o2gk_peer *q, const struct job *j, struct o2g_rx *rx,
		enum o2gd_lost why)
{
	struct o2gk_ep *ep = q->ep;

	o2gk_ep_lock(ep);
	if (!why && o2g_proto_rx_end(&ep->core, &q->core, rx))
		why = O2GD_LOST_PACKET;
	if (why)
		o2gk_peer_lost(q, why, 0);
	ep->stats.rx_worker++;
	ep->stats.rx_bytes_worker += j->len;
	o2gk_ep_unlock(ep, O2GK_WORKER, NULL);
}

static bool receive_one(struct o2gk_peer *q)
{
	struct o2g_rx rx = {};
	enum o2gd_lost why;
	struct job j;

	if (q->lost || !q->taken_over || !job_take(q, &j))
		return false;
	why = begin(q, &j, &rx);
	if (!why)
		why = copy_body(q, &j, &rx.sink);
	if (!job_end(q, &j) && !why)
		why = O2GD_LOST_CLOSED;
	end(q, &j, &rx, why);
	return true;
}

void o2gk_local_work(struct work_struct *work)
{
	struct o2gk_peer *q = container_of(work, struct o2gk_peer, local_work);
	struct mm_struct *mm = q->ep->mm;
	bool has_mm, more;

	if (!smp_load_acquire(&q->link)) /* not yet: see catch_up */
		return;
	has_mm = mmget_not_zero(mm);
	if (has_mm)
		kthread_use_mm(mm);
	do {
		lock_sock(q->sk);
		more = receive_one(q);
		release_sock(q->sk);
		cond_resched();
	} while (more);
	if (has_mm) {
		kthread_unuse_mm(mm);
		mmput(mm);
	}
}
