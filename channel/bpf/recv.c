/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Receiving: descriptors of the ring in their order, then the sockets that
 * something was passed to.
 *
 * Order, for one connection: what is in the ring is older than what was passed,
 * as long as anything passed has not been read. So after `passed` was looked at,
 * and before recv() is called, all is taken out of the ring that has a place there
 * by then; and recv() is not called again once all that was passed has been read.
 *
 * The end of a connection may be seen before the program has run for the last
 * piece, but not once the socket's lock has been ours.
 */
#include "chan.h"

#include <sys/epoll.h>

#include "clock.h"
#include "quick.h"
#include "tcp/recv.h"
#include "tcp/send.h"
#include "tcp/split.h"
#include "tcp/watch.h"

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELEASE)

static struct bpf_conn *shared(const struct tcp_conn *k)
{
	struct bpf_seat *s = bpf_of_conn(k)->place.seat;

	return &s->conns[bpf_index(bpf_member_of(k)->id)];
}

/* Whose piece is it? NULL: nobody's, or of one that has left. */
static inline struct bpf_member *whose(struct bpf_chan *b, u32 what)
{
	u32 id = what & BPF_ID_MASK;
	struct bpf_member *m = b->members[bpf_index(id)];

	if (unlikely(!m || m->id != id || what & BPF_VOID))
		return NULL;
	return m->conn->in.state != TCP_IN_NONE ? m : NULL;
}

void bpf_read_soon(struct tcp_conn *k)
{
	if (o2g_list_empty(&k->in.more))
		o2g_list_add_tail(&k->in.more, &k->chan->more);
}

/* --- the ring --- */

static inline struct bpf_desc *next_desc(struct bpf_chan *b)
{
	return &b->place.seat->descs[(b->head >> 32) & (BPF_DESCS - 1)];
}

static inline bool is_good(struct bpf_chan *b, const struct bpf_desc *d)
{
	return LOAD(d->seq) == (u32)(b->head >> 32) + 1;
}

/*
 * In the middle of a large body have all of it passed: recv() then copies it to
 * where it belongs, at once; and a sleeper is woken for a good part of it. Pieces
 * of it that are in the ring still are not passed: there is less to wait for once
 * they are taken, and this is said again. What was passed before the program could
 * see it is found by who arms, or settles, after this.
 */
static noinline void hint_body(struct tcp_conn *k)
{
	struct bpf_conn *c = shared(k);
	u64 worth = tcp_worth_waking(k), wake_at = 0;
	u32 want = worth > 1;

	if (want)
		wake_at = c->taken + worth;
	if (c->wake_at != wake_at)
		STORE(c->wake_at, wake_at);
	if (c->pass != want)
		STORE(c->pass, want);
}

/* Between two messages, and nothing to take back? */
static inline void hint(struct tcp_conn *k)
{
	if (unlikely(k->in.stream.in_body || shared(k)->pass))
		hint_body(k);
}

/* From now on the program asks whether it shall wake us, and all that it placed
 * without asking is there to be seen. */
static void worry(struct tcp_conn *k)
{
	struct bpf_conn *c = shared(k);

	if (!c->calm)
		return;
	__atomic_store_n(&c->calm, 0, __ATOMIC_SEQ_CST);
	bpf_conn_sync(k->in.sock.watch.fd);
}

/*
 * Watching a socket makes each piece that arrives on it slower (0.2 us on veth),
 * for the kernel calls epoll only to be told that nobody asked for that. Whoever sends
 * piece after piece while we look at the ring is alive: it need not be watched
 * until it is silent, or we sleep, or it is another one's turn.
 */
static void watch_busy(struct bpf_chan *b)
{
	if (b->busy) {
		tcp_conn_watch(b->busy->conn);
		worry(b->busy->conn);
	}
	b->idle = 0;
}

/* Whoever sleeps in between, or computes, does not wait for the socket's lock. */
static inline void count(struct bpf_chan *b, struct bpf_member *m)
{
	if (unlikely(m->sleeps != b->sleeps)) {
		m->sleeps = b->sleeps;
		m->pieces = 0;
	}
	if (unlikely(++m->pieces == b->talk))
		tcp_split_start(m->conn);
}

static void is_busy(struct bpf_chan *b, struct bpf_member *m)
{
	struct tcp_conn *k = m->conn;

	count(b, m);
	if (b->busy != m) {
		watch_busy(b);
		b->busy = m;
		k->in.streak = 0;
	}
	b->idle = 0;
	if (k->in.sock.events && !b->tcp.armed &&
	    k->out.state != TCP_OUT_BLOCKED && ++k->in.streak >= TCP_STREAK) {
		tcp_conn_unwatch(k);
		STORE(shared(k)->calm, 1);
	}
}

struct piece {
	const void *bytes;
	u32 len;   /* 0: look at the socket */
	u32 units; /* of the ring */
};

