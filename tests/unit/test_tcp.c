/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/credit.c core/match.c core/proto.c core/recv.c core/rma.c core/send.c core/stream.c core/wire.c base/log.c base/nearest.c base/settings.c channel/body.c channel/tcp/addr.c channel/tcp/alive.c channel/tcp/card.c channel/tcp/choose.c channel/tcp/conn.c channel/tcp/dial.c channel/tcp/hello.c channel/tcp/listen.c channel/tcp/recv.c channel/tcp/send.c channel/tcp/sock.c channel/tcp/tcp.c tests/mock/tcp_host.c */
/* libs: -lnettle */
/*
 * The TCP channel over real sockets: two or more endpoints in one process, and
 * sockets of the test's own that misbehave.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "tcp_host.h"
#include "settings.h"
#include "tcp/tcp.h"

static struct o2g_settings *settings;
static struct host *a, *b, *both[2];

static struct tcp_chan *tc(struct host *h)
{
	return tcp_chan_of(h->chan);
}

static struct host *open_host(u32 rank)
{
	char why[512] = "";
	struct host *h = host_create(rank, &tcp_chan_ops, why, sizeof(why));

	if (!h)
		fail_msg("open: %s", why);
	return h;
}

static int setup(void **state)
{
	settings->tcp_timeout = 10;
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 0;
	settings->tcp_ports = "";
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	return 0;
}

static int teardown(void **state)
{
	if (a)
		host_destroy(a, false);
	if (b)
		host_destroy(b, false);
	a = b = NULL;
	return 0;
}

static bool both_run(const bool *flag, int ms)
{
	return host_run(both, 2, flag, ms);
}

static bool none_lost(const struct host *h)
{
	for (u32 i = 0; i < HOST_PEERS; i++)
		if (h->peers[i].lost)
			return false;
	return true;
}

static u32 conns(struct host *h)
{
	struct o2g_list *i;
	u32 n = 0;

	o2g_list_for_each(i, &tc(h)->conns)
		n++;
	return n;
}

static void fill(u8 *p, size_t n, u32 seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (u8)(seed * 31 + i * 7 + (i >> 8));
}

/* One message from @x to @y, checked; leaves both connected. */
static void exchange(struct host *x, struct host *y, size_t len)
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

static int dial_raw(struct host *h)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(tc(h)->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (void *)&to, sizeof(to)), 0);
	return fd;
}

/* Read exactly @n bytes while @h works; false at EOF or after 3 s. */
static bool read_raw(struct host *h, int fd, void *buf, size_t n)
{
	u64 end = o2g_now_us() + 3000000;
	size_t have = 0;

	while (have < n && o2g_now_us() < end) {
		ssize_t r = recv(fd, (char *)buf + have, n - have,
				 MSG_DONTWAIT);

		if (r == 0 || (r < 0 && errno != EAGAIN))
			return false;
		have += r > 0 ? r : 0;
		host_pump(h);
	}
	return have == n;
}

static bool closed_raw(struct host *h, int fd)
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

/* The whole hello by hand, as @src. The verdict, or 0. */
static u32 hello_raw(struct host *h, int fd, u32 src, u32 dst,
		     struct tcp_answer *answer, u32 step)
{
	struct tcp_hello_key k = { h->secret, "test" };
	struct tcp_challenge c;
	struct tcp_verdict_msg v;

