/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* A socket for each direction: agreed on, in the middle of traffic, and refused. */
#include "tcp_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "tcp/split.h"
#include "tcp/watch.h"

static struct tcp_conn *conn(struct host *x, struct host *y)
{
	return tcp_conn_find(tc(x), y->rank);
}

/* Works on until it is so. */
#define SOON(n, condition)                                 \
	do {                                               \
		u64 end = o2g_now_us() + 3000000;          \
                                                           \
		while (!(condition) && o2g_now_us() < end) \
			host_idle(both, n, 1);             \
		assert_true(condition);                    \
	} while (0)

/* Both ends have two sockets and use them. */
static bool is_split(void)
{
	struct tcp_conn *ka = conn(a, b), *kb = conn(b, a);

	return ka->sockets == TCP_TWO && kb->sockets == TCP_TWO &&
	       ka->out.fd == ka->out.sock.watch.fd &&
	       kb->out.fd == kb->out.sock.watch.fd;
}

static void split_both(void)
{
	tc(a)->splits = tc(b)->splits = true;
	exchange(a, b, 8);
	assert_int_equal(conn(a, b)->sockets, TCP_CALLER);
	tcp_split_start(conn(a, b));
	SOON(2, is_split());
}

static void split__both_directions(void **state)
{
	split_both();
	assert_int_not_equal(conn(a, b)->in.sock.watch.fd, conn(a, b)->out.fd);
	for (int i = 0; i < 50; i++) {
		exchange(a, b, i);
		exchange(b, a, i * 7);
	}
	exchange(a, b, 3 << 20);
	exchange(b, a, 3 << 20);
	assert_int_equal(conns(a), 1);
	assert_int_equal(conns(b), 1);
	assert_true(none_lost(a) && none_lost(b));
}

static void split__ipv6(void **state)
{
	if (!only_ipv6(b))
		skip();
	split_both();
	exchange(a, b, 100);
	exchange(b, a, 100);
}

static void split__goodbye_in_order(void **state)
{
	u8 in[100] = { 0 }, out[100];
	struct o2g_seg si = { in, sizeof(in) }, so = { out, sizeof(out) };
	struct host_req *r;

	split_both();
	fill(out, sizeof(out), 3);
	r = host_recv(b, 0, 9, &si, 1);
	host_send(a, 1, 9, &so, 1);
	host_destroy(a, true);
	a = both[0] = NULL;
	assert_true(host_run(&b, 1, &r->done, 2000));
	assert_int_equal(r->r.status, 0);
	assert_memory_equal(in, out, sizeof(in));
	both[0] = b;
	SOON(1, b->peers[0].cp.core.said_bye);
	assert_true(none_lost(b));
}

/* Whatever has been agreed on by then, the last message arrives, and the end. */
static void split__goodbye_at_any_time(void **state)
{
	for (int i = 0; i < 60; i++) {
		u8 in = 0, out = (u8)i;
		struct o2g_seg si = { &in, 1 }, so = { &out, 1 };
		struct host *x = i & 1 ? a : b, *y = i & 1 ? b : a;
		struct host_req *r;

		tc(a)->splits = tc(b)->splits = true;
		exchange(a, b, 8);
		tcp_split_start(conn(a, b));
		for (int j = 0; j < i / 2; j++)
			host_pump(j & 1 ? a : b);
		r = host_recv(y, x->rank, 9, &si, 1);
		host_send(x, y->rank, 9, &so, 1);
		host_destroy(x, true);
		both[0] = y;
		SOON(1, r->done);
		assert_int_equal(r->r.status, 0);
		assert_int_equal(in, i);
		SOON(1, y->peers[x == a ? 0 : 1].cp.core.said_bye);
		assert_true(none_lost(y));
		host_destroy(y, false);
		setup(state);
	}
}

static void split__a_peer_that_dies(void **state)
{
	u8 in[2];
	struct o2g_seg si = { in, 1 };
	struct host_req *r;

	split_both();
	r = host_recv(a, 1, 9, &si, 1);
	host_destroy(b, false);
	b = NULL;
	assert_true(host_run(both, 1, &r->done, 2000));
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
	assert_int_equal(a->peers[1].lost, 1);
}

