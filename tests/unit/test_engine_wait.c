/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Waiting for requests, and what goes on while nobody waits. */
#include "engine_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "clock.h"

static void descriptor(void)
{
	static char b[1 << 20];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_status s;
	struct o2g_req *r;
	struct pollfd p = { .events = POLLIN };

	if (me == 1) {
		CHECK(o2g_recv(ep, 0, 0, 0, b, 1, NULL) == 0);
		usleep(50000);
		CHECK(o2g_send(ep, 0, 1, b, sizeof(b), 0) == 0);
		return;
	}
	p.fd = o2g_fd(ep);
	CHECK(p.fd >= 0);
	CHECK(o2g_irecv(ep, 1, 1, 0, &seg, 1, &r) == 0);
	CHECK(o2g_send(ep, 1, 0, b, 1, 0) == 0);
	o2g_fd_clear(ep);
	while (!o2g_is_done(r)) {
		CHECK(poll(&p, 1, 10000) == 1);
		o2g_fd_clear(ep);
	}
	CHECK(o2g_test(r, &s) == 1 && s.length == sizeof(b));
	o2g_fd_clear(ep);
	CHECK(poll(&p, 1, 0) == 0);
}

static void wait_any(void)
{
	char b[4];
	struct o2g_seg seg = { b, 1 };
	struct o2g_req *reqs[4] = { NULL };
	size_t index;

	if (me == 1) {
		CHECK(o2g_send(ep, 0, 2, "c", 1, 0) == 0);
		CHECK(o2g_recv(ep, 0, 9, 0, b, 1, NULL) == 0);
		CHECK(o2g_send(ep, 0, 0, "a", 1, 0) == 0);
		return;
	}
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == -ENOENT);
	CHECK(o2g_irecv(ep, 1, 0, 0, &seg, 1, &reqs[0]) == 0);
	CHECK(o2g_irecv(ep, 1, 2, 0, &seg, 1, &reqs[2]) == 0);
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == 0 && index == 2);
	reqs[2] = NULL;
	CHECK(o2g_send(ep, 1, 9, b, 1, 0) == 0);
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == 0 && index == 0);
}

/* Statuses are filled when one has failed, and then all of them. */
static void wait_errors(void)
{
	static const struct o2g_status before = { .error = 77, .tag = 77 };
	struct o2g_status st[4] = { before, before, before, before };
	struct o2g_req *reqs[4] = { NULL };
	char b[3][8];

	if (me == 1) {
		for (int round = 0; round < 2; round++)
			for (int i = 0; i < 3; i++)
				CHECK(o2g_send(ep, 0, i, "12345678",
					       round && i == 1 ? 8 : 4,
					       0) == 0);
		return;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			struct o2g_seg seg = { b[i], 4 };

			CHECK(o2g_irecv(ep, 1, i, 0, &seg, 1, &reqs[i]) == 0);
		}
		CHECK(o2g_wait_errors(ep, reqs, 4, st) ==
		      (round ? -O2G_ERR_TRUNCATED : 0));
		if (!round)
			for (int i = 0; i < 4; i++)
				CHECK(!memcmp(&st[i], &before, sizeof(before)));
	}
	CHECK(st[0].error == 0 && st[2].error == 0 && st[2].tag == 2);
	CHECK(st[1].error == -O2G_ERR_TRUNCATED && st[1].message_length == 8);
}

/* A word that goes to and fro; now and then somebody has to be woken. */
static int word_is_ours(void *arg)
{
	return atomic_load(&shared->word[0]) % 2 == me;
}

static void wait_shared(void)
{
	unsigned *asleep = (unsigned *)&shared->word[1];
	int other = !me;

	CHECK(o2g_nudge(ep, &other, 1) == 0); /* connects */
	for (int i = 0; i < 400; i++) {
		CHECK(o2g_wait_shared(ep, word_is_ours, NULL, asleep) == 0);
		if (i % 50 == 0)
			usleep(3000); /* the other one falls asleep */
		atomic_fetch_add(&shared->word[0], 1);
		if (__atomic_load_n(asleep, __ATOMIC_SEQ_CST)) {
			atomic_fetch_add(&shared->word[2], 1);
			CHECK(o2g_nudge(ep, &other, 1) == 0);
		}
	}
	meet(&shared->word[3]);
	CHECK(*asleep == 0 && atomic_load(&shared->word[2]) > 0);
}

