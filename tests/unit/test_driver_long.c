/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a program or a peer makes long is done in portions: softirqs are never held off
 * for more than some thousand calls of functions, however much there is.
 */
#include "unit.h"

#include <stdio.h>

#include "dev.h"
#include "o2gk.h"
#include "world.h"

#define MANY 5000
#define LONGEST 12000 /* calls for a portion: 256 things, up to 40 calls each */

static struct o2gk_ep *ep_of(struct end *e)
{
	return e->file.private_data;
}

static struct o2gk_peer *peer_of(struct end *e, u32 number)
{
	return xa_load(&ep_of(e)->peers, number);
}

/* a and b with so many slots, connected; the ring of completions holds them all. */
static void open_large(void)
{
	u32 slots = MANY + 256;

	world_ring = 8192;
	assert_int_equal(world_open(), 0);
	assert_int_equal(end_call(&a, O2GD_GROW, &slots), 0);
	assert_int_equal(end_call(&b, O2GD_GROW, &slots), 0);
}

/* All completions, which must be @n with that status, and then the peer's loss. */
static void all_ended(struct end *e, u32 n)
{
	struct o2gd_cqe c;

	for (u32 i = 0; i < n; i++) {
		assert_int_equal(end_next(e, &c), 0);
		assert_int_not_equal(c.slot, O2GD_SLOT_PEER);
		assert_int_equal(c.status, -O2G_ERR_PEER);
	}
	assert_int_equal(end_next(e, &c), 0);
	assert_int_equal(c.slot, O2GD_SLOT_PEER);
}

static void is_short(const char *what)
{
	printf("%s: at most %lu calls with softirqs off\n", what, mock.longest);
	assert_true(mock.longest > 0 && mock.longest < LONGEST);
}

static void post_many(struct end *e, u64 ignore)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV,
			      .peer = !e->s.rank,
			      .ignore = ignore,
			      .len = 8 };

	for (q.slot = 0; q.slot < MANY; q.slot++) {
		q.tag = ignore ? 1 : q.slot / 2;
		assert_int_equal(end_call(e, O2GD_SUBMIT, &q), 0);
	}
}

/* --- a peer is lost --- */

static u64 ignore;

static void many_receives(void)
{
	open_large();
	post_many(&a, ignore);
	mock.longest = 0;
	mock_reset(mock_sock(fds[0]));
	mock_run();
	is_short("receives of a lost peer");
	all_ended(&a, MANY);
}

static void o2gk_peer_lost__receives(void **state)
{
	ignore = 0;
	world_run(many_receives);
	ignore = 0xff;
	world_run(many_receives);
}

/* Sends that wait for credit, packets in line; then the connection is reset. */
static void many_sends(void)
{
	open_large();
	mock.send_space = 1;
	for (u32 i = 0; i < MANY; i++)
		assert_true(end_submit(&a, O2GD_OP_SEND, i, i, data, 5000) ==
			    0);
	for (u32 i = 0; i < 3 * O2GK_STEP; i++) {
		struct o2gd_mem m = { .addr = (uintptr_t)data,
				      .len = 8,
				      .access = O2GD_READ,
				      .key = i + 1 };

		assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	}
	mock.longest = 0;
	mock_reset(mock_sock(fds[0]));
	mock_run();
	is_short("sends to a lost peer");
	all_ended(&a, MANY);
}

static void o2gk_peer_lost__sends(void **state)
{
	world_run(many_sends);
}

/* What it has announced, and what it has sent. */
static void many_messages(void)
{
	open_large();
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 32 << 20;
	for (u32 i = 0; i < MANY; i++) {
		end_submit(&b, O2GD_OP_SEND, i, i, data, i % 2 ? 8 : 60000);
		mock_run();
	}
	assert_int_equal(ep_of(&a)->core.match.nunexp, MANY);
	mock.longest = 0;
	mock_reset(mock_sock(fds[0]));
	mock_run();
	is_short("messages of a lost peer");
	assert_int_equal(ep_of(&a)->core.match.nunexp, MANY / 2);
	all_ended(&a, 0);
}

