/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "mock_engine.h"
#include "check_abort.h"
#include "quick.h"

#include <sanitizer/asan_interface.h>

u64 mock_next_number;

static void *get_bytes(size_t n)
{
	void *p = malloc(n ? n : 1);

	CHECK(p);
	return p;
}

/* For structures: what nobody sets shows. */
static void *get_memory(size_t n)
{
	return memset(get_bytes(n), 0xcd, n);
}

static struct mock *mock_of(struct o2g_core *c)
{
	return container_of(c, struct mock, core);
}

static struct mock_conn *conn_of(struct o2g_peer *p)
{
	return container_of(p, struct mock_conn, peer);
}

/* --- packets --- */

static struct mock_pkt *new_pkt(const struct o2g_hdr *h, u64 len)
{
	struct mock_pkt *k = get_bytes(sizeof(*k) + O2G_HDR_SIZE + len);

	k->h = *h;
	k->req = NULL;
	k->len = len;
	k->n = O2G_HDR_SIZE + len;
	k->taken = 0;
	o2g_wire_encode(h, k->bytes);
	return k;
}

static void drop_pkts(struct o2g_list *l)
{
	while (!o2g_list_empty(l)) {
		struct mock_pkt *k = o2g_list_first(l, struct mock_pkt, link);

		o2g_list_del(&k->link);
		free(k);
	}
}

struct mock_pkt *mock_first(struct mock_conn *c)
{
	if (o2g_list_empty(&c->out))
		return NULL;
	return o2g_list_first(&c->out, struct mock_pkt, link);
}

void mock_drop_first(struct mock_conn *c)
{
	struct mock_pkt *k = mock_first(c);

	CHECK(k);
	o2g_list_del(&k->link);
	free(k);
}

unsigned mock_push(struct mock_conn *c, unsigned n)
{
	unsigned done = 0;

	while (done < n && !o2g_list_empty(&c->held)) {
		struct mock_pkt *k =
			o2g_list_first(&c->held, struct mock_pkt, link);
		struct o2g_req *req = k->req;

		/* The body is read now: it must still be there. */
		if (req) {
			chan_gather(k->bytes + O2G_HDR_SIZE, req->segs,
				    req->nsegs, k->off, k->len);
			req->tx.left = 0;
		}
		o2g_list_del(&k->link);
		o2g_list_add_tail(&k->link, &c->out);
		k->req = NULL;
		if (req)
			o2g_proto_sent(&c->me->core, req);
		done++;
	}
	return done;
}

/* --- arriving packets --- */

static int rx_begin(void *ctx, const struct o2g_hdr *h)
{
	struct mock_conn *c = ctx;

	/* What the core does not set must not matter. */
	memset(&c->rx, 0xcd, sizeof(c->rx));
	c->reason = o2g_proto_rx_begin(&c->me->core, &c->peer, h, &c->rx);
	return c->reason ? -EPROTO : 0;
}

static void rx_body(void *ctx, const void *data, size_t n)
{
	struct mock_conn *c = ctx;

	chan_sink_write(&c->rx.sink, data, n);
}

static int rx_end(void *ctx)
{
	struct mock_conn *c = ctx;

	o2g_proto_rx_end(&c->me->core, &c->peer, &c->rx);
	return 0;
}

static const struct o2g_stream_ops rx_ops = { rx_begin, rx_body, rx_end };

void mock_lose(struct mock_conn *c, int err)
{
	if (c->lost)
		return;
	c->lost = true;
	drop_pkts(&c->held);
	o2g_stream_init(&c->in);
	o2g_proto_peer_down(&c->me->core, &c->peer, err);
}

/* Take whole plain messages at once, as channels do; the bytes of those. */
static size_t feed_whole(struct mock_conn *to, const u8 *bytes, size_t n)
{
	int packets = 0;

	if (!to->whole || !o2g_stream_between(&to->in))
		return 0;
	return whole_feed(&to->me->core, &to->peer, bytes, n, to->whole,
			  &packets, &to->reason);
}

