/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sending.
 *
 * A packet goes out at once, header and body in one call, straight from the
 * user's memory; what the socket does not take is queued. Order is always: the
 * batch (buf[]), then the queue, then new packets. A body that is lent (lend.h) goes
 * through the queue, and has calls of its own.
 *
 * The batch is for programs that send many small messages in a row (burst.h). It
 * is flushed by the engine as soon as the program waits or tests, and by a timer if
 * it does neither.
 *
 * o2g_proto_sent() may send again, from inside tcp_push(): then send() only
 * queues, and the loop in tcp_push() goes on with it.
 */
#include "send.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "call.h"
#include "lend.h"
#include "split.h"
#include "tcp.h"
#include "tls.h"
#include "watch.h"

#define BUF_SIZE 16384 /* batch of small packets */

struct out_vec {
	struct o2g_seg v[TCP_IOV]; /* struct iovec */
	u32 n;
	int flags; /* MSG_MORE: what follows has a call of its own */
	u64 bytes;
};

static void vec_add(struct out_vec *o, const void *base, size_t len)
{
	o->v[o->n].base = (void *)base;
	o->v[o->n].len = len;
	o->n++;
	o->bytes += len;
}

/*
 * A view has no pieces that the kernel could take: as much of it as one call is
 * likely to send is copied together. Whatever the socket leaves of that is
 * copied again next time, which costs less than keeping it.
 */
static bool vec_add_view(struct tcp_chan *c, struct out_vec *o,
			 const struct o2g_view *view, u64 off, u64 len)
{
	size_t n = len < TCP_VIEW ? len : TCP_VIEW;

	view->read(view, off, c->view, n);
	vec_add(o, c->view, n);
	return false; /* the memory is taken: nothing may follow */
}

/* False when there was no room for all of it. */
static bool vec_add_body(struct tcp_chan *c, struct out_vec *o,
			 const struct o2g_req *req, u64 off, u64 len)
{
	u64 covered = 0;

	if (unlikely(req->view))
		return vec_add_view(c, o, req->view, off, len);
	o->n += chan_slice(req->segs, req->nsegs, off, len, o->v + o->n,
			   TCP_IOV - o->n, &covered);
	o->bytes += covered;
	return covered == len;
}

/* What is sealed goes out before anything else: EPOLLOUT goes on with it. */
static noinline ssize_t send_sealed(struct tcp_conn *k, const struct o2g_seg *v,
				    u32 n)
{
	ssize_t sent = tcp_tls_send(k->out.tls, v, n);

	if (tcp_tls_pending(k->out.tls))
		tcp_conn_block(k);
	return sent;
}

static ssize_t vec_send(struct tcp_conn *k, struct out_vec *o)
{
	struct msghdr m = { .msg_iov = (struct iovec *)o->v,
			    .msg_iovlen = o->n };

	if (unlikely(k->out.tls))
		return send_sealed(k, o->v, o->n);
	return tcp_call_sendmsg(k->out.fd, &m, o->flags);
}

/* The same of one piece. */
static ssize_t buf_send(struct tcp_conn *k, void *buf, size_t len)
{
	struct o2g_seg v = { buf, len };

	if (unlikely(k->out.tls))
		return send_sealed(k, &v, 1);
	return tcp_call_send(k->out.fd, buf, len);
}

static bool buf_empty(const struct tcp_out *out)
{
	return out->head == out->tail;
}

/* --- the queue --- */

/* A packet is out: it moves to @done or is freed. */
static void tx_done(struct tcp_conn *k, struct o2g_tx *tx,
		    struct o2g_list *done)
{
	o2g_list_del(&tx->link);
	if (tx == k->out.last_here)
		tcp_conn_has_moved(k);
	if (tx == k->out.current)
		k->out.current = NULL;
	else if (tx->req)
		o2g_list_add_tail(&tx->link, done);
	if (!tx->req) {
		k->out.answers--;
		free(tx);
	}
}

/* @n bytes went out. */
static void push_advance(struct tcp_conn *k, u64 n, struct o2g_list *done)
{
	struct tcp_out *out = &k->out;
	u64 step = out->tail - out->head;

	if (step > n)
		step = n;
	out->head += step;
	n -= step;
	if (buf_empty(out))
		out->head = out->tail = 0;
	while (!o2g_list_empty(&out->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&out->queue, struct o2g_tx, link);

		if (!o2g_tx_advance(tx, &n))
			break;
		tx_done(k, tx, done);
	}
}