static void o2gk_peer_lost__messages(void **state)
{
	world_run(many_messages);
}

/* --- an endpoint is closed --- */

static void close_large(void)
{
	open_large();
	post_many(&a, 0);
	mock.longest = 0;
	end_close(&a);
	is_short("closing");
}

static void o2gk_ep_destroy__long(void **state)
{
	world_run(close_large);
}

/* --- credit --- */

/* A peer that has stalled many sends grants what is enough for all of them. */
static void generous(void)
{
	struct o2g_hdr h = { .type = O2G_PKT_CREDIT,
			     .src = 1,
			     .credit = 1u << 30 };

	world_ring = 8192;
	assert_int_equal(end_open(&a, 0, MANY + 256), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	for (u32 i = 0; i < MANY; i++)
		assert_true(end_submit(&a, O2GD_OP_SEND, i, i, data, 100) >= 0);
	assert_false(o2g_list_empty(&peer_of(&a, 1)->core.stalled));
	mock.send_space = 4 << 20;
	mock_run();
	mock.longest = 0;
	world_raw_header(fds[1], &h);
	mock_run();
	is_short("credit for many sends");
	assert_true(o2g_list_empty(&peer_of(&a, 1)->core.stalled));
	assert_int_equal(peer_of(&a, 1)->core.msgs_sent, MANY);
}

static void o2g_proto_go_on__long(void **state)
{
	world_run(generous);
}

/* --- looking, and a table that grows --- */

static struct o2gd_queue_entry found[2 * MANY];

static void look(void)
{
	struct o2gd_look q = { .max = 2 * MANY,
			       .addr = (uintptr_t)found,
			       .entry = sizeof(found[0]) };
	struct o2gd_info i;

	open_large();
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 32 << 20;
	mock.longest = 0;
	for (u32 n = 0; n < MANY; n++) { /* the table grows */
		assert_int_equal(end_inject(&b, MANY + n, data, 8), 0);
		mock_run();
	}
	post_many(&a, 0);
	is_short("the table of bins");
	assert_true(ep_of(&a)->core.match.nbins >= 8192);
	q.id = ep_of(&a)->id;
	mock.longest = 0;
	assert_int_equal(end_call(&b, O2GD_QUEUES, &q), 0);
	assert_int_equal(end_info(&a, &i), 0);
	is_short("looking at queues");
	assert_int_equal(q.count, 2 * MANY);
	for (u32 n = 0; n < 2 * MANY; n++)
		assert_int_equal(found[n].queue, n < MANY ?
							 O2GD_QUEUE_POSTED :
							 O2GD_QUEUE_UNEXPECTED);
}

static void look__long(void **state)
{
	world_run(look);
}

/* --- wildcards --- */

/* Receives from any source, each with another tag; then a message for the last. */
static void any_source(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV, .peer = O2GD_ANY, .len = 8 };

	open_large();
	for (q.slot = 0; q.slot < MANY; q.slot++) {
		q.tag = q.slot;
		assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), 0);
	}
	mock.longest = 0;
	assert_int_equal(end_inject(&b, MANY - 1, data, 8), 0);
	mock_run();
	printf("many wildcards: at most %lu calls with softirqs off\n",
	       mock.longest);
	assert_true(mock.longest < MANY / 4); /* not one for each of them */
	assert_int_equal(end_got(&a, MANY - 1, MANY - 1, 8), 0);
	assert_int_equal(ep_of(&a)->core.match.nposted, MANY - 1);
}

/* Each ignores other bits: so many are allowed, by a call and through the ring. */
static void all_odd(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV, .peer = 1, .len = 8 };
	struct o2gd_cqe c;

	open_large();
	for (; q.slot < O2GK_STEP + O2G_MATCH_KINDS; q.slot++) {
		q.ignore = (q.slot + 1ull) << 20;
		assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), 0);
	}
	q.ignore = (q.slot + 1ull) << 20;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), -ENOSPC);
	a.sq[a.sq_tail % a.s.sq_entries] = q;
	a.shared->sq_tail = ++a.sq_tail;
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), 0);
	assert_int_equal(end_next(&a, &c), 0);
	assert_int_equal(c.slot, q.slot);
	assert_int_equal(c.status, -ENOSPC);
	q.ignore = 1ull << 20; /* as the first: there is a place for it */
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), 0);
	mock.longest = 0;
	assert_int_equal(end_inject(&b, (q.slot - 1ull) << 20, data, 8), 0);
	mock_run();
	is_short("wildcards of many kinds");
}

