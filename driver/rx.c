// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Receiving: parse, match and copy where the data arrives.
 *
 * The receive path runs with the socket's lock, in softirq when a segment comes
 * in, or in a worker. Headers, matching, and bodies of messages that lie in
 * kernel memory or in pinned pages are handled in either. Only a worker goes on
 *
 *	when so many bytes were copied in softirq since the last tick: one that
 *	copies all a fast peer sends starves everything else on its processor;
 *	when so many packets were read in one go, of a socket that could not be
 *	read for a while;
 *	when the body goes to user memory that could not be pinned;
 *	when the connection is at its end, which takes the socket's lock for real.
 *
 * ep->lock is held for matching and for completing, not for copying: between
 * the two the request belongs to this connection, and only the owner of the
 * socket's lock can end it (o2gk_peer_lost).
 */
#include "o2gk.h"

#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <net/tcp.h>

#include "trace.h"

#define SMALL_BODY 1024 /* copied without letting go of ep->lock */

/* For who measures; docs/performance.md has numbers. */
static uint rx_softirq = O2GK_RX_SOFTIRQ;
module_param(rx_softirq, uint, 0644);
MODULE_PARM_DESC(
	rx_softirq,
	"bytes of a connection's large messages that softirq copies in a tick; 0: all");

struct turn {
	struct o2gk_peer *p;
	enum o2gk_context context;
	size_t budget; /* body bytes that may be copied */
	size_t copied;
	u32 packets;
	bool more;	     /* stopped early: a worker has to go on */
	bool held;	     /* ... until the peer has read what is for it */
	enum o2gd_lost lost; /* what ends the connection, and its detail */
	u64 detail;
};

static int refuse(struct turn *t, enum o2gd_lost why, u64 detail)
{
	t->lost = why;
	t->detail = detail;
	return -EBADMSG;
}

static bool to_user(const struct o2gk_peer *p)
{
	return p->rx.sink.room && p->rx.sink.segs->type == O2GK_SEG_USER;
}

static bool to_kernel(const struct o2gk_peer *p)
{
	return !p->rx.sink.room || p->rx.sink.segs->type == O2GK_SEG_KERNEL;
}

/* A worker's backlog also has its memory, but runs as if in softirq. */
static bool may_fault(const struct turn *t)
{
	return (t->context == O2GK_CALLER || t->context == O2GK_WORKER) &&
	       current->mm == t->p->ep->mm;
}

/* --- bodies --- */

static void *kernel_at(const struct o2g_sink *s)
{
	return s->segs->kaddr + s->off;
}

/* Copy @n bytes to where the sink says; what does not fit is dropped. */
static int copy_body(struct o2gk_peer *p, struct sk_buff *skb, int off, int n)
{
	struct o2g_sink *s = &p->rx.sink;
	int fits = min_t(u64, n, s->room);
	int err = 0;

	if (fits && s->segs->type == O2GK_SEG_KERNEL) {
		err = skb_copy_bits(skb, off, kernel_at(s), fits);
	} else if (fits) {
		if (!p->iter_set)
			o2gk_seg_iter(s->segs, ITER_DEST, s->off, s->room,
				      &p->iter);
		p->iter_set = true;
		err = skb_copy_datagram_iter(skb, off, &p->iter, fits);
	}
	if (fits < n && p->rx.hdr.type == O2G_PKT_EAGER)
		o2gk_drop(p, O2GD_DROP_EXCESS, n - fits);
	o2g_sink_advance(s, n);
	return err;
}

/* --- packets; under ep->lock --- */

/* The reference that the core has taken for a packet about our memory. */
static void keep_mem(struct o2gk_peer *p)
{
	struct o2gk_ep *ep = p->ep;

	if (!ep->used_mem)
		return;
	if (p->rx.hdr.type == O2G_PKT_PUT)
		swap(p->put_mem, ep->used_mem);
	o2gk_mem_done(ep);
}