/* @copied has no pages to lend. */
static void push_collect(struct tcp_conn *k, struct out_vec *o,
			 const struct o2g_tx *copied)
{
	struct tcp_out *out = &k->out;
	struct o2g_list *i;

	o->n = 0;
	o->flags = 0;
	o->bytes = 0;
	if (!buf_empty(out))
		vec_add(o, out->buf + out->head, out->tail - out->head);
	o2g_list_for_each(i, &out->queue) {
		struct o2g_tx *tx = container_of(i, struct o2g_tx, link);

		if (o->n + 2 > TCP_IOV)
			return;
		if (tx->hdr_done < O2G_HDR_SIZE)
			vec_add(o, tx->hdr + tx->hdr_done,
				O2G_HDR_SIZE - tx->hdr_done);
		if (unlikely(tx != copied && tcp_lend_wants(k, tx))) {
			o->flags = MSG_MORE;
			return;
		}
		if (tx->left &&
		    !vec_add_body(k->chan, o, tx->req, tx->off, tx->left))
			return;
		if (tx == out->last_here)
			return;
	}
}

/* The next bytes to go are those of a body that is lent. */
static struct o2g_tx *lent_body(struct tcp_conn *k)
{
	struct tcp_out *out = &k->out;
	struct o2g_tx *tx;

	if (!buf_empty(out) || o2g_list_empty(&out->queue))
		return NULL;
	tx = o2g_list_first(&out->queue, struct o2g_tx, link);
	return tx->hdr_done == O2G_HDR_SIZE && tcp_lend_wants(k, tx) ? tx :
								       NULL;
}

/* What is next, of which *want bytes are tried. */
static ssize_t push_next(struct tcp_conn *k, u64 *want)
{
	struct o2g_tx *lent = lent_body(k);
	ssize_t n = -EOPNOTSUPP;
	struct out_vec o;

	if (unlikely(lent))
		n = tcp_lend(k, lent, want);
	if (n != -EOPNOTSUPP)
		return n;
	push_collect(k, &o, lent);
	*want = o.bytes;
	return vec_send(k, &o);
}

/* One call. */
static void push_once(struct tcp_conn *k)
{
	struct o2g_list done;
	ssize_t n;
	u64 want;

	o2g_list_init(&done);
	n = push_next(k, &want);
	if (n < 0 && n != -EAGAIN) {
		tcp_conn_broken(k, n);
		return;
	}
	if (n < 0)
		n = 0;
	push_advance(k, n, &done);
	while (!o2g_list_empty(&done)) {
		struct o2g_tx *tx = o2g_list_first(&done, struct o2g_tx, link);

		o2g_list_del(&tx->link);
		o2g_proto_sent(k->chan->core, tx->req);
	}
	if ((u64)n < want && k->out.state == TCP_OUT_PUSHING)
		tcp_conn_block(k);
}

static bool has_more(const struct tcp_out *out)
{
	return !buf_empty(out) || !o2g_list_empty(&out->queue) ||
	       (out->tls && tcp_tls_pending(out->tls));
}

void tcp_push(struct tcp_conn *k)
{
	struct tcp_out *out = &k->out;

	if (out->state > TCP_OUT_BLOCKED)
		return;
	out->state = TCP_OUT_PUSHING;
	while (out->state == TCP_OUT_PUSHING && has_more(out))
		push_once(k);
	if (out->state == TCP_OUT_PUSHING)
		out->state = TCP_OUT_OPEN;
}

static struct o2g_tx *queue_add(struct tcp_conn *k, const void *hdr,
				u32 hdr_done, struct o2g_req *req, u64 off,
				u64 len)
{
	struct o2g_tx *tx = req ? &req->tx : NULL;

	if (!req && k->out.answers < O2G_ANSWERS_MAX)
		tx = malloc(sizeof(*tx));
	if (!tx) {
		tcp_conn_broken(k, -ENOMEM);
		return NULL;
	}
	k->out.answers += !req;
	memcpy(tx->hdr, hdr, O2G_HDR_SIZE);
	tx->hdr_done = hdr_done;
	tx->req = req;
	tx->off = off;
	tx->left = len;
	o2g_list_add_tail(&tx->link, &k->out.queue);
	return tx;
}

static int enqueue(struct tcp_conn *k, const void *hdr, u32 hdr_done,
		   struct o2g_req *req, u64 off, u64 len)
{
	struct o2g_tx *tx = queue_add(k, hdr, hdr_done, req, off, len);