/* The rest of what is being received, a header or a body. */
static size_t feed_part(struct mock_conn *to, const u8 *bytes, size_t n)
{
	u64 want = o2g_stream_left(&to->in);

	n = n < want ? n : want;
	if (o2g_stream_feed(&to->in, bytes, n, &rx_ops, to) < 0 && !to->reason)
		to->reason = O2G_PROTO_BAD_STATE;
	return n;
}

static void feed(struct mock_conn *to, const u8 *bytes, size_t n)
{
	while (n && to && !to->lost) {
		size_t used = feed_whole(to, bytes, n);

		if (!used && !to->reason)
			used = feed_part(to, bytes, n);
		if (to->reason || to->got_bye)
			mock_lose(to, -O2G_ERR_PEER);
		bytes += used;
		n -= used;
	}
}

static size_t bytes_out(struct mock_conn *c, size_t max)
{
	struct o2g_list *l;
	size_t n = 0;

	o2g_list_for_each(l, &c->out) {
		struct mock_pkt *k = container_of(l, struct mock_pkt, link);

		n += k->n - k->taken;
		if (n >= max)
			return max;
	}
	return n;
}

size_t mock_deliver(struct mock_conn *c, size_t n)
{
	size_t have = 0;
	u8 *piece;

	n = bytes_out(c, n);
	if (!n)
		return 0;
	piece = get_bytes(n);
	while (have < n) {
		struct mock_pkt *k = mock_first(c);
		size_t m = k->n - k->taken;

		m = m < n - have ? m : n - have;
		memcpy(piece + have, k->bytes + k->taken, m);
		have += m;
		k->taken += m;
		if (k->taken == k->n)
			mock_drop_first(c);
	}
	feed(c->back, piece, n);
	free(piece);
	return n;
}

enum o2g_proto_reason mock_inject(struct mock_conn *c, struct o2g_hdr h,
				  const void *body)
{
	int rc = rx_begin(c, &h);

	if (rc)
		return c->reason;
	if (o2g_wire_body(&h))
		rx_body(c, body, o2g_wire_body(&h));
	rx_end(c);
	return c->reason;
}

void mock_pump(struct mock **all, unsigned n)
{
	bool moved;

	do {
		moved = false;
		for (unsigned i = 0; i < n * MOCK_ENDS; i++) {
			struct mock_conn *c =
				&all[i / MOCK_ENDS]->conn[i % MOCK_ENDS];

			if (!c->me)
				continue;
			moved |= mock_push(c, ~0u) > 0;
			while (c->back && mock_deliver(c, 1 << 16))
				moved = true;
		}
	} while (moved);
}

/* --- the core's ops --- */

/* To oneself: the packet arrives before this returns. */
static int loop_back(struct mock_conn *c, const struct o2g_hdr *h,
		     struct o2g_req *req, u64 off, u64 len)
{
	u8 *body = get_bytes(len);
	enum o2g_proto_reason r;
	struct o2g_rx rx;

	memset(&rx, 0xcd, sizeof(rx));
	if (len)
		chan_gather(body, req->segs, req->nsegs, off, len);
	r = o2g_proto_rx_begin(&c->me->core, &c->peer, h, &rx);
	CHECK(r == O2G_PROTO_OK || r == O2G_PROTO_NO_MEMORY);
	if (!r && len)
		chan_sink_write(&rx.sink, body, len);
	free(body);
	if (r) {
		c->failed = true;
		return -O2G_ERR_PEER;
	}
	o2g_proto_rx_end(&c->me->core, &c->peer, &rx);
	return 0;
}

static int op_xmit(struct o2g_core *core, struct o2g_peer *p,
		   const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		   u64 len)
{
	struct mock_conn *c = conn_of(p);
	struct mock_pkt *k;

	CHECK(!p->down && !c->lost);
	CHECK(o2g_wire_body(h) == len && (req || !len));
	if (c->fail_xmit && !--c->fail_xmit)
		c->failed = true;
	if (c->failed)
		return -O2G_ERR_PEER;
	if (c->peer.rank == core->rank)
		return loop_back(c, h, req, off, len);
	k = new_pkt(h, len);
	if (!o2g_list_empty(&c->held) || (req && c->hold)) {
		k->off = off;
		k->req = req;
		o2g_list_add_tail(&k->link, &c->held);
		if (!req)
			return 0;
		c->hold -= c->hold > 0;
		req->tx.left = len;
		return 1;
	}
	if (len)
		chan_gather(k->bytes + O2G_HDR_SIZE, req->segs, req->nsegs, off,
			    len);
	o2g_list_add_tail(&k->link, &c->out);
	return 0;
}

