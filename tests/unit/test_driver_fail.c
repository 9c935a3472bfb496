/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The driver, with each call of the kernel that may fail failing in turn: what
 * it then says is right, and nothing stays behind.
 */
#include "unit.h"

#include "world.h"

static const u64 lengths[] = { 0, 8, 16, 17, 300, 4096, 4097, 20000, 70000 };
#define NLENGTHS ARRAY_SIZE(lengths)

/* --- messages --- */

static void posted(void)
{
	TRY(world_open());
	for (u32 i = 0; i < NLENGTHS; i++) {
		TRY(end_recv(&b, i, i, lengths[i]));
		TRY(end_send(&a, i, i, lengths[i]));
		TRY(end_got(&b, i, i, lengths[i]));
	}
}

static void message__posted(void **state)
{
	world_in_all(posted);
}

static void unexpected(void)
{
	u32 waits = 0;

	TRY(world_open());
	for (u32 i = 0; i < NLENGTHS; i++) {
		int ret = end_submit(&a, O2GD_OP_SEND, i, i, data, lengths[i]);

		TRY(ret);
		waits += ret == 0;
	}
	for (u32 i = NLENGTHS; i-- > 0;) {
		TRY(end_recv(&b, i, i, lengths[i]));
		TRY(end_got(&b, i, i, lengths[i]));
	}
	while (waits--) {
		struct o2gd_cqe c;

		TRY(end_next(&a, &c));
		TRY(c.status);
	}
}

static void message__unexpected(void **state)
{
	world_in_all(unexpected);
}

/* The buffer in three pieces, one of them empty; the sender's in two. */
static void in_pieces(void)
{
	struct iovec to[3] = { { buf + 100, 5000 },
			       { buf + 5100, 0 },
			       { buf + 5100, 20000 } };
	struct iovec from[2] = { { data, 1 }, { data + 1, 24999 } };
	struct o2gd_sqe r = { .op = O2GD_OP_RECV,
			      .slot = 1,
			      .tag = 8,
			      .nsegs = 3,
			      .addr = (uintptr_t)to,
			      .len = 25000 };
	struct o2gd_sqe s = { .op = O2GD_OP_SEND,
			      .slot = 1,
			      .tag = 8,
			      .peer = 1,
			      .nsegs = 2,
			      .addr = (uintptr_t)from,
			      .len = 25000 };
	int ret;

	TRY(world_open());
	TRY(end_call(&b, O2GD_SUBMIT, &r));
	ret = end_call(&a, O2GD_SUBMIT, &s);
	TRY(ret);
	if (!ret)
		TRY(end_done(&a, 1));
	TRY(end_done(&b, 1));
	assert_memory_equal(buf + 100, data, 25000);
}

static void message__in_pieces(void **state)
{
	world_in_all(in_pieces);
}

/* Receives and sends that wait for a connection. */
static void before_the_socket(void)
{
	TRY(end_open(&a, 0, 16));
	TRY(end_open(&b, 1, 16));
	TRY(end_recv(&b, 1, 1, 10));
	TRY(end_recv(&b, 2, 2, 50000));
	TRY(end_inject(&a, 1, data, 10));
	TRY(end_submit(&a, O2GD_OP_SEND, 3, 2, data, 50000));
	mock_tcp_pair(fds);
	TRY(end_register(&a, 1, fds[0]));
	TRY(end_register(&b, 0, fds[1]));
	world_close_fds();
	TRY(end_got(&b, 1, 1, 10));
	if (end_has(&b)) /* in the same buffer, which was cleared just now */
		memcpy(buf, data, 10);
	TRY(end_got(&b, 2, 2, 50000));
	TRY(end_done(&a, 3));
}

static void message__before_the_socket(void **state)
{
	world_in_all(before_the_socket);
}

/* A message for a probe, one that is taken and received, one that is left. */
static void probed(void)
{
	struct o2gd_probe p = { .source = O2GD_ANY, .ignore = ~0ull };
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV, .slot = 3, .len = 500 };

	TRY(world_open());
	TRY(end_inject(&a, 77, data, 500));
	TRY(end_inject(&a, 78, data, 600));
	mock_run();
	if (b.shared->unexpected != 2) { /* it was lost on the way */
		TRY(end_done(&b, 0));
		fail();
	}
	TRY(end_call(&b, O2GD_PROBE, &p));
	assert_int_equal(p.msg_tag, 77);
	assert_int_equal(p.length, 500);
	p.take = 1;
	TRY(end_call(&b, O2GD_PROBE, &p));
	e.key = p.handle;
	TRY(end_call(&b, O2GD_SUBMIT, &e));
	TRY(end_got(&b, 3, 77, 500));
	TRY(end_call(&b, O2GD_PROBE, &p));
	assert_int_equal(p.msg_tag, 78);
}

static void message__probed(void **state)
{
	world_in_all(probed);
}

static void cancelled(void)
{
	u32 slot = 2;

	TRY(world_open());
	TRY(end_recv(&b, 2, 2, 10000));
	TRY(end_call(&b, O2GD_CANCEL, &slot));
	TRY(end_submit(&a, O2GD_OP_SEND, 2, 2, data, 50000));
	mock_run();
	if (end_call(&a, O2GD_CANCEL, &slot) == -EINPROGRESS) {
		int ret = end_done(&a, 2);

		if (ret != -O2G_ERR_CANCELLED)
			TRY(ret);
	}
}

static void message__cancelled(void **state)
{
	world_in_all(cancelled);
}

/* More completions than the ring has room for; bodies beyond the dump area. */
static void too_many(void)
{
	enum { N = 24 };

	TRY(world_open());
	for (u32 i = 0; i < N; i++)
		TRY(end_submit(&b, O2GD_OP_RECV, i, i, buf, 100));
	for (u32 i = 0; i < N; i++)
		TRY(end_inject(&a, i, data, 100));
	for (u32 i = 0; i < N; i++)
		TRY(end_got(&b, i, i, 100));
}

