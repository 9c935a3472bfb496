/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* TCP connections that end: all of a sudden, and badly. */
#include "tcp_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp/intake.h"
#include "tcp/recv.h"

static void lost__in_the_middle(void **state)
{
	static u8 in[1000];
	struct o2g_seg si = { in, sizeof(in) };
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = 3,
			     .dst = 0,
			     .tag = 1,
			     .length = 1000 };
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
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = 3,
			     .dst = 0,
			     .tag = 1,
			     .length = 1 };
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

/* --- with an intake, which says how much the socket has --- */

static int join(struct tcp_conn *k)
{
	return 0;
}

static void leave(struct tcp_conn *k)
{
}

static bool took_all(struct tcp_conn *k, u64 n)
{
	return false;
}

static bool waits_never(struct tcp_conn *k, bool closed)
{
	return false;
}

static const struct tcp_intake modest = {
	.join = join,
	.leave = leave,
	.recv = tcp_read,
	.took = took_all,
	.waits = waits_never,
};

/* The socket tells of the end once, together with what it holds. */
static void lost__after_all_that_was_promised(void **state)
{
	u8 in = 0;
	struct o2g_seg si = { &in, 1 };
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = 3,
			     .dst = 0,
			     .tag = 1,
			     .length = 1 };
	struct host_req *r = host_recv(a, 3, 1, &si, 1);
	u8 wire[O2G_HDR_SIZE + 1] = { 0 };
	int fd;

	tc(a)->intake = &modest;
	fd = believed(3);
	o2g_wire_encode(&h, wire);
	assert_int_equal(send(fd, wire, sizeof(wire), 0), sizeof(wire));
	close(fd);
	host_idle(both, 1, 50);
	assert_true(r->done);
	assert_int_equal(r->r.status, 0);
	assert_int_equal(a->peers[3].lost, 1);
}

static void lost__while_sending(void **state)
{
	static u8 big[8 << 20];
	struct o2g_seg sb = { big, sizeof(big) };
	struct linger hard = { 1, 0 };
	struct o2g_hdr cts = { .type = O2G_PKT_CTS,
			       .src = 3,
			       .dst = 0,
			       .length = sizeof(big),
			       .aux = 1 };
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
	struct o2g_hdr h = { .type = O2G_PKT_FIN,
			     .src = 3,
			     .dst = 0,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(lost__in_the_middle),
		S(lost__after_its_last_message),
		S(lost__after_all_that_was_promised),
		S(lost__while_sending),
		S(lost__malformed),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
