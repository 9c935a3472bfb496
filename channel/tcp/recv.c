/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Receiving.
 *
 * Bytes are read into one staging area of the channel and fed to the parser,
 * which keeps what is left of a header itself: nothing ever stays behind in the
 * staging area, so all connections share it and an idle one costs no buffer.
 * The rest of a body goes straight to where it belongs, in the same call as the
 * beginning of what follows it. A small message that is all there does without
 * the parser.
 *
 * How much of the staging area to ask for is learnt per connection: little
 * when large bodies come, which would be copied twice, and much when many small
 * packets do.
 *
 * Readiness is edge-triggered. A read that returns less than asked has emptied
 * the socket, and what comes later makes a new edge. A connection that has more
 * than its share in one turn goes to the `more` list and gets its next turn from
 * poll. A closed connection is closed only once everything before it is read.
 */
#include "recv.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "call.h"
#include "intake.h"
#include "lend.h"
#include "quick.h"
#include "send.h"
#include "split.h"
#include "tls.h"
#include "watch.h"

#define DIRECT_MIN 2048	      /* smaller rests of a body are cheaper to copy */
#define WORK_BYTES (1u << 20) /* per connection and call */

/* --- packets --- */

struct turn {
	struct tcp_chan *chan;
	struct tcp_conn *conn; /* may be gone at its end */
	int packets;
	bool parsed; /* k->rx is of something that came in it */
	enum o2g_proto_reason reason; /* why a packet was refused */
};

static int rx_begin(void *ctx, const struct o2g_hdr *h)
{
	struct turn *t = ctx;
	struct tcp_conn *k = t->conn;

	if (unlikely(h->type == TCP_PKT_MOVED)) {
		k->in.rx.hdr = *h;
		t->reason = tcp_split_moved(k, h);
	} else {
		if (h->type == O2G_PKT_FIN)
			tcp_lend_answered(k, h->cookie);
		t->reason = o2g_proto_rx_begin(k->chan->core, &k->peer->core, h,
					       &k->in.rx);
	}
	return t->reason == O2G_PROTO_OK ? 0 : -EBADMSG;
}

static void rx_body(void *ctx, const void *data, size_t n)
{
	struct turn *t = ctx;

	chan_sink_write(&t->conn->in.rx.sink, data, n);
}

static int rx_end(void *ctx)
{
	struct turn *t = ctx;
	struct tcp_conn *k = t->conn;

	t->packets++;
	if (unlikely(k->in.rx.hdr.flags & O2G_PKTF_REFERENCE) &&
	    tcp_lend_is_reset(k->in.sock.watch.fd))
		return -ECONNRESET;
	if (unlikely(k->in.state == TCP_IN_MOVED)) {
		o2g_stream_end(&k->in.stream);
		return 0;
	}
	o2g_proto_rx_end(k->chan->core, &k->peer->core, &k->in.rx);
	return 0;
}

static const struct o2g_stream_ops rx_ops = { rx_begin, rx_body, rx_end };

/*
 * What a message in pieces, or any packet but a plain message, needs: a header or
 * a body, or what is here of it. Bytes used, or negative errno.
 */
static noinline long parse(struct turn *t, const u8 *data, size_t n)
{
	struct o2g_stream *s = &t->conn->in.stream;
	u64 left = o2g_stream_left(s);

	t->parsed = true;
	return o2g_stream_feed(s, data, n < left ? n : left, &rx_ops, t);
}

/* Bytes that came next. 0 or negative errno. */
static inline int feed(struct turn *t, const u8 *data, size_t n)
{
	struct tcp_conn *k = t->conn;
	long used;

	while (n) {
		used = 0;
		if (likely(o2g_stream_between(&k->in.stream)))
			used = whole_feed(k->chan->core, &k->peer->core, data,
					  n, TCP_LARGE, &t->packets,
					  &t->reason);
		if (unlikely(t->reason))
			return -EBADMSG;
		if (unlikely(!used))
			used = parse(t, data, n);
		if (unlikely(used < 0))
			return used;
		data += used;
		n -= used;
	}
	return 0;
}

/* --- bytes --- */