	assert_true(read_raw(h, fd, &c, sizeof(c)));
	assert_int_equal(tcp_hello_answer(&k, &c, src, dst, "raw", answer), 0);
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

/* Have @h dial a listener of the test's, as if it were @rank. */
static int dialled_by(struct host *h, u32 rank, int *listener)
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

/* --- tests --- */

static void connect__first_use(void **state)
{
	char text[128];

	exchange(a, b, 8);
	exchange(b, a, 8);
	exchange(a, b, 0);
	assert_int_equal(conns(a), 1);
	assert_int_equal(conns(b), 1);
	a->chan->ops->describe(a->chan, &a->peers[1].cp, text, sizeof(text));
	assert_non_null(strstr(text, " -> 127.0.0.1:"));
	assert_int_equal(a->peers[1].cp.core.msgs_sent, 2);
	assert_int_equal(b->peers[0].cp.core.bytes_recv, 8);
	assert_true(b->peers[0].cp.host[0]);
	assert_true(none_lost(a) && none_lost(b));
}

static void connect__ipv6(void **state)
{
	struct tcp_chan *c = tc(b);
	char text[128];

	/* Only ::1 on b's card. */
	for (u32 i = 0; i < c->naddrs; i++)
		if (c->addrs[i].family == AF_INET6) {
			c->addrs[0] = c->addrs[i];
			c->naddrs = 1;
		}
	if (c->addrs[0].family != AF_INET6)
		skip();
	exchange(a, b, 100);
	a->chan->ops->describe(a->chan, &a->peers[1].cp, text, sizeof(text));
	assert_non_null(strstr(text, "-> [::1]:"));
}

static void connect__simultaneous(void **state)
{
	for (int i = 0; i < 60; i++) {
		u8 x[2] = { 1, 2 }, y[2] = { 0, 0 };
		struct o2g_seg sx[2] = { { &x[0], 1 }, { &x[1], 1 } };
		struct o2g_seg sy[2] = { { &y[0], 1 }, { &y[1], 1 } };
		struct host_req *r0, *r1;

		assert_int_equal(host_connect(a, b), 0);
		/* Various degrees of simultaneity. */
		for (int j = 0; j < i % 6; j++)
			host_pump(j & 1 ? a : b);
		if (!b->peers[0].cp.chan)
			assert_int_equal(host_connect(b, a), 0);
		r0 = host_recv(a, 1, 1, &sy[0], 1);
		r1 = host_recv(b, 0, 1, &sy[1], 1);
		host_send(a, 1, 1, &sx[0], 1);
		host_send(b, 0, 1, &sx[1], 1);
		assert_true(both_run(&r0->done, 5000));
		assert_true(both_run(&r1->done, 5000));
		assert_int_equal(y[0], 2);
		assert_int_equal(y[1], 1);
		host_idle(both, 2, 2);
		assert_true(none_lost(a) && none_lost(b));
		assert_int_equal(conns(a), 1);
		assert_int_equal(conns(b), 1);
		teardown(NULL);
		setup(NULL);
	}
}

static void connect__refused_then_there(void **state)
{
	struct host_req *s;
	u8 x = 9;
	struct o2g_seg seg = { &x, 1 };
	char card[512], why[256];
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	bool up = false;

	/* b's port is closed for a while, and opened again. */
	b->chan->ops->card(b->chan, card, sizeof(card));
	u16 port = tc(b)->port;
	host_destroy(b, false);
	b = NULL;
	assert_int_equal(a->chan->ops->connect(a->chan, p, card), 0);
	s = host_send(a, 1, 1, &seg, 1);
	host_idle(both, 1, 200);
	assert_true(none_lost(a) && !s->done);
	snprintf(why, sizeof(why), "%u-%u", port, port);
	settings->tcp_ports = why;
	both[1] = b = open_host(1);
	settings->tcp_ports = "";
	assert_true(both_run(&s->done, 5000) || up);
	assert_true(none_lost(a));
}

static void connect__nobody_there(void **state)
{
	struct o2g_seg none = { NULL, 0 };
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	struct host_req *s;
	char card[512];

	b->chan->ops->card(b->chan, card, sizeof(card));
	host_destroy(b, false);
	b = NULL;
	assert_int_equal(a->chan->ops->connect(a->chan, p, card), 0);
	s = host_send(a, 1, 1, &none, 1);
	/* long before O2G_TCP_TIMEOUT */
	assert_true(host_run(both, 1, &s->done, 3000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_int_equal(a->peers[1].lost, 1);
	assert_non_null(strstr(a->peers[1].why, "127.0.0.1 (Connection refused)"));
	assert_non_null(strstr(a->peers[1].why, "its process has ended"));
	assert_int_equal(conns(a), 0);
}

/* Somebody listens there and never says a word. */
static void connect__no_answer(void **state)
{
	struct o2g_seg none = { NULL, 0 };
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(tc(b)->port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct host_req *s;
	char card[512];

	settings->tcp_timeout = 1;
	b->chan->ops->card(b->chan, card, sizeof(card));
	host_destroy(b, false);
	b = NULL;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(a->chan->ops->connect(a->chan, p, card), 0);
	s = host_send(a, 1, 1, &none, 1);
	assert_true(host_run(both, 1, &s->done, 3000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_non_null(strstr(a->peers[1].why, "127.0.0.1 (no answer)"));
	assert_non_null(strstr(a->peers[1].why, "O2G_TCP_INTERFACES"));
	assert_non_null(strstr(a->peers[1].why, "O2G_TCP_TIMEOUT"));
	close(fd);
}

/* Somebody else answers at the address: another rank of the same job. */
static void connect__another_rank_answers(void **state)
{
	struct host *c = open_host(2);
	struct o2g_seg none = { NULL, 0 };
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	struct host *two[2] = { a, c };
	struct host_req *s;
	char card[512];

	settings->tcp_timeout = 1;
	c->chan->ops->card(c->chan, card, sizeof(card));
	assert_int_equal(a->chan->ops->connect(a->chan, p, card), 0);
	s = host_send(a, 1, 1, &none, 1);
	assert_true(host_run(two, 2, &s->done, 3000));
	assert_non_null(strstr(a->peers[1].why, "another rank answers there"));
	assert_int_equal(conns(c), 0);
	host_destroy(c, false);
}

static void connect__another_version(void **state)
{
	struct tcp_challenge old = { .magic = "O2Gc",
				     .version = cpu_to_le32(99) };
	int l, fd = dialled_by(a, 1, &l);

	assert_int_equal(send(fd, &old, sizeof(old), 0), sizeof(old));
	host_idle(both, 1, 50);
	assert_int_equal(a->peers[1].lost, 1);
	assert_non_null(strstr(a->peers[1].why, "version 99"));
	close(fd);
	close(l);
}

static void send_verdict(struct host *h, int fd, const struct tcp_challenge *c,
			 const struct tcp_answer *answer, enum tcp_verdict code)
{
	struct tcp_hello_key k = { h->secret, "test" };
	struct tcp_verdict_msg v;

	assert_true(tcp_hello_check_answer(&k, c, answer));
	tcp_hello_verdict(&k, c, answer, code, &v);
	assert_int_equal(send(fd, &v, sizeof(v), 0), sizeof(v));
}

/* The lower rank has answered on its own dial: the other's is a duplicate. */
static void tie__lower_rank_stands(void **state)
{
	struct tcp_challenge c;
	struct tcp_answer answer, mine;
	struct host_req *s;
	u8 x = 1, got[O2G_HDR_SIZE + 1];
	struct o2g_seg sx = { &x, 1 };
	int l, fd = dialled_by(a, 3, &l), fd2;

	s = host_send(a, 3, 1, &sx, 1);
	tcp_hello_challenge(&c);
	assert_int_equal(send(fd, &c, sizeof(c), 0), sizeof(c));
	assert_true(read_raw(a, fd, &answer, sizeof(answer)));
	fd2 = dial_raw(a);
	assert_int_equal(hello_raw(a, fd2, 3, 0, &mine, 96), TCP_DUPLICATE);
	close(fd2);
	assert_false(s->done);
	send_verdict(a, fd, &c, &answer, TCP_ACCEPTED);
	assert_true(read_raw(a, fd, got, sizeof(got)));
	assert_true(s->done && none_lost(a));
	close(fd);
	close(l);
}

/* It has not: it takes the other's and drops its own. */
static void tie__lower_rank_yields_before_its_answer(void **state)
{
	struct tcp_answer mine;
	u8 x = 1, got[O2G_HDR_SIZE + 1];
	struct o2g_seg sx = { &x, 1 };
	int l, fd = dialled_by(a, 3, &l), fd2;

	host_send(a, 3, 1, &sx, 1);
	fd2 = dial_raw(a);
	assert_int_equal(hello_raw(a, fd2, 3, 0, &mine, 96), TCP_ACCEPTED);
	assert_true(read_raw(a, fd2, got, sizeof(got)));
	assert_true(closed_raw(a, fd));
	assert_true(none_lost(a));
	close(fd);
	close(fd2);
	close(l);
}

/* The higher rank is refused, waits, and is called: its queue moves. */
static void tie__higher_rank_is_refused(void **state)
{
	struct tcp_challenge c;
	struct tcp_answer answer, mine;
	u8 x = 1, got[O2G_HDR_SIZE + 1];
	struct o2g_seg sx = { &x, 1 };
	int l, fd = dialled_by(b, 0, &l), fd2;

	host_send(b, 0, 1, &sx, 1);
	tcp_hello_challenge(&c);
	assert_int_equal(send(fd, &c, sizeof(c), 0), sizeof(c));
	assert_true(read_raw(b, fd, &answer, sizeof(answer)));
	send_verdict(b, fd, &c, &answer, TCP_DUPLICATE);
	assert_true(closed_raw(b, fd));
	assert_true(none_lost(b));
	fd2 = dial_raw(b);
	assert_int_equal(hello_raw(b, fd2, 0, 1, &mine, 96), TCP_ACCEPTED);
	assert_true(read_raw(b, fd2, got, sizeof(got)));
	assert_true(none_lost(b));
	assert_int_equal(conns(b), 1);
	close(fd);
	close(fd2);
	close(l);
}

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
	assert_int_equal(hello_raw(a, fd, HOST_PEERS, 0, &answer, 96), TCP_GONE);
	close(fd);
}

static void hello__half_open_flood(void **state)
{
	int fd[3 * TCP_HELLO_SLOTS];
	u64 start;

	for (u32 i = 0; i < 3 * TCP_HELLO_SLOTS; i++)
		fd[i] = dial_raw(a);
	start = o2g_now_us();
	exchange(b, a, 10); /* not kept out by those before it */
	assert_true(o2g_now_us() - start < 3000000);
	assert_true(tc(a)->strangers >= 2 * TCP_HELLO_SLOTS);
	assert_true(none_lost(b));
	for (u32 i = 0; i < 3 * TCP_HELLO_SLOTS; i++)
		close(fd[i]);
}

static void hello__time_limit(void **state)
{
	int fd = dial_raw(a);

	assert_true(send(fd, "O2Ga", 4, 0) == 4);
	host_idle(both, 1, 100);
	for (u32 i = 0; i < TCP_HELLO_SLOTS; i++) /* as if 5 s had passed */
		tc(a)->slots[i].since_us -= TCP_HELLO_US;
	assert_true(closed_raw(a, fd));
	assert_int_equal(tc(a)->strangers, 1);
	close(fd);
}

static u32 cut(u8 *buf, size_t len, struct o2g_seg *segs, u32 max, u32 *seed)
{
	u32 n = 0;

	while (len && n < max - 1) {
		size_t piece = rand_r(seed) % (len / 3 + 3);

		if (piece > len)
			piece = len;
		segs[n].base = buf;
		segs[n++].len = piece;
		buf += piece;
		len -= piece;
	}
	segs[n].base = buf;
	segs[n++].len = len;
	return n;
}

#define MANY 64

static void many(int rounds, u32 biggest)
{
	static u8 *out[MANY], *in[MANY];
	static struct o2g_seg so[MANY][80], si[MANY][80];
	struct host_req *s[MANY], *r[MANY];
	u32 seed = 1;

	assert_int_equal(host_connect(a, b), 0);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < MANY; i++) {
			struct host *from = i & 1 ? a : b, *to = i & 1 ? b : a;
			u32 len = rand_r(&seed) %
				  (rand_r(&seed) & 3 ? 300 : biggest);
			u32 n;

			if (!from->peers[to->rank].cp.chan) /* b: not known */
				host_connect(from, to);
			out[i] = malloc(len + 1);
			in[i] = calloc(1, len + 1);
			fill(out[i], len, round * MANY + i);
			n = cut(in[i], len, si[i], 80, &seed);
			if (i % 3)
				r[i] = host_recv(to, from->rank, i, si[i], n);
			s[i] = host_send(from, to->rank, i, so[i],
					 cut(out[i], len, so[i], 80, &seed));
			if (i % 3 == 0) /* unexpected, sometimes */
				r[i] = host_recv(to, from->rank, i, si[i], n);
			if (rand_r(&seed) % 8 == 0)
				host_pump(a);
			if (rand_r(&seed) % 8 == 0)
				host_pump(b);
		}
		for (int i = 0; i < MANY; i++) {
			assert_true(both_run(&r[i]->done, 5000));
			assert_true(both_run(&s[i]->done, 5000));
			assert_int_equal(r[i]->r.status, 0);
			assert_int_equal(r[i]->r.msg_len, s[i]->r.len);
			assert_memory_equal(in[i], out[i], s[i]->r.len);
			host_req_free(r[i]);
			host_req_free(s[i]);
			free(in[i]);
			free(out[i]);
		}
	}
	assert_true(none_lost(a) && none_lost(b));
}

static void packets__many_sizes_and_pieces(void **state)
{
	many(60, 300000);
}

static void packets__tiny_buffers(void **state)
{
	teardown(NULL);
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 2048;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	many(6, 60000);
}

static void packets__large(void **state)
{
	exchange(a, b, 9 << 20);
	exchange(b, a, (3 << 20) + 1);
}

static void packets__truncated(void **state)
{
	static u8 out[50000], in[1001];
	struct o2g_seg so = { out, sizeof(out) }, si = { in, 1000 };
	struct host_req *r, *s;

	exchange(a, b, 1);
	fill(out, sizeof(out), 3);
	r = host_recv(b, 0, 1, &si, 1);
	s = host_send(a, 1, 1, &so, 1);
	assert_true(both_run(&r->done, 3000));
	assert_true(both_run(&s->done, 3000));
	assert_int_equal(r->r.status, -O2G_ERR_TRUNCATED);
	assert_memory_equal(in, out, 1000);
	assert_int_equal(in[1000], 0);
	exchange(a, b, 77); /* the stream is still in step */
}

/* as much as the first credit allows, less the first exchange */
#define BURST ((O2G_CREDIT_INIT - O2G_CREDIT_RESERVE) / (4 + O2G_COST) - 1)

static void batch__burst(void **state)
{
	u32 out[BURST], in[BURST];
	struct o2g_seg so[BURST], si[BURST];
	struct host_req *r[BURST], *s;

	exchange(a, b, 4);
	for (u32 i = 0; i < BURST; i++) {
		out[i] = i;
		si[i] = (struct o2g_seg){ &in[i], 4 };
		r[i] = host_recv(b, 0, 1, &si[i], 1);
	}
	for (u32 i = 0; i < BURST; i++) {
		so[i] = (struct o2g_seg){ &out[i], 4 };
		s = host_send(a, 1, 1, &so[i], 1);
		assert_true(s->done);
		out[i] = ~0u; /* it is ours again: the batch has a copy */
		assert_true(i || !a->chan->needs_flush); /* first: at once */
	}
	assert_true(a->chan->needs_flush);
	/* Nobody flushes: the timer does. */
	a->no_flush = true;
	for (u32 i = 0; i < BURST; i++) {
		assert_true(both_run(&r[i]->done, 3000));
		assert_int_equal(in[i], i);
	}
	assert_false(a->chan->needs_flush);
}

static void batch__ping_pong_never(void **state)
{
	u8 x = 1, y = 0;
	struct o2g_seg sx = { &x, 1 }, sy = { &y, 1 };

	exchange(a, b, 4);
	exchange(b, a, 4);
	for (int i = 0; i < 200; i++) {
		struct host *from = i & 1 ? a : b, *to = i & 1 ? b : a;
		struct host_req *r = host_recv(to, from->rank, 1, &sy, 1);
		struct host_req *s = host_send(from, to->rank, 1, &sx, 1);

		assert_true(s->done);
		assert_false(from->chan->needs_flush);
		assert_true(both_run(&r->done, 3000));
		host_req_free(r);
		host_req_free(s);
	}
}

static void batch__large_follows_in_order(void **state)
{
	static u8 big[40000], got[40000];
	u8 x[3] = { 1, 2, 3 }, y[3] = { 0 };
	struct o2g_seg sb = { big, sizeof(big) }, gb = { got, sizeof(got) };
	struct o2g_seg sx[3], sy[3];
	struct host_req *r[4];

	exchange(a, b, 4);
	fill(big, sizeof(big), 1);
	for (int i = 0; i < 3; i++) {
		sx[i] = (struct o2g_seg){ &x[i], 1 };
		sy[i] = (struct o2g_seg){ &y[i], 1 };
	}
	/* One tag for all: a packet that overtakes is found out. */
	host_send(a, 1, 1, &sx[0], 1);
	host_send(a, 1, 1, &sx[1], 1);
	host_send(a, 1, 1, &sb, 1);
	host_send(a, 1, 1, &sx[2], 1);
	r[0] = host_recv(b, 0, 1, &sy[0], 1);
	r[1] = host_recv(b, 0, 1, &sy[1], 1);
	r[2] = host_recv(b, 0, 1, &gb, 1);
	r[3] = host_recv(b, 0, 1, &sy[2], 1);
	for (int i = 0; i < 4; i++) {
		assert_true(both_run(&r[i]->done, 3000));
		assert_int_equal(r[i]->r.status, 0);
	}
	assert_memory_equal(y, x, 3);
	assert_memory_equal(got, big, sizeof(big));
}

/* --- without a request --- */

static int inject(struct host *h, u32 to, u64 tag, const void *buf, u64 len)
{
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)h, to);
	struct o2g_hdr hdr = { .type = O2G_PKT_EAGER, .src = h->rank,
			       .dst = to, .tag = tag, .length = len };

	return h->chan->ops->inject(h->chan, p, &hdr, buf, len);
}

/* The first goes at once, those behind it together; sends keep their place. */
static void inject__in_order(void **state)
{
	u32 out[8], in[8];
	struct o2g_seg so, si[8];
	struct host_req *r[8];

	exchange(a, b, 4);
	exchange(b, a, 4);
	for (u32 i = 0; i < 8; i++) {
		out[i] = i;
		si[i] = (struct o2g_seg){ &in[i], 4 };
		r[i] = host_recv(b, 0, 1, &si[i], 1);
	}
	for (u32 i = 0; i < 8; i++) {
		so = (struct o2g_seg){ &out[i], 4 };
		if (i % 4 == 3)
			assert_true(host_send(a, 1, 1, &so, 1)->done);
		else
			assert_int_equal(inject(a, 1, 1, &out[i], 4), 0);
		assert_true(i || !a->chan->needs_flush);
		out[i] = ~0u;
	}
	assert_true(a->chan->needs_flush);
	for (u32 i = 0; i < 8; i++) {
		assert_true(both_run(&r[i]->done, 3000));
		assert_int_equal(in[i], i);
	}
}

static void inject__not_now(void **state)
{
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	u8 x = 1;

	assert_int_equal(host_connect(a, b), 0);
	assert_int_equal(inject(a, 1, 1, &x, 1), -EAGAIN); /* dialling */
	exchange(a, b, 4);
	assert_true(p->core.inject_max > TCP_SMALL);
	((struct tcp_conn *)p->link)->tx_err = -EPIPE;
	assert_int_equal(inject(a, 1, 1, &x, 1), -EAGAIN);
	((struct tcp_conn *)p->link)->tx_err = 0;
	assert_int_equal(inject(a, 1, 1, &x, 1), 0);
}

/* A peer made by hand: connected and believed. */
static int believed(u32 rank)
{
	struct tcp_answer answer;
	int fd = dial_raw(a);

	assert_int_equal(hello_raw(a, fd, rank, 0, &answer, 96), TCP_ACCEPTED);
	return fd;
}

static void lost__in_the_middle(void **state)
{
	static u8 in[1000];
	struct o2g_seg si = { in, sizeof(in) };
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 3, .dst = 0,
			     .tag = 1, .length = 1000 };
	struct host_req *r = host_recv(a, 3, 1, &si, 1);
	u8 wire[O2G_HDR_SIZE + 500] = { 0 };
	int fd = believed(3);

