/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* TLS on connections of the TCP channel: sessions alone, and pairs of endpoints. What
 * the channel does with messages is tested over every channel (channels_fixture.c). */
#define _GNU_SOURCE /* memmem */
#include "tcp_fixture.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tcp/port.h"
#include "tcp/tls.h"

/* --- a kernel with TLS --- */

static bool kernel_has_tls;

/* What such a kernel answers for a socket that it cannot use: it is there, and an end
 * whose kernel it is offers the ciphers that go with it. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	if (kernel_has_tls && level == IPPROTO_TCP && option == TCP_ULP) {
		errno = ENOTCONN;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, option, value, size);
}

/* --- sessions --- */

static int fds[2];
static struct tcp_tls *ends[2];
static u8 key[TCP_TLS_KEY] = "a key of thirty-two bytes, plain";

static void wait_ready(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	poll(&p, 1, 10);
}

/* Both in turn until both are done: 0, or what went wrong first. */
static int shake_hands(void)
{
	int r[2] = { 0, 0 };

	for (int i = 0; i < 1000 && (r[0] != 1 || r[1] != 1); i++)
		for (int e = 0; e < 2; e++) {
			wait_ready(fds[e]);
			if (r[e] != 1)
				r[e] = tcp_tls_handshake(ends[e]);
			if (r[e] < 0)
				return r[e];
		}
	return r[0] == 1 && r[1] == 1 ? 0 : -ETIMEDOUT;
}

static int open_session(void **state)
{
	settings->encrypt_rekey = 64ull << 30;
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds);
	ends[0] = tcp_tls_create(fds[0], key, TCP_TLS_CLIENT);
	ends[1] = tcp_tls_create(fds[1], key, TCP_TLS_SERVER);
	return !ends[0] || !ends[1];
}

static int close_session(void **state)
{
	kernel_has_tls = false;
	for (int i = 0; i < 2; i++) {
		tcp_tls_destroy(ends[i]);
		close(fds[i]);
	}
	return 0;
}

/* @n bytes through it, in the given pieces. */
static void carry(int from, size_t n, size_t piece)
{
	u8 *out = malloc(n), *in = calloc(1, n);
	size_t sent = 0, got = 0;

	fill(out, n, (u32)n);
	for (int idle = 0; got < n && idle < 1000;) {
		size_t len = n - sent < piece ? n - sent : piece;
		struct o2g_seg o[2] = { { out + sent, len / 3 },
					{ out + sent + len / 3,
					  len - len / 3 } };
		struct o2g_seg i = { in + got, n - got };
		ssize_t r = tcp_tls_send(ends[from], o, len ? 2 : 0);

		if (r > 0)
			sent += (size_t)r;
		else
			assert_true(!r || r == -EAGAIN);
		r = tcp_tls_recv(ends[!from], &i, 1);
		assert_true(r > 0 || r == -EAGAIN);
		got += r > 0 ? (size_t)r : 0;
		idle = r > 0 ? 0 : idle + 1;
	}
	assert_int_equal(got, n);
	assert_memory_equal(in, out, n);
	free(out);
	free(in);
}

static void session__carries_both_ways(void **state)
{
	char what[80];

	assert_int_equal(shake_hands(), 0);
	for (int from = 0; from < 2; from++) {
		carry(from, 1, 1);
		carry(from, 100000, 7);
		carry(from, 16384, 16384);
		carry(from, 3 << 20, 1 << 20);
	}
	tcp_tls_describe(ends[0], what, sizeof(what));
	assert_non_null(strstr(what, "TLS 1.3, "));
	assert_int_equal(tcp_tls_updates(ends[0]), 0);
}

static void handshake_of(bool client, bool server)
{
	char what[80];

	close_session(NULL);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds);
	kernel_has_tls = client;
	ends[0] = tcp_tls_create(fds[0], key, TCP_TLS_CLIENT);
	kernel_has_tls = server;
	ends[1] = tcp_tls_create(fds[1], key, TCP_TLS_SERVER);
	assert_true(ends[0] && ends[1]);
	assert_int_equal(shake_hands(), 0);
	carry(0, 100000, 7);
	carry(1, 100000, 7);
	tcp_tls_describe(ends[0], what, sizeof(what));
	assert_non_null(strstr(what, "CHACHA20-POLY1305"));
}

static void session__with_kernels_of_both(void **state)
{
	handshake_of(true, true);
}

static void session__with_a_kernel_of_one(void **state)
{
	handshake_of(true, false);
	handshake_of(false, true);
}

static void session__has_new_keys(void **state)
{
	settings->encrypt_rekey = 1 << 20;
	assert_int_equal(shake_hands(), 0);
	for (int i = 0; i < 4; i++) {
		carry(0, 10 << 20, 1 << 20);
		carry(1, 2 << 20, 100000);
		usleep(250000);
	}
	assert_true(tcp_tls_updates(ends[0]) >= 4);
	assert_true(tcp_tls_updates(ends[1]) >= 3);
}