struct in_vec {
	struct o2g_seg v[TCP_IOV + 1]; /* struct iovec */
	u32 n;
	u64 direct; /* bytes that go to the sink, before the staging area */
	u64 bytes;
};

/* A view gets all of its body out of the staging area. */
static u32 stage_size(const struct tcp_in *in)
{
	if (in->stream.in_body && in->rx.sink.view &&
	    in->stream.body_left > in->stage)
		return TCP_STAGE_MAX;
	return in->stage;
}

static void vec_fill(struct tcp_conn *k, struct in_vec *in)
{
	struct o2g_stream *s = &k->in.stream;
	struct o2g_sink *to = &k->in.rx.sink;

	in->n = 0;
	in->direct = 0;
	if (s->in_body && s->body_left >= DIRECT_MIN &&
	    to->room >= s->body_left)
		in->n = chan_slice(to->segs, to->nsegs, to->off, s->body_left,
				   in->v, TCP_IOV, &in->direct);
	in->bytes = in->direct;
	/* More pieces than fit: the staging area is for what follows them. */
	if (in->direct && in->direct < s->body_left)
		return;
	in->v[in->n].base = k->chan->stage;
	in->v[in->n].len = stage_size(&k->in);
	in->bytes += in->v[in->n].len;
	in->n++;
}

static ssize_t vec_recv(struct tcp_conn *k, struct in_vec *in)
{
	struct msghdr m = { .msg_iov = (struct iovec *)in->v,
			    .msg_iovlen = in->n };
	int fd = k->in.sock.watch.fd;

	if (unlikely(k->in.tls))
		return tcp_tls_recv(k->in.tls, in->v, in->n);
	return in->n == 1 ? tcp_call_recv(fd, in->v[0].base, in->v[0].len) :
			    tcp_call_recvmsg(fd, &m);
}

static inline void learn(const struct turn *t, u64 staged)
{
	struct tcp_in *in = &t->conn->in;

	if (t->parsed && in->rx.hdr.length >= TCP_LARGE &&
	    o2g_wire_body(&in->rx.hdr))
		in->stage = TCP_STAGE_MIN;
	else if (staged == in->stage && in->stage < TCP_STAGE_MAX)
		in->stage *= 2;
}

/* Hand on @n bytes that vec_recv() brought. 0 or negative errno. */
static int deliver(struct turn *t, const struct in_vec *in, u64 n)
{
	struct tcp_conn *k = t->conn;
	u64 direct = n < in->direct ? n : in->direct;
	int err = 0;

	if (direct) {
		t->parsed = true;
		o2g_sink_advance(&k->in.rx.sink, direct);
		if (o2g_stream_body_done(&k->in.stream, direct))
			err = rx_end(t);
	}
	if (!err && n > direct) {
		err = feed(t, k->chan->stage, n - direct);
		learn(t, n - direct);
	}
	return err;
}

/* --- turns --- */

static void lost(struct tcp_conn *k, const struct turn *t, int err)
{
	bool refused = err == -EBADMSG && (t->reason || k->in.stream.error);
	const char *what = k->tls ? tcp_tls_reason(k->tls, err) :
				    strerror(-err);

	if (refused && t->reason != O2G_PROTO_OK)
		what = o2g_proto_reason_name(t->reason);
	else if (refused)
		what = o2g_wire_reason_name(k->in.stream.error);
	if (refused)
		tcp_conn_lost(k, err, "malformed packet: %s", what);
	else if (err)
		tcp_conn_lost(k, -O2G_ERR_PEER, "connection lost: %s", what);
	else
		tcp_conn_lost(k, -O2G_ERR_PEER, "connection closed by peer");
}

/* The peer has closed. After BYE the engine does the rest. */
static void closed(struct tcp_conn *k, const struct turn *t)
{
	if (!k->peer->core.said_bye) {
		lost(k, t, 0);
		return;
	}
	tcp_conn_dead(k);
}

enum step { STEP_AGAIN, STEP_EMPTY, STEP_LATER, STEP_GONE };

