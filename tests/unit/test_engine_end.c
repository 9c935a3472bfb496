/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Ranks that end, and children of theirs. */
#include "engine_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "clock.h"

/* Rank 1 dies; rank 0 learns of it in all that needs rank 1. */
static void death(void)
{
	static char b[1 << 20];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_req *r[3];
	struct o2g_peer_info info;
	char text[256];
	uint64_t start;

	if (me == 1) {
		CHECK(o2g_recv(ep, 0, 1, 0, b, 1, NULL) == 0);
		CHECK(o2g_send(ep, 0, 1, b, 1, 0) == 0);
		/* what close would wait for never comes */
		atomic_fetch_add(&shared->round, 1);
		usleep(100000);
		kill(getpid(), SIGKILL);
	}
	CHECK(o2g_send(ep, 1, 1, b, 1, 0) == 0);
	CHECK(o2g_recv(ep, 1, 1, 0, b, 1, NULL) == 0);
	CHECK(o2g_irecv(ep, 1, 2, 0, &seg, 1, &r[0]) == 0);
	CHECK(o2g_irecv(ep, O2G_ANY_SOURCE, 3, 0, &seg, 1, &r[1]) == 0);
	CHECK(o2g_isend(ep, 1, 4, &seg, 1, 0, &r[2]) == 0);
	start = o2g_now_us();
	for (int i = 0; i < 3; i++)
		CHECK(o2g_wait(r[i], NULL) == -O2G_ERR_PEER);
	CHECK(o2g_now_us() - start < 2000000);
	CHECK(o2g_peer_info(ep, 1, &info) == 0 && !info.alive);
	CHECK(o2g_peer_error(ep, 1, text, sizeof(text)) == 0);
	CHECK(strstr(text, "rank 1 on "));
	CHECK(o2g_send(ep, 1, 5, b, 1, 0) == -O2G_ERR_PEER);
	CHECK(o2g_recv(ep, 1, 5, 0, b, 1, NULL) == -O2G_ERR_PEER);
}

/* The last rank ends before anybody has talked to it. */
static void death_unheard(void)
{
	char b[1], text[256];
	int last = nranks - 1;

	if (me == last) {
		atomic_fetch_add(&shared->round, 1);
		_exit(0);
	}
	if (me == 0)
		CHECK(o2g_recv(ep, last, 1, 0, b, 1, NULL) == -O2G_ERR_PEER);
	if (me == 1)
		CHECK(o2g_probe(ep, last, 1, 0, NULL) == -O2G_ERR_PEER);
	if (me == 2)
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 1, 0, b, 1, NULL) ==
		      -O2G_ERR_PEER);
	CHECK(o2g_peer_error(ep, last, text, sizeof(text)) == 0);
	CHECK(strstr(text, "rank 3 on ") && strstr(text, "has ended"));
}

OVER(death, 2, death, 1)
OVER(death_unheard, 4, death_unheard, 3)

/* --- a child that was forked and ends --- */

static void forked(void)
{
	char byte = (char)me, got = -1;
	int other = !me, status;
	pid_t child;

	CHECK(o2g_send(ep, other, 1, &byte, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 1, 0, &got, 1, NULL) == 0);
	child = fork();
	if (!child) {
		o2g_close(ep);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(o2g_send(ep, other, 2, &byte, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 2, 0, &got, 1, NULL) == 0 && got == other);
}

OVER(forked, 2, forked, -1)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(death),
		BOTH(death_unheard),
		BOTH(forked),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