/* --- with messages under way --- */

enum { MANY = 300 };

struct flow {
	struct host *from, *to;
	struct host_req *sends[MANY], *recvs[MANY];
	u8 *out[MANY], *in[MANY];
	struct o2g_seg so[MANY], si[MANY];
};

/* All of one tag: they must match in their order. */
static void flow_start(struct flow *f, struct host *from, struct host *to)
{
	f->from = from;
	f->to = to;
	for (u32 i = 0; i < MANY; i++) {
		size_t len = i % 37 ? i * 11 % 3000 + 1 : 200000 + i;

		f->out[i] = malloc(len);
		f->in[i] = calloc(1, len);
		fill(f->out[i], len, i);
		f->so[i] = (struct o2g_seg){ f->out[i], len };
		f->si[i] = (struct o2g_seg){ f->in[i], len };
	}
}

static void flow_step(struct flow *f, u32 i)
{
	f->recvs[i] = host_recv(f->to, f->from->rank, 4, &f->si[i], 1);
	f->sends[i] = host_send(f->from, f->to->rank, 4, &f->so[i], 1);
}

static void flow_check(struct flow *f)
{
	for (u32 i = 0; i < MANY; i++) {
		assert_true(both_run(&f->recvs[i]->done, 5000));
		assert_true(both_run(&f->sends[i]->done, 5000));
		assert_int_equal(f->recvs[i]->r.status, 0);
		assert_memory_equal(f->in[i], f->out[i], f->si[i].len);
		host_req_free(f->recvs[i]);
		host_req_free(f->sends[i]);
		free(f->in[i]);
		free(f->out[i]);
	}
}

/* The smaller the buffers the more often a socket is full. */
static void split__under_way(void **state)
{
	static struct flow there, back;

	tc(a)->splits = tc(b)->splits = true;
	exchange(a, b, 8);
	flow_start(&there, a, b);
	flow_start(&back, b, a);
	for (u32 i = 0; i < MANY; i++) {
		flow_step(&there, i);
		flow_step(&back, i);
		if (i == 20)
			tcp_split_start(conn(a, b));
		if (i % 3 == 0)
			host_pump(i & 1 ? a : b);
	}
	flow_check(&there);
	flow_check(&back);
	SOON(2, is_split());
	assert_true(none_lost(a) && none_lost(b));
}

static void split__full_sockets(void **state)
{
	teardown(state);
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 16384;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	split__under_way(state);
}

/* Room was asked for on the first socket, which is not watched meanwhile. */
static void split__asks_for_room_again(void **state)
{
	teardown(state);
	settings->tcp_sndbuf = settings->tcp_rcvbuf = 16384;
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
	tc(a)->splits = tc(b)->splits = true;
	exchange(a, b, 8);
	tcp_conn_block(conn(b, a));
	conn(b, a)->out.state = TCP_OUT_OPEN;
	tcp_conn_unwatch(conn(b, a));
	tcp_split_start(conn(a, b));
	SOON(2, is_split());
	exchange(b, a, 3 << 20);
}

/* --- not wanted --- */

static void stays_whole(void)
{
	tcp_split_start(conn(a, b));
	SOON(2, conn(a, b)->sockets != TCP_CALLING);
	assert_int_not_equal(conn(a, b)->sockets, TCP_TWO);
	assert_int_not_equal(conn(b, a)->sockets, TCP_TWO);
	exchange(a, b, 100);
	exchange(b, a, 100);
	assert_true(none_lost(a) && none_lost(b));
}

static void split__refused_by_the_other(void **state)
{
	tc(a)->splits = true;
	exchange(a, b, 8);
	stays_whole();
	assert_int_equal(conn(a, b)->sockets, TCP_ALONE); /* not again */
}

static void split__not_by_who_was_called(void **state)
{
	tc(a)->splits = tc(b)->splits = true;
	exchange(b, a, 8);
	stays_whole();
}

static void split__nobody_listens(void **state)
{
	tc(a)->splits = tc(b)->splits = true;
	exchange(a, b, 8);
	shutdown(tc(b)->listener.fd, SHUT_RDWR);
	stays_whole();
}