static void ring__overflows(void **state)
{
	world_in_all(too_many);
}

/* --- put and get --- */

static void rma(void)
{
	static _Alignas(4096) unsigned char mem[100000];
	struct o2gd_mem m = { .addr = (uintptr_t)mem,
			      .len = sizeof(mem),
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = 42 };
	struct o2gd_sqe e = { .peer = 1, .key = 42, .offset = 100, .slot = 7 };
	static const u64 len[] = { 8, 5000, 80000 };
	int ret;

	memset(mem, 0, sizeof(mem));
	TRY(world_open());
	TRY(end_call(&b, O2GD_MEM_ADD, &m));
	for (u32 i = 0; i < ARRAY_SIZE(len); i++) {
		e.op = O2GD_OP_PUT, e.len = len[i], e.addr = (uintptr_t)data;
		ret = end_call(&a, O2GD_SUBMIT, &e);
		TRY(ret);
		if (!ret)
			TRY(end_done(&a, 7));
		assert_memory_equal(mem + 100, data, len[i]);
		e.op = O2GD_OP_GET, e.addr = (uintptr_t)buf;
		memset(buf, 0, len[i]);
		TRY(end_call(&a, O2GD_SUBMIT, &e));
		TRY(end_done(&a, 7));
		assert_memory_equal(buf, data, len[i]);
	}
	TRY(end_call(&b, O2GD_MEM_DROP, &m.key));
	e.op = O2GD_OP_GET;
	TRY(end_call(&a, O2GD_SUBMIT, &e));
	ret = end_done(&a, 7);
	if (ret != -ENOENT)
		TRY(ret);
}

static void rma__both_ways(void **state)
{
	world_in_all(rma);
}

/* --- counters --- */

static u64 counted[O2GD_NDROPS];

static void count(struct end *e)
{
	struct o2gd_info i;

	if (!e->open || end_info(e, &i))
		return;
	for (u32 d = 0; d < O2GD_NDROPS; d++)
		counted[d] += i.drops[d];
}

static void refused(void)
{
	unexpected();
	count(&a);
	count(&b);
}

/* What a peer cannot bring about, so that tests/driver/drops.c has it not: a fault
 * ends a connection, want of memory only delays it. */
static void drops__no_memory(void **state)
{
	memset(counted, 0, sizeof(counted));
	world_in_all(refused);
	assert_int_equal(counted[O2GD_DROP_NO_MEMORY], 0);
	assert_int_equal(counted[O2GD_DROP_NO_BODY], 0);
	assert_true(counted[O2GD_DROP_FAULT] > 0);
}

/* --- looking --- */

static void look(void)
{
	struct o2gd_list_entry e[4];
	struct o2gd_queue_entry q[4];
	struct o2gd_list l = { .max = 4,
			       .addr = (uintptr_t)e,
			       .entry = sizeof(e[0]) };
	struct o2gd_look w = { .max = 4,
			       .addr = (uintptr_t)q,
			       .entry = sizeof(q[0]) };
	struct o2gd_info i;

	TRY(end_open(&a, 0, 16));
	TRY(end_open(&b, 1, 16));
	TRY(end_recv(&b, 1, 5, 100));
	TRY(end_call(&b, O2GD_KICK, NULL));
	if (b.shared->sq_head == 1 && end_has(&b)) /* it could not be posted */
		TRY(end_done(&b, 1));
	TRY(end_info(&b, &i));
	assert_int_equal(i.posted, 1);
	TRY(end_call(&a, O2GD_LIST, &l));
	assert_int_equal(l.count, 2);
	assert_int_equal(e[1].rank, 1);
	w.id = e[1].id;
	TRY(end_call(&a, O2GD_QUEUES, &w));
	assert_int_equal(w.count, 1);
	assert_int_equal(q[0].tag, 5);
}

static void look__lists(void **state)
{
	world_with_failures(look);
}

/* --- the end of a peer --- */

static void bye(void)
{
	u32 ms = 100;
	int ret;

	TRY(world_open());
	TRY(end_recv(&b, 1, 1, 8));
	ret = end_call(&a, O2GD_BYE, &ms);
	if (!mock.failed || ret != -ETIME)
		TRY(ret);
	while (!b.lost) {
		struct o2gd_cqe c;

		TRY(end_next(&b, &c));
		assert_int_equal(c.status, -O2G_ERR_PEER);
	}
}

static void peer__says_bye(void **state)
{
	world_in_all(bye);
}

/* It closes with messages under way in both directions. */
static void closes(void)
{
	TRY(world_open());
	TRY(end_recv(&b, 1, 1, 8));
	TRY(end_recv(&b, 2, 2, 100000));
	TRY(end_submit(&b, O2GD_OP_SEND, 3, 3, data, 100000));
	TRY(end_inject(&a, 9, data, 3000));
	mock_net_run();
	world_close_fds();
	end_close(&a);
	while (!b.lost) {
		struct o2gd_cqe c;

		TRY(end_next(&b, &c));
		assert_int_equal(c.status, -O2G_ERR_PEER);
	}
	TRY(end_submit(&b, O2GD_OP_SEND, 3, 3, data, 8));
}

static void peer__closes(void **state)
{
	world_in_all(closes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(message__posted),    T(message__unexpected),
		T(message__in_pieces), T(message__before_the_socket),
		T(message__probed),    T(message__cancelled),
		T(ring__overflows),    T(rma__both_ways),
		T(drops__no_memory),   T(look__lists),
		T(peer__says_bye),     T(peer__closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