	if (!tx)
		return -ENOMEM;
	if (k->out.state != TCP_OUT_OPEN)
		return req ? 1 : 0;
	k->out.current = tx;
	tcp_push(k);
	if (!k->out.current)
		return 0;
	k->out.current = NULL;
	if (k->out.state == TCP_OUT_BROKEN && req) {
		o2g_list_del(&tx->link);
		return -O2G_ERR_PEER;
	}
	return req ? 1 : 0;
}

void tcp_send_moved(struct tcp_conn *k)
{
	struct o2g_hdr h = { .type = TCP_PKT_MOVED,
			     .src = k->chan->core->rank,
			     .dst = k->peer->core.wire_rank };
	u8 hdr[O2G_HDR_SIZE];

	o2g_wire_encode(&h, hdr);
	k->out.last_here = queue_add(k, hdr, 0, NULL, 0, 0);
	if (k->out.state == TCP_OUT_OPEN)
		tcp_push(k);
}

void tcp_send_drop(struct tcp_conn *k)
{
	struct tcp_out *out = &k->out;

	o2g_list_del(&out->dirty);
	while (!o2g_list_empty(&out->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&out->queue, struct o2g_tx, link);

		o2g_list_del(&tx->link);
		if (!tx->req)
			free(tx);
	}
	out->head = out->tail = 0;
}

/* --- a new packet --- */

/* A small packet in one piece: the kernel is quicker with that. */
static ssize_t send_small(struct tcp_conn *k, const u8 *hdr,
			  const struct o2g_req *req, u64 off, u64 len)
{
	u8 buf[O2G_HDR_SIZE + TCP_SMALL];
	ssize_t n;

	memcpy(buf, hdr, O2G_HDR_SIZE);
	if (len)
		chan_req_read(req, off, buf + O2G_HDR_SIZE, len);
	n = buf_send(k, buf, O2G_HDR_SIZE + len);
	o2g_burst_left(&k->out.burst, k->chan->turn);
	if (unlikely(n < (ssize_t)(O2G_HDR_SIZE + len)))
		tcp_conn_block(k);
	return n;
}

static ssize_t send_large(struct tcp_conn *k, const u8 *hdr,
			  const struct o2g_req *req, u64 off, u64 len)
{
	struct out_vec o;
	ssize_t n;

	o.n = 0;
	o.flags = 0;
	o.bytes = 0;
	vec_add(&o, hdr, O2G_HDR_SIZE);
	vec_add_body(k->chan, &o, req, off, len);
	n = vec_send(k, &o);
	if (n < (ssize_t)o.bytes)
		tcp_conn_block(k);
	return n;
}

/* Nothing is waiting: straight to the socket. */
static int send_now(struct tcp_conn *k, const struct o2g_hdr *h,
		    struct o2g_req *req, u64 off, u64 len)
{
	u8 hdr[O2G_HDR_SIZE];
	u64 sent, rest;
	ssize_t n;

	o2g_wire_encode(h, hdr);
	if (unlikely(req && req->flags & O2G_REQF_REFERENCE))
		return enqueue(k, hdr, 0, req, off, len);
	n = len <= TCP_SMALL ? send_small(k, hdr, req, off, len) :
			       send_large(k, hdr, req, off, len);
	if (unlikely(n < 0 && n != -EAGAIN)) {
		tcp_conn_broken(k, n);
		return -O2G_ERR_PEER;
	}
	sent = n < 0 ? 0 : n;
	if (likely(sent == O2G_HDR_SIZE + len))
		return 0;
	if (sent < O2G_HDR_SIZE)
		return enqueue(k, hdr, sent, req, off, len);
	rest = sent - O2G_HDR_SIZE;
	return enqueue(k, hdr, O2G_HDR_SIZE, req, off + rest, len - rest);
}

/* @n bytes more are in the batch. */
static void buf_grown(struct tcp_conn *k, u64 n)
{
	struct tcp_chan *c = k->chan;
	u32 us;

	k->out.tail += n;
	if (o2g_list_empty(&k->out.dirty))
		o2g_list_add_tail(&k->out.dirty, &c->dirty);
	if (c->chan.needs_flush)
		return;
	c->chan.needs_flush = true;
	us = o2g_batch_begin(&c->batch, k->out.burst.last_ns);
	if (us)
		chan_timer_set(c->chan.ep, &c->flush_timer, us);
}

