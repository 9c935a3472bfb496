/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the core asks of its engine. */
#include "mock_impl.h"

/* To oneself: the packet arrives before this returns. */
static int loop_back(struct mock_conn *c, const struct o2g_hdr *h,
		     struct o2g_req *req, u64 off, u64 len)
{
	u8 *body = mock_bytes(len);
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
	struct mock_conn *c = mock_conn_of(p);
	struct mock_pkt *k;

	CHECK(!p->down && !c->lost);
	CHECK(o2g_wire_body(h) == len && (req || !len));
	if (c->fail_xmit && !--c->fail_xmit)
		c->failed = true;
	if (c->failed)
		return -O2G_ERR_PEER;
	if (c->peer.rank == core->rank)
		return loop_back(c, h, req, off, len);
	k = mock_new_pkt(h, len);
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
	struct mock_conn *c = mock_conn_of(p);
	struct mock_pkt *k;

	CHECK(!p->down && !c->lost && h->type == O2G_PKT_EAGER && !h->flags);
	CHECK(h->length == len && p->rank != core->rank);
	if (c->hold || c->failed || !o2g_list_empty(&c->held))
		return -EAGAIN;
	k = mock_new_pkt(h, len);
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
	u = mock_memory(sizeof(*u));
	u->me = m;
	u->body = body;
	u->core.body.base = mock_bytes(body);
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

static bool op_lend(struct o2g_core *core, struct o2g_req *req, u64 len)
{
	return len >= container_of(req->peer, struct mock_conn, peer)->lend_min;
}

static int op_get(struct o2g_core *core, struct o2g_req *recv, u64 addr,
		  u64 len)
{
	struct mock *m = mock_of(core);
	struct mock_conn *back = mock_conn_of(recv->peer)->back;
	struct o2g_sink s = { recv->segs, recv->nsegs, 0, len, NULL };
	struct o2g_req *req;
	u8 *tmp;

	m->gets++;
	if (m->get_error)
		return m->get_error;
	req = back && back->me ? op_find(&back->me->core, addr) : NULL;
	if (!req || req->kind != O2G_REQ_SEND || len > req->len)
		return -EFAULT;
	tmp = mock_bytes(len);
	chan_gather(tmp, req->segs, req->nsegs, 0, len);
	chan_sink_write(&s, tmp, len);
	free(tmp);
	return 0;
}

static int op_mem(struct o2g_core *core, struct o2g_peer *p, u64 key,
		  u64 offset, u64 len, bool write, struct o2g_seg *seg)
{
	struct mock *m = mock_of(core);

	if (key == MOCK_CELLS_KEY) {
		if (offset > sizeof(m->cells) ||
		    len > sizeof(m->cells) - offset)
			return -ERANGE;
		*seg = (struct o2g_seg){ (u8 *)m->cells + offset, len };
		return 0;
	}
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

static int op_atomic(struct o2g_core *core, const struct o2g_seg *seg, u32 op,
		     u32 type, void *operands, u64 n)
{
	u32 size = o2g_atomic_size(type);
	u64 old;

	CHECK(seg->len == n * size && o2g_atomic_exists(op, type));
	if (o2g_atomic_is_float(type))
		return -EOPNOTSUPP;
	if (op != O2G_AOP_CAS) {
		o2g_atomic_apply(o2g_atomic_integer, op, type, seg->base,
				 operands, operands, n);
		return 0;
	}
	CHECK(n == 1);
	old = o2g_atomic_cas(type, seg->base, o2g_atomic_read(operands, size),
			     o2g_atomic_read((u8 *)operands + size, size));
	memcpy(operands, &old, size);
	return 0;
}

static bool op_peek(struct o2g_core *core, const struct o2g_seg *seg, u64 *to)
{
	CHECK(seg->len <= 8);
	memcpy(to, seg->base, seg->len);
	return mock_of(core)->peeks;
}

static void op_served(struct o2g_core *core, struct o2g_peer *p)
{
	struct mock *m = mock_of(core);
	struct o2g_unexp *u;

	CHECK(o2g_proto_served(p));
	if (m->on_served) {
		m->on_served(m, mock_conn_of(p));
		return;
	}
	while ((u = o2g_proto_served(p))) {
		m->handled++;
		m->handled_bytes += u->len;
		m->handled_tag = u->match.tag;
		o2g_proto_take_served(u);
		o2g_proto_drop(core, u);
	}
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
	CHECK(!mock_conn_of(p)->got_bye);
	mock_conn_of(p)->got_bye = true;
}

static bool op_claim(struct o2g_core *c, struct o2g_req *req)
{
	CHECK(req->flags & O2G_REQF_SHARED);
	mock_of(c)->claims++;
	return !mock_of(c)->claim_fails;
}

const struct o2g_core_ops mock_core_ops = {
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
	.atomic = op_atomic,
	.peek = op_peek,
	.served = op_served,
	.reply_alloc = op_reply_alloc,
	.expose = op_expose,
	.lend = op_lend,
	.bye = op_bye,
};