static enum step take(struct turn *t, const struct in_vec *in, ssize_t n,
		      u64 *budget)
{
	struct tcp_conn *k = t->conn;
	const struct tcp_intake *intake = k->in.intake;
	bool more = true;
	int err;

	if (n == -EAGAIN && k->out.state == TCP_OUT_BROKEN)
		n = k->out.err;
	if ((n == -EAGAIN || n == 0) && intake && intake->waits(k, n == 0))
		return STEP_LATER;
	if (n == -EAGAIN)
		return STEP_EMPTY;
	if (n <= 0) {
		if (n < 0)
			lost(k, t, n);
		else
			closed(k, t);
		return STEP_GONE;
	}
	if (intake)
		more = intake->took(k, n);
	err = deliver(t, in, n);
	if (err) {
		lost(k, t, err);
		return STEP_GONE;
	}
	*budget -= *budget < (u64)n ? *budget : (u64)n;
	if (unlikely(k->in.state == TCP_IN_MOVED)) /* its end is no loss */
		return STEP_EMPTY;
	if (k->in.state == TCP_IN_ENDING)
		return STEP_AGAIN;
	if (intake)
		return more ? STEP_AGAIN : STEP_EMPTY;
	/* TLS: what is left of a record makes no new edge. */
	return (u64)n < in->bytes && !k->tls ? STEP_EMPTY : STEP_AGAIN;
}

static enum step step(struct turn *t, u64 *budget)
{
	struct in_vec in;

	vec_fill(t->conn, &in);
	return take(t, &in, vec_recv(t->conn, &in), budget);
}

/*
 * In the middle of a long body nothing can be done with a few bytes more: have
 * the kernel wake us for a good part of it, or for the rest. Without that the
 * progress thread runs for every packet, at the expense of the program. Nobody
 * waits for what that thread copies, so its pieces are larger; for one who waits
 * copying goes on while the rest arrives.
 */
static void set_lowat(struct tcp_conn *k)
{
	int want = (int)tcp_worth_waking(k), have = k->in.lowat;

	/* It only ever has to be small enough; a little more gains nothing. */
	if (k->tls || want == have || (want / 2 < have && want > have))
		return;
	k->in.lowat = want;
	setsockopt(k->in.sock.watch.fd, SOL_SOCKET, SO_RCVLOWAT, &want,
		   sizeof(want));
}

static int feed_turn(struct tcp_conn *k, const void *data, size_t n)
{
	struct turn t = { .chan = k->chan, .conn = k };
	int err = feed(&t, data, n);

	if (likely(!err))
		return t.packets;
	lost(k, &t, err);
	return -1;
}

/* What was read before the connection stood comes first. */
static int feed_early(struct tcp_conn *k)
{
	u8 *data = k->in.early;
	u32 n = k->in.early_len;
	int packets;

	k->in.early = NULL;
	k->in.early_len = 0;
	packets = n ? feed_turn(k, data, n) : 0;
	free(data);
	return packets;
}

int tcp_feed(struct tcp_conn *k, const void *data, size_t n)
{
	int early = unlikely(k->in.early) ? feed_early(k) : 0, packets;

	if (early < 0)
		return early;
	packets = feed_turn(k, data, n);
	return packets < 0 ? packets : packets + early;
}

/* A turn is over. The next one is short if nothing is special about it. */
static void turn_ends(struct tcp_in *in)
{
	bool plain = !in->stream.in_body && !in->intake && !in->tls &&
		     in->lowat == 1 && o2g_list_empty(&in->more);

	if (in->state == TCP_IN_PLAIN || in->state == TCP_IN_BUSY)
		in->state = plain ? TCP_IN_PLAIN : TCP_IN_BUSY;
}

/* A turn that has come to @s: on to its end. Packets handled. */
static int read_on(struct turn *t, enum step s, u64 budget)
{
	struct tcp_conn *k = t->conn;
	struct tcp_chan *c = t->chan;

	while (s == STEP_AGAIN && budget)
		s = step(t, &budget);
	c->in_recv = false;
	if (s == STEP_EMPTY && !k->in.intake)
		set_lowat(k);
	/* Answers that what we read has caused go out together, now. */
	if (c->chan.needs_flush)
		tcp_flush(&c->chan);
	if (s == STEP_GONE)
		return t->packets;
	if (s == STEP_EMPTY || s == STEP_LATER)
		o2g_list_del(&k->in.more);
	else if (o2g_list_empty(&k->in.more))
		o2g_list_add_tail(&k->in.more, &c->more);
	turn_ends(&k->in);
	if (t->packets)
		tcp_conn_hot(k);
	return t->packets;
}

