/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/credit.c core/match.c core/wild.c core/proto.c core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c */
/* sources: core/send.c core/stream.c core/wire.c base/log.c base/nearest.c */
/* sources: base/settings.c base/lazy.c channel/body.c channel/tcp/?*.c */
/* sources: tests/mock/host.c */
/* libs: -lnettle */
#include "tcp_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"

struct o2g_settings *settings;
struct host *a, *b, *both[2];

int loopback_only(void **state)
{
	setenv("O2G_TCP_INTERFACES", "lo", 1);
	settings = (struct o2g_settings *)o2g_settings();
	return 0;
}

struct tcp_chan *tc(struct host *h)
{
	return tcp_chan_of(h->chan);
}

struct host *open_host(u32 rank)
{
	char why[512] = "";
	struct host *h = host_create(rank, &tcp_chan_ops, why, sizeof(why));

	if (!h)
		fail_msg("open: %s", why);
	return h;
}

bool only_ipv6(struct host *h)
{
	struct tcp_chan *c = tc(h);

	for (u32 i = 0; i < c->naddrs; i++)
		if (c->addrs[i].family == AF_INET6) {
			c->addrs[0] = c->addrs[i];
			c->naddrs = 1;
		}
	return c->addrs[0].family == AF_INET6;
}

int setup(void **state)
{
	settings->tcp_timeout = 10;
	settings->tcp_lend = 64 << 10;
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 0;
	settings->tcp_ports = "";
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	return 0;
}

int teardown(void **state)
{
	if (a)
		host_destroy(a, false);
	if (b)
		host_destroy(b, false);
	a = b = NULL;
	return 0;
}

bool both_run(const bool *flag, int ms)
{
	return host_run(both, 2, flag, ms);
}

bool none_lost(const struct host *h)
{
	for (u32 i = 0; i < HOST_PEERS; i++)
		if (h->peers[i].lost)
			return false;
	return true;
}

u32 conns(struct host *h)
{
	struct o2g_list *i;
	u32 n = 0;

	o2g_list_for_each(i, &tc(h)->conns)
		n++;
	return n;
}

void fill(u8 *p, size_t n, u32 seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (u8)(seed * 31 + i * 7 + (i >> 8));
}

void exchange(struct host *x, struct host *y, size_t len)
{
	u8 *out = malloc(len + 1), *in = calloc(1, len + 1);
	struct o2g_seg so = { out, len }, si = { in, len };
	struct host *two[2] = { x, y };
	struct host_req *r, *s;

	fill(out, len, len);
	assert_int_equal(host_connect(x, y), 0);
	r = host_recv(y, x->rank, 5, &si, 1);
	s = host_send(x, y->rank, 5, &so, 1);
	assert_true(host_run(two, 2, &r->done, 5000));
	assert_true(host_run(two, 2, &s->done, 5000));
	assert_int_equal(r->r.status, 0);
	assert_int_equal(s->r.status, 0);
	assert_memory_equal(in, out, len);
	host_req_free(r);
	host_req_free(s);
	free(in);
	free(out);
}

/* --- sockets of the test --- */

int dial_raw(struct host *h)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(tc(h)->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (void *)&to, sizeof(to)), 0);
	return fd;
}

bool read_raw(struct host *h, int fd, void *buf, size_t n)
{
	u64 end = o2g_now_us() + 3000000;
	size_t have = 0;

	while (have < n && o2g_now_us() < end) {
		ssize_t r =
			recv(fd, (char *)buf + have, n - have, MSG_DONTWAIT);

		if (r == 0 || (r < 0 && errno != EAGAIN))
			return false;
		have += r > 0 ? r : 0;
		host_pump(h);
	}
	return have == n;
}

bool closed_raw(struct host *h, int fd)
{
	char c;

	u64 end = o2g_now_us() + 8000000;

	while (o2g_now_us() < end) {
		ssize_t r = recv(fd, &c, 1, MSG_DONTWAIT);

		if (r == 0 || (r < 0 && errno != EAGAIN))
			return true;
		host_pump(h);
	}
	return false;
}

u32 hello_raw(struct host *h, int fd, u32 src, u32 dst,
	      struct tcp_answer *answer, u32 step)
{
	struct tcp_hello_key k = { h->secret, "test" };
	struct tcp_challenge c;
	struct tcp_verdict_msg v;

	assert_true(read_raw(h, fd, &c, sizeof(c)));
	assert_int_equal(tcp_hello_answer(&k, &c, TCP_FIRST, src, dst, "raw",
					  answer),
			 0);
	for (u32 i = 0; i < sizeof(*answer); i += step) {
		u32 n = sizeof(*answer) - i < step ? sizeof(*answer) - i : step;

		assert_int_equal(send(fd, (char *)answer + i, n, MSG_NOSIGNAL),
				 n);
		host_pump(h);
	}
	if (!read_raw(h, fd, &v, sizeof(v)))
		return 0;
	assert_true(tcp_hello_check_verdict(&k, &c, answer, &v));
	return le32_to_cpu(v.code);
}

int dialled_by(struct host *h, u32 rank, int *listener)
{
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)h, rank);
	struct sockaddr_in me = { .sin_family = AF_INET };
	socklen_t len = sizeof(me);
	char card[128];
	int l = socket(AF_INET, SOCK_STREAM, 0), fd;

	me.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(l, (void *)&me, len), 0);
	assert_int_equal(listen(l, 1), 0);
	getsockname(l, (void *)&me, &len);
	snprintf(card, sizeof(card), "node=%s,port=%u,addr=127.0.0.1/8",
		 h->node, ntohs(me.sin_port));
	assert_int_equal(h->chan->ops->connect(h->chan, p, card), 0);
	fd = accept(l, NULL, NULL);
	assert_true(fd >= 0);
	*listener = l;
	return fd;
}

int believed(u32 rank)
{
	struct tcp_answer answer;
	int fd = dial_raw(a);

	assert_int_equal(hello_raw(a, fd, rank, 0, &answer, 96), TCP_ACCEPTED);
	return fd;
}
