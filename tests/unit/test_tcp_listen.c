/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* The side that listens: strangers, ports, and when descriptors run out. */
#include "tcp_fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "tcp/sock.h"

static void hello__wrong_secret(void **state)
{
	struct o2g_seg none = { NULL, 0 };
	struct host_req *s;

	settings->tcp_timeout = 1;
	memset(b->secret, 8, sizeof(b->secret));
	assert_int_equal(host_connect(a, b), 0);
	s = host_send(a, 1, 1, &none, 1);
	assert_true(both_run(&s->done, 3000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_int_equal(conns(b), 0);
	assert_false(b->peers[0].known); /* nothing was made for it */
	assert_true(tc(b)->strangers > 0);
}

static void hello__garbage(void **state)
{
	char junk[300];
	int fd[3];

	memset(junk, 'x', sizeof(junk));
	for (int i = 0; i < 3; i++) {
		fd[i] = dial_raw(a);
		assert_int_equal(send(fd[i], junk, 96 + i * 100, MSG_NOSIGNAL),
				 96 + i * 100);
		assert_true(closed_raw(a, fd[i]));
		close(fd[i]);
	}
	assert_int_equal(tc(a)->strangers, 3);
	assert_int_equal(conns(a), 0);
	exchange(b, a, 10);
}

static void hello__replayed(void **state)
{
	struct tcp_answer answer, old;
	struct tcp_challenge c;
	int fd = dial_raw(a), fd2 = dial_raw(a);

	assert_int_equal(hello_raw(a, fd, 3, 0, &old, 96), TCP_ACCEPTED);
	assert_true(read_raw(a, fd2, &c, sizeof(c)));
	assert_int_equal(send(fd2, &old, sizeof(old), MSG_NOSIGNAL),
			 sizeof(old));
	assert_true(closed_raw(a, fd2));
	assert_int_equal(tc(a)->strangers, 1);
	assert_int_equal(conns(a), 1);
	/* And a second true one of the same pair is a duplicate. */
	close(fd2);
	fd2 = dial_raw(a);
	assert_int_equal(hello_raw(a, fd2, 3, 0, &answer, 96), TCP_DUPLICATE);
	assert_true(none_lost(a));
	close(fd2);
	host_idle(both, 1, 20);
	assert_true(none_lost(a));
	close(fd);
}

static void hello__byte_by_byte(void **state)
{
	struct tcp_answer answer;
	int fd = dial_raw(a);

	assert_int_equal(hello_raw(a, fd, 3, 0, &answer, 1), TCP_ACCEPTED);
	close(fd);
	fd = dial_raw(a);
	assert_int_equal(hello_raw(a, fd, 4, 9, &answer, 7), TCP_NOT_ME);
	close(fd);
	fd = dial_raw(a);
	assert_int_equal(hello_raw(a, fd, 0, 0, &answer, 96), TCP_NOT_ME);
	close(fd);
	fd = dial_raw(a);
	assert_int_equal(hello_raw(a, fd, HOST_PEERS, 0, &answer, 96),
			 TCP_GONE);
	close(fd);
}

/* Ten tables full of them, and more: each is in its place for a moment only. */
static void hello__half_open_flood(void **state)
{
	enum { N = 2500 };
	struct rlimit old, high;
	int fd[N];
	u64 start;

	getrlimit(RLIMIT_NOFILE, &old);
	high = old;
	high.rlim_cur = high.rlim_max < 8192 ? high.rlim_max : 8192;
	assert_true(high.rlim_cur > N + TCP_HELLO_SLOTS + 100);
	setrlimit(RLIMIT_NOFILE, &high);
	for (u32 i = 0; i < N; i++)
		fd[i] = dial_raw(a);
	start = o2g_now_us();
	exchange(b, a, 10); /* not kept out by those before it */
	assert_true(o2g_now_us() - start < 3000000);
	assert_true(tc(a)->strangers >= N - TCP_HELLO_SLOTS);
	assert_true(tc(a)->crowd_said);
	assert_true(none_lost(b));
	for (u32 i = 0; i < N; i++)
		close(fd[i]);
	setrlimit(RLIMIT_NOFILE, &old);
}

/* --- peers go first --- */

static bool fits_a(const void *marked, u16 port)
{
	struct tcp_hello_key k = { a->secret, "test" };

	return tcp_hello_is_marked(&k, 0, port) == *(const bool *)marked;
}

/* A call to `a` from a port that is marked, or is not. */
static int dial_from(bool marked)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(tc(a)->port) };
	int fd = tcp_sock_create_at(AF_INET, fits_a, &marked);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	connect(fd, (void *)&to, sizeof(to)); /* goes on without us */
	for (int i = 0; i < 3; i++)
		host_pump(a);
	return fd;
}