static inline struct piece piece_of(const struct bpf_seat *s,
				    const struct bpf_desc *d)
{
	u32 what = d->what, len = d->len, at = d->at;

	if (likely(!(what & BPF_LONG)))
		return (struct piece){ d->words,
				       what >> BPF_SHORT & BPF_SHORT_MASK, 0 };
	if (unlikely(len > BPF_PIECE || at >= BPF_RING))
		return (struct piece){ 0 }; /* not what the program writes */
	return (struct piece){ s->ring + at, len,
			       (len + BPF_UNIT - 1) / BPF_UNIT };
}

/*
 * tcp_feed() for what comes most: small messages, all here. One that is refused is
 * refused again there, with a message.
 */
static inline int feed(struct tcp_conn *k, const struct piece *p)
{
	enum o2g_proto_reason reason = O2G_PROTO_OK;
	int packets = 0, more;
	size_t used = 0;

	if (likely(!k->in.early && o2g_stream_between(&k->in.stream)))
		used = whole_feed(k->chan->core, &k->peer->core, p->bytes,
				  p->len, TCP_LARGE, &packets, &reason);
	if (likely(used == p->len))
		return packets;
	more = tcp_feed(k, (const u8 *)p->bytes + used, p->len - used);
	return more < 0 ? more : packets + more;
}

static inline int take_piece(struct bpf_chan *b, struct bpf_member *m,
			     const struct piece *p)
{
	struct tcp_conn *k = m->conn;
	int packets;

	if (unlikely(!p->len)) {
		bpf_read_soon(k);
		return 0;
	}
	packets = feed(k, p);
	if (unlikely(packets < 0)) /* it is gone */
		return 0;
	hint(k);
	is_busy(b, m);
	return packets;
}

/* The next descriptor: packets, and its bytes off the turn's budget. */
static inline int take_one(struct bpf_chan *b, const struct bpf_desc *d,
			   int64_t *budget)
{
	struct piece p = piece_of(b->place.seat, d);
	struct bpf_member *m = whose(b, d->what);
	int packets = likely(m) ? take_piece(b, m, &p) : 0;

	b->head = (u64)((u32)(b->head >> 32) + 1) << 32 |
		  (u32)((u32)b->head + p.units);
	*budget -= p.len + BPF_UNIT;
	return packets;
}

/*
 * The program looks at `head` for every piece. Whenever we have written it, it has
 * to come from our processor's cache, which takes as long as all else the program
 * does; so room is given back in portions.
 */
static inline void give_back(struct bpf_chan *b)
{
	u32 descs = (u32)(b->head >> 32) - (u32)(b->given_back >> 32);
	u32 units = (u32)b->head - (u32)b->given_back;

	if (likely(descs < BPF_DESCS / BPF_PORTION &&
		   units < BPF_UNITS / BPF_PORTION))
		return;
	b->given_back = b->head;
	STORE(b->place.seat->head, b->head);
}

/* Until it is empty or the turn is over. */
static noinline int take_all(struct bpf_chan *b, struct bpf_desc *d)
{
	int64_t budget = BPF_WORK;
	int packets = 0;

	b->tcp.in_recv = true;
	do {
		packets += take_one(b, d, &budget);
		give_back(b);
		d = next_desc(b);
	} while (budget > 0 && is_good(b, d));
	b->tcp.in_recv = false;
	if (b->tcp.chan.needs_flush)
		tcp_flush(&b->tcp.chan);
	return packets;
}

static inline int take_ring(struct bpf_chan *b)
{
	struct bpf_desc *d = next_desc(b);

	return unlikely(is_good(b, d)) ? take_all(b, d) : 0;
}

static bool ring_empty(struct bpf_chan *b)
{
	return !is_good(b, next_desc(b));
}

/*
 * Has all been taken that the program had begun to write by then (@tail)? That the
 * next descriptor is not good does not say so: on another processor the program
 * may be in the middle of writing it, and those behind it may be good already.
 */
static bool ring_taken(struct bpf_chan *b, u64 tail)
{
	return (int)((u32)(b->head >> 32) - (u32)(tail >> 32)) >= 0;
}

/* --- the sockets --- */

/* Is there something for recv()? */
static bool expects(const struct tcp_conn *k)
{
	struct bpf_conn *c = shared(k);

	return LOAD(c->passed) != c->taken;
}

/* As soon as all is taken the program may use the ring, and then pass again: so
 * what counts is what was passed before we say so. */
bool bpf_conn_took(struct tcp_conn *k, u64 n)
{
	struct bpf_conn *c = shared(k);
	u64 passed = LOAD(c->passed), taken = c->taken + n;

	STORE(c->taken, taken);
	return passed != taken;
}

/*
 * recv() may say that it is closed while the kernel has put off what was passed.
 * After a reset that may be gone for good, so there is an end to waiting.
 */
static bool is_late(struct bpf_member *m)
{
	u64 now = o2g_now_us();

	if (!m->closed_us)
		m->closed_us = now;
	return now - m->closed_us >= BPF_LATE_US;
}

