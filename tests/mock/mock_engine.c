/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Endpoints and their connections. */
#include "mock_impl.h"

void mock_init(struct mock *m, u32 rank)
{
	struct o2g_match_bin *bins = mock_memory(MOCK_BINS * sizeof(*bins));

	memset(m, 0, sizeof(*m));
	o2g_core_init(&m->core, &mock_core_ops, rank, bins, MOCK_BINS, rank);
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
		mock_core_ops.unexp_free(&m->core, &u->core);
	}
	for (size_t i = 0; i < m->nreqs; i++) {
		if (!m->reqs[i])
			continue;
		free(m->reqs[i]->result);
		free(m->reqs[i]->buf);
		free(m->reqs[i]);
	}
	for (int i = 0; i < MOCK_ENDS; i++) {
		if (!m->conn[i].me)
			continue;
		mock_drop_pkts(&m->conn[i].out);
		mock_drop_pkts(&m->conn[i].held);
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
	c->lend_min = ~0ull;
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