/* Second sockets leave descriptors to peers that have none yet. */
static void split__a_limited_number(void **state)
{
	static struct tcp_conn fakes[TCP_SPLITS];

	tc(a)->splits = tc(b)->splits = true;
	exchange(a, b, 8);
	for (u32 i = 0; i < TCP_SPLITS; i++) {
		static struct chan_peer nobody = { .core.rank = 39 };

		fakes[i].peer = &nobody;
		fakes[i].sockets = TCP_TWO;
		o2g_list_add_tail(&fakes[i].all, &tc(b)->conns);
	}
	stays_whole();
	for (u32 i = 0; i < TCP_SPLITS; i++)
		o2g_list_del(&fakes[i].all);
}

/* --- a peer made by hand, as the one that is called --- */

struct called {
	int listener, first, second;
	struct tcp_conn *k;
};

static void send_all(int fd, const void *data, size_t n)
{
	assert_int_equal(send(fd, data, n, MSG_NOSIGNAL), n);
}

/* Our half of the hello on @fd, and the verdict, which is not sent. */
static struct tcp_verdict_msg greet(int fd, enum tcp_purpose purpose)
{
	struct tcp_hello_key key = { a->secret, "test" };
	struct tcp_challenge c;
	struct tcp_verdict_msg v;
	struct tcp_answer answer;

	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	send_all(fd, &c, sizeof(c));
	assert_true(read_raw(a, fd, &answer, sizeof(answer)));
	assert_true(tcp_hello_check_answer(&key, &c, &answer));
	assert_int_equal(tcp_hello_purpose(&answer), purpose);
	tcp_hello_verdict(&key, &c, &answer, TCP_ACCEPTED, &v);
	return v;
}

/* The second time without a word from us. */
static struct called called_again(void)
{
	struct tcp_verdict_msg v;
	struct called x;

	tc(a)->splits = true;
	x.first = dialled_by(a, 3, &x.listener);
	v = greet(x.first, TCP_FIRST);
	send_all(x.first, &v, sizeof(v));
	x.k = tcp_conn_find(tc(a), 3);
	SOON(1, x.k->state == TCP_OPEN);
	tcp_split_start(x.k);
	x.second = accept(x.listener, NULL, NULL);
	assert_true(x.second >= 0);
	return x;
}

static struct called called_twice(struct tcp_verdict_msg *second)
{
	struct called x = called_again();

	*second = greet(x.second, TCP_SECOND);
	return x;
}

static void called_close(struct called *x)
{
	close(x->first);
	close(x->second);
	close(x->listener);
}

static void send_moved(int fd)
{
	struct o2g_hdr h = { .type = TCP_PKT_MOVED, .src = 3, .dst = 0 };
	u8 wire[O2G_HDR_SIZE];

	o2g_wire_encode(&h, wire);
	send_all(fd, wire, sizeof(wire));
}

static void send_byte(int fd, u8 byte)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = 3,
			     .dst = 0,
			     .tag = 1,
			     .length = 1 };
	u8 wire[O2G_HDR_SIZE + 1];

	o2g_wire_encode(&h, wire);
	wire[O2G_HDR_SIZE] = byte;
	send_all(fd, wire, sizeof(wire));
}

static void receives(u8 byte)
{
	u8 in = 0;
	struct o2g_seg si = { &in, 1 };
	struct host_req *r = host_recv(a, 3, 1, &si, 1);

	assert_true(host_run(both, 1, &r->done, 1000));
	assert_int_equal(r->r.status, 0);
	assert_int_equal(in, byte);
	host_req_free(r);
}

static void moved__before_the_verdict(void **state)
{
	struct tcp_verdict_msg v;
	struct called x = called_twice(&v);

	send_byte(x.first, 1);
	send_moved(x.first);
	SOON(1, x.k->in.state == TCP_IN_MOVED);
	shutdown(x.first, SHUT_WR); /* no loss: it is done with this one */
	host_idle(both, 1, 20);
	send_all(x.second, &v, sizeof(v));
	send_byte(x.second, 2);
	receives(1);
	receives(2);
	assert_int_equal(x.k->sockets, TCP_TWO);
	assert_int_not_equal(x.k->in.state, TCP_IN_MOVED);
	assert_true(none_lost(a));
	called_close(&x);
}