static bool was_closed(int fd)
{
	struct tcp_challenge c;

	recv(fd, &c, sizeof(c), MSG_DONTWAIT);
	return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) != -1 ||
	       errno != EAGAIN;
}

/* In a crowd a marked caller keeps its place while strangers come and go. */
static void crowd__spares_the_marked(void **state)
{
	enum { N = 3 * TCP_HELLO_SLOTS };
	struct tcp_answer answer;
	int fd[N], peer, other;

	for (u32 i = 0; i < TCP_HELLO_SLOTS; i++)
		fd[i] = dial_from(false);
	host_idle(both, 1, 30);
	other = dial_from(false);
	peer = dial_from(true);
	assert_true(tc(a)->crowd_said);
	for (u32 i = TCP_HELLO_SLOTS; i < N; i++) {
		if (i % 64 == 0)
			host_idle(both, 1, 25);
		fd[i] = dial_from(false);
	}
	assert_true(was_closed(other));
	assert_int_equal(hello_raw(a, peer, 3, 0, &answer, 96), TCP_ACCEPTED);
	for (u32 i = 0; i < N; i++)
		close(fd[i]);
	close(peer);
	close(other);
}

/* And has one at once, where the strangers are all too young to go. */
static void crowd__makes_room_for_the_marked(void **state)
{
	enum { N = 2 * TCP_HELLO_SLOTS };
	struct tcp_answer answer;
	int fd[N], peer;

	for (u32 i = 0; i < TCP_HELLO_SLOTS; i++)
		fd[i] = dial_from(false);
	host_idle(both, 1, 30);
	for (u32 i = TCP_HELLO_SLOTS; i < N; i++)
		fd[i] = dial_from(false); /* each takes the place of another */
	peer = dial_from(true);
	assert_int_equal(hello_raw(a, peer, 3, 0, &answer, 96), TCP_ACCEPTED);
	for (u32 i = 0; i < N; i++)
		close(fd[i]);
	close(peer);
}

/* Whoever is hung up on calls again soon, from a port that marks it. */
static void crowd__called_again(void **state)
{
	struct tcp_hello_key k = { a->secret, "test" };
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int listener, fd = dialled_by(a, 1, &listener);

	close(fd);
	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 1000; i++) {
		host_pump(a);
		fd = accept(listener, (void *)&from, &len);
		if (fd >= 0)
			break;
		usleep(1000);
	}
	assert_true(fd >= 0);
	assert_true(tcp_hello_is_marked(&k, 1, ntohs(from.sin_port)));
	close(fd);
	close(listener);
}

