/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Requests, with buffers of their own. */
#include "mock_impl.h"

u64 mock_next_number;

struct mock_req *mock_req(struct mock *m, enum o2g_req_kind kind, u64 len,
			  unsigned nsegs)
{
	struct mock_req *r = mock_memory(sizeof(*r));
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
	r->buf = mock_bytes(len);
	r->result = NULL;
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
	free(r->result);
	free(r->buf);
	free(r);
}

static void fill(struct mock_req *r, const void *data, u64 len)
{
	if (data && len)
		memcpy(r->buf, data, len);
}

struct mock_req *mock_send(struct mock *m, u32 to, u64 tag, const void *data,
			   u64 len, u16 flags)
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

struct mock_req *mock_atomic(struct mock *m, u32 to, u32 op, u32 type, u64 key,
			     u64 offset, const void *data, u64 len, bool fetch)
{
	struct mock_req *r = mock_req(m, O2G_REQ_ATOMIC, len, 1 + len % 3);
	u64 span = op == O2G_AOP_CAS ? len / 2 : len;

	fill(r, data, len);
	r->core.peer = &m->conn[to].peer;
	r->core.key = key;
	r->core.offset = offset;
	r->core.op = (u8)op;
	r->core.type = (u8)type;
	if (fetch) {
		r->result = mock_bytes(span);
		r->core.flags = O2G_REQF_FETCH;
		r->core.result = (struct o2g_seg){ r->result, span };
		r->core.result_segs = &r->core.result;
		r->core.n_result_segs = 1;
		r->core.result_view = NULL;
	}
	o2g_proto_atomic(&m->core, &r->core);
	return r;
}