void o2gk_rx_trace(const struct o2gk_peer *p, const struct o2g_hdr *h,
		   bool unexpected)
{
	if (h->type != O2G_PKT_EAGER && h->type != O2G_PKT_RTS)
		return;
	if (unexpected)
		trace_o2g_unexpected(p->ep->rank, p->core.rank, h);
	else
		trace_o2g_match(p->ep->rank, p->core.rank, h);
}

static int packet_begin(struct turn *t)
{
	struct o2gk_peer *p = t->p;
	struct o2gk_ep *ep = p->ep;
	u64 unexpected = ep->core.stats.unexpected;
	enum o2g_proto_reason r;

	trace_o2g_receive(ep->rank, p->core.rank, &p->stream.hdr);
	o2gk_sq_drain(ep);
	o2gk_local_sent(p);
	if (!o2gk_local_expects(p, O2G_HDR_SIZE + p->stream.body_left))
		return refuse(t, O2GD_LOST_PACKET, O2G_PROTO_BAD_STATE);
	r = o2g_proto_rx_begin(&ep->core, &p->core, &p->stream.hdr, &p->rx);
	keep_mem(p);
	p->iter_set = false;
	if (r)
		return refuse(t, O2GD_LOST_PACKET, r);
	o2gk_rx_trace(p, &p->stream.hdr,
		      ep->core.stats.unexpected != unexpected);
	if (p->rx.req && p->rx.sink.room &&
	    p->rx.sink.segs->type == O2GK_SEG_LATER &&
	    o2gk_recv_resolve(ep, p->rx.req))
		return refuse(t, O2GD_LOST_MEMORY, 0);
	return 0;
}

/* A sender that has lent its memory and then reset the connection may have changed it
 * before we copied it. */
static bool was_lent_and_reset(const struct o2gk_peer *p)
{
	return p->rx.hdr.flags & O2G_PKTF_REFERENCE && p->sk &&
	       (p->sk->sk_err || p->sk->sk_state == TCP_CLOSE);
}

static int packet_end(struct turn *t)
{
	struct o2gk_peer *p = t->p;
	struct o2gk_ep *ep = p->ep;

	if (unlikely(was_lent_and_reset(p)))
		return refuse(t, O2GD_LOST_ERROR, ECONNRESET);
	o2g_proto_rx_end(&ep->core, &p->core, &p->rx);
	o2gk_mem_done(ep);
	o2gk_mem_put(ep, p->put_mem);
	p->put_mem = NULL;
	p->rx_bytes += O2G_HDR_SIZE + o2g_wire_body(&p->rx.hdr);
	if (p->link)
		o2gk_mail_came(p);
	return 0;
}

/* --- bytes --- */

/* The header is all here, but not taken: is there memory for what it brings? */
static bool may_begin(struct turn *t)
{
	struct o2gk_peer *p = t->p;

	if (o2g_wire_decode(p->stream.raw, &p->rx_next) ||
	    likely(o2gk_reserve(p->ep, &p->rx_next)))
		return true;
	p->rx_starved = true;
	t->more = true;
	return false;
}

/*
 * A header is complete. A small body that is here already, and goes to kernel
 * memory, is dealt with at once. Returns the bytes of body used.
 */
static int header_complete(struct turn *t, struct sk_buff *skb, int off,
			   size_t len)
{
	struct o2gk_peer *p = t->p;
	u64 body = p->stream.body_left;
	int err = packet_begin(t);

	if (err || (body && (body > SMALL_BODY || body > len || !to_kernel(p))))
		return err;
	if (body && copy_body(p, skb, off, body))
		err = refuse(t, O2GD_LOST_ERROR, EFAULT);
	else
		err = packet_end(t);
	o2g_stream_body_done(&p->stream, body);
	return err ? err : (int)body;
}