	o2g_wire_encode(&h, wire);
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	host_idle(both, 1, 20);
	assert_false(r->done);
	close(fd);
	assert_true(host_run(both, 1, &r->done, 1000));
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
	assert_int_equal(a->peers[3].lost, 1);
	assert_non_null(strstr(a->peers[3].why, "connection closed by peer"));
	assert_int_equal(conns(a), 0);
}

static void lost__after_its_last_message(void **state)
{
	u8 in = 0;
	struct o2g_seg si = { &in, 1 };
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 3, .dst = 0,
			     .tag = 1, .length = 1 };
	struct host_req *r;
	u8 wire[O2G_HDR_SIZE + 1];
	int fd = believed(3);

	o2g_wire_encode(&h, wire);
	wire[O2G_HDR_SIZE] = 77;
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	close(fd); /* the message and the end arrive together */
	host_idle(both, 1, 50);
	assert_int_equal(a->peers[3].lost, 1);
	r = host_recv(a, 3, 1, &si, 1);
	assert_true(r->done);
	assert_int_equal(r->r.status, 0);
	assert_int_equal(in, 77);
}

/* Who has room is not asked about it: that would make events of nothing. */
static void send__room_is_asked_for_when_there_is_none(void **state)
{
	static u8 big[8 << 20], in[1 << 20];
	struct o2g_seg sb = { big, sizeof(big) };
	struct o2g_hdr cts = { .type = O2G_PKT_CTS, .src = 3, .dst = 0,
			       .length = sizeof(big), .aux = 1 };
	u8 wire[O2G_HDR_SIZE];
	int fd = believed(3);
	struct host_req *s = host_send(a, 3, 1, &sb, 1);
	struct tcp_conn *k = a->peers[3].cp.link;

	cts.cookie = s->r.id;
	o2g_wire_encode(&cts, wire);
	host_idle(both, 1, 30);
	assert_true(k->watched);
	assert_false(k->asks_room);
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	host_idle(both, 1, 30);
	assert_false(s->done); /* the socket is full */
	assert_true(k->blocked && k->asks_room);
	while (!s->done && recv(fd, in, sizeof(in), 0) > 0)
		host_idle(both, 1, 1);
	assert_true(s->done);
	assert_false(k->blocked);
	/* The first time it is told of for nothing is the last. */
	k->watch.ready(&k->watch, EPOLLOUT);
	assert_false(k->asks_room);
	assert_int_equal(a->peers[3].lost, 0);
	close(fd);
}