static int op_inject(struct o2g_core *core, struct o2g_peer *p,
		     const struct o2g_hdr *h, const void *buf, u64 len)
{
	struct mock_conn *c = conn_of(p);
	struct mock_pkt *k;

	CHECK(!p->down && !c->lost && h->type == O2G_PKT_EAGER && !h->flags);
	CHECK(h->length == len && p->rank != core->rank);
	if (c->hold || c->failed || !o2g_list_empty(&c->held))
		return -EAGAIN;
	k = new_pkt(h, len);
	if (len)
		memcpy(k->bytes + O2G_HDR_SIZE, buf, len);
	o2g_list_add_tail(&k->link, &c->out);
	return 0;
}

static void op_complete(struct o2g_core *core, struct o2g_req *req)
{
	struct mock_req *r = container_of(req, struct mock_req, core);
	struct mock *m = mock_of(core);

	CHECK(!r->done && r->me == m && m->reqs[req->id - 1] == r);
	CHECK(req->state == O2G_ST_DONE && o2g_list_empty(&req->link));
	CHECK(req->status <= 0);
	m->reqs[req->id - 1] = NULL;
	m->live--;
	r->done = true;
	r->kind = req->kind;
	r->flags = req->flags;
	r->status = req->status;
	r->src = req->peer ? req->peer->rank : O2G_MATCH_ANY;
	r->tag = req->tag;
	r->len = req->len;
	r->msg_len = req->msg_len;
	r->got = req->got;
	ASAN_POISON_MEMORY_REGION(req, sizeof(*req));
	if (r->kind == O2G_REQ_REPLY)
		mock_req_free(r);
	else if (m->on_complete)
		m->on_complete(m, r);
}

static struct o2g_req *op_find(struct o2g_core *core, u64 id)
{
	struct mock *m = mock_of(core);

	if (id == 0 || id > m->nreqs || !m->reqs[id - 1])
		return NULL;
	return &m->reqs[id - 1]->core;
}

static bool alloc_fails(struct mock *m)
{
	return m->fail_alloc && !--m->fail_alloc;
}

static struct o2g_unexp *op_unexp_alloc(struct o2g_core *core,
					struct o2g_peer *p, u64 body)
{
	struct mock *m = mock_of(core);
	struct mock_unexp *u;

	if (alloc_fails(m))
		return NULL;
	u = get_memory(sizeof(*u));
	u->me = m;
	u->body = body;
	u->core.body.base = get_bytes(body);
	u->core.body.len = body;
	o2g_list_add_tail(&u->all, &m->unexps);
	m->unexp_body += body;
	m->unexp_count++;
	return &u->core;
}

static void op_unexp_free(struct o2g_core *core, struct o2g_unexp *x)
{
	struct mock_unexp *u = container_of(x, struct mock_unexp, core);
	struct mock *m = mock_of(core);

	CHECK(u->me == m);
	o2g_list_del(&u->all);
	m->unexp_body -= u->body;
	m->unexp_count--;
	free(u->core.body.base);
	free(u);
}

static void op_copy(struct o2g_core *core, const struct o2g_sink *to,
		    const struct o2g_seg *from, u64 len)
{
	struct o2g_sink s = *to;

	CHECK(len <= from->len && len <= to->room);
	chan_sink_write(&s, from->base, len);
}

static void op_arrived(struct o2g_core *core, struct o2g_unexp *u)
{
	struct mock *m = mock_of(core);

	if (m->on_arrived)
		m->on_arrived(m, u);
}

/* "Addresses" are ids of the peer's sends. */
static bool op_expose(struct o2g_core *core, struct o2g_req *req, u64 *addr)
{
	*addr = req->id;
	return mock_of(core)->exposes;
}

