/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: libo2g */
/* libs: -lnettle */
/*
 * A server: an endpoint at a fixed place whose peers come, go, and come again under
 * the same number or another.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "peer.h"
#include "tcp/given.h"
#include "unit.h"

#define RANKS (1 << 20)
#define LIMIT_US 20000000

size_t __sanitizer_get_current_allocated_bytes(void);

static char address[O2G_ADDRESS_MAX];
static int lost_rank, nlost;

static int to_server(void *arg, int rank, char *text, size_t size)
{
	snprintf(text, size, "%s", address);
	return rank ? -ENOENT : 0;
}

static void lost(void *arg, int rank, int finished)
{
	lost_rank = rank;
	nlost++;
}

static int never(void *arg, uint64_t tag, int which)
{
	return 0;
}

static struct o2g_ep *open_server(const char *where)
{
	struct o2g_attr attr = { .size = RANKS,
				 .job = "guests",
				 .lost = lost,
				 .doomed = never,
				 .listen = where };
	struct o2g_ep *ep;

	assert_int_equal(o2g_open(&attr, &ep), 0);
	assert_int_equal(o2g_address(ep, address, sizeof(address)), 0);
	return ep;
}

static struct o2g_ep *open_guest(int rank)
{
	struct o2g_attr attr = { .rank = rank,
				 .size = RANKS,
				 .job = "guests",
				 .resolve = to_server };
	struct o2g_ep *ep;

	assert_int_equal(o2g_open(&attr, &ep), 0);
	return ep;
}

static void until(struct o2g_ep *a, struct o2g_ep *b, struct o2g_req *req,
		  int rank)
{
	u64 end = o2g_now_us() + LIMIT_US;

	while (req ? !o2g_is_done(req) : lost_rank != rank) {
		assert_true(o2g_now_us() < end);
		o2g_progress(a);
		if (b)
			o2g_progress(b);
	}
}

/* One comes, says something, gets an answer, and goes. */
static void visit(struct o2g_ep *server, struct o2g_req **any, u64 *word,
		  int rank)
{
	struct o2g_ep *guest = open_guest(rank);
	struct o2g_seg seg = { word, sizeof(*word) };
	struct o2g_status s;
	u64 said = (u64)rank, back = 0;

	lost_rank = -1;
	assert_int_equal(o2g_send(guest, 0, 7, &said, sizeof(said), 0), 0);
	until(server, guest, *any, 0);
	assert_int_equal(o2g_wait(*any, &s), 0);
	assert_int_equal(s.source, rank);
	assert_int_equal(*word, said);
	assert_int_equal(o2g_send(server, rank, 8, word, sizeof(*word), 0), 0);
	assert_int_equal(o2g_recv(guest, 0, 8, 0, &back, 8, NULL), 0);
	assert_int_equal(back, said);
	assert_int_equal(o2g_irecv(server, O2G_ANY_SOURCE, 7, 0, &seg, 1, any),
			 0);
	o2g_close(guest);
	until(server, NULL, NULL, rank);
	assert_int_equal(o2g_peer_del(server, rank), 0);
}

static void guests_come_and_go(void **state)
{
	struct o2g_ep *server = open_server("127.0.0.1:0");
	u64 word;
	struct o2g_seg seg = { &word, sizeof(word) };
	struct o2g_req *any;
	size_t before = 0;

	assert_int_equal(o2g_irecv(server, O2G_ANY_SOURCE, 7, 0, &seg, 1, &any),
			 0);
	for (int i = 0; i < 60; i++) {
		/* All of them in one chunk of the table, each of them often. */
		visit(server, &any, &word, 640 + i % 6);
		if (i == 20)
			before = __sanitizer_get_current_allocated_bytes();
	}
	assert_int_equal(nlost, 60);
	assert_true(__sanitizer_get_current_allocated_bytes() <= before + 4096);
	/* The receive from any outlives them all. */
	assert_false(o2g_is_done(any));
	o2g_close(server);
}

static void o2g_peer_del__own_job(void **state)
{
	struct o2g_ep *server = open_server("127.0.0.1:0");

	assert_int_equal(o2g_peer_del(server, 0), -EINVAL);
	assert_int_equal(o2g_peer_del(server, -1), -EINVAL);
	assert_int_equal(o2g_peer_del(server, RANKS), -EINVAL);
	assert_int_equal(o2g_peer_del(server, 17), 0); /* never met */
	/* Made known by an attempt to send, which has nowhere to go. */
	assert_int_equal(o2g_send(server, 17, 1, "x", 1, 0), -EDESTADDRREQ);
	assert_non_null(eng_peer_known(server, 17));
	assert_int_equal(o2g_peer_del(server, 17), 0);
	assert_null(eng_peer_known(server, 17));
	o2g_close(server);
}

static void listen__anywhere(void **state)
{
	struct o2g_ep *server = open_server(":0");
	const char *port = strstr(address, "port=");
	u64 word = 0, said = 5;

	/* By an address that it does not tell of itself. */
	assert_non_null(port);
	snprintf(
		address, sizeof(address),
		"o2g1;host=x;tcp=rank=0,host=x,node=%s,port=%d,addr=127.0.0.1/8",
		server->node, atoi(port + 5));
	struct o2g_ep *guest = open_guest(99);
	struct o2g_seg seg = { &word, sizeof(word) };
	struct o2g_req *any;

	assert_int_equal(o2g_irecv(server, O2G_ANY_SOURCE, 7, 0, &seg, 1, &any),
			 0);
	assert_int_equal(o2g_send(guest, 0, 7, &said, sizeof(said), 0), 0);
	until(server, guest, any, 0);
	assert_int_equal(o2g_wait(any, NULL), 0);
	assert_int_equal(word, said);
	o2g_close(guest);
	o2g_close(server);
}

static void listen__refuses(void **state)
{
	static const char *const bad[] = {
		"",	  "5640",   "10.0.0.1",	     "10.0.0.1:", ":x",
		":65536", "::1:80", "[10.0.0.1]:80", "10.0.0:80", "[::1]80",
		"[]:80",  ":-1",    "[fd00::]:1x"
	};
	struct tcp_given g;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(tcp_given_parse(bad[i], &g), -EINVAL);
	assert_int_equal(tcp_given_parse("[fd00::1]:80", &g), 0);
	assert_int_equal(g.at.family, AF_INET6);
	assert_int_equal(g.port, 80);
	assert_false(g.anywhere);
	assert_int_equal(tcp_given_parse(":0", &g), 0);
	assert_true(g.anywhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guests_come_and_go),
		cmocka_unit_test(o2g_peer_del__own_job),
		cmocka_unit_test(listen__anywhere),
		cmocka_unit_test(listen__refuses),
	};

	setenv("O2G_CHANNELS", "tcp", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
