/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* driver/local.c: endpoints of one host. */
#include "unit.h"

#include "dev.h"
#include "o2gk.h"
#include "world.h"

#define LEN 200000 /* in several packets */
#define ONE 40000  /* in one */

static u32 other_rank = 1;

static struct o2gk_peer *peer_of(struct end *e)
{
	struct o2gk_ep *ep = e->file.private_data;

	return xa_load(&ep->peers, !e->s.rank);
}

static void open_near(void)
{
	mock.near = true;
	assert_int_equal(world_open(), 0);
	assert_non_null(peer_of(&a)->link);
	assert_ptr_equal(peer_of(&a)->link, peer_of(&b)->link);
}

static void recv_unpinned(u64 len)
{
	mock.no_pins = true;
	assert_int_equal(end_recv(&b, 1, 1, len), 0);
	mock.no_pins = false;
}

/* All that comes are failed requests, and at last the loss of the peer. */
static void is_lost(struct end *e)
{
	struct o2gd_cqe c;

	while (!e->lost) {
		assert_int_equal(end_next(e, &c), 0);
		assert_int_equal(c.status, -O2G_ERR_PEER);
	}
}

static void nothing_by_tcp(void)
{
	assert_int_equal(mock_sock(fds[0])->sent, 0);
	assert_int_equal(mock_sock(fds[1])->sent, 0);
}

/* --- what goes by the link --- */

static void once(void)
{
	open_near();
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(end_recv(&b, i, i, LEN), 0);
		assert_int_equal(end_submit(&a, O2GD_OP_SEND, i, i, data, LEN),
				 0);
		assert_int_equal(end_got(&b, i, i, LEN), 0);
		assert_int_equal(end_done(&a, i), 0);
	}
	nothing_by_tcp();
}

static void copied__once(void **state)
{
	world_run(once);
}

static void far(void)
{
	assert_int_equal(world_open(), 0);
	assert_null(peer_of(&a)->link);
	assert_int_equal(end_recv(&b, 1, 1, LEN), 0);
	assert_int_equal(end_send(&a, 1, 1, LEN), 0);
	assert_int_equal(end_got(&b, 1, 1, LEN), 0);
	assert_true(mock_sock(fds[0])->sent > LEN);
}

static void copied__not_when_far(void **state)
{
	world_run(far);
}

/* One with the same addresses that is over is another one. */
static void over(void)
{
	mock.near = true;
	assert_int_equal(end_open(&a, 0, 16), 0);
	assert_int_equal(end_open(&b, 1, 16), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	mock_sock(fds[0])->sk_state = TCP_CLOSE;
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	assert_null(peer_of(&b)->link);
	mock_reset(mock_sock(fds[0]));
}

static void copied__not_from_the_dead(void **state)
{
	world_run(over);
}

/* To a receive that is shorter, or so short that it has no pages. */
static void short_receive(void)
{
	static const u64 room[] = { 10, 3000, 50000 };
	struct o2gd_cqe c;

	open_near();
	for (u32 i = 0; i < ARRAY_SIZE(room); i++) {
		assert_int_equal(end_recv(&b, i, i, room[i]), 0);
		assert_int_equal(end_send(&a, i, i, LEN), 0);
		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.status, -O2G_ERR_TRUNCATED);
		assert_int_equal(c.length, room[i]);
		assert_memory_equal(buf, data, room[i]);
	}
	assert_true(mock_sock(fds[0])->sent < 1000);
}

static void copied__truncated(void **state)
{
	world_run(short_receive);
}

/* Without pinned pages: of the receiver, a worker has its memory; of the sender,
 * the connection does it. */
static void unpinned(void)
{
	open_near();
	recv_unpinned(LEN);
	assert_int_equal(end_send(&a, 1, 1, LEN), 0);
	assert_int_equal(end_got(&b, 1, 1, LEN), 0);
	assert_true(mock_sock(fds[0])->sent < 1000);
	assert_int_equal(end_recv(&b, 1, 1, LEN), 0);
	mock.no_pins = true;
	assert_int_equal(end_send(&a, 1, 1, LEN), 0);
	assert_int_equal(end_got(&b, 1, 1, LEN), 0);
	assert_true(mock_sock(fds[0])->sent > LEN);
}