static void moved__after_the_verdict(void **state)
{
	struct tcp_verdict_msg v;
	struct called x = called_twice(&v);
	u8 got;

	send_all(x.second, &v, sizeof(v));
	send_byte(x.second, 2); /* sent early, read late */
	host_idle(both, 1, 20);
	send_byte(x.first, 1);
	send_moved(x.first);
	receives(1);
	receives(2);
	/* We answer where we always did. */
	host_send(a, 3, 1, &(struct o2g_seg){ &got, 1 }, 1);
	assert_true(read_raw(a, x.first, &got, 1));
	assert_true(none_lost(a));
	called_close(&x);
}

/* Somebody was stopped, by a debugger: that is no reason to give anything up. */
static void moved__after_a_long_time(void **state)
{
	struct tcp_verdict_msg v;
	struct called x;

	settings->tcp_timeout = 1;
	x = called_twice(&v);
	host_idle(both, 1, 1300);
	send_all(x.second, &v, sizeof(v));
	host_idle(both, 1, 1300);
	send_moved(x.first);
	send_byte(x.second, 2);
	receives(2);
	assert_true(none_lost(a));
	called_close(&x);
}

static void moved__and_more(void **state)
{
	struct tcp_verdict_msg v;
	struct called x = called_twice(&v);
	u8 wire[2 * O2G_HDR_SIZE] = { 0 };
	struct o2g_hdr moved = { .type = TCP_PKT_MOVED, .src = 3, .dst = 0 };

	o2g_wire_encode(&moved, wire);
	moved.type = O2G_PKT_CREDIT;
	o2g_wire_encode(&moved, wire + O2G_HDR_SIZE);
	send_all(x.first, wire, sizeof(wire));
	SOON(1, a->peers[3].lost == 1);
	called_close(&x);
}

static void moved__to_nowhere(void **state)
{
	struct tcp_verdict_msg v;
	struct called x = called_twice(&v);

	send_moved(x.first);
	SOON(1, x.k->in.state == TCP_IN_MOVED);
	close(x.second);
	SOON(1, a->peers[3].lost == 1);

	assert_non_null(strstr(a->peers[3].why, "second connection"));
	x.second = dup(x.first);
	called_close(&x);
}

static void moved__uninvited(void **state)
{
	int fd = believed(3);

	tc(a)->splits = true;
	send_moved(fd);
	SOON(1, a->peers[3].lost == 1);
	assert_non_null(strstr(a->peers[3].why, "malformed"));
	close(fd);
}

/* Before it can know that there is a second socket. */
static void moved__too_early(void **state)
{
	struct called x = called_again();

	send_moved(x.first);
	SOON(1, a->peers[3].lost == 1);
	called_close(&x);
}

/* --- a second socket without a first --- */

static void second__of_a_stranger(void **state)
{
	struct tcp_hello_key key = { a->secret, "test" };
	struct tcp_challenge c;
	struct tcp_verdict_msg v;
	struct tcp_answer answer;
	int fd = dial_raw(a);

	tc(a)->splits = true;
	assert_true(read_raw(a, fd, &c, sizeof(c)));
	assert_int_equal(tcp_hello_answer(&key, &c, TCP_SECOND, 3, 0, "raw",
					  &answer),
			 0);
	send_all(fd, &answer, sizeof(answer));
	assert_true(read_raw(a, fd, &v, sizeof(v)));
	assert_int_equal(le32_to_cpu(v.code), TCP_DUPLICATE);
	assert_true(closed_raw(a, fd));
	assert_int_equal(conns(a), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(split__both_directions),
		S(split__ipv6),
		S(split__goodbye_in_order),
		S(split__goodbye_at_any_time),
		S(split__a_peer_that_dies),
		S(split__under_way),
		S(split__full_sockets),
		S(split__asks_for_room_again),
		S(split__refused_by_the_other),
		S(split__not_by_who_was_called),
		S(split__nobody_listens),
		S(split__a_limited_number),
		S(moved__before_the_verdict),
		S(moved__after_the_verdict),
		S(moved__after_a_long_time),
		S(moved__and_more),
		S(moved__to_nowhere),
		S(moved__uninvited),
		S(moved__too_early),
		S(second__of_a_stranger),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