/* What the socket takes in part, or not at all, arrives whole and in order. */
static void inject__socket_full(void **state)
{
	static u8 out[TCP_SMALL], in[O2G_HDR_SIZE + TCP_SMALL];
	u32 sent = 0, round = 0;
	struct tcp_conn *k;
	int fd, some = 2048;

	teardown(NULL);
	settings->tcp_sndbuf = 4096;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	fd = believed(3);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &some, sizeof(some));
	k = a->peers[3].cp.link;
	do {
		fill(out, sizeof(out), sent);
		k->last_turn = k->chan->turn - 1; /* no burst */
	} while (!inject(a, 3, sent, out, sizeof(out)) && ++sent < 100000);
	assert_in_range(sent, 2, 99999);
	assert_true(k->blocked);
	while (round < sent) {
		struct o2g_hdr h;

		assert_true(read_raw(a, fd, in, sizeof(in)));
		assert_int_equal(o2g_wire_decode(in, &h), O2G_WIRE_OK);
		assert_int_equal(h.tag, round);
		fill(out, sizeof(out), round++);
		assert_memory_equal(in + O2G_HDR_SIZE, out, sizeof(out));
	}
	assert_int_equal(inject(a, 3, 7, out, 8), 0);
	assert_true(read_raw(a, fd, in, O2G_HDR_SIZE + 8));
	assert_false(k->blocked);
	assert_int_equal(a->peers[3].lost, 0);
	close(fd);
}