bool bpf_conn_waits(struct tcp_conn *k, bool closed)
{
	struct bpf_member *m = bpf_member_of(k);

	if (!expects(k))
		return false;
	if (closed && (is_late(m) || k->out.state == TCP_OUT_BROKEN))
		return false;
	m->waits = true;
	chan_timer_set(k->chan->chan.ep, &bpf_of_conn(k)->retry, BPF_RETRY_US);
	return true;
}

/* The kernel had no memory, or has put it off: the one case of asking again. */
void bpf_retry(struct chan_timer *t)
{
	struct bpf_chan *b = container_of(t, struct bpf_chan, retry);

	for (u32 i = 0; i < BPF_CONNS; i++) {
		struct bpf_member *m = b->members[i];

		if (m && m->waits)
			bpf_read_soon(m->conn);
		if (m)
			m->waits = false;
	}
	bpf_poll(&b->tcp.chan);
}

/* When all that was passed is read, the program is to tell of what it passes
 * next; what it passed before that we find here. */
static void settle(struct tcp_conn *k)
{
	struct bpf_conn *c = shared(k);

	hint(k);
	if (!expects(k)) {
		__atomic_store_n(&c->told, 0, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	if (expects(k) && !bpf_member_of(k)->waits)
		bpf_read_soon(k);
}

/* Only what was read before it joined, if anything. */
static int feed_early(struct tcp_conn *k)
{
	struct tcp_chan *c = k->chan;
	int packets;

	c->in_recv = true;
	packets = tcp_feed(k, NULL, 0);
	c->in_recv = false;
	return packets > 0 ? packets : 0;
}

/* The first that waits, once the ring is empty. */
static int read_one(struct bpf_chan *b)
{
	struct o2g_list *more = &b->tcp.more;
	struct tcp_conn *k = o2g_list_first(more, struct tcp_conn, in.more);
	struct bpf_member *m = bpf_member_of(k);
	bool readable, ending = k->in.state == TCP_IN_ENDING;
	int packets;
	u64 tail;
	u32 index;

	if (!m) {
		o2g_list_del(&k->in.more);
		return tcp_read(k);
	}
	if (ending)
		bpf_conn_sync(k->in.sock.watch.fd);
	/* Before the ring is emptied: what is passed later may be younger than
	 * something in it. */
	readable = expects(k) || ending;
	index = bpf_index(m->id);
	tail = LOAD(b->place.seat->tail);
	packets = take_ring(b);
	if (b->members[index] != m || !ring_taken(b, tail))
		return packets;
	o2g_list_del(&k->in.more);
	if (unlikely(LOAD(shared(k)->lost))) {
		tcp_conn_lost(
			k, -O2G_ERR_PEER,
			"the kernel cannot cut a segment that repeats others");
		return packets;
	}
	packets += readable ? tcp_read(k) : feed_early(k);
	if (b->members[index] == m)
		settle(k);
	return packets;
}

int bpf_conn_recv(struct tcp_conn *k)
{
	struct chan *c = &k->chan->chan;

	bpf_read_soon(k);
	return bpf_poll(c);
}

static void find_missed(struct bpf_chan *b)
{
	__atomic_store_n(&b->place.seat->missed, 0, __ATOMIC_SEQ_CST);
	for (u32 i = 0; i < BPF_CONNS; i++)
		if (b->members[i])
			bpf_read_soon(b->members[i]->conn);
}

int bpf_poll(struct chan *chan)
{
	struct bpf_chan *b = bpf_chan_of(chan);
	int packets;

	if (unlikely(b->tcp.in_recv))
		return 0;
	b->tcp.turn++;
	packets = take_ring(b);
	if (unlikely(LOAD(b->place.seat->missed)))
		find_missed(b);
	if (unlikely(!o2g_list_empty(&b->tcp.more)))
		packets += read_one(b);
	if (unlikely(b->tcp.hot[0]) && !packets)
		packets += tcp_poll_hot(&b->tcp);
	if (unlikely(++b->idle >= BPF_IDLE))
		watch_busy(b);
	return packets;
}

/* --- sleeping --- */

static void bell_clear(struct bpf_chan *b)
{
	STORE(*b->place.bell_taken, LOAD(*b->place.bell_given));
}

int bpf_bell_ready(struct chan_watch *w, u32 events)
{
	struct bpf_chan *b = container_of(w, struct bpf_chan, bell);

	bell_clear(b);
	return bpf_poll(&b->tcp.chan);
}

/* We arm and then look; the program writes and then looks whether we did. */
bool bpf_arm(struct chan *chan)
{
	struct bpf_chan *b = bpf_chan_of(chan);
	struct bpf_seat *s = b->place.seat;
	bool something = tcp_arm(chan);

	watch_busy(b);
	b->sleeps += b->adapts;
	bell_clear(b);
	__atomic_store_n(&s->armed, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return something || !ring_empty(b) || LOAD(s->missed);
}

void bpf_disarm(struct chan *chan)
{
	struct bpf_chan *b = bpf_chan_of(chan);

	STORE(b->place.seat->armed, 0);
	tcp_disarm(chan);
}