/* Its answer has been there for long; it is we who have not looked. */
static void hello__read_before_dropped(void **state)
{
	struct tcp_hello_key k = { a->secret, "test" };
	struct tcp_verdict_msg v;
	struct tcp_answer answer;
	struct tcp_challenge c;
	int fd = dial_raw(a);

	assert_true(read_raw(a, fd, &c, sizeof(c)));
	assert_int_equal(
		tcp_hello_answer(&k, &c, TCP_FIRST, 3, 0, "raw", &answer), 0);
	assert_int_equal(send(fd, &answer, sizeof(answer), MSG_NOSIGNAL),
			 sizeof(answer));
	for (u32 i = 0; i < tc(a)->nslots; i++)
		tc(a)->slots[i].since_us -= TCP_HELLO_US;
	tc(a)->slot_timer.fn(&tc(a)->slot_timer);
	assert_true(read_raw(a, fd, &v, sizeof(v)));
	assert_int_equal(le32_to_cpu(v.code), TCP_ACCEPTED);
	assert_int_equal(tc(a)->strangers, 0);
	close(fd);
}

static void hello__time_limit(void **state)
{
	int fd = dial_raw(a);

	assert_true(send(fd, "O2Ga", 4, 0) == 4);
	host_idle(both, 1, 100);
	for (u32 i = 0; i < tc(a)->nslots; i++) /* as if 5 s had passed */
		tc(a)->slots[i].since_us -= TCP_HELLO_US;
	assert_true(closed_raw(a, fd));
	assert_int_equal(tc(a)->strangers, 1);
	close(fd);
}

static void ports__range(void **state)
{
	struct host *h[3];
	char why[512] = "", range[32];
	/* Below those that are given out to whoever asks for any, and not those of
	 * another run of this test. */
	u16 first = 20000 + getpid() % 3000 * 4;

	teardown(NULL);
	snprintf(range, sizeof(range), "%u-%u", first, first + 2);
	settings->tcp_ports = range;
	for (int i = 0; i < 3; i++) {
		h[i] = open_host(7);
		assert_in_range(tc(h[i])->port, first, first + 2);
	}
	assert_null(host_create(8, &tcp_chan_ops, why, sizeof(why)));
	assert_non_null(strstr(why, "O2G_TCP_PORTS"));
	snprintf(range, sizeof(range), "%u to %u", first, first + 2);
	assert_non_null(strstr(why, range));
	for (int i = 0; i < 3; i++)
		host_destroy(h[i], false);
}

static void ports__nonsense(void **state)
{
	static const char *const bad[] = { "x",	 "0",	  "5-4", "1-70000",
					   "5-", "5-6-7", "-5",	 "5,6" };
	char why[512];

	for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		settings->tcp_ports = bad[i];
		assert_null(host_create(8, &tcp_chan_ops, why, sizeof(why)));
		assert_non_null(strstr(why, "FIRST-LAST"));
		assert_non_null(strstr(why, bad[i]));
	}
}

static void fds__none_left(void **state)
{
	struct rlimit old, low;
	int fd[1024], n = 0, raw = dial_raw(a);
	struct host_req *s;
	u8 x = 1;
	struct o2g_seg sx = { &x, 1 };

	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 100;
	setrlimit(RLIMIT_NOFILE, &low);
	while (n < 1024 && (fd[n] = dup(1)) >= 0)
		n++;
	/* The one that waits is accepted with the reserve, and closed. */
	assert_true(closed_raw(a, raw));
	assert_true(tc(a)->fd_log_us != 0);
	assert_int_equal(host_connect(a, b), 0);
	s = host_send(a, 1, 1, &sx, 1);
	host_idle(both, 2, 300);
	assert_false(s->done);
	assert_true(none_lost(a));
	while (n)
		close(fd[--n]);
	assert_true(both_run(&s->done, 3000)); /* it tries again */
	setrlimit(RLIMIT_NOFILE, &old);
	close(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(hello__wrong_secret),
		S(hello__garbage),
		S(hello__replayed),
		S(hello__byte_by_byte),
		S(hello__half_open_flood),
		S(crowd__spares_the_marked),
		S(crowd__makes_room_for_the_marked),
		S(crowd__called_again),
		S(hello__time_limit),
		S(ports__range),
		S(ports__nonsense),
		S(fds__none_left),
		S(hello__read_before_dropped),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