static int op_get(struct o2g_core *core, struct o2g_peer *p, u64 addr,
		  const struct o2g_seg *segs, u32 nsegs, u64 len)
{
	struct mock *m = mock_of(core);
	struct mock_conn *back = conn_of(p)->back;
	struct o2g_sink s = { segs, nsegs, 0, len, NULL };
	struct o2g_req *req;
	u8 *tmp;

	m->gets++;
	if (m->get_error)
		return m->get_error;
	req = back && back->me ? op_find(&back->me->core, addr) : NULL;
	if (!req || req->kind != O2G_REQ_SEND || len > req->len)
		return -EFAULT;
	tmp = get_bytes(len);
	chan_gather(tmp, req->segs, req->nsegs, 0, len);
	chan_sink_write(&s, tmp, len);
	free(tmp);
	return 0;
}

static int op_mem(struct o2g_core *core, struct o2g_peer *p, u64 key,
		  u64 offset, u64 len, bool write, struct o2g_seg *seg)
{
	struct mock *m = mock_of(core);

	if (key != MOCK_MEM_KEY && key != MOCK_MEM_RO)
		return -EINVAL;
	if (write && key == MOCK_MEM_RO)
		return -EPERM;
	if (offset > MOCK_MEM || len > MOCK_MEM - offset)
		return -ERANGE;
	seg->base = m->mem + offset;
	seg->len = len;
	return 0;
}

static struct o2g_req *op_reply_alloc(struct o2g_core *core, struct o2g_peer *p)
{
	struct mock *m = mock_of(core);

	if (alloc_fails(m))
		return NULL;
	return &mock_req(m, O2G_REQ_REPLY, 0, 1)->core;
}

static void op_bye(struct o2g_core *core, struct o2g_peer *p)
{
	CHECK(!conn_of(p)->got_bye);
	conn_of(p)->got_bye = true;
}

static bool op_claim(struct o2g_core *c, struct o2g_req *req)
{
	CHECK(req->flags & O2G_REQF_SHARED);
	mock_of(c)->claims++;
	return !mock_of(c)->claim_fails;
}

static const struct o2g_core_ops core_ops = {
	.xmit = op_xmit,
	.inject = op_inject,
	.claim = op_claim,
	.complete = op_complete,
	.find = op_find,
	.unexp_alloc = op_unexp_alloc,
	.unexp_free = op_unexp_free,
	.copy = op_copy,
	.arrived = op_arrived,
	.get = op_get,
	.mem = op_mem,
	.reply_alloc = op_reply_alloc,
	.expose = op_expose,
	.bye = op_bye,
};

/* --- set-up --- */

void mock_init(struct mock *m, u32 rank)
{
	struct o2g_match_bin *bins = get_memory(MOCK_BINS * sizeof(*bins));

	memset(m, 0, sizeof(*m));
	o2g_core_init(&m->core, &core_ops, rank, bins, MOCK_BINS, rank);
	o2g_list_init(&m->unexps);
	for (int i = 0; i < MOCK_MEM; i++)
		m->mem[i] = (u8)(i * 7 + rank);
}

size_t mock_exit(struct mock *m)
{
	while (!o2g_list_empty(&m->unexps)) {
		struct mock_unexp *u =
			o2g_list_first(&m->unexps, struct mock_unexp, all);

		o2g_match_remove(&m->core.match, &u->core.match);
		op_unexp_free(&m->core, &u->core);
	}
	for (size_t i = 0; i < m->nreqs; i++) {
		if (!m->reqs[i])
			continue;
		free(m->reqs[i]->buf);
		free(m->reqs[i]);
	}
	for (int i = 0; i < MOCK_ENDS; i++) {
		if (!m->conn[i].me)
			continue;
		drop_pkts(&m->conn[i].out);
		drop_pkts(&m->conn[i].held);
	}
	free(m->reqs);
	free(m->core.match.bins);
	return m->live;
}

struct mock_conn *mock_join_test(struct mock *m, u32 rank, u32 credit)
{
	struct mock_conn *c = &m->conn[rank];

	memset(c, 0, sizeof(*c));
	c->me = m;
	o2g_list_init(&c->out);
	o2g_list_init(&c->held);
	o2g_stream_init(&c->in);
	o2g_peer_init(&m->core, &c->peer, rank);
	c->peer.eager_max = 1024;
	if (credit) {
		m->core.granted_total += (u64)credit - c->peer.granted;
		c->peer.credit = c->peer.granted = credit;
	}
	return c;
}

