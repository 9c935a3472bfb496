/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: libo2g */
/* libs: -lnettle */
/* Peers whose address takes its time: engine/resolve.c. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "peer.h"

#define RANKS 3
#define LIMIT_US 20000000
#define LARGE (1 << 20)

static struct o2g_ep *ep[RANKS];
static char address[RANKS][O2G_ADDRESS_MAX];
static int slow;  /* so many more times, the address of rank 1 is not there, */
static int error; /* ... and then never */

static int resolve(void *arg, int rank, char *buf, size_t size)
{
	if (rank == 1 && slow) {
		slow -= slow > 0;
		return -EINPROGRESS;
	}
	if (rank == 1 && error)
		return error;
	snprintf(buf, size, "%s", address[rank]);
	return 0;
}

static void open_all(const char *channels)
{
	setenv("O2G_CHANNELS", channels, 1);
	error = 0;
	slow = -1; /* for ever */
	for (int i = 0; i < RANKS; i++) {
		struct o2g_attr attr = { .rank = i,
					 .size = RANKS,
					 .job = "resolve",
					 .resolve = resolve };

		assert_int_equal(o2g_open(&attr, &ep[i]), 0);
		assert_int_equal(
			o2g_address(ep[i], address[i], O2G_ADDRESS_MAX), 0);
	}
}

static void close_all(void)
{
	for (int i = 0; i < RANKS; i++)
		o2g_close(ep[i]);
}

static int finish(struct o2g_req *req)
{
	u64 end = o2g_now_us() + LIMIT_US;

	while (!o2g_is_done(req)) {
		assert_true(o2g_now_us() < end);
		for (int k = 0; k < RANKS; k++)
			o2g_progress(ep[k]);
	}
	return o2g_wait(req, NULL);
}

/* Rank 0 and rank 2 are in touch, whatever rank 0 waits for. */
static void chat(void)
{
	u64 out = 7, in = 0;
	struct o2g_seg from = { &out, 8 }, to = { &in, 8 };
	struct o2g_req *recv, *send;

	for (int i = 0; i < 20; i++) {
		int a = i % 2 * 2, b = 2 - a;

		assert_int_equal(o2g_irecv(ep[a], b, 9, 0, &to, 1, &recv), 0);
		assert_int_equal(o2g_isend(ep[b], a, 9, &from, 1, 0, &send), 0);
		assert_int_equal(finish(recv), 0);
		assert_int_equal(finish(send), 0);
	}
	assert_int_equal(in, 7);
}

enum { SMALL = 8 };

struct talk {
	u64 word[SMALL], got[SMALL];
	char *large, *got_large;
	struct o2g_req *send[SMALL + 1], *recv[SMALL + 1];
};

/* Several to rank 1, and then a large one, all with the same tag. */
static void send_all(struct talk *t)
{
	struct o2g_seg large = { t->large, LARGE };

	for (u64 i = 0; i < SMALL; i++) {
		struct o2g_seg seg = { &t->word[i], 8 };

		t->word[i] = i;
		assert_int_equal(o2g_inject(ep[0], 1, 1, &i, 8), -EAGAIN);
		assert_int_equal(o2g_isend(ep[0], 1, 1, &seg, 1,
					   i % 2 ? O2G_SYNC : 0, &t->send[i]),
				 0);
	}
	t->large[LARGE - 1] = 5;
	assert_int_equal(o2g_isend(ep[0], 1, 1, &large, 1, 0, &t->send[SMALL]),
			 0);
}

static void receive_all(struct talk *t)
{
	struct o2g_seg large = { t->got_large, LARGE };

	for (int i = 0; i < SMALL; i++) {
		struct o2g_seg seg = { &t->got[i], 8 };

		assert_int_equal(
			o2g_irecv(ep[1], 0, 1, 0, &seg, 1, &t->recv[i]), 0);
	}
	assert_int_equal(o2g_irecv(ep[1], 0, 1, 0, &large, 1, &t->recv[SMALL]),
			 0);
	for (int i = 0; i <= SMALL; i++) {
		assert_int_equal(finish(t->recv[i]), 0);
		assert_int_equal(finish(t->send[i]), 0);
	}
	for (u64 i = 0; i < SMALL; i++)
		assert_int_equal(t->got[i], i);
	assert_int_equal(t->got_large[LARGE - 1], 5);
}

static void assert_held(const struct talk *t)
{
	for (int i = 0; i <= SMALL; i++)
		assert_false(o2g_is_done(t->send[i]));
}