static void session__needs_the_key(void **state)
{
	u8 other[TCP_TLS_KEY] = "another";
	int err;

	tcp_tls_destroy(ends[0]);
	ends[0] = tcp_tls_create(fds[0], other, TCP_TLS_CLIENT);
	err = shake_hands();
	assert_true(err < 0 && err != -ETIMEDOUT);
}

/* Whoever does not speak TLS gets nowhere either. */
static void session__refuses_noise(void **state)
{
	static const char noise[] = "GET / HTTP/1.0\r\n\r\n, or whatever";
	int r = 0;

	assert_int_equal(send(fds[0], noise, sizeof(noise), 0), sizeof(noise));
	for (int i = 0; i < 100 && !r; i++)
		r = tcp_tls_handshake(ends[1]);
	assert_true(r < 0);
	assert_true(strlen(tcp_tls_reason(ends[1], r)) > 0);
}

/* Not a byte of what is sent is to be seen, and one that is changed is noticed. */
static void session__seals(void **state)
{
	static u8 plain[1000], sealed[4000];
	struct o2g_seg o = { plain, sizeof(plain) }, i = { sealed, 1000 };
	ssize_t n;

	assert_int_equal(shake_hands(), 0);
	fill(plain, sizeof(plain), 1);
	assert_int_equal(tcp_tls_send(ends[0], &o, 1), sizeof(plain));
	n = recv(fds[1], sealed, sizeof(sealed), 0);
	assert_true(n > (ssize_t)sizeof(plain));
	for (size_t at = 0; at + 8 < sizeof(plain); at++)
		assert_null(memmem(sealed, (size_t)n, plain + at, 8));
	sealed[n / 2] ^= 1;
	assert_int_equal(send(fds[0], sealed, (size_t)n, 0), n);
	n = tcp_tls_recv(ends[1], &i, 1);
	assert_int_equal(n, -EKEYREJECTED);
	assert_non_null(strstr(tcp_tls_reason(ends[1], (int)n), "key"));
	assert_int_equal(tcp_tls_recv(ends[1], &i, 1), -EKEYREJECTED);
}

/* What came before the end is read; then the end, as often as one asks. */
static void session__ends(void **state)
{
	char out[] = "the last", in[100];
	struct o2g_seg o = { out, sizeof(out) }, i = { in, sizeof(in) };

	assert_int_equal(shake_hands(), 0);
	assert_int_equal(tcp_tls_send(ends[0], &o, 1), sizeof(out));
	shutdown(fds[0], SHUT_WR);
	assert_int_equal(tcp_tls_recv(ends[1], &i, 1), sizeof(out));
	assert_int_equal(tcp_tls_recv(ends[1], &i, 1), 0);
	assert_int_equal(tcp_tls_recv(ends[1], &i, 1), 0);
}

/* A full socket: what was taken is pending, and comes when there is room. */
static void session__waits_for_room(void **state)
{
	static u8 out[2 << 20], in[2 << 20];
	struct o2g_seg o = { out, sizeof(out) }, i;
	size_t sent, got = 0;
	ssize_t r;

	assert_int_equal(shake_hands(), 0);
	fill(out, sizeof(out), 3);
	r = tcp_tls_send(ends[0], &o, 1);
	assert_true(r > 0 && r < (ssize_t)sizeof(out));
	assert_true(tcp_tls_pending(ends[0]));
	assert_int_equal(tcp_tls_send(ends[0], &o, 1), -EAGAIN);
	sent = (size_t)r;
	for (int n = 0; n < 1000 && got < sent; n++) {
		i = (struct o2g_seg){ in + got, sizeof(in) - got };
		r = tcp_tls_recv(ends[1], &i, 1);
		got += r > 0 ? (size_t)r : 0;
		tcp_tls_send(ends[0], NULL, 0);
	}
	assert_int_equal(got, sent);
	assert_false(tcp_tls_pending(ends[0]));
	assert_memory_equal(in, out, got);
}

/* --- endpoints --- */

static int encrypted(void **state)
{
	settings->encrypt = true;
	return setup(state);
}

static int in_clear(void **state)
{
	settings->encrypt = false;
	return teardown(state);
}

static void pair__is_encrypted(void **state)
{
	char text[200];

	exchange(a, b, 100000);
	exchange(b, a, 8);
	a->chan->ops->describe(a->chan, &a->peers[1].cp, text, sizeof(text));
	assert_non_null(strstr(text, "TLS 1.3"));
	assert_true(none_lost(a) && none_lost(b));
}

static void pair__both_dial(void **state)
{
	assert_int_equal(host_connect(a, b), 0);
	assert_int_equal(host_connect(b, a), 0);
	exchange(a, b, 1000);
	exchange(b, a, 1000);
	assert_int_equal(conns(a), 1);
	assert_int_equal(conns(b), 1);
}