static void lost__while_sending(void **state)
{
	static u8 big[8 << 20];
	struct o2g_seg sb = { big, sizeof(big) };
	struct linger hard = { 1, 0 };
	struct o2g_hdr cts = { .type = O2G_PKT_CTS, .src = 3, .dst = 0,
			       .length = sizeof(big), .aux = 1 };
	u8 wire[O2G_HDR_SIZE];
	int fd = believed(3);
	struct host_req *s = host_send(a, 3, 1, &sb, 1);

	cts.cookie = s->r.id;
	o2g_wire_encode(&cts, wire);
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	host_idle(both, 1, 30);
	assert_false(s->done); /* the socket is full */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd); /* a reset */
	assert_true(host_run(both, 1, &s->done, 2000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_int_equal(a->peers[3].lost, 1);
	/* And a new send fails at once, without touching what is gone. */
	s = host_send(a, 3, 1, &sb, 1);
	assert_true(s->done);
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
}

static void lost__malformed(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_FIN, .src = 3, .dst = 0,
			     .cookie = 12345 };
	u8 junk[100], wire[O2G_HDR_SIZE];
	int fd = believed(3), fd2 = believed(4);

	memset(junk, 0xee, sizeof(junk));
	assert_int_equal(send(fd, junk, sizeof(junk), 0), sizeof(junk));
	o2g_wire_encode(&h, wire); /* good form, wrong source */
	assert_int_equal(send(fd2, wire, sizeof(wire), 0), sizeof(wire));
	host_idle(both, 1, 50);
	assert_int_equal(a->peers[3].lost_err, -EBADMSG);
	assert_non_null(strstr(a->peers[3].why, "malformed packet: "));
	assert_int_equal(a->peers[4].lost_err, -EBADMSG);
	assert_true(closed_raw(a, fd) && closed_raw(a, fd2));
	close(fd);
	close(fd2);
	exchange(b, a, 10); /* nobody else is touched */
}

