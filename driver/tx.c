// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Sending.
 *
 * The core hands packets down under ep->lock, where nothing can be sent: they
 * go to the peer's queue, and whoever lets go of ep->lock sees to it that they
 * are sent (o2gk_ep_unlock). The sender holds the socket's lock, which makes it
 * the only one:
 *
 *	the caller of a system call, straight from its own memory; but it does not
 *	wait for the lock: a worker may hold it that waits for a page of the caller's
 *	process, which could not be killed as long;
 *	the receive path in softirq, answers on the socket they belong to;
 *	a worker, for everything else, borrowing the process's memory.
 *
 * Small packets that wait in line leave together, in one call to TCP. One of a
 * caller that finds nobody in line never waits there (o2gk_tx_lone). A packet
 * being sent stays in the queue until its last byte is out; o2gk_peer_lost,
 * which empties the queue, holds the socket's lock too.
 */
#include "o2gk.h"

#include <linux/slab.h>
#include <net/tcp.h>

#include "trace.h"

static_assert(offsetof(struct o2gk_ctl, body) ==
	      offsetof(struct o2gk_ctl, tx.hdr) + O2G_HDR_SIZE);

void o2gk_ctl_init(struct o2gk_ctl *ctl, u64 body)
{
	ctl->lone = false;
	ctl->answer = false;
	ctl->tx.req = NULL;
	ctl->tx.hdr_done = 0;
	ctl->tx.off = 0;
	ctl->tx.left = body;
}

struct o2gk_ctl *o2gk_ctl_alloc(struct o2gk_ep *ep, u64 body, gfp_t gfp)
{
	struct o2gk_ctl *ctl =
		o2gk_alloc(ep, struct_size(ctl, body, body), gfp);

	if (ctl)
		o2gk_ctl_init(ctl, body);
	return ctl;
}

static struct o2gk_ctl *ctl_of(struct o2g_tx *tx)
{
	return container_of(tx, struct o2gk_ctl, tx);
}

/* The core hands on what it got from us, and promises not to change it. */
static struct o2gk_ctl *ctl_of_body(const void *body)
{
	return (void *)((unsigned long)body - offsetof(struct o2gk_ctl, body));
}

void o2gk_tx_enqueue(struct o2gk_peer *p, struct o2g_tx *tx)
{
	o2g_list_add_tail(&tx->link, &p->txq);
	p->txq_len++;
	if (!tx->req && ctl_of(tx)->answer)
		p->answers++;
	p->tx_bytes += O2G_HDR_SIZE + tx->left;
	if (p->sk && list_empty(&p->dirty))
		list_add_tail(&p->dirty, &p->ep->dirty);
}

/*
 * As many as a peer can be waiting for that keeps to its credit and to the bounds
 * of put and get: for each message an answer and that it cannot be cancelled.
 */
u32 o2gk_tx_most_answers(const struct o2gk_peer *p)
{
	u32 granted = p->core.granted + p->core.extra + O2G_CREDIT_SERVED;

	return 2 * (granted / O2G_COST) + O2G_PUTS_MAX + O2G_GETS_MAX + 64;
}

static bool is_answer(const struct o2g_hdr *h)
{
	return h->type == O2G_PKT_CTS || h->type == O2G_PKT_FIN ||
	       h->type == O2G_PKT_NAK || h->type == O2G_PKT_CREDIT ||
	       h->type == O2G_PKT_CANCEL_ACK;
}

/* A packet for the socket has left the queue. */
static void count_out(struct o2gk_peer *p, struct o2g_tx *tx)
{
	p->txq_len--;
	if (!tx->req && ctl_of(tx)->answer)
		p->answers--;
}

static void enqueue(struct o2gk_peer *p, struct o2g_tx *tx,
		    const struct o2g_hdr *h)
{
	trace_o2g_send(p->ep->rank, p->core.rank, h);
	o2g_wire_encode(h, tx->hdr);
	if (p->link)
		o2gk_mail_post(p, tx);
	else
		o2gk_tx_enqueue(p, tx);
}

/*
 * A packet for so many bytes of @req. Answers count against the limit of whoever pays,
 * what the program sends itself may go beyond it; for either without a body there is
 * the reserve.
 */
static struct o2gk_ctl *new_ctl(struct o2gk_ep *ep, const struct o2g_hdr *h,
				struct o2g_req *req, u64 off, u64 len)
{
	struct o2gk_ctl *ctl;

	ctl = o2gk_ctl_alloc(ep, len, is_answer(h) ? GFP_NOWAIT : GFP_ATOMIC);
	if (!ctl && !len)
		ctl = o2gk_reserve_answer(ep);
	if (ctl && len)
		memcpy(ctl->body, req->seg0.kaddr + off, len);
	return ctl;
}