static void o2g_match_arrive__wild(void **state)
{
	world_run(any_source);
	world_run(all_odd);
}

/* Messages that nobody has asked for, and that a receive or a probe passes over. */
static void far_back(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV, .peer = O2GD_ANY, .len = 8 };
	struct o2gd_probe probe = { .source = O2GD_ANY, .tag = MANY - 1 };

	open_large();
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 32 << 20;
	for (u32 i = 0; i < MANY; i++) {
		assert_int_equal(end_inject(&b, i, data, 8), 0);
		mock_run();
	}
	mock.longest = 0;
	assert_int_equal(end_call(&a, O2GD_PROBE, &probe), 0);
	assert_int_equal(probe.msg_tag, MANY - 1);
	is_short("a probe that passes over many messages");
	mock.longest = 0;
	q.tag = MANY - 2;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), 0);
	assert_int_equal(end_got(&a, 0, MANY - 2, 8), 0);
	is_short("a receive that passes over many messages");
	mock.longest = 0;
	for (u32 i = 0; i < 16; i++) { /* many of those, in order */
		q.slot = i;
		q.tag = MANY - 3 - i / 2;
		a.sq[a.sq_tail++ % a.s.sq_entries] = q;
	}
	a.shared->sq_tail = a.sq_tail;
	assert_int_equal(end_inject(&b, MANY, data, 8), 0);
	mock_run();
	is_short("receives in the ring that do");
	for (u32 i = 0; i < 16; i += 2)
		assert_int_equal(end_got(&a, i, MANY - 3 - i / 2, 8), 0);
	assert_false(end_has(&a));
	assert_int_equal(ep_of(&a)->core.match.nposted, 8);
}

static void o2gk_seek__long(void **state)
{
	world_run(far_back);
}

/* --- many messages at once --- */

/* Each message that waits has its receive in the ring, when one more comes. */
static void asked_for_later(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV, .peer = 1, .len = 8 };

	open_large();
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 32 << 20;
	for (u32 i = 0; i < MANY; i++) {
		assert_int_equal(end_inject(&b, i, data, 8), 0);
		mock_run();
	}
	for (q.slot = 0; q.slot < MANY; q.slot++) {
		q.tag = q.slot;
		a.sq[a.sq_tail++ % a.s.sq_entries] = q;
	}
	a.shared->sq_tail = a.sq_tail;
	mock.longest = 0;
	assert_int_equal(end_inject(&b, MANY, data, 8), 0);
	mock_run();
	printf("receives for messages that wait: at most %lu calls\n",
	       mock.longest);
	/* For two portions of them, and not for all: each takes some 70. */
	assert_true(mock.longest && mock.longest < 10 * MANY);
	for (u32 i = 0; i < MANY; i++)
		assert_int_equal(end_got(&a, i, i, 8), 0);
	assert_int_equal(a.shared->unexpected, 1);
}

static void tell_unexpected__long(void **state)
{
	world_run(asked_for_later);
}

/* A socket that could not be read for a while has many of them. */
static void all_at_once(void)
{
	open_large();
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 32 << 20;
	mock.send_space = 4 << 20;
	mock.later = true;
	for (u32 i = 0; i < MANY; i++)
		assert_int_equal(end_inject(&b, i, data, 0), 0);
	mock.longest = 0;
	mock_run();
	printf("packets of a full socket: at most %lu calls\n", mock.longest);
	/* For O2GK_RX_PACKETS, and not for all: each takes some 80. */
	assert_true(mock.longest && mock.longest < 20 * MANY);
	assert_int_equal(ep_of(&a)->core.match.nunexp, MANY);
}