void mock_join(struct mock *a, struct mock *b, u32 credit)
{
	struct mock_conn *ca = mock_join_test(a, b->core.rank, credit);

	if (a == b) {
		ca->back = ca;
		return;
	}
	ca->back = mock_join_test(b, a->core.rank, credit);
	ca->back->back = ca;
}

/* --- requests --- */

struct mock_req *mock_req(struct mock *m, enum o2g_req_kind kind, u64 len,
			  unsigned nsegs)
{
	struct mock_req *r = get_memory(sizeof(*r));
	u64 off = 0;

	if (m->nreqs == m->size) {
		m->size = m->size ? 2 * m->size : 16;
		m->reqs = realloc(m->reqs, m->size * sizeof(*m->reqs));
		CHECK(m->reqs);
	}
	m->reqs[m->nreqs++] = r;
	m->live++;
	r->me = m;
	r->number = ++mock_next_number;
	r->cookie = 0;
	r->buf = get_bytes(len);
	r->done = false;
	r->core.kind = kind;
	r->core.state = O2G_ST_NEW;
	r->core.flags = 0;
	r->core.status = 0;
	r->core.id = m->nreqs;
	r->core.len = len;
	r->core.peer = NULL;
	r->core.segs = r->segs;
	r->core.nsegs = nsegs;
	r->core.view = NULL;
	for (unsigned i = 0; i < nsegs; i++) {
		u64 n = i == nsegs - 1 ? len - off : (len - off) / 2;

		r->segs[i] = (struct o2g_seg){ r->buf + off, n };
		off += n;
	}
	return r;
}

void mock_req_free(struct mock_req *r)
{
	CHECK(r->done);
	ASAN_UNPOISON_MEMORY_REGION(&r->core, sizeof(r->core));
	free(r->buf);
	free(r);
}

static void fill(struct mock_req *r, const void *data, u64 len)
{
	if (data && len)
		memcpy(r->buf, data, len);
}

struct mock_req *mock_send(struct mock *m, u32 to, u64 tag, const void *data,
			   u64 len, u8 flags)
{
	struct mock_req *r = mock_req(m, O2G_REQ_SEND, len, 1 + len % 3);

	fill(r, data, len);
	r->core.peer = &m->conn[to].peer;
	r->core.tag = tag;
	r->core.flags = flags;
	o2g_proto_send(&m->core, &r->core);
	return r;
}

struct mock_req *mock_recv(struct mock *m, u32 from, u64 tag, u64 ignore,
			   u64 len)
{
	struct mock_req *r = mock_req(m, O2G_REQ_RECV, len, 1 + len % 3);

	r->core.match.src = from;
	r->core.match.tag = tag;
	r->core.match.ignore = ignore;
	if (from != O2G_MATCH_ANY)
		r->core.peer = &m->conn[from].peer;
	o2g_proto_recv(&m->core, &r->core);
	return r;
}

struct mock_req *mock_mrecv(struct mock *m, struct o2g_unexp *u, u64 len)
{
	struct mock_req *r = mock_req(m, O2G_REQ_RECV, len, 1 + len % 3);

	o2g_proto_mrecv(&m->core, &r->core, u);
	return r;
}

struct mock_req *mock_put(struct mock *m, u32 to, u64 key, u64 offset,
			  const void *data, u64 len)
{
	struct mock_req *r = mock_req(m, O2G_REQ_PUT, len, 1 + len % 3);

	fill(r, data, len);
	r->core.peer = &m->conn[to].peer;
	r->core.key = key;
	r->core.offset = offset;
	o2g_proto_put(&m->core, &r->core);
	return r;
}

struct mock_req *mock_get(struct mock *m, u32 to, u64 key, u64 offset, u64 len)
{
	struct mock_req *r = mock_req(m, O2G_REQ_GET, len, 1 + len % 3);

	r->core.peer = &m->conn[to].peer;
	r->core.key = key;
	r->core.offset = offset;
	o2g_proto_get(&m->core, &r->core);
	return r;
}