/* While one rank computes, what was started with it completes. */
static void busy_peer(void)
{
	enum { N = 4 << 20 };
	unsigned char *b = malloc(N);
	struct o2g_seg seg = { b, N };
	struct o2g_req *r;

	fill(b, N, 9);
	if (me == 1) {
		uint64_t end;

		CHECK(o2g_isend(ep, 0, 1, &seg, 1, 0, &r) == 0);
		for (end = o2g_now_us() + 10000000; o2g_now_us() < end;)
			if (atomic_load(&shared->word[0]))
				break;
		CHECK(atomic_load(&shared->word[0]) == 1);
		CHECK(o2g_wait(r, NULL) == 0);
	} else {
		memset(b, 0, N);
		usleep(20000);
		CHECK(o2g_recv(ep, 1, 1, 0, b, N, NULL) == 0);
		check_bytes(b, N, 9);
		atomic_store(&shared->word[0], 1);
	}
	free(b);
}

/* Without a call that says so, which no thread may do but this test. */
__attribute__((no_sanitize("thread"))) static bool comes(const unsigned char *b)
{
	uint64_t end = o2g_now_us() + 10000000;

	while (*(const volatile unsigned char *)b != 0xa5)
		if (o2g_now_us() > end)
			return false;
	return true;
}

/* All of every message arrives while the receiver computes: the end of a long one
 * as well as what comes after it. */
static void busy_receiver(void)
{
	static const unsigned sizes[] = {
		40 << 10,  512 << 10, (512 << 10) + 1, 8, (3 << 20) + 7,
		100 << 10, 1
	};
	enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
	struct o2g_req *r[COUNT];
	unsigned char *b[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		struct o2g_seg seg = { malloc(sizes[i]), sizes[i] };

		b[i] = memset(seg.base, me == 1 ? 0xa5 : 0, sizes[i]);
		if (me == 1)
			CHECK(o2g_isend(ep, 0, i, &seg, 1, 0, &r[i]) == 0);
		else
			CHECK(o2g_irecv(ep, 1, i, 0, &seg, 1, &r[i]) == 0);
	}
	for (unsigned i = 0; i < COUNT && me == 0; i++)
		CHECK(comes(b[i] + sizes[i] - 1));
	for (unsigned i = 0; i < COUNT; i++) {
		CHECK(o2g_wait(r[i], NULL) == 0);
		free(b[i]);
	}
}

static void *thread_main(void *arg)
{
	uint64_t tag = (uintptr_t)arg;
	unsigned char b[256];

	for (int i = 0; i < 300; i++) {
		if (me == 0) {
			fill(b, 256, tag + i);
			CHECK(o2g_send(ep, 1, tag, b, 256, 0) == 0);
			CHECK(o2g_recv(ep, 1, tag, 0, b, 256, NULL) == 0);
		} else {
			CHECK(o2g_recv(ep, 0, tag, 0, b, 256, NULL) == 0);
			CHECK(o2g_send(ep, 0, tag, b, 256, 0) == 0);
		}
		check_bytes(b, 256, tag + i);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, thread_main, (void *)i));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* Rounds in which both send and receive, each begun by the end of the last. */
struct relay {
	struct o2g_work work;
	struct o2g_req *reqs[2];
	char in, out;
	uint64_t tag;
	int round, rounds;
	atomic_int ended;
};

static void next_round(struct relay *r)
{
	struct o2g_seg in = { &r->in, 1 }, out = { &r->out, 1 };

	do {
		for (int i = 0; r->round && i < 2; i++)
			CHECK(o2g_wait(r->reqs[i], NULL) == 0);
		CHECK(!r->round || r->in == (char)r->round);
		if (r->round++ == r->rounds) {
			atomic_store(&r->ended, 1);
			return;
		}
		r->out = (char)r->round;
		CHECK(!o2g_irecv(ep, 1 - me, r->tag, 0, &in, 1, &r->reqs[0]));
		CHECK(!o2g_isend(ep, 1 - me, r->tag, &out, 1, O2G_SYNC,
				 &r->reqs[1]));
	} while (o2g_after(ep, r->reqs, 2, &r->work));
}

static void relay_work(struct o2g_work *w)
{
	next_round((struct relay *)w);
}

static int has_ended(void *arg)
{
	return atomic_load(&((struct relay *)arg)->ended);
}