static void close__orderly_delivers_all(void **state)
{
	static u8 out[3 << 20], in[3 << 20];
	struct o2g_seg so = { out, sizeof(out) }, si = { in, sizeof(in) };
	u8 x = 1;
	struct o2g_seg sx = { &x, 1 };
	struct host_req *r, *s;

	exchange(a, b, 1);
	fill(out, sizeof(out), 5);
	r = host_recv(b, 0, 1, &si, 1);
	s = host_send(a, 1, 1, &so, 1);
	assert_true(both_run(&s->done, 3000));
	/* Something b sent is unread when a goes. */
	host_send(b, 0, 9, &sx, 1);
	host_destroy(a, true);
	a = NULL;
	assert_true(host_run(both + 1, 1, &r->done, 3000));
	assert_int_equal(r->r.status, 0);
	assert_memory_equal(in, out, sizeof(in));
	host_idle(both + 1, 1, 50);
	assert_true(b->peers[0].cp.core.said_bye);
	assert_int_equal(b->peers[0].lost, 0); /* the engine's business */
}

static void adopt__programs_socket(void **state)
{
	int sv[2], flags;
	u8 wire[O2G_HDR_SIZE + 3] = { 0 }, in[3];
	struct o2g_seg si = { in, 3 };
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 5, .dst = 0,
			     .tag = 1, .length = 3 };
	struct host_req *r = host_recv(a, 5, 1, &si, 1);
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 5);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	flags = fcntl(sv[0], F_GETFL);
	assert_int_equal(a->chan->ops->adopt(a->chan, p, sv[0]), 0);
	assert_true(p->core.raw);
	assert_int_equal(fcntl(sv[0], F_GETFL), flags);
	o2g_wire_encode(&h, wire);
	memcpy(wire + O2G_HDR_SIZE, "abc", 3);
	assert_int_equal(write(sv[1], wire, 30), 30);
	host_idle(both, 1, 5);
	assert_int_equal(write(sv[1], wire + 30, sizeof(wire) - 30),
			 sizeof(wire) - 30);
	assert_true(host_run(both, 1, &r->done, 1000));
	assert_memory_equal(in, "abc", 3);
	close(sv[1]);
	host_idle(both, 1, 20);
	assert_int_equal(a->peers[5].lost, 1);
	assert_int_equal(fcntl(sv[0], F_GETFL), flags); /* not closed by us */
	close(sv[0]);
}