static void copied__unpinned(void **state)
{
	world_run(unpinned);
}

/* --- ends --- */

static void give_up(void)
{
	mock_as(&mock_mm, 1000);
	assert_int_equal(o2gk_fops.unlocked_ioctl(&a.file, O2GD_PEER_DOWN,
						  (unsigned long)&other_rank),
			 0);
}

/* A long message is on its way: RTS and CTS went, the first packet of its data is
 * on the link, and the worker who copies it has not come yet. */
static void open_on_the_way(void)
{
	mock.later = true;
	open_near();
	assert_int_equal(end_recv(&b, 1, 1, LEN), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, LEN), 0);
	mock_net_run();
	assert_true(peer_of(&b)->local_work.pending);
}

static void gives_up_before(void)
{
	open_on_the_way();
	give_up();
	is_lost(&a);
	is_lost(&b);
}

static void sender__gives_up_before(void **state)
{
	world_run(gives_up_before);
}

static struct task_struct *worker_task;

static void give_up_in_between(void)
{
	worker_task = mock_task;
	give_up();
	/* The pages are needed, whatever has become of the request. */
	assert_true(mock.pinned > ONE / PAGE_SIZE);
	mock_task = worker_task;
}

/* What is copied then is not believed. */
static void gives_up_while(void)
{
	open_near();
	assert_int_equal(end_recv(&b, 1, 1, ONE), 0);
	mock.on_copy = give_up_in_between;
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, ONE), 0);
	is_lost(&a);
	is_lost(&b);
}

static void sender__gives_up_while(void **state)
{
	world_run(gives_up_while);
}

static void receiver_closes(void)
{
	open_on_the_way();
	world_close_fds();
	end_close(&b);
	is_lost(&a);
}

static void receiver__closes(void **state)
{
	world_run(receiver_closes);
}

static void sender_closes(void)
{
	open_on_the_way();
	world_close_fds();
	end_close(&a);
	is_lost(&b);
}

static void sender__closes(void **state)
{
	world_run(sender_closes);
}

/* The process is dead, and its memory was not pinned. */
static void receiver_dies(void)
{
	mock.later = true;
	open_near();
	recv_unpinned(LEN);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, LEN), 0);
	mock_net_run();
	mock_mm.users = 0;
	mock_run();
	is_lost(&a);
	is_lost(&b);
}

static void receiver__dies(void **state)
{
	world_run(receiver_dies);
}

/* What was to be read is read before the goodbye is heard. */
static void bye(void)
{
	struct o2gd_mem m = { .addr = (uintptr_t)data,
			      .len = LEN,
			      .access = O2GD_READ,
			      .key = 9 };
	struct o2gd_sqe e = { .op = O2GD_OP_GET,
			      .slot = 1,
			      .key = 9,
			      .addr = (uintptr_t)buf,
			      .len = LEN };
	u32 ms = 1000;

	mock.later = true;
	open_near();
	assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), 0);
	mock_net_run();
	assert_int_equal(end_call(&a, O2GD_BYE, &ms), 0);
	assert_int_equal(end_done(&b, 1), 0);
	assert_memory_equal(buf, data, LEN);
	is_lost(&b);
}

static void bye__waits(void **state)
{
	world_run(bye);
}

/* More than are served at once, and those who serve come late. */
static void many_gets(void)
{
	enum { N = 300 };
	struct o2gd_mem m = { .addr = (uintptr_t)data,
			      .len = LEN,
			      .access = O2GD_READ,
			      .key = 9 };
	struct o2gd_sqe e = { .op = O2GD_OP_GET,
			      .key = 9,
			      .offset = 77,
			      .addr = (uintptr_t)buf,
			      .len = 5000 };
	u32 slots = N;

	mock.lifo = true;
	open_near();
	assert_int_equal(end_call(&b, O2GD_GROW, &slots), 0);
	assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	for (e.slot = 0; e.slot < N; e.slot++)
		assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), 0);
	for (u32 i = 0; i < N; i++) {
		struct o2gd_cqe c;

		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.status, 0);
	}
	assert_memory_equal(buf, data + 77, 5000);
	assert_true(mock_sock(fds[0])->sent < 5000);
}

