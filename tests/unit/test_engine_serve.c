/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Handlers: messages that call a function at the peer. */
#include "engine_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define TAG (5ull << 32)
#define LOW 0xffffffffull
#define LONG (3u << 20)

static unsigned char *data;
static atomic_int calls, inside, answers;
static uint64_t next[MAX_RANKS];

static int enough(void *n)
{
	return atomic_load(&calls) >= *(int *)n;
}

static int answered(void *n)
{
	return atomic_load(&answers) >= *(int *)n;
}

static void wait_calls(int n)
{
	CHECK(!o2g_wait_until(ep, enough, &n, 30000000));
}

static int call(int peer, uint64_t tag, const void *from, size_t len)
{
	return o2g_call(ep, peer, tag, &(struct o2g_seg){ (void *)from, len },
			1);
}

static size_t length_of(uint64_t number)
{
	static const size_t some[] = { 0, 8, 40, 1000, 5000, 70000, LONG };

	return some[number % (sizeof(some) / sizeof(*some))];
}

/* In order for each peer, one at a time, whole and aligned; it answers. */
static void counted(void *arg, int peer, uint64_t tag, const void *body,
		    size_t len)
{
	uint64_t number = tag & LOW;

	CHECK(arg == &calls);
	CHECK(atomic_fetch_add(&inside, 1) == 0);
	CHECK(number == next[peer]++);
	CHECK(len == length_of(number) && !((uintptr_t)body & 15));
	check_bytes(body, len, (unsigned)number);
	CHECK(!call(peer, 2 * TAG | number, &number, 8));
	atomic_fetch_sub(&inside, 1);
	atomic_fetch_add(&calls, 1);
}

static void answer(void *arg, int peer, uint64_t tag, const void *body,
		   size_t len)
{
	CHECK(len == 8 && *(const uint64_t *)body == (tag & LOW));
	atomic_fetch_add(&answers, 1);
}

static void serve_both(void)
{
	CHECK(!o2g_serve(ep, TAG, LOW, counted, &calls));
	CHECK(!o2g_serve(ep, 2 * TAG, LOW, answer, NULL));
}

#define MANY 70

static void all_to_all(void)
{
	int all = nranks * MANY;

	data = malloc(LONG);
	serve_both();
	meet(&shared->word[7]);
	for (uint64_t i = 0; i < MANY; i++) {
		fill(data, length_of(i), (unsigned)i);
		for (int to = 0; to < nranks; to++)
			CHECK(!call(to, TAG | i, data, length_of(i)));
	}
	wait_calls(all);
	CHECK(!o2g_wait_until(ep, answered, &all, 30000000));
	meet(&shared->word[7]);
	free(data);
}

/* With a request, among ordinary messages; wildcards see none of them. */
static void among_messages(void)
{
	struct o2g_req *r;
	struct o2g_status s;
	uint64_t x = 0;

	data = calloc(1, LONG);
	if (me == 0) {
		serve_both();
		meet(&shared->word[7]);
		CHECK(!o2g_recv(ep, O2G_ANY_SOURCE, 0, ~0ull, &x, 8, &s));
		CHECK(s.tag == 99 && x == 4711);
		wait_calls(MANY);
		CHECK(o2g_iprobe(ep, O2G_ANY_SOURCE, 0, ~0ull, &s) == -EAGAIN);
	} else {
		CHECK(!o2g_serve(ep, 2 * TAG, LOW, answer, NULL));
		meet(&shared->word[7]);
		for (uint64_t i = 0; i < MANY; i++) {
			struct o2g_seg seg = { data, length_of(i) };

			fill(data, length_of(i), (unsigned)i);
			CHECK(!o2g_isend(ep, 0, TAG | i, &seg, 1, O2G_SERVED,
					 &r));
			CHECK(!o2g_wait(r, NULL));
		}
		x = 4711;
		CHECK(!o2g_send(ep, 0, 99, &x, 8, 0));
		int n = MANY;
		CHECK(!o2g_wait_until(ep, answered, &n, 30000000));
	}
	meet(&shared->word[7]);
	free(data);
}

/* What nobody serves yet waits, within what credit allows. */
static void late(void)
{
	data = calloc(1, LONG);
	CHECK(!o2g_serve(ep, 2 * TAG, LOW, answer, NULL));
	if (me) {
		for (uint64_t i = 0; i < MANY; i++) {
			fill(data, length_of(i), (unsigned)i);
			CHECK(!call(0, TAG | i, data, length_of(i)));
		}
		atomic_store(&shared->word[0], 1);
		int n = MANY;
		CHECK(!o2g_wait_until(ep, answered, &n, 30000000));
	} else {
		while (!atomic_load(&shared->word[0]))
			o2g_progress(ep);
		for (int i = 0; i < 1000; i++)
			o2g_progress(ep);
		CHECK(!o2g_serve(ep, TAG, LOW, counted, &calls));
		wait_calls(MANY);
	}
	meet(&shared->word[7]);
	free(data);
}