/* The packet that a small send was made with, if it goes out whole. */
static struct o2gk_ctl *own_ctl(struct o2g_req *req, u64 len)
{
	struct o2gk_ctl *ctl = NULL;

	if (req && len == req->len)
		swap(ctl, o2gk_req_of(req)->out);
	return ctl;
}

/* From the core. Contract: o2g_core_ops.xmit. */
int o2gk_tx_xmit(struct o2g_core *c, struct o2g_peer *peer,
		 const struct o2g_hdr *h, struct o2g_req *req, u64 off, u64 len)
{
	struct o2gk_peer *p = o2gk_peer_of(peer);
	struct o2gk_ctl *ctl;

	lockdep_assert_held(&p->ep->lock);
	if (peer->down)
		return -O2G_ERR_PEER;
	if (req && len && req->seg0.type != O2GK_SEG_KERNEL) {
		req->tx.req = req;
		req->tx.hdr_done = 0;
		req->tx.off = off;
		req->tx.left = len;
		if (o2gk_local_takes(p, h, req)) {
			o2g_wire_encode(h, req->tx.hdr);
			o2gk_local_xmit(p, &req->tx);
		} else {
			enqueue(p, &req->tx, h);
		}
		return 1;
	}
	/* Small, and already a copy of the user's: the packet takes it along. */
	ctl = own_ctl(req, len);
	if (!ctl)
		ctl = new_ctl(p->ep, h, req, off, len);
	if (!ctl) {
		o2gk_peer_doom(p, O2GD_LOST_MEMORY, 0);
		return -ENOMEM;
	}
	ctl->answer = is_answer(h);
	enqueue(p, &ctl->tx, h);
	return 0;
}

/* @buf is the body of a struct o2gk_ctl, which becomes ours unless it is lone. */
int o2gk_tx_inject(struct o2g_core *c, struct o2g_peer *peer,
		   const struct o2g_hdr *h, const void *buf, u64 len)
{
	struct o2gk_ctl *ctl = ctl_of_body(buf);
	struct o2gk_peer *p = o2gk_peer_of(peer);

	if (!ctl->lone) {
		enqueue(p, &ctl->tx, h);
		return 0;
	}
	trace_o2g_send(p->ep->rank, peer->rank, h);
	o2g_wire_encode(h, ctl->tx.hdr);
	p->tx_bytes += O2G_HDR_SIZE + len;
	p->ep->stats.tx_caller++;
	p->ep->stats.tx_calls++;
	return 0;
}

/* They may be many, and are freed in portions. */
void o2gk_tx_drop(struct o2gk_peer *p)
{
	lockdep_assert_held(&p->ep->lock);
	o2g_list_splice(&p->txq, &p->dead);
	p->txq_len = 0;
	p->answers = 0;
	list_del_init(&p->dirty);
	o2gk_local_drop(p);
}

/* --- sending, with the socket's lock --- */

/*
 * What one call to TCP sends: a packet with its request's memory, or several
 * small ones. Made under ep->lock; only whoever has the socket's lock takes
 * any of them off the queue.
 */
struct batch {
	struct o2g_tx *first;
	u32 n;	      /* packets */
	bool more;    /* others follow them */
	size_t bytes; /* of v, a piece for each that has no request */
	struct kvec v[O2GK_TX_GATHER];
};

static int send_iter(struct sock *sk, struct msghdr *m)
{
	size_t n = iov_iter_count(&m->msg_iter);

	return n ? tcp_sendmsg_locked(sk, m, n) : 0;
}

static int send_kernel(struct sock *sk, struct kvec *v, u32 nv, size_t n,
		       int flags)
{
	struct msghdr m = { .msg_flags = flags };

	iov_iter_kvec(&m.msg_iter, ITER_SOURCE, v, nv, n);
	return send_iter(sk, &m);
}

/* The header, then the body from where it is; as much as goes in one step. */
static int send_req(struct sock *sk, struct o2g_tx *tx, int flags)
{
	struct msghdr m = { .msg_flags = flags };
	struct kvec v;

	if (tx->hdr_done < O2G_HDR_SIZE) {
		v.iov_base = tx->hdr + tx->hdr_done;
		v.iov_len = O2G_HDR_SIZE - tx->hdr_done;
		return send_kernel(sk, &v, 1, v.iov_len, flags | MSG_MORE);
	}
	o2gk_seg_iter(&tx->req->seg0, ITER_SOURCE, tx->off, tx->left,
		      &m.msg_iter);
	return send_iter(sk, &m);
}