static void in_order(const char *channels)
{
	struct talk t = { .large = calloc(2, LARGE) };

	t.got_large = t.large + LARGE;
	open_all(channels);
	send_all(&t);
	chat();
	assert_held(&t);
	slow = 5;
	receive_all(&t);
	chat();
	close_all();
	free(t.large);
}

static void held__in_order(void **state)
{
	in_order("shm");
	in_order("tcp");
}

/* Rank 1 finds rank 0 while rank 0 still looks for rank 1. */
static void reached_by_the_peer(const char *channels)
{
	struct talk t = { .large = calloc(2, LARGE) };
	u64 out = 3, in = 0;
	struct o2g_seg from = { &out, 8 }, to = { &in, 8 };
	struct o2g_req *recv, *send;

	t.got_large = t.large + LARGE;
	open_all(channels);
	send_all(&t);
	assert_int_equal(o2g_irecv(ep[0], 1, 2, 0, &to, 1, &recv), 0);
	assert_int_equal(o2g_isend(ep[1], 0, 2, &from, 1, 0, &send), 0);
	assert_int_equal(finish(recv), 0);
	assert_int_equal(finish(send), 0);
	receive_all(&t);
	assert_int_equal(slow, -1);
	close_all();
	free(t.large);
}

static void held__reached_by_the_peer(void **state)
{
	reached_by_the_peer("shm");
	reached_by_the_peer("tcp");
}

static void held__launcher_dies(void **state)
{
	struct talk t = { .large = calloc(1, LARGE) };
	char text[200];

	open_all("shm,tcp");
	send_all(&t);
	chat();
	assert_held(&t);
	error = -EPIPE;
	slow = 3;
	for (int i = 0; i <= SMALL; i++)
		assert_int_equal(finish(t.send[i]), -O2G_ERR_PEER);
	assert_int_equal(o2g_peer_error(ep[0], 1, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "the launcher is gone"));
	chat();
	close_all();
	free(t.large);
}

static void held__cancel(void **state)
{
	u64 word = 0;
	struct o2g_seg seg = { &word, 8 };
	struct o2g_req *first, *second;

	open_all("shm,tcp");
	assert_int_equal(o2g_isend(ep[0], 1, 1, &seg, 1, 0, &first), 0);
	assert_int_equal(o2g_isend(ep[0], 1, 1, &seg, 1, 0, &second), 0);
	assert_int_equal(o2g_cancel(first), 0);
	assert_int_equal(finish(first), -O2G_ERR_CANCELLED);
	slow = 0;
	assert_int_equal(finish(second), 0);
	close_all();
}

/* A put, and a get that finds its peer lost. */
static void held__memory(void **state)
{
	u64 there = 0, here = 77;
	struct o2g_seg seg = { &here, 8 };
	struct o2g_mem *mem;
	struct o2g_key key;
	struct o2g_req *req;

	open_all("tcp");
	assert_int_equal(o2g_mem_register(ep[1], &there, 8,
					  O2G_READ | O2G_WRITE, &mem, &key),
			 0);
	assert_int_equal(o2g_put(ep[0], 1, &seg, 1, &key, 0, &req), 0);
	chat();
	assert_false(o2g_is_done(req));
	slow = 0;
	assert_int_equal(finish(req), 0);
	assert_int_equal(there, 77);
	close_all();

	open_all("tcp");
	error = -ENOENT;
	assert_int_equal(o2g_get(ep[0], 1, &seg, 1, &key, 0, &req), 0);
	slow = 2;
	assert_int_equal(finish(req), -O2G_ERR_PEER);
	close_all();
}

/* What was sent and is nobody's business any more still leaves. */
static void held__close(void **state)
{
	u64 word = 4, got = 0;
	struct o2g_seg from = { &word, 8 }, to = { &got, 8 };
	struct o2g_req *send, *recv;

	open_all("tcp");
	assert_int_equal(o2g_isend(ep[0], 1, 1, &from, 1, 0, &send), 0);
	o2g_detach(send);
	assert_int_equal(o2g_irecv(ep[1], 0, 1, 0, &to, 1, &recv), 0);
	slow = 20;
	o2g_close(ep[0]);
	ep[0] = NULL;
	while (!o2g_is_done(recv))
		o2g_progress(ep[1]);
	assert_int_equal(o2g_wait(recv, NULL), 0);
	assert_int_equal(got, 4);
	close_all();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held__in_order),
		cmocka_unit_test(held__reached_by_the_peer),
		cmocka_unit_test(held__launcher_dies),
		cmocka_unit_test(held__cancel),
		cmocka_unit_test(held__memory),
		cmocka_unit_test(held__close),
	};

	alarm(120);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
