/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages for handlers: the process is told that there are some, and takes them one
 * of each peer at a time, in order; whatever a call of the kernel fails with.
 */
#include "unit.h"

#include <stdio.h>

#include "dev.h"
#include "o2gk.h"
#include "world.h"

static struct o2gk_ep *ep_of(struct end *e)
{
	return e->file.private_data;
}

static int call(struct end *e, u32 slot, u64 tag, u64 len)
{
	struct o2gd_sqe q = { .op = O2GD_OP_SEND,
			      .flags = O2GD_SERVED,
			      .peer = !e->s.rank,
			      .slot = slot,
			      .tag = tag,
			      .addr = (uintptr_t)data,
			      .len = len };
	int ret = end_call(e, O2GD_SUBMIT, &q);

	return ret > 0 ? 0 : ret;
}

/* The next for a handler, of any peer or of @source. */
static int take(struct end *e, u32 source, struct o2gd_probe *a)
{
	*a = (struct o2gd_probe){ .source = source, .take = O2GD_TAKE_SERVED };
	return end_call(e, O2GD_PROBE, a);
}

static int receive(struct end *e, u32 slot, const struct o2gd_probe *a)
{
	struct o2gd_sqe q = { .op = O2GD_OP_MRECV,
			      .slot = slot,
			      .key = a->handle,
			      .addr = (uintptr_t)buf,
			      .len = a->length };

	return end_call(e, O2GD_SUBMIT, &q);
}

static int told(struct end *e)
{
	struct o2gd_cqe c;
	int err = end_next(e, &c);

	if (err)
		return err;
	if (c.slot == O2GD_SLOT_PEER)
		return -O2G_ERR_PEER;
	assert_int_equal(c.slot, O2GD_SLOT_SERVED);
	return 0;
}

/* 0, or how asking has failed. */
static int no_more(struct end *e, u32 source)
{
	struct o2gd_probe a;
	int err = take(e, source, &a);

	assert_true(err < 0);
	return err == -EAGAIN || (mock.failed && err == -ENOTCONN) ? 0 : err;
}

/* --- in order, one at a time --- */

static u64 length;

static void two_messages(void)
{
	struct o2gd_probe m;

	TRY(world_open());
	if (!mock.fail_at)
		TRY(end_recv(&b, 7, 5, 8)); /* which none of them is for */
	TRY(call(&a, 1, 5, length));
	TRY(call(&a, 2, 6, 8));
	mock_run();
	TRY(told(&b));
	TRY(take(&b, O2GD_ANY, &m));
	assert_int_equal(m.msg_tag, 5);
	assert_int_equal(m.length, length);
	assert_int_equal(m.from, 0);
	TRY(no_more(&b, O2GD_ANY));
	TRY(receive(&b, 1, &m));
	mock_run();
	TRY(end_got(&b, 1, 5, length));
	TRY(take(&b, 0, &m)); /* done with it: the next one */
	assert_int_equal(m.msg_tag, 6);
	TRY(receive(&b, 2, &m));
	TRY(end_got(&b, 2, 6, 8));
	TRY(no_more(&b, 0));
	TRY(call(&a, 3, 7, 0));
	mock_run();
	TRY(told(&b)); /* again, after it has found that there are none */
	TRY(take(&b, O2GD_ANY, &m));
	assert_int_equal(m.msg_tag, 7);
}

static void o2gk_served__in_order(void **state)
{
	static const u64 lengths[] = { 0, 8, 3000, 40000 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		length = lengths[i];
		world_run(two_messages);
	}
}

static void o2gk_served__in_all(void **state)
{
	length = 3000;
	world_in_all(two_messages);
}

/* --- the end --- */

/* What is here of a lost peer is still handed out, what was announced is not. */
static void peer_lost(void)
{
	struct o2gd_probe m;
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	assert_int_equal(call(&a, 1, 5, 100), 0);
	assert_int_equal(call(&a, 2, 6, 100000), 0);
	assert_int_equal(call(&a, 3, 7, 8), 0);
	mock_run();
	assert_int_equal(told(&b), 0);
	mock_reset(mock_sock(fds[1]));
	assert_int_equal(end_next(&b, &c), 0);
	assert_int_equal(c.slot, O2GD_SLOT_PEER);
	assert_int_equal(take(&b, O2GD_ANY, &m), 0);
	assert_int_equal(receive(&b, 1, &m), 0);
	assert_int_equal(end_got(&b, 1, 5, 100), 0);
	assert_int_equal(take(&b, 0, &m), 0);
	assert_int_equal(m.msg_tag, 7); /* taken, and never received */
}