/* What is left of a packet without a request, in one piece. */
static struct kvec rest_of(struct o2gk_ctl *ctl)
{
	struct o2g_tx *tx = &ctl->tx;
	u64 done = tx->hdr_done + tx->off;

	return (struct kvec){ (u8 *)ctl + offsetof(struct o2gk_ctl, tx.hdr) +
				      done,
			      O2G_HDR_SIZE - tx->hdr_done + tx->left };
}

static void add_ctl(struct batch *b, struct o2g_tx *tx)
{
	b->v[b->n] = rest_of(ctl_of(tx));
	b->bytes += b->v[b->n++].iov_len;
}

/* What to send next, if anything; under ep->lock. */
static bool gather(struct o2gk_peer *p, struct batch *b)
{
	struct o2g_list *at = p->txq.next;
	struct o2g_tx *tx;

	if (!p->link) /* otherwise it may be about mail */
		list_del_init(&p->dirty);
	if (p->lost || o2g_list_empty(&p->txq))
		return false;
	b->first = o2g_list_first(&p->txq, struct o2g_tx, link);
	b->n = 0;
	b->bytes = 0;
	for (; at != &p->txq && b->n < O2GK_TX_GATHER; at = at->next) {
		tx = container_of(at, struct o2g_tx, link);
		if (tx->req)
			break;
		add_ctl(b, tx);
	}
	if (!b->n) { /* one with a request */
		b->n = 1;
		at = at->next;
	}
	b->more = at != &p->txq;
	return true;
}

static bool first(struct o2gk_peer *p, struct batch *b)
{
	bool any;

	spin_lock_bh(&p->ep->lock);
	any = gather(p, b);
	spin_unlock_bh(&p->ep->lock);
	return any;
}

static bool needs_user_memory(const struct o2g_tx *tx)
{
	return tx->req && tx->left && tx->req->seg0.type == O2GK_SEG_USER;
}

static int send_batch(struct sock *sk, struct batch *b, int flags)
{
	return b->first->req ? send_req(sk, b->first, flags) :
			       send_kernel(sk, b->v, b->n, b->bytes, flags);
}

/* How many bytes went, or an error. -EAGAIN: the socket is full. */
static int send_some(struct o2gk_peer *p, struct batch *b,
		     enum o2gk_context context)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (b->more ? MSG_MORE : 0);
	struct o2gk_atomic_send s;
	int n;

	if (context != O2GK_SOFTIRQ)
		return send_batch(p->sk, b, flags);
	s = o2gk_atomic_begin(p->sk);
	n = send_batch(p->sk, b, flags);
	o2gk_atomic_end(p->sk, s);
	return n;
}

/* A packet is out: on to what that makes the core do. */
static void finish(struct o2gk_peer *p, struct o2g_tx *tx,
		   enum o2gk_context context)
{
	struct o2gk_ep *ep = p->ep;

	o2g_list_del(&tx->link);
	count_out(p, tx);
	if (context == O2GK_CALLER)
		ep->stats.tx_caller++;
	else if (context == O2GK_WORKER)
		ep->stats.tx_worker++;
	else
		ep->stats.tx_softirq++;
	if (tx->req)
		o2g_proto_sent(&ep->core, tx->req);
	else
		kfree(ctl_of(tx));
}

/* @n bytes of the batch are out. What is next, if anything. */
static bool advance(struct o2gk_peer *p, struct batch *b, u64 n,
		    enum o2gk_context context)
{
	struct o2gk_ep *ep = p->ep;
	u32 left = b->n;
	bool any;

	o2gk_ep_lock(ep);
	while (left--) {
		struct o2g_tx *tx =
			o2g_list_first(&p->txq, struct o2g_tx, link);

		if (!o2g_tx_advance(tx, &n))
			break;
		finish(p, tx, context);
	}
	ep->stats.tx_calls++;
	if (p->rx_held && p->answers <= o2gk_tx_most_answers(p) / 2)
		o2gk_queue(p, &p->rx_work); /* which reads on */
	any = gather(p, b);
	o2gk_ep_unlock(ep, o2gk_with_lock(context), p);
	/* A callback may have sent something, and left it to us. */
	return ep->kernel && !any ? first(p, b) : any;
}

/* Nothing more can go out; the socket's lock is held. */
static void give_up(struct o2gk_peer *p, enum o2gd_lost why, int err)
{
	o2gk_ep_lock(p->ep);
	o2gk_peer_lost(p, why, -err);
	o2gk_ep_unlock(p->ep, O2GK_WORKER, p);
}

/*
 * TCP says EAGAIN when there is no room, or no memory. Either way it tells when what was
 * sent is acknowledged; but nobody does if nothing was.
 */
static bool is_full(const struct sock *sk)
{
	return !tcp_rtx_and_write_queues_empty(sk);
}