/* Work goes on while the program computes, while it waits for something else,
 * and while it polls; and wakes those who wait for it. */
static void work(void)
{
	struct relay r[3] = { 0 };
	char c;

	for (int i = 0; i < 3; i++) {
		r[i].work.fn = relay_work;
		r[i].tag = 10 + i;
		r[i].rounds = 50;
		next_round(&r[i]);
		if (i == 0)
			while (!has_ended(&r[i]))
				usleep(1000);
		if (i == 1 && me == 0)
			CHECK(o2g_wait_until(ep, has_ended, &r[i], -1) == 0);
		if (i == 1 && me == 0)
			CHECK(o2g_send(ep, 1, 1, "x", 1, 0) == 0);
		if (i == 1 && me == 1)
			CHECK(o2g_recv(ep, 0, 1, 0, &c, 1, NULL) == 0);
		while (!has_ended(&r[i]))
			o2g_progress(ep);
	}
}

/* True when asked for the n-th time, and never again: as one that takes what it
 * finds, such as a matched probe. */
static int now_or_never(void *arg)
{
	return --*(int *)arg == 0;
}

/* Whoever asks it believes the answer: wherever waiting asks. */
static void asked_once(void)
{
	for (int at = 1; at <= 20; at++) {
		int left = at, ret;

		while ((ret = o2g_wait_until(ep, now_or_never, &left, 2000)))
			CHECK(ret == -ETIMEDOUT && left > 0);
		CHECK(left == 0);
	}
}

static void idle_costs_nothing(void)
{
	struct timespec a, z;
	char c;

	if (me == 1) {
		usleep(1500000);
		CHECK(o2g_send(ep, 0, 1, "x", 1, 0) == 0);
		return;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	CHECK(o2g_recv(ep, 1, 1, 0, &c, 1, NULL) == 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &z);
	CHECK((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec <
	      50000000L);
}

/*
 * Nobody's thread wakes while the program waits for long, the progress thread's
 * neither; and that one is back when the program computes again.
 */
static void idle_wakes_nobody(void)
{
	size_t len = 1 << 20;
	char c, *big = calloc(1, len);
	struct o2g_seg seg = { big, len };
	struct o2g_req *r;
	struct rusage a, z;

	if (me == 1) {
		usleep(1500000);
		CHECK(o2g_send(ep, 0, 1, "x", 1, 0) == 0);
		CHECK(o2g_send(ep, 0, 2, big, len, 0) == 0);
		CHECK(o2g_send(ep, 0, 3, "y", 1, 0) == 0);
		free(big);
		return;
	}
	CHECK(o2g_irecv(ep, 1, 2, 0, &seg, 1, &r) == 0);
	getrusage(RUSAGE_SELF, &a);
	CHECK(o2g_recv(ep, 1, 1, 0, &c, 1, NULL) == 0);
	getrusage(RUSAGE_SELF, &z);
	CHECK(z.ru_nvcsw - a.ru_nvcsw < 40);
	/* Rank 1 can send its last message only when we have the large one. */
	usleep(500000);
	CHECK(o2g_iprobe(ep, 1, 3, 0, NULL) == 0);
	CHECK(o2g_wait(r, NULL) == 0);
	CHECK(o2g_recv(ep, 1, 3, 0, &c, 1, NULL) == 0);
	free(big);
}

OVER(descriptor, 2, descriptor, -1)
OVER(wait_any, 2, wait_any, -1)
OVER(busy_peer, 2, busy_peer, -1)
OVER(busy_receiver, 2, busy_receiver, -1)
OVER(threads, 2, threads, -1)
OVER(work, 2, work, -1)
OVER(asked_once, 2, asked_once, -1)
OVER(wait_errors, 2, wait_errors, -1)
OVER(idle_costs_nothing, 2, idle_costs_nothing, -1)
OVER(idle_wakes_nobody, 2, idle_wakes_nobody, -1)

static void wait_shared__shm(void **state)
{
	job("shm", 2, wait_shared, -1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(descriptor),	 BOTH(wait_any),
		BOTH(busy_peer),	 BOTH(busy_receiver),
		BOTH(threads),		 BOTH(work),
		BOTH(asked_once),	 BOTH(wait_errors),
		T(wait_shared__shm),	 BOTH(idle_costs_nothing),
		BOTH(idle_wakes_nobody),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
