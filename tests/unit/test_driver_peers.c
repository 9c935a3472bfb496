/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Peers: what they cost, how they come, go and come back. */
#include "unit.h"

#include <stdio.h>

#include "dev.h"
#include "o2gk.h"
#include "world.h"

#define B_NUMBER (O2GD_OTHERS + 5) /* b's, at a */
#define A_NUMBER (O2GD_OTHERS + 9)

static struct o2gk_ep *ep_of(struct end *e)
{
	return e->file.private_data;
}

static struct o2gk_peer *peer_of(struct end *e, u32 number)
{
	return xa_load(&ep_of(e)->peers, number);
}

static int forget(struct end *e, u32 number)
{
	return end_call(e, O2GD_PEER_FORGET, &number);
}

static enum o2gd_peer_state state_of(struct end *e, u32 number)
{
	enum o2gd_peer_state state;

	o2gk_ep_lock(ep_of(e));
	state = o2gk_peer_state(ep_of(e), number);
	o2gk_ep_unlock(ep_of(e), O2GK_CALLER, NULL);
	return state;
}

/* --- what they cost --- */

/* A job of 1,024 ranks, of which this one talks to its neighbors in a cube. */
static void large_job(void)
{
	size_t empty, before;
	struct o2gd_sqe e = { .op = O2GD_OP_RECV, .len = 8 };

	end_close(&a);
	assert_int_equal(end_open(&a, 0, 256), 0);
	empty = mock.bytes;
	end_close(&a);
	world_size = 1024;
	assert_int_equal(end_open(&a, 0, 256), 0);
	assert_int_equal(mock.bytes, empty);
	before = mock.live;
	for (u32 i = 0; i < 10; i++) {
		e.slot = i;
		e.peer = 1u << i;
		assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), 0);
	}
	assert_int_equal(mock.live, before + 10);
	assert_int_equal(mock.bytes, empty + 10 * sizeof(struct o2gk_peer));
	printf("a peer takes %zu bytes\n", sizeof(struct o2gk_peer));
	e.slot = 10;
	e.peer = 1024;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), -EINVAL);
}

static void peers__cost_when_met(void **state)
{
	world_run(large_job);
}

/* A receive for a rank that is not known is in the ring when another's message
 * comes: nothing is allocated in softirq, and the receive is posted in its turn. */
static void posted_for_unknown(void)
{
	struct o2gd_cqe c;

	world_size = 4;
	TRY(world_open());
	a.sq[0] = (struct o2gd_sqe){ .op = O2GD_OP_RECV,
				     .slot = 1,
				     .peer = 3,
				     .tag = 1,
				     .len = 8 };
	a.sq[1] = (struct o2gd_sqe){ .op = O2GD_OP_RECV,
				     .slot = 2,
				     .peer = 1,
				     .tag = 1,
				     .len = 8 };
	a.shared->sq_tail = a.sq_tail = 2;
	TRY(end_inject(&b, 1, data, 8));
	TRY(end_next(&a, &c));
	if (c.slot == 1) { /* there was no memory for the unknown rank */
		world_refused(c.status);
		return;
	}
	if (c.slot == O2GD_SLOT_PEER) {
		world_refused(-O2G_ERR_PEER);
		return;
	}
	assert_int_equal(c.slot, 2);
	assert_int_equal(state_of(&a, 3), O2GD_PEER_NO_SOCKET);
}

static void peers__met_in_process_context(void **state)
{
	world_with_failures(posted_for_unknown);
}

/* --- other jobs --- */

static int add(struct end *e, u32 number, u32 wire_rank)
{
	struct o2gd_peer p = { .peer = number, .wire_rank = wire_rank };

	return end_call(e, O2GD_PEER_ADD, &p);
}

/* a is rank 0 of a job of one, b rank 1 of another job. */
static int open_jobs(void)
{
	int err;

	world_size = 1;
	err = end_open(&a, 0, 64);
	world_size = 2;
	return err ? err : end_open(&b, 1, 64);
}