/* Under ep->lock; the last @n bytes of a header are in place. */
static int end_header(struct turn *t, struct sk_buff *skb, int off, size_t len,
		      u32 n)
{
	struct o2g_stream *s = &t->p->stream;
	int ret;

	if (!may_begin(t))
		return 0;
	t->packets++;
	if (o2g_stream_header_done(s, n) < 0)
		return refuse(t, O2GD_LOST_HEADER, s->error);
	ret = header_complete(t, skb, off + n, len - n);
	return ret < 0 ? ret : (int)n + ret;
}

static int read_header(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	struct o2gk_peer *p = t->p;
	void *where;
	u32 left = o2g_stream_want_header(&p->stream, &where);
	u32 n = min_t(size_t, len, left);
	int ret;

	if (skb_copy_bits(skb, off, where, n))
		return refuse(t, O2GD_LOST_ERROR, EFAULT);
	if (n < left) {
		o2g_stream_header_done(&p->stream, n);
		return n;
	}
	o2gk_ep_lock(p->ep);
	ret = end_header(t, skb, off, len, n);
	o2gk_ep_unlock(p->ep, o2gk_with_lock(t->context), p);
	return ret;
}

static int take_header(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	if (unlikely(t->packets >= O2GK_RX_PACKETS)) {
		t->more = true;
		return 0;
	}
	/* Only received packets are answered, and they are received here. */
	if (unlikely(READ_ONCE(t->p->answers) >= o2gk_tx_most_answers(t->p))) {
		t->held = true;
		return 0;
	}
	return read_header(t, skb, off, len);
}

static int take_body(struct turn *t, struct sk_buff *skb, int off, size_t len)
{
	struct o2gk_peer *p = t->p;
	size_t n = min_t(u64, len, p->stream.body_left);
	int err;

	if (to_user(p) && !may_fault(t)) {
		t->more = true;
		return 0;
	}
	n = min(n, t->budget - t->copied);
	if (!n) {
		t->more = true;
		return 0;
	}
	if (copy_body(p, skb, off, n))
		return refuse(t, O2GD_LOST_ERROR, EFAULT);
	t->copied += n;
	if (!o2g_stream_body_done(&p->stream, n))
		return n;
	o2gk_ep_lock(p->ep);
	err = packet_end(t);
	o2gk_ep_unlock(p->ep, o2gk_with_lock(t->context), p);
	return err ? err : (int)n;
}

static int actor(read_descriptor_t *desc, struct sk_buff *skb,
		 unsigned int offset, size_t len)
{
	struct turn *t = desc->arg.data;
	size_t used = 0;

	while (used < len && !t->lost) {
		int n = t->p->stream.in_body ?
				take_body(t, skb, offset + used, len - used) :
				take_header(t, skb, offset + used, len - used);

		if (n <= 0)
			break;
		used += n;
	}
	return used;
}

/* --- turns --- */

static void count(struct turn *t)
{
	struct o2gd_info *s = &t->p->ep->stats;

	if (t->context == O2GK_SOFTIRQ || t->context == O2GK_BACKLOG) {
		s->rx_softirq++;
		s->rx_bytes_softirq += t->copied;
	} else {
		s->rx_worker++;
		s->rx_bytes_worker += t->copied;
	}
	s->refused_headers += t->lost == O2GD_LOST_HEADER;
	s->refused_packets += t->lost == O2GD_LOST_PACKET;
}

/* Read all there is, or as much as one turn may. */
static void read_socket(struct turn *t)
{
	read_descriptor_t desc = { .arg.data = t, .count = 1 };

	/*
	 * Reading at once is no reason to acknowledge each message at once: that
	 * is what the next packet the other way is for, or the second one in.
	 */
	inet_csk_enter_pingpong_mode(t->p->sk);
	tcp_read_sock(t->p->sk, &desc, actor);
	count(t);
}

static void lose(struct o2gk_peer *p, enum o2gk_context context,
		 enum o2gd_lost why, u64 detail)
{
	o2gk_ep_lock(p->ep);
	o2gk_peer_lost(p, why, detail);
	o2gk_ep_unlock(p->ep, o2gk_with_lock(context), p);
}