static void ports__range(void **state)
{
	struct host *h[3];
	char why[512] = "", range[32];
	u16 first = tc(a)->port;

	teardown(NULL);
	/* Three ports in a row that were free a moment ago. */
	first = first > 65000 ? 30000 : first;
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
	static const char *const bad[] = { "x", "0", "5-4", "1-70000", "5-",
					   "5-6-7", "-5", "5,6" };
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

static void peer__carried_by_another_channel(void **state)
{
	static struct chan other;
	u8 in = 0;
	struct o2g_seg si = { &in, 1 };
	struct host_req *r = host_recv(a, 3, 1, &si, 1);
	struct o2g_hdr h = { .type = O2G_PKT_EAGER, .src = 3, .dst = 0,
			     .tag = 1, .length = 1 };
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 3);
	u8 wire[O2G_HDR_SIZE + 1];
	int fd;

	p->chan = &other;
	p->core.eager_max = 100;
	fd = believed(3);
	assert_ptr_equal(p->chan, &other);
	assert_null(p->link);
	o2g_wire_encode(&h, wire);
	wire[O2G_HDR_SIZE] = 4;
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	assert_true(host_run(both, 1, &r->done, 1000));
	assert_int_equal(in, 4);
	close(fd);
	host_idle(both, 1, 20);
	assert_int_equal(conns(a), 0);
	assert_int_equal(a->peers[3].lost, 1);
}