static void gets__many(void **state)
{
	world_run(many_gets);
}

/* --- mail --- */

/* Of all lengths, before and after it is asked for; no worker has to work. */
static void all_lengths(void)
{
	static const u64 len[] = { 0, 8, 17, 4096, 4097, 16384 };

	open_near();
	mock_run(); /* what registration has left to them */
	for (u32 i = 0; i < ARRAY_SIZE(len); i++) {
		assert_int_equal(end_recv(&b, i, i, len[i]), 0);
		assert_int_equal(
			end_submit(&a, O2GD_OP_SEND, i, i, data, len[i]), 1);
		assert_true(end_has(&b));
		assert_int_equal(end_got(&b, i, i, len[i]), 0);
		assert_int_equal(
			end_submit(&a, O2GD_OP_SEND, i, i, data, len[i]), 1);
		assert_int_equal(b.shared->unexpected, 1);
		assert_int_equal(end_recv(&b, i, i, len[i]), 0);
		assert_int_equal(end_got(&b, i, i, len[i]), 0);
	}
	nothing_by_tcp();
}

static void mail__all_lengths(void **state)
{
	world_run(all_lengths);
}

/* What went over the connection before there was a link comes first. */
static void after_tcp(void)
{
	mock.near = true;
	mock.later = true;
	assert_int_equal(end_open(&a, 0, 64), 0);
	assert_int_equal(end_open(&b, 1, 64), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	assert_int_equal(end_inject(&a, 1, data, 3000), 0);
	mock.later = false;
	mock.segment = 100; /* some of it is read when b gets its socket */
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(end_inject(&a, 1, data, 16 + i), 0);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(end_recv(&b, i, 1, 4000), 0);
	assert_int_equal(end_got(&b, 0, 1, 8), 0);
	assert_int_equal(end_got(&b, 1, 1, 3000), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(end_got(&b, 2 + i, 1, 16 + i), 0);
}

static void mail__after_tcp(void **state)
{
	world_run(after_tcp);
}

/* What cannot be pinned goes by TCP, or is written by a worker, in order. */
static void unpinned_mail(void)
{
	open_near();
	for (u32 i = 0; i < 8; i++) {
		mock.no_pins = i & 1;
		assert_int_equal(end_recv(&b, i, 1, i < 6 ? 9000 : 8), 0);
	}
	assert_int_equal(mock_sock(fds[0])->sent, 0);
	for (u32 i = 0; i < 8; i++) {
		u64 len = i < 6 ? 5000 + i : 8;

		mock.no_pins = i & 2;
		assert_true(end_submit(&a, O2GD_OP_SEND, i, 1, data, len) >= 0);
	}
	mock_run();
	for (u32 i = 0; i < 8; i++) {
		struct o2gd_cqe c;

		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.slot, i);
		assert_int_equal(c.status, 0);
		assert_int_equal(c.length, i < 6 ? 5000 + i : 8);
	}
	assert_true(mock_sock(fds[0])->sent > 10000);
}

static void mail__unpinned(void **state)
{
	world_run(unpinned_mail);
}

/* A message for memory that only its process can write to, and no process. */
static void dies_late(void)
{
	open_near();
	recv_unpinned(9000);
	mock_run();
	mock_mm.users = 0;
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 9000), 0);
	mock_run();
	mock.failed = "the process";
	assert_int_equal(end_done(&a, 1), 0); /* that it has left */
	is_lost(&a);
	is_lost(&b);
}

static void mail__receiver_dies(void **state)
{
	world_run(dies_late);
}

/* A message has come that a worker has still to copy. */
static void open_with_work(void)
{
	open_near();
	recv_unpinned(9000);
	mock_run();
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 9000), 0);
	assert_true(peer_of(&b)->local_work.pending);
}

static void closes_late(void)
{
	open_with_work();
	world_close_fds();
	end_close(&b);
	is_lost(&a);
}

static void gives_up_late(void)
{
	open_with_work();
	give_up();
	is_lost(&a);
	is_lost(&b);
}

static void mail__ends_late(void **state)
{
	world_run(closes_late);
	world_run(gives_up_late);
}