/* The program computes; the progress thread calls. */
static void computing(void)
{
	data = calloc(1, LONG);
	serve_both();
	meet(&shared->word[7]);
	if (me == 0) {
		for (int i = 0; i < 20000 && atomic_load(&calls) < MANY; i++)
			usleep(1000); /* in no call of the library */
		CHECK(atomic_load(&calls) == MANY);
	} else {
		for (uint64_t i = 0; i < MANY; i++) {
			int n = (int)i + 1;

			fill(data, length_of(i), (unsigned)i);
			CHECK(!call(0, TAG | i, data, length_of(i)));
			CHECK(!o2g_wait_until(ep, answered, &n, 30000000));
		}
	}
	meet(&shared->word[7]);
	free(data);
}

static void nothing(void *arg, int peer, uint64_t tag, const void *body,
		    size_t len)
{
}

static void ends_itself(void *arg, int peer, uint64_t tag, const void *body,
			size_t len)
{
	o2g_serve_end(ep, 7, 0);
	atomic_fetch_add(&calls, 1);
}

static void slow(void *arg, int peer, uint64_t tag, const void *body,
		 size_t len)
{
	atomic_store(&inside, 1);
	usleep(100000);
	atomic_store(&inside, 0);
}

static void *wait_here(void *arg)
{
	int n = 2;

	o2g_wait_until(ep, enough, &n, 30000000);
	return NULL;
}

static void registering(void)
{
	pthread_t thread;

	CHECK(!o2g_serve(ep, 0x10, 0xf, nothing, NULL));
	CHECK(o2g_serve(ep, 0x1f, 0, nothing, NULL) == -EEXIST);
	CHECK(o2g_serve(ep, 0, ~0ull, nothing, NULL) == -EEXIST);
	CHECK(!o2g_serve(ep, 0x20, 0xf, nothing, NULL));
	o2g_serve_end(ep, 0x20, 0xf);
	CHECK(!o2g_serve(ep, 0x2f, 0, nothing, NULL));
	CHECK(!o2g_serve(ep, 7, 0, ends_itself, NULL));
	CHECK(!call(me, 7, NULL, 0));
	wait_calls(1);
	CHECK(!o2g_serve(ep, 7, 0, slow, NULL));
	CHECK(!call(me, 7, NULL, 0));
	CHECK(!pthread_create(&thread, NULL, wait_here, NULL));
	while (!atomic_load(&inside))
		usleep(100);
	o2g_serve_end(ep, 7, 0);
	CHECK(!atomic_load(&inside));
	atomic_fetch_add(&calls, 1);
	CHECK(!o2g_serve(ep, 8, 0, nothing, NULL));
	CHECK(!call(me, 8, NULL, 0)); /* wakes the thread */
	pthread_join(thread, NULL);
	CHECK(call(me, 1, NULL, O2G_SERVED_MAX + 1) == -EMSGSIZE);
	CHECK(call(me, 1000, NULL, 0) == 0); /* nobody's, at the end */
}

static void two_at_once(void)
{
	struct o2g_req *r;

	CHECK(o2g_isend(ep, me, 1, NULL, 0, O2G_SYNC | O2G_SERVED, &r) ==
	      -EINVAL);
}

/* What has come as a whole is handled; what has not is forgotten. */
static void dying(void)
{
	uint64_t x = 0;

	data = calloc(1, LONG);
	if (me == 0) {
		CHECK(!o2g_serve(ep, 2 * TAG, LOW, answer, NULL));
		CHECK(o2g_recv(ep, 1, 1, 0, &x, 8, NULL) == -O2G_ERR_PEER);
		CHECK(!o2g_serve(ep, TAG, LOW, nothing, NULL));
		for (int i = 0; i < 1000; i++)
			o2g_progress(ep);
	} else {
		for (uint64_t i = 0; i < MANY; i++)
			CHECK(!call(0, TAG | i, data, length_of(i)));
		usleep(20000);
		atomic_fetch_add(&shared->round, 1);
		raise(SIGKILL);
	}
	free(data);
}

OVER(all, 3, all_to_all, -1)
OVER(mixed, 2, among_messages, -1)
OVER(unserved, 2, late, -1)
OVER(away, 2, computing, -1)
OVER(dead, 2, dying, 1)

static void registered(void **state)
{
	job("tcp", 1, registering, -1);
}

static void refused(void **state)
{
	job("tcp", 1, two_at_once, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(all),  BOTH(mixed),   BOTH(unserved), BOTH(away),
		BOTH(dead), T(registered), T(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