/* It was announced, and taken; or announced, and the process was told. */
static void announcer_lost(void)
{
	struct o2gd_probe m;
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	assert_int_equal(call(&a, 1, 5, 100000), 0);
	assert_int_equal(call(&a, 2, 6, 100000), 0);
	mock_run();
	assert_int_equal(told(&b), 0);
	assert_int_equal(take(&b, O2GD_ANY, &m), 0);
	mock_reset(mock_sock(fds[1]));
	assert_int_equal(end_next(&b, &c), 0);
	assert_int_equal(c.slot, O2GD_SLOT_PEER);
	assert_int_equal(receive(&b, 1, &m), 0);
	assert_int_equal(end_next(&b, &c), 0);
	assert_int_equal(c.slot, 1);
	assert_int_equal(c.status, -O2G_ERR_PEER);
	assert_int_equal(take(&b, 0, &m), -ENOTCONN);
}

static void told_and_lost(void)
{
	struct o2gd_probe m;

	assert_int_equal(world_open(), 0);
	assert_int_equal(call(&a, 1, 5, 100000), 0);
	mock_run();
	assert_int_equal(told(&b), 0);
	mock_reset(mock_sock(fds[1]));
	assert_int_equal(take(&b, O2GD_ANY, &m), -EAGAIN);
}

static void o2gk_served__peer_lost(void **state)
{
	world_run(peer_lost);
	world_run(announcer_lost);
	world_run(told_and_lost);
}

static void many(void)
{
	struct o2gk_peer *p;

	world_ring = 4096;
	assert_int_equal(world_open(), 0);
	ep_of(&a)->core.served_grant = ep_of(&b)->core.served_grant = 32 << 20;
	p = xa_load(&ep_of(&a)->peers, 1);
	p->core.served_credit = 32 << 20;
	for (u32 i = 0; i < 2000; i++) {
		assert_int_equal(call(&a, 1, i, 8), 0);
		mock_run();
		if (end_has(&a))
			assert_int_equal(end_done(&a, 1), 0);
	}
	mock.longest = 0;
	mock_reset(mock_sock(fds[1]));
	end_close(&b);
	assert_true(mock.longest > 0 && mock.longest < 12000);
}

static void o2gk_served__long(void **state)
{
	world_run(many);
}

/* The process lets them lie, and forgets the peer. */
static void forgotten(void)
{
	struct o2gd_probe m;
	u32 rank = 0;

	assert_int_equal(world_open(), 0);
	assert_int_equal(call(&a, 1, 5, 100), 0);
	assert_int_equal(call(&a, 2, 6, 100000), 0);
	mock_run();
	assert_int_equal(end_call(&b, O2GD_PEER_FORGET, &rank), 0);
	assert_int_equal(take(&b, O2GD_ANY, &m), -EAGAIN);
}

static void o2gk_served__forgotten(void **state)
{
	world_run(forgotten);
}

static void wrong_calls(void)
{
	struct o2gd_probe m = { .take = 3 };
	struct o2gd_sqe q = { .op = O2GD_OP_RECV, .flags = O2GD_SERVED };

	assert_int_equal(world_open(), 0);
	assert_int_equal(end_call(&a, O2GD_PROBE, &m), -EINVAL);
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &q), -EINVAL);
	assert_int_equal(call(&a, 1, 1, O2G_SERVED_BODY_MAX + 1), -EINVAL);
	assert_int_equal(take(&a, O2GD_ANY, &m), -EAGAIN);
	assert_int_equal(take(&a, 1, &m), -EAGAIN);
}

static void o2gk_served__wrong(void **state)
{
	world_run(wrong_calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2gk_served__in_order),  T(o2gk_served__in_all),
		T(o2gk_served__peer_lost), T(o2gk_served__long),
		T(o2gk_served__forgotten), T(o2gk_served__wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