/* One encrypts and the other does not: whoever calls says so. */
static void refused(bool caller_encrypts, const char *words)
{
	settings->encrypt = !caller_encrypts;
	assert_int_equal(host_connect(a, b), 0);
	for (int i = 0; i < 500 && !a->peers[1].lost; i++) {
		settings->encrypt = !caller_encrypts; /* b's challenge */
		host_pump(b);
		settings->encrypt = caller_encrypts;
		host_pump(a);
		usleep(1000);
	}
	assert_true(a->peers[1].lost);
	assert_non_null(strstr(a->peers[1].why, words));
}

static void pair__needs_both(void **state)
{
	refused(true, "it does not encrypt and we do");
}

static void pair__needs_both_or_none(void **state)
{
	refused(false, "it encrypts (O2G_ENCRYPT=1) and we do not");
}

/* The answer is right, and then comes something that is not TLS. */
static void pair__no_tls_after_the_hello(void **state)
{
	struct tcp_answer answer;
	u8 junk[200];
	int fd = dial_raw(a);

	memset(junk, 0x55, sizeof(junk));
	assert_int_equal(hello_raw(a, fd, 1, 0, &answer, 200), TCP_ACCEPTED);
	assert_int_equal(send(fd, junk, sizeof(junk), MSG_NOSIGNAL),
			 sizeof(junk));
	assert_true(closed_raw(a, fd));
	assert_true(a->peers[1].lost);
	assert_non_null(
		strstr(a->peers[1].why, "encryption could not be agreed on"));
	close(fd);
}

/* It goes away in the middle of the handshake. */
static void pair__peer_leaves(void **state)
{
	struct tcp_answer answer;
	int fd = dial_raw(a);

	assert_int_equal(hello_raw(a, fd, 1, 0, &answer, 200), TCP_ACCEPTED);
	close(fd);
	for (int i = 0; i < 1000 && !a->peers[1].lost; i++) {
		host_pump(a);
		usleep(1000);
	}
	assert_true(a->peers[1].lost);
}

/* --- ports --- */

static char port_name[TCP_PORT_NAME];
static u8 caller_secret[TCP_PORT_SECRET];

static void *call_port(void *arg)
{
	return (void *)(long)tcp_port_call(port_name, "node", 5000,
					   caller_secret);
}

static void port__is_encrypted(void **state)
{
	u8 secret[TCP_PORT_SECRET], out[100000], in[100000];
	struct tcp_port *port;
	char why[200] = "";
	pthread_t caller;
	size_t got = 0;
	void *called;
	int ours, theirs;

	assert_int_equal(tcp_port_open(0, "node", &port, port_name,
				       sizeof(port_name), why, sizeof(why)),
			 0);
	pthread_create(&caller, NULL, call_port, NULL);
	ours = tcp_port_accept(port, 5000, secret);
	pthread_join(caller, &called);
	theirs = (int)(long)called;
	assert_true(ours >= 0 && theirs >= 0);
	assert_memory_equal(secret, caller_secret, sizeof(secret));
	fill(out, sizeof(out), 9);
	assert_int_equal(send(ours, out, sizeof(out), 0), sizeof(out));
	while (got < sizeof(in)) {
		struct pollfd p = { theirs, POLLIN, 0 };
		ssize_t n = 0;

		assert_int_equal(poll(&p, 1, 5000), 1);
		n = recv(theirs, in + got, sizeof(in) - got, 0);
		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_memory_equal(in, out, sizeof(in));
	close(ours); /* and the other side hears of it */
	assert_int_equal(recv(theirs, in, 1, 0), 0);
	close(theirs);
	tcp_port_close(port);
}

int main(void)
{
	char why[200];
#define SESSION(f) \
	cmocka_unit_test_setup_teardown(f, open_session, close_session)
#define PAIR(f) cmocka_unit_test_setup_teardown(f, encrypted, in_clear)
	const struct CMUnitTest tests[] = {
		SESSION(session__carries_both_ways),
		SESSION(session__with_kernels_of_both),
		SESSION(session__with_a_kernel_of_one),
		SESSION(session__has_new_keys),
		SESSION(session__needs_the_key),
		SESSION(session__refuses_noise),
		SESSION(session__seals),
		SESSION(session__ends),
		SESSION(session__waits_for_room),
		PAIR(pair__is_encrypted),
		PAIR(pair__both_dial),
		PAIR(pair__needs_both),
		PAIR(pair__needs_both_or_none),
		PAIR(pair__no_tls_after_the_hello),
		PAIR(pair__peer_leaves),
		PAIR(port__is_encrypted),
	};

	loopback_only(NULL); /* before anybody reads the settings */
	if (tcp_tls_available(why, sizeof(why))) {
		print_message("skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