static void recv__two_talk_fairly(void **state)
{
	struct host *c = open_host(2), *three[3] = { a, b, c };
	static u8 big[6 << 20], in[6 << 20];
	struct o2g_seg sb = { big, sizeof(big) }, si = { in, sizeof(in) };
	u8 x = 1, y = 0;
	struct o2g_seg sx = { &x, 1 }, sy = { &y, 1 };
	struct host_req *r1, *r2;

	exchange(b, a, 1);
	exchange(c, a, 1);
	r1 = host_recv(a, 1, 1, &si, 1);
	r2 = host_recv(a, 2, 1, &sy, 1);
	host_send(b, 0, 1, &sb, 1);
	host_idle(three, 2, 1);
	host_send(c, 0, 1, &sx, 1);
	assert_true(host_run(three, 3, &r2->done, 2000));
	assert_true(host_run(three, 3, &r1->done, 2000));
	assert_true(none_lost(a));
	host_destroy(c, false);
}

#define S(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(connect__first_use),
		S(connect__ipv6),
		S(connect__simultaneous),
		S(connect__refused_then_there),
		S(connect__nobody_there),
		S(connect__no_answer),
		S(connect__another_rank_answers),
		S(connect__another_version),
		S(tie__lower_rank_stands),
		S(tie__lower_rank_yields_before_its_answer),
		S(tie__higher_rank_is_refused),
		S(hello__wrong_secret),
		S(hello__garbage),
		S(hello__replayed),
		S(hello__byte_by_byte),
		S(hello__half_open_flood),
		S(hello__time_limit),
		S(packets__many_sizes_and_pieces),
		S(packets__tiny_buffers),
		S(packets__large),
		S(packets__truncated),
		S(batch__burst),
		S(batch__ping_pong_never),
		S(batch__large_follows_in_order),
		S(inject__in_order),
		S(inject__not_now),
		S(inject__socket_full),
		S(lost__in_the_middle),
		S(lost__after_its_last_message),
		S(send__room_is_asked_for_when_there_is_none),
		S(lost__while_sending),
		S(lost__malformed),
		S(close__orderly_delivers_all),
		S(adopt__programs_socket),
		S(ports__range),
		S(ports__nonsense),
		S(fds__none_left),
		S(peer__carried_by_another_channel),
		S(recv__two_talk_fairly),
	};

	setenv("O2G_TCP_INTERFACES", "lo", 1);
	settings = (struct o2g_settings *)o2g_settings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