static void o2gk_rx_run__long(void **state)
{
	world_run(all_at_once);
}

/* --- the ring and the dump area --- */

/* All completions wait for room, and are moved in one call. */
static void overflown(void)
{
	struct o2gd_cqe c;
	u32 rank = 1;

	open_large();
	post_many(&a, 0);
	ep_of(&a)->file.cq_freed =
		ep_of(&a)->file.cq_tail - 8192; /* it looks full */
	a.shared->cq_head = ep_of(&a)->file.cq_freed;
	assert_int_equal(end_call(&a, O2GD_PEER_DOWN, &rank), 0);
	assert_int_equal(a.shared->overflow, MANY + 1);
	a.shared->cq_head = a.cq_head;
	mock.longest = 0;
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), 0);
	is_short("completions that waited for room");
	assert_int_equal(a.shared->overflow, 0);
	for (u32 i = 0; i <= MANY; i++)
		assert_int_equal(end_next(&a, &c), 0);
}

static void o2gk_cq_flush__long(void **state)
{
	world_run(overflown);
}

/* The dump area has a hole beside each block, and none is large enough. */
static void riddled(void)
{
	struct o2gk_ep *ep;
	u32 n = 0;

	assert_int_equal(end_open(&a, 0, 16), 0);
	ep = ep_of(&a);
	spin_lock_bh(&ep->lock);
	while (o2gk_dump_alloc(ep, 1))
		n++;
	assert_int_equal(n, ep->file.dump_blocks);
	for (u32 i = 1; i <= n; i += 2)
		o2gk_dump_free(ep, i);
	mock.searched = 0;
	assert_false(o2gk_dump_fits(ep, 2 * O2GD_BLOCK));
	assert_int_equal(o2gk_dump_alloc(ep, 2 * O2GD_BLOCK), 0);
	assert_true(mock.searched < 1000);
	assert_true(o2gk_dump_fits(ep, O2GD_BLOCK));
	o2gk_dump_free(ep, 2);
	assert_true(o2gk_dump_fits(ep, 2 * O2GD_BLOCK));
	assert_int_equal(o2gk_dump_alloc(ep, 2 * O2GD_BLOCK), 1);
	spin_unlock_bh(&ep->lock);
}

static void o2gk_dump_alloc__riddled(void **state)
{
	world_run(riddled);
}

/* --- memory in many pieces --- */

#define PIECES 2000

static void many_pieces(void)
{
	static struct iovec iov[PIECES];
	u64 total = 0, walked = 0;
	struct o2gk_pin *pin;

	for (u32 i = 0; i < PIECES; i++) {
		iov[i].iov_base = data + 70 * i;
		iov[i].iov_len = i % 7 ? 60 + i % 10 : 0;
		total += iov[i].iov_len;
	}
	pin = o2gk_pin_user(NULL, iov, PIECES, true);
	assert_non_null(pin);
	for (u64 at = 0, next = 0, sum = 0; at < total; at++) {
		u64 off = at;
		const struct bio_vec *bv = o2gk_bvec_at(pin, &off);
		u32 n = 0;

		while (at - sum >= pin->bvec[next].bv_len)
			sum += pin->bvec[next++].bv_len;
		for (; off >= bv->bv_len; bv++, n++)
			off -= bv->bv_len;
		assert_ptr_equal(bv, pin->bvec + next);
		assert_int_equal(off, at - sum);
		walked = max(walked, (u64)n);
	}
	assert_true(walked < O2GK_MARK);
	o2gk_pin_free(pin);
}

static void o2gk_bvec_at__many(void **state)
{
	world_run(many_pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2gk_peer_lost__receives), T(o2gk_peer_lost__sends),
		T(o2gk_peer_lost__messages), T(o2gk_ep_destroy__long),
		T(o2g_proto_go_on__long),    T(look__long),
		T(o2gk_cq_flush__long),	     T(o2gk_dump_alloc__riddled),
		T(o2g_match_arrive__wild),   T(o2gk_seek__long),
		T(o2gk_bvec_at__many),	     T(tell_unexpected__long),
		T(o2gk_rx_run__long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