static int join_jobs(void)
{
	int err = add(&a, B_NUMBER, 1);

	if (!err)
		err = add(&b, A_NUMBER, 0);
	if (err)
		return err;
	mock_tcp_pair(fds);
	err = end_register(&a, B_NUMBER, fds[0]);
	return err ? err : end_register(&b, A_NUMBER, fds[1]);
}

static int part_jobs(void)
{
	int err = forget(&a, B_NUMBER);

	if (!err)
		err = forget(&b, A_NUMBER);
	world_close_fds();
	mock_run();
	return err;
}

static int send_to(struct end *e, u32 peer, u32 slot, u64 len)
{
	struct o2gd_sqe q = { .op = O2GD_OP_SEND,
			      .slot = slot,
			      .peer = peer,
			      .tag = 7,
			      .addr = (uintptr_t)data,
			      .len = len };

	return end_call(e, O2GD_SUBMIT, &q);
}

static int recv_from(struct end *e, u32 peer, u32 slot, u64 len)
{
	struct o2gd_sqe q = { .op = O2GD_OP_RECV,
			      .slot = slot,
			      .peer = peer,
			      .tag = 7,
			      .addr = (uintptr_t)buf,
			      .len = len };

	return end_call(e, O2GD_SUBMIT, &q);
}

/* The loss of a peer of an earlier round may come first. */
static int message_from(struct end *e, u32 peer, u32 slot)
{
	struct o2gd_cqe c;
	int err;

	do
		err = end_next(e, &c);
	while (!err && c.slot == O2GD_SLOT_PEER && !mock.failed);
	if (err)
		return err;
	if (c.slot == O2GD_SLOT_PEER || c.status)
		return c.slot == O2GD_SLOT_PEER ? -O2G_ERR_PEER : c.status;
	assert_int_equal(c.slot, slot);
	assert_int_equal(c.source, peer);
	return 0;
}

static void other_jobs(void)
{
	static const u64 len[] = { 8, 3000, 100000 };

	TRY(open_jobs());
	for (int round = 0; round < 3; round++) {
		a.lost = b.lost = false;
		TRY(join_jobs());
		for (u32 i = 0; i < ARRAY_SIZE(len); i++) {
			int done;

			TRY(recv_from(&b, A_NUMBER, i, len[i]));
			done = send_to(&a, B_NUMBER, i, len[i]);
			TRY(done);
			TRY(message_from(&b, A_NUMBER, i));
			TRY(done ? 0 : message_from(&a, B_NUMBER, i));
		}
		assert_int_equal(state_of(&a, B_NUMBER), O2GD_PEER_OPEN);
		TRY(part_jobs());
		assert_int_equal(state_of(&a, B_NUMBER), O2GD_PEER_UNKNOWN);
	}
}

static void other_jobs__come_and_go(void **state)
{
	world_in_all(other_jobs);
}

static void wrong_numbers(void)
{
	struct o2gd_sqe *e;
	struct o2gd_cqe c;

	assert_int_equal(open_jobs(), 0);
	assert_int_equal(add(&a, 0, 0), -EINVAL);
	assert_int_equal(add(&a, 1, 0), -EINVAL);
	assert_int_equal(add(&a, O2GD_OTHERS - 1, 0), -EINVAL);
	assert_int_equal(add(&a, 1u << 31, 0), -EINVAL);
	assert_int_equal(add(&a, O2GD_ANY, 0), -EINVAL);
	assert_int_equal(forget(&a, 1), -EINVAL);
	assert_int_equal(forget(&a, B_NUMBER), -ENOENT);
	assert_int_equal(end_call(&a, O2GD_PEER_ADD, NULL), -EFAULT);
	assert_int_equal(send_to(&a, B_NUMBER, 1, 8), -ENOTCONN);
	assert_int_equal(recv_from(&a, B_NUMBER, 1, 8), -ENOTCONN);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, B_NUMBER, fds[0]), -ENOTCONN);
	/* Nobody is there to be told: the receive itself ends. */
	e = &a.sq[0];
	*e = (struct o2gd_sqe){ .op = O2GD_OP_RECV,
				.slot = 3,
				.peer = B_NUMBER,
				.len = 8 };
	a.shared->sq_tail = ++a.sq_tail;
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), 0);
	assert_int_equal(end_next(&a, &c), 0);
	assert_int_equal(c.slot, 3);
	assert_int_equal(c.status, -O2G_ERR_PEER);
	assert_int_equal(add(&a, B_NUMBER, 1), 0);
	assert_int_equal(add(&a, B_NUMBER, 1), -EEXIST);
	assert_int_equal(state_of(&a, B_NUMBER), O2GD_PEER_NO_SOCKET);
}

