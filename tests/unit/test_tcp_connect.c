/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* TCP connections: dialled, by both at once, not at all, and not by us. */
#include "tcp_fixture.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	char text[128];

	if (!only_ipv6(b))
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
	assert_non_null(
		strstr(a->peers[1].why, "127.0.0.1 (Connection refused)"));
	assert_non_null(strstr(a->peers[1].why, "its process has ended"));
	assert_int_equal(conns(a), 0);
}

/* The peer is stopped, or computes, for longer than O2G_TCP_TIMEOUT. */
static void connect__slow_peer(void **state)
{
	struct host_req *s;
	u8 x = 1;
	struct o2g_seg sx = { &x, 1 };

	settings->tcp_timeout = 1;
	assert_int_equal(host_connect(a, b), 0);
	s = host_send(a, 1, 1, &sx, 1);
	host_idle(both, 1, 2500);
	assert_true(none_lost(a) && !s->done);
	assert_true(both_run(&s->done, 5000));
	assert_int_equal(s->r.status, 0);
	assert_int_equal(conns(a), 1);
}

/* So are we. By then it has given up waiting for our half of the hello. */
static void connect__slow_ourselves(void **state)
{
	struct host_req *s;
	u8 x = 1;
	struct o2g_seg sx = { &x, 1 };

	settings->tcp_timeout = 1;
	assert_int_equal(host_connect(a, b), 0);
	s = host_send(a, 1, 1, &sx, 1);
	host_idle(&b, 1, 100);
	for (u32 i = 0; i < tc(b)->nslots; i++)
		tc(b)->slots[i].since_us -= TCP_HELLO_US;
	host_idle(&b, 1, 1500);
	assert_int_equal(tc(b)->strangers, 1);
	assert_true(both_run(&s->done, 5000));
	assert_int_equal(s->r.status, 0);
	assert_true(none_lost(a) && none_lost(b));
}

static int listen_raw(in_addr_t ip, u16 port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;

	at.sin_addr.s_addr = htonl(ip);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/* b ends; somebody else listens at its port of 127.0.0.1, and a calls it at @addrs. */
static int replace_b(const char *addrs, struct host_req **s)
{
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, 1);
	static struct o2g_seg none;
	u16 port = tc(b)->port;
	char card[256];
	int fd;

	settings->tcp_timeout = 1;
	host_destroy(b, false);
	b = NULL;
	fd = listen_raw(INADDR_LOOPBACK, port);
	snprintf(card, sizeof(card), "node=%s,port=%u,addr=%s", a->node, port,
		 addrs);
	assert_int_equal(a->chan->ops->connect(a->chan, p, card), 0);
	*s = host_send(a, 1, 1, &none, 1);
	return fd;
}

/* Somebody listens there and never says a word; elsewhere the peer is not there. */
static void connect__no_answer(void **state)
{
	struct host_req *s;
	int fd = replace_b("127.0.0.1/8+127.0.0.2/8", &s);

	assert_true(host_run(both, 1, &s->done, 3000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_non_null(strstr(a->peers[1].why, "127.0.0.1 (something acc"));
	assert_non_null(strstr(a->peers[1].why, "127.0.0.2 (Connection ref"));
	assert_non_null(strstr(a->peers[1].why, "O2G_TCP_INTERFACES"));
	assert_non_null(strstr(a->peers[1].why, "O2G_TCP_TIMEOUT"));
	close(fd);
}

/* Somebody listens there, says nothing, and hangs up after a while: always again. */
static void connect__hung_up(void **state)
{
	struct host_req *s;
	int l = replace_b("127.0.0.1/8", &s), n = 0;

	while (!s->done && n < 10) {
		int fd = accept(l, NULL, NULL);

		if (fd < 0) {
			host_idle(both, 1, 10);
			continue;
		}
		n++;
		host_run(both, 1, &s->done, 1200);
		close(fd);
	}
	assert_true(s->done && n >= 3);
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_non_null(strstr(a->peers[1].why, "127.0.0.1 (it hangs up)"));
	close(l);
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

/* It stops between its challenge and its verdict. */
static void connect__slow_verdict(void **state)
{
	struct tcp_challenge c;
	struct tcp_answer answer;
	struct host_req *s;
	u8 x = 1, got[O2G_HDR_SIZE + 1];
	struct o2g_seg sx = { &x, 1 };
	int l, fd;

	settings->tcp_timeout = 1;
	fd = dialled_by(a, 3, &l);
	s = host_send(a, 3, 1, &sx, 1);
	tcp_hello_challenge(&c, false);
	assert_int_equal(send(fd, &c, sizeof(c), 0), sizeof(c));
	assert_true(read_raw(a, fd, &answer, sizeof(answer)));
	host_idle(both, 1, 2500);
	assert_true(none_lost(a) && !s->done);
	send_verdict(a, fd, &c, &answer, TCP_ACCEPTED);
	assert_true(read_raw(a, fd, got, sizeof(got)));
	assert_true(s->done && none_lost(a));
	close(fd);
	close(l);
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
	tcp_hello_challenge(&c, false);
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
	tcp_hello_challenge(&c, false);
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

static void peer__carried_by_another_channel(void **state)
{
	static struct chan other;
	u8 in = 0;
	struct o2g_seg si = { &in, 1 };
	struct host_req *r = host_recv(a, 3, 1, &si, 1);
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = 3,
			     .dst = 0,
			     .tag = 1,
			     .length = 1 };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(connect__first_use),
		S(connect__ipv6),
		S(connect__simultaneous),
		S(connect__refused_then_there),
		S(connect__nobody_there),
		S(connect__slow_peer),
		S(connect__slow_ourselves),
		S(connect__slow_verdict),
		S(connect__no_answer),
		S(connect__hung_up),
		S(connect__another_rank_answers),
		S(connect__another_version),
		S(tie__lower_rank_stands),
		S(tie__lower_rank_yields_before_its_answer),
		S(tie__higher_rank_is_refused),
		S(peer__carried_by_another_channel),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
