/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/*
 * A peer that another channel carries and that calls by TCP as well: it is heard on
 * both, and whatever it does on one of them must not pull a receive away from under
 * a packet that is coming in on the other.
 */
#include "tcp_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

#define PEER 3
#define LEN 1000

/* --- the other channel --- */

static struct o2g_hdr last; /* that was sent over it */

static int other_send(struct chan *c, struct chan_peer *p,
		      const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		      u64 len)
{
	last = *h;
	return 0;
}

static void other_disconnect(struct chan *c, struct chan_peer *p, bool orderly)
{
	p->link = NULL;
}

static const struct chan_ops other_ops = { .name = "other",
					   .send = other_send,
					   .disconnect = other_disconnect };
static struct chan other = { .ops = &other_ops };

static struct chan_peer *carried_by_other(void)
{
	struct chan_peer *p = chan_ep_peer((struct chan_ep *)a, PEER);

	p->chan = &other;
	p->link = &other;
	p->core.eager_max = 1 << 20;
	return p;
}

/* --- the peer, by hand --- */

static struct o2g_hdr packet(enum o2g_pkt type, u64 length, u64 cookie)
{
	return (struct o2g_hdr){ .type = type,
				 .src = PEER,
				 .dst = 0,
				 .tag = 1,
				 .length = length,
				 .cookie = cookie };
}

/* Until a body of which @left bytes are to come is the last that was read, or, if
 * none is, another packet than the @before was taken; or nobody reads any more. */
static void wait_left(u64 left, int before)
{
	u64 end = o2g_now_us() + 3000000;
	struct tcp_conn *k;

	while ((k = tcp_conn_find(tc(a), PEER))) {
		if (left ? k->in.stream.in_body &&
				    k->in.stream.body_left == left :
			   a->packets > before)
			return;
		assert_true(o2g_now_us() < end);
		host_pump(a);
	}
}

/* A header and @n bytes of its body, by TCP. */
static void send_part(int fd, const struct o2g_hdr *h, size_t n)
{
	u8 wire[O2G_HDR_SIZE + LEN];
	int before = a->packets;

	o2g_wire_encode(h, wire);
	memset(wire + O2G_HDR_SIZE, 7, n);
	assert_int_equal(send(fd, wire, O2G_HDR_SIZE + n, MSG_NOSIGNAL),
			 O2G_HDR_SIZE + n);
	wait_left(o2g_wire_body(h) - n, before);
}

static void send_rest(int fd, size_t n)
{
	u8 rest[LEN] = { 0 };
	int before = a->packets;

	send(fd, rest, n, MSG_NOSIGNAL);
	wait_left(0, before);
}

/* --- */

/* The receive is over with its peer, and its memory is the program's again. */
static void lost_in_the_middle(const struct host_req *posted, int fd)
{
	chan_peer_lost(&a->peers[PEER].cp, -O2G_ERR_PEER, "it has ended");
	if (posted)
		assert_int_equal(posted->r.status, -O2G_ERR_PEER);
	send_rest(fd, LEN - 10);
	assert_int_equal(conns(a), 0);
	assert_true(closed_raw(a, fd));
	assert_int_equal(a->peers[PEER].lost, 1);
	close(fd);
}

static void twice__lost_while_it_sends(void **state)
{
	struct o2g_hdr h = packet(O2G_PKT_EAGER, LEN, 0);
	struct o2g_seg si = { malloc(LEN), LEN };
	struct host_req *r = host_recv(a, PEER, 1, &si, 1);
	int fd;

	carried_by_other();
	fd = believed(PEER);
	send_part(fd, &h, 10);
	assert_false(r->done);
	free(si.base);
	lost_in_the_middle(r, fd);
}

static void twice__lost_while_nobody_asked(void **state)
{
	struct o2g_hdr h = packet(O2G_PKT_EAGER, LEN, 0);
	int fd;

	carried_by_other();
	fd = believed(PEER);
	send_part(fd, &h, 10);
	assert_int_equal(a->unexp, 1);
	lost_in_the_middle(NULL, fd);
	assert_int_equal(a->unexp, 0);
}

/* Two DATA packets for the same bytes: the second is refused while the first is
 * under way, for it would complete the receive. */
static void twice__one_receive(void **state)
{
	struct chan_peer *p = carried_by_other();
	struct o2g_hdr h = packet(O2G_PKT_RTS, LEN, 77);
	struct o2g_seg si = { malloc(LEN), LEN };
	struct host_req *r = host_recv(a, PEER, 1, &si, 1);
	struct o2g_rx rx;
	int fd = believed(PEER);

	send_part(fd, &h, 0);
	assert_int_equal(last.type, O2G_PKT_CTS);
	h = packet(O2G_PKT_DATA, LEN, last.aux);
	send_part(fd, &h, 10);
	assert_int_equal(o2g_proto_rx_begin(&a->core, &p->core, &h, &rx),
			 O2G_PROTO_BAD_STATE);
	assert_false(r->done);
	send_rest(fd, LEN - 10);
	assert_true(r->done);
	assert_int_equal(r->r.status, 0);
	free(si.base);
	close(fd);
}

/* One after the other is what every long message does. */
static void twice__by_turns(void **state)
{
	struct chan_peer *p = carried_by_other();
	struct o2g_hdr h = packet(O2G_PKT_RTS, LEN, 77);
	u8 in[LEN];
	struct o2g_seg si = { in, LEN };
	struct host_req *r = host_recv(a, PEER, 1, &si, 1);
	struct o2g_rx rx;
	int fd = believed(PEER);

	send_part(fd, &h, 0);
	h = packet(O2G_PKT_DATA, 10, last.aux);
	send_part(fd, &h, 10);
	h.aux = 10;
	h.length = LEN - 10;
	assert_int_equal(o2g_proto_rx_begin(&a->core, &p->core, &h, &rx),
			 O2G_PROTO_OK);
	assert_int_equal(rx.sink.off, 10);
	o2g_proto_rx_end(&a->core, &p->core, &rx);
	assert_true(r->done);
	assert_int_equal(r->r.status, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(twice__lost_while_it_sends),
		S(twice__lost_while_nobody_asked),
		S(twice__one_receive),
		S(twice__by_turns),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