/* A softirq is one of many: it comes again for the next segment. */
size_t o2gk_rx_softirq_budget(unsigned long *tick, u64 *copied)
{
	u32 bound = READ_ONCE(rx_softirq);
	unsigned long now = jiffies;

	if (!bound)
		return SIZE_MAX;
	if (*tick != now)
		*copied = 0;
	*tick = now;
	return bound - min_t(u64, bound, *copied);
}

void o2gk_rx_run(struct o2gk_peer *p, enum o2gk_context context)
{
	bool softirq = context == O2GK_SOFTIRQ;
	struct turn t = { .p = p,
			  .context = context,
			  .budget = O2GK_RX_WORKER };

	if (softirq)
		t.budget = o2gk_rx_softirq_budget(&p->rx_tick, &p->rx_copied);
	p->rx_more = false;
	p->rx_starved = false;
	if (p->lost || !p->taken_over)
		return;
	read_socket(&t);
	if (softirq)
		p->rx_copied += t.copied;
	if (t.lost)
		lose(p, context, t.lost, t.detail);
	else if (t.more && context != O2GK_WORKER)
		o2gk_queue(p, &p->rx_work);
	p->rx_more = t.more;
	p->rx_held = t.held;
	if (!p->lost && !o2g_list_empty(&p->txq))
		o2gk_tx_push(p, context);
}

/* Everything that came is read: is this the end? */
static bool at_end(struct o2gk_peer *p, enum o2gd_lost *why, u64 *detail)
{
	struct sock *sk = p->sk;

	*detail = 0;
	if (p->bye) {
		*why = O2GD_LOST_BYE;
	} else if (p->doom) {
		*why = p->doom;
		*detail = p->doom_detail;
	} else if (sk->sk_err || p->tx_err) {
		*why = O2GD_LOST_ERROR;
		*detail = sk->sk_err ? sk->sk_err : -p->tx_err;
	} else if (p->rx_held && sk->sk_state == TCP_CLOSE_WAIT) {
		return false; /* there is more to read, and it can still be */
	} else if (!p->taken_over || sk->sk_shutdown & RCV_SHUTDOWN ||
		   sk->sk_state != TCP_ESTABLISHED) {
		*why = O2GD_LOST_CLOSED;
	} else {
		return false;
	}
	return true;
}

/* Without its process nothing is received. */
static bool may_go_on(const struct o2gk_peer *p, bool has_mm)
{
	return has_mm && !READ_ONCE(p->ep->recalled);
}

static void worker(struct o2gk_peer *p, bool has_mm)
{
	enum o2gd_lost why;
	bool ours;
	u64 detail;

	do {
		lock_sock(p->sk);
		o2gk_rx_run(p, O2GK_WORKER);
		if (!p->lost && !p->rx_more && at_end(p, &why, &detail))
			lose(p, O2GK_WORKER, why, detail);
		else if (!p->lost && p->rx_more && !may_go_on(p, has_mm))
			lose(p, O2GK_WORKER, O2GD_LOST_LOCAL, 0);
		ours = p->taken_over;
		if (p->lost)
			o2gk_sock_restore(p);
		release_sock(p->sk);
		if (!p->lost && p->rx_starved)
			o2gk_reserve_wait(p, &p->rx_next);
		cond_resched();
	} while (!p->lost && p->rx_more && !o2gk_is_leaving(p));
	/* The peer is told, whatever user space does with its descriptor. */
	if (p->lost && ours)
		kernel_sock_shutdown(p->sock, SHUT_RDWR);
}

void o2gk_rx_work(struct work_struct *work)
{
	struct o2gk_peer *p = container_of(work, struct o2gk_peer, rx_work);
	struct o2gk_borrower b;
	bool has_mm;

	has_mm = o2gk_borrow(p->ep, &b);
	if (p->sk)
		worker(p, has_mm);
	if (has_mm)
		o2gk_unborrow(p->ep, &b);
	o2gk_peer_put(p);
}