static bool buf_fits(struct tcp_out *out, u64 len)
{
	if (unlikely(!out->buf))
		out->buf = malloc(BUF_SIZE);
	return out->buf && out->tail + O2G_HDR_SIZE + len <= BUF_SIZE;
}

/* May it be copied to the batch? Makes the batch if so. */
static inline bool batch(struct tcp_conn *k, u64 len)
{
	if (len > TCP_SMALL)
		return false;
	/* A batch that waits takes what fits: nothing may overtake it. */
	if (!o2g_burst_goes_on(&k->out.burst, k->chan->turn) &&
	    buf_empty(&k->out))
		return false;
	return buf_fits(&k->out, len);
}

int tcp_send(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	     struct o2g_req *req, u64 off, u64 len)
{
	struct tcp_conn *k = p->link;
	struct tcp_out *out;
	u8 hdr[O2G_HDR_SIZE];

	if (unlikely(!k || k->out.state >= TCP_OUT_BROKEN))
		return -O2G_ERR_PEER;
	out = &k->out;
	tcp_conn_hot(k);
	if (likely(out->state <= TCP_OUT_BLOCKED &&
		   o2g_list_empty(&out->queue))) {
		if (batch(k, len)) {
			u8 *at = out->buf + out->tail;

			o2g_wire_encode(h, at);
			if (len)
				chan_req_read(req, off, at + O2G_HDR_SIZE, len);
			buf_grown(k, O2G_HDR_SIZE + len);
			return 0;
		}
		if (buf_empty(out))
			return send_now(k, h, req, off, len);
	}
	o2g_wire_encode(h, hdr);
	return enqueue(k, hdr, 0, req, off, len);
}

/* The socket took only a part of what is in the batch's memory. */
static noinline int inject_rest(struct tcp_conn *k, ssize_t n, u64 bytes)
{
	if (n < 0 && n != -EAGAIN)
		tcp_conn_broken(k, n);
	else
		tcp_conn_block(k);
	/* With a request it is queued, or learns of the error. */
	if (n <= 0)
		return -EAGAIN;
	k->out.head = n;
	k->out.tail = bytes;
	return 0;
}

/*
 * A small message goes out of the batch's memory, where its rest can stay if the
 * socket does not take all of it.
 */
int tcp_inject(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	       const void *buf, u64 len)
{
	struct tcp_conn *k = p->link;
	struct tcp_out *out;
	u64 bytes = O2G_HDR_SIZE + len;
	bool wait;
	ssize_t n;
	u8 *at;

	if (unlikely(!k || k->out.state > TCP_OUT_BLOCKED ||
		     !o2g_list_empty(&k->out.queue) || !buf_fits(&k->out, len)))
		return -EAGAIN;
	out = &k->out;
	if (unlikely(k->chan->hot[0] != k))
		tcp_conn_hot(k);
	/* Nothing may overtake a batch. */
	wait = o2g_burst_goes_on(&out->burst, k->chan->turn) || !buf_empty(out);
	at = out->buf + out->tail;
	o2g_wire_put(h, at);
	if (len)
		memcpy(at + O2G_HDR_SIZE, buf, len);
	if (wait) {
		buf_grown(k, bytes);
		return 0;
	}
	n = tcp_call_send(out->fd, at, bytes);
	o2g_burst_left(&out->burst, k->chan->turn);
	return likely(n == (ssize_t)bytes) ? 0 : inject_rest(k, n, bytes);
}

/* --- the end of a batch --- */

void tcp_flush(struct chan *chan)
{
	struct tcp_chan *c = tcp_chan_of(chan);

	c->turn++;
	chan->needs_flush = false;
	while (!o2g_list_empty(&c->dirty)) {
		struct tcp_conn *k =
			o2g_list_first(&c->dirty, struct tcp_conn, out.dirty);

		o2g_list_del(&k->out.dirty);
		if (k->out.state == TCP_OUT_OPEN)
			tcp_push(k);
	}
}

void tcp_flush_timer(struct chan_timer *t)
{
	struct tcp_chan *c = container_of(t, struct tcp_chan, flush_timer);

	switch (o2g_batch_timer(&c->batch, c->chan.needs_flush, o2g_now_ns())) {
	case O2G_BATCH_DUE:
		tcp_flush(&c->chan);
		break;
	case O2G_BATCH_YOUNG:
		chan_timer_set(c->chan.ep, t, o2g_batch_again(&c->batch));
		break;
	case O2G_BATCH_GONE:
		break;
	}
}