static void other_jobs__wrong_numbers(void **state)
{
	world_run(wrong_numbers);
}

/* --- being forgotten --- */

/* What it has sent goes with it, but for what a probe has taken. */
static void leaves_messages(void)
{
	struct o2gd_probe p = { .source = 1, .take = 1, .ignore = ~0ull };
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV, .slot = 5, .len = 8 };
	struct o2gd_cqe c;
	unsigned int rests;
	u32 n = 0;

	assert_int_equal(world_open(), 0);
	peer_of(&a, 1)->core.granted = peer_of(&b, 0)->core.credit = 1 << 20;
	while (n < 600 && !end_inject(&b, n, data, 8)) {
		n++;
		mock_run();
	}
	assert_int_equal(ep_of(&a)->core.match.nunexp, n);
	assert_int_equal(n, 600);
	assert_int_equal(end_call(&a, O2GD_PROBE, &p), 0);
	rests = mock.rests;
	assert_int_equal(forget(&a, 1), 0);
	assert_in_range(mock.rests - rests, 2, 100);
	assert_int_equal(ep_of(&a)->core.match.nunexp, 0);
	assert_int_equal(state_of(&a, 1), O2GD_PEER_UNKNOWN);
	e.key = p.handle;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), 0);
	do
		assert_int_equal(end_next(&a, &c), 0);
	while (c.slot == O2GD_SLOT_PEER);
	assert_int_equal(c.slot, 5);
	assert_int_equal(c.status, 0);
	assert_int_equal(c.source, 1);
}

static void forget__messages(void **state)
{
	world_run(leaves_messages);
}

/* Receives and sends end; the loss is not told once it is forgotten. */
static void leaves_requests(void)
{
	struct o2gd_cqe c;

	world_ring = 1;
	assert_int_equal(world_open(), 0);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(end_submit(&a, O2GD_OP_RECV, i, i, buf, 8), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 4, 1, data, 60000), 0);
	assert_int_equal(forget(&a, 1), 0);
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(end_next(&a, &c), 0);
		assert_int_not_equal(c.slot, O2GD_SLOT_PEER);
		assert_int_equal(c.status, -O2G_ERR_PEER);
	}
	assert_int_equal(end_next(&a, &c), -ETIME);
	assert_int_equal(a.shared->overflow, 0);
}

static void forget__requests(void **state)
{
	world_run(leaves_requests);
}

/* A rank of the job that was given up, known or not, may come back as well. */
static void rank_again(void)
{
	u32 rank = 1;
	int done;

	TRY(end_open(&a, 0, 64));
	TRY(end_call(&a, O2GD_PEER_DOWN, &rank));
	assert_int_equal(state_of(&a, 1), O2GD_PEER_LOST);
	TRY(forget(&a, 1));
	assert_int_equal(state_of(&a, 1), O2GD_PEER_UNKNOWN);
	TRY(end_open(&b, 1, 64));
	for (int round = 0; round < 2; round++) {
		a.lost = b.lost = false;
		mock_tcp_pair(fds);
		TRY(end_register(&a, 1, fds[0]));
		TRY(end_register(&b, 0, fds[1]));
		TRY(recv_from(&b, 0, 1, 5000));
		done = send_to(&a, 1, 1, 5000);
		TRY(done);
		TRY(done ? 0 : message_from(&a, 1, 1));
		TRY(message_from(&b, 0, 1));
		TRY(forget(&a, 1));
		TRY(forget(&b, 0));
		world_close_fds();
		mock_run();
	}
}

static void forget__comes_back(void **state)
{
	world_in_all(rank_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(peers__cost_when_met),    T(peers__met_in_process_context),
		T(other_jobs__come_and_go), T(other_jobs__wrong_numbers),
		T(forget__messages),	    T(forget__requests),
		T(forget__comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
