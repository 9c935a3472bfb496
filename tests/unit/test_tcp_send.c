/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* Small packets that leave together, and a socket that is full. */
#include "tcp_fixture.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp/send.h"

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

/* --- without a request --- */

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
			assert_int_equal(host_inject(a, 1, 1, &out[i], 4), 0);
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
	assert_int_equal(host_inject(a, 1, 1, &x, 1), -EAGAIN); /* dialling */
	exchange(a, b, 4);
	assert_true(p->core.inject_max > TCP_SMALL);
	((struct tcp_conn *)p->link)->out.state = TCP_OUT_BROKEN;
	assert_int_equal(host_inject(a, 1, 1, &x, 1), -EAGAIN);
	((struct tcp_conn *)p->link)->out.state = TCP_OUT_OPEN;
	assert_int_equal(host_inject(a, 1, 1, &x, 1), 0);
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
		k->out.burst.turn = k->chan->turn - 1; /* no burst */
	} while (!host_inject(a, 3, sent, out, sizeof(out)) && ++sent < 100000);
	assert_in_range(sent, 2, 99999);
	assert_int_equal(k->out.state, TCP_OUT_BLOCKED);
	while (round < sent) {
		struct o2g_hdr h;

		assert_true(read_raw(a, fd, in, sizeof(in)));
		assert_int_equal(o2g_wire_decode(in, &h), O2G_WIRE_OK);
		assert_int_equal(h.tag, round);
		fill(out, sizeof(out), round++);
		assert_memory_equal(in + O2G_HDR_SIZE, out, sizeof(out));
	}
	assert_int_equal(host_inject(a, 3, 7, out, 8), 0);
	assert_true(read_raw(a, fd, in, O2G_HDR_SIZE + 8));
	assert_int_equal(k->out.state, TCP_OUT_OPEN);
	assert_int_equal(a->peers[3].lost, 0);
	close(fd);
}

/* A socket that has room is not asked about it: that would make events of nothing. */
static void send__room_is_asked_for_when_there_is_none(void **state)
{
	static u8 big[8 << 20], in[1 << 20];
	struct o2g_seg sb = { big, sizeof(big) };
	struct o2g_hdr cts = { .type = O2G_PKT_CTS,
			       .src = 3,
			       .dst = 0,
			       .length = sizeof(big),
			       .aux = 1 };
	u8 wire[O2G_HDR_SIZE];
	int fd = believed(3);
	struct host_req *s = host_send(a, 3, 1, &sb, 1);
	struct tcp_conn *k = a->peers[3].cp.link;

	settings->tcp_lend = 0; /* nobody answers here */
	cts.cookie = s->r.id;
	o2g_wire_encode(&cts, wire);
	host_idle(both, 1, 30);
	assert_true(k->in.sock.events);
	assert_false(k->in.sock.events & EPOLLOUT);
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	host_idle(both, 1, 30);
	assert_false(s->done); /* the socket is full */
	assert_int_equal(k->out.state, TCP_OUT_BLOCKED);
	assert_true(k->in.sock.events & EPOLLOUT);
	while (!s->done && recv(fd, in, sizeof(in), 0) > 0)
		host_idle(both, 1, 1);
	assert_true(s->done);
	assert_int_equal(k->out.state, TCP_OUT_OPEN);
	/* The first time it is told of for nothing is the last. */
	k->in.sock.watch.ready(&k->in.sock.watch, EPOLLOUT);
	assert_false(k->in.sock.events & EPOLLOUT);
	assert_int_equal(a->peers[3].lost, 0);
	close(fd);
}

/* Whoever asks and asks, and does not read the answers, is lost. */
static void answers__bounded(void **state)
{
	struct o2g_hdr fin = { .type = O2G_PKT_FIN, .src = 0, .dst = 3 };
	struct chan_peer *p;
	struct tcp_conn *k;
	u32 sent = 0;
	int fd;

	teardown(NULL);
	settings->tcp_sndbuf = 4096;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	fd = believed(3);
	p = &a->peers[3].cp;
	k = p->link;
	while (sent < 2 * O2G_ANSWERS_MAX &&
	       p->chan->ops->send(p->chan, p, &fin, NULL, 0, 0) >= 0)
		sent++;
	assert_in_range(sent, O2G_ANSWERS_MAX, 2 * O2G_ANSWERS_MAX - 1);
	assert_int_equal(k->out.state, TCP_OUT_BROKEN);
	host_idle(both, 1, 30);
	assert_int_equal(a->peers[3].lost, 1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(batch__burst),
		S(batch__ping_pong_never),
		S(inject__in_order),
		S(inject__not_now),
		S(inject__socket_full),
		S(send__room_is_asked_for_when_there_is_none),
		S(answers__bounded),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