int tcp_read(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;
	struct turn t = { .chan = c, .conn = k };

	if (k->in.state < TCP_IN_PLAIN || c->in_recv)
		return 0;
	c->in_recv = true;
	c->turn++;
	if (unlikely(k->in.early))
		t.packets = feed_early(k);
	if (t.packets < 0) {
		c->in_recv = false;
		return 0;
	}
	return read_on(&t, STEP_AGAIN, WORK_BYTES);
}

/*
 * tcp_read() of a PLAIN connection, which whoever polls comes to in every round: what
 * is to be done when nothing has come, or a few small messages, and no more. Time
 * counts twice here: between two looks, and from the look to the answer.
 */
static inline int read_plain(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;
	struct turn t = { .chan = c, .conn = k };
	u64 budget = WORK_BYTES;
	struct in_vec in;
	ssize_t n;
	int err;

	n = tcp_call_recv(k->in.sock.watch.fd, c->stage, k->in.stage);
	if (likely(n == -EAGAIN))
		return 0;
	c->in_recv = true;
	if (unlikely(n <= 0 || n == k->in.stage)) {
		in.direct = 0;
		in.bytes = k->in.stage;
		return read_on(&t, take(&t, &in, n, &budget), budget);
	}
	err = feed(&t, c->stage, n);
	if (unlikely(err)) {
		lost(k, &t, err);
		return read_on(&t, STEP_GONE, 0);
	}
	/* A long body may have begun: there is more to learn, and to say. */
	if (unlikely(t.parsed)) {
		learn(&t, n);
		return read_on(&t, STEP_EMPTY, 0);
	}
	c->in_recv = false;
	if (unlikely(c->chan.needs_flush))
		tcp_flush(&c->chan);
	if (unlikely(c->hot[0] != k))
		tcp_conn_hot(k);
	return t.packets;
}

int tcp_recv(struct tcp_conn *k)
{
	return k->in.intake ? k->in.intake->recv(k) : tcp_read(k);
}

/* Connections whose turn ended early; each gets one, in order. */
static int poll_more(struct tcp_chan *c)
{
	struct tcp_conn *k = o2g_list_first(&c->more, struct tcp_conn, in.more);

	o2g_list_del(&k->in.more);
	return tcp_recv(k);
}

/*
 * A program that polls all the time finds everything here. Watching the socket
 * as well would only make each arrival slower (about 0.4 us on veth).
 */
static int poll_hot(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;
	bool plain = k->in.state == TCP_IN_PLAIN && !c->in_recv;
	int packets = likely(plain) ? read_plain(k) : tcp_recv(k);

	/* Where it is not in front any more it may be gone. */
	if (packets && c->hot[0] == k && k->in.sock.events && !c->armed &&
	    k->out.state != TCP_OUT_BLOCKED && ++k->in.streak >= TCP_STREAK)
		tcp_conn_unwatch(k);
	return packets;
}

int tcp_poll_hot(struct tcp_chan *c)
{
	int packets = 0;

	c->chan.slow_poll = c->hot[0];
	c->chan.partial_poll = c->nconns > TCP_HOT;
	for (int i = 0; i < TCP_HOT && !packets; i++)
		if (c->hot[i])
			packets += poll_hot(c->hot[i]);
	return packets;
}

int tcp_poll(struct chan *chan)
{
	struct tcp_chan *c = tcp_chan_of(chan);
	int packets = 0;

	c->turn++;
	if (!o2g_list_empty(&c->more))
		packets += poll_more(c);
	return packets ? packets : tcp_poll_hot(c);
}

bool tcp_arm(struct chan *chan)
{
	struct tcp_chan *c = tcp_chan_of(chan);

	c->armed = true;
	if (chan->needs_flush)
		tcp_flush(chan);
	for (int i = 0; i < TCP_HOT; i++)
		if (c->hot[i])
			tcp_conn_watch(c->hot[i]);
	return !o2g_list_empty(&c->more);
}

void tcp_disarm(struct chan *chan)
{
	tcp_chan_of(chan)->armed = false;
}