/* A packet that does not belong to this connection: the receiver ends it. */
static void refused(void)
{
	open_near();
	peer_of(&b)->core.wire_rank = 7;
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	mock_run();
	is_lost(&a);
	is_lost(&b);
	assert_int_equal(peer_of(&b)->drops[O2GD_DROP_WRONG_ENDPOINT], 1);
}

static void mail__refused(void **state)
{
	world_run(refused);
}

/* All that has waited for a worker, in more than one turn. */
static void many(void)
{
	enum { N = 100 };
	struct o2gd_cqe c;

	open_with_work();
	for (u32 i = 0; i < N; i++)
		assert_int_equal(end_inject(&a, 1, data, 0), 0);
	assert_int_equal(b.shared->unexpected, 0);
	mock_run();
	assert_int_equal(b.shared->unexpected, N);
	assert_int_equal(end_got(&b, 1, 1, 9000), 0);
	assert_int_equal(end_done(&a, 1), 0);
	for (u32 i = 0; i < N; i++) {
		assert_int_equal(end_recv(&b, i % 16, 1, 8), 0);
		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.status, 0);
	}
}

static void mail__many(void **state)
{
	world_run(many);
}

/* --- programs that write to the connection themselves --- */

/* An id that anybody can guess: of the first request in that slot. */
static u64 id_of(u32 slot)
{
	return 1ull << 32 | (slot + 1);
}

static const struct o2g_hdr forged_data = { .type = O2G_PKT_DATA,
					    .src = 0,
					    .dst = 1,
					    .length = ONE };

/* The slot belongs to a short body now, and the rest of a long one comes. */
static void reuse_and_go_on(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_SEND,
			      .flags = O2GD_SYNC,
			      .slot = 1,
			      .tag = 9,
			      .addr = (uintptr_t)data,
			      .len = 8 };

	end_call(&b, O2GD_SUBMIT, &q);
	mock_raw(fds[0], data, 5000);
	mock_net_run();
	mock_run();
}

/* A receive whose data is on the link gets some by the socket as well. */
static void two_ways(void)
{
	struct o2g_hdr h = forged_data;

	mock.later = true;
	open_near();
	assert_int_equal(end_recv(&b, 1, 1, ONE), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, ONE), 0);
	mock_net_run();
	h.cookie = id_of(1);
	world_raw_header(fds[0], &h);
	mock_raw(fds[0], data, 10);
	mock_net_run();
	mock_run();
	reuse_and_go_on();
	is_lost(&a);
	is_lost(&b);
	assert_int_equal(peer_of(&b)->drops[O2GD_DROP_BAD_STATE], 1);
}

/* The same, begun before there was a link: a get, and a refusal by the link. */
static void two_ways_before(void)
{
	struct o2gd_sqe e = { .op = O2GD_OP_GET,
			      .slot = 1,
			      .key = 9,
			      .addr = (uintptr_t)buf,
			      .len = ONE };
	struct o2g_hdr h = forged_data;

	mock.later = true;
	mock.near = true;
	assert_int_equal(end_open(&a, 0, 64), 0);
	assert_int_equal(end_open(&b, 1, 64), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	mock.send_space = 0;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), 0);
	h.cookie = id_of(1);
	world_raw_header(fds[0], &h);
	mock_raw(fds[0], data, 10);
	mock_net_run();
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	assert_non_null(peer_of(&b)->link);
	mock.send_space = 64 << 10;
	mock_sock(fds[1])->space_news = true;
	mock_run();
	reuse_and_go_on();
	is_lost(&a);
	is_lost(&b);
}

static void raw__beside_the_link(void **state)
{
	world_run(two_ways);
	world_run(two_ways_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(copied__once),
		T(copied__not_when_far),
		T(copied__not_from_the_dead),
		T(copied__truncated),
		T(copied__unpinned),
		T(sender__gives_up_before),
		T(sender__gives_up_while),
		T(receiver__closes),
		T(sender__closes),
		T(receiver__dies),
		T(bye__waits),
		T(gets__many),
		T(mail__all_lengths),
		T(mail__after_tcp),
		T(mail__unpinned),
		T(mail__receiver_dies),
		T(mail__ends_late),
		T(mail__refused),
		T(mail__many),
		T(raw__beside_the_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