/* Sending failed: what becomes of it. */
static void failed(struct o2gk_peer *p, int err)
{
	if (err == -EAGAIN && is_full(p->sk))
		return; /* sk_write_space goes on */
	switch (err) {
	case -EAGAIN:
	case -ENOMEM:
	case -ENOBUFS:
		o2gk_queue(p, &p->tx_work);
		return;
	case -EFAULT: /* the program's buffer is gone, in mid-packet */
		give_up(p, O2GD_LOST_ERROR, err);
		return;
	default: /* what came before it broke is still worth reading */
		p->tx_err = err;
		o2gk_queue(p, &p->rx_work);
	}
}

void o2gk_tx_push(struct o2gk_peer *p, enum o2gk_context context)
{
	bool borrowed = context != O2GK_SOFTIRQ && current->mm == p->ep->mm;
	unsigned int turn = O2GK_TX_TURN;
	struct batch b;
	bool any;
	int n;

	if (!p->taken_over) /* the program has it back, and the peer is lost */
		return;
	if (context == O2GK_BACKLOG) {
		o2gk_queue(p, &p->tx_work);
		return;
	}
	for (any = first(p, &b); any; any = advance(p, &b, n, context)) {
		if (needs_user_memory(b.first) && !borrowed) {
			if (context == O2GK_WORKER) /* the process is dead */
				give_up(p, O2GD_LOST_LOCAL, 0);
			else
				o2gk_queue(p, &p->tx_work);
			return;
		}
		if (!turn--) {
			o2gk_queue(p, &p->tx_work);
			return;
		}
		n = send_some(p, &b, context);
		if (n < 0) {
			failed(p, n);
			return;
		}
	}
}

/*
 * The socket did not take all of it. The rest goes before everything else: what
 * came meanwhile is behind it, and nobody else could send.
 */
static void keep(struct o2gk_peer *p, const struct o2gk_ctl *ctl, u64 sent)
{
	u64 body = ctl->tx.left;
	/* The core has counted it as sent, and part of it may have left. It is short. */
	struct o2gk_ctl *copy =
		o2gk_ctl_alloc(p->ep, body, GFP_KERNEL | __GFP_NOFAIL);

	memcpy(copy->tx.hdr, ctl->tx.hdr, O2G_HDR_SIZE);
	memcpy(copy->body, ctl->body, body);
	o2g_tx_advance(&copy->tx, &sent);
	spin_lock_bh(&p->ep->lock);
	o2g_list_add_tail(&copy->tx.link, p->txq.next);
	p->txq_len++;
	p->ep->stats.tx_caller--; /* it is counted when it is out */
	spin_unlock_bh(&p->ep->lock);
}

void o2gk_tx_lone(struct o2gk_peer *p, struct o2gk_ctl *ctl)
{
	struct kvec v = rest_of(ctl);
	int n;

	if (unlikely(!p->taken_over))
		return;
	n = send_kernel(p->sk, &v, 1, v.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (likely(n == v.iov_len))
		return;
	keep(p, ctl, max(n, 0));
	if (n < 0)
		failed(p, n);
	else
		o2gk_tx_push(p, O2GK_CALLER);
}

void o2gk_tx_send(struct o2gk_peer *p, enum o2gk_context context)
{
	/* If it is there it is whole. */
	struct o2gk_link *l = smp_load_acquire(&p->link);

	if (l)
		o2gk_mail_pump(l);
	/* Whoever adds to it after this look also has it sent. */
	if (l && o2g_list_empty(&p->txq))
		return;
	if (context != O2GK_CALLER) {
		lock_sock(p->sk);
	} else if (!o2gk_trylock_sock(p->sk)) {
		o2gk_queue(p, &p->tx_work);
		return;
	}
	o2gk_tx_push(p, context);
	release_sock(p->sk);
}

/* Credit was enough for more sends than are started in one go. */
static void go_on(struct o2gk_peer *p)
{
	if (!p->go_on)
		return;
	p->go_on = false;
	o2g_proto_go_on(&p->ep->core, &p->core);
}

void o2gk_tx_work(struct work_struct *work)
{
	struct o2gk_peer *p = container_of(work, struct o2gk_peer, tx_work);
	struct o2gk_borrower b;
	bool has_mm = o2gk_borrow(p->ep, &b);

	o2gk_ep_lock(p->ep);
	o2gk_local_sent(p);
	go_on(p);
	o2gk_ep_unlock(p->ep, O2GK_WORKER, p);
	o2gk_tx_send(p, O2GK_WORKER);
	if (has_mm)
		o2gk_unborrow(p->ep, &b);
	o2gk_peer_put(p);
}
