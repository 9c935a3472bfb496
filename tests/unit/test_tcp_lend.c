/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/tcp_fixture.c */
/* Messages by reference to their pages: complete when answered, and never changed. */
#include "tcp_fixture.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEN (300u << 10) /* is lent */
#define PART (40u << 10) /* fits into a window */
#define PEER 3

static u8 out[4 << 20], in[4 << 20];

static struct o2g_hdr packet(enum o2g_pkt type, u64 cookie, u64 length)
{
	return (struct o2g_hdr){ .type = type,
				 .src = PEER,
				 .cookie = cookie,
				 .length = length };
}

static void send_raw(int fd, const struct o2g_hdr *h)
{
	u8 wire[O2G_HDR_SIZE];

	o2g_wire_encode(h, wire);
	assert_int_equal(send(fd, wire, sizeof(wire), MSG_NOSIGNAL),
			 sizeof(wire));
}

static struct o2g_hdr recv_raw(int fd)
{
	u8 wire[O2G_HDR_SIZE];
	struct o2g_hdr h;

	assert_true(read_raw(a, fd, wire, sizeof(wire)));
	assert_int_equal(o2g_wire_decode(wire, &h), O2G_WIRE_OK);
	return h;
}

static void reset_raw(int fd)
{
	struct linger hard = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
}

/* A send to a peer made by hand, which has asked for all of it. */
static struct host_req *asked_for(int fd)
{
	struct o2g_seg si = { out, LEN };
	struct host_req *s = host_send(a, PEER, 1, &si, 1);
	struct o2g_hdr cts = packet(O2G_PKT_CTS, s->r.id, LEN);

	fill(out, LEN, 5);
	cts.aux = 1;
	send_raw(fd, &cts);
	assert_int_equal(recv_raw(fd).type, O2G_PKT_RTS);
	host_idle(both, 1, 20);
	return s;
}

/* All lengths, at all places in a page, lent and copied by turns. */
static void lend__arrives(void **state)
{
	static const u32 lengths[] = { 65537, 100000, 262144, 1u << 20,
				       3000001 };

	exchange(a, b, 10);
	for (u32 i = 0; i < 60; i++) {
		u32 len = lengths[i % 5], at = i * 977 % 5000;
		struct o2g_seg so = { out + at, len }, si = { in + at, len };
		struct host_req *s, *r;

		fill(out + at, len, i);
		r = host_recv(b, 0, 1, &si, 1);
		s = host_send(a, 1, 1, &so, 1);
		assert_true(both_run(&s->done, 5000));
		assert_true(both_run(&r->done, 5000));
		assert_int_equal(s->r.status, 0);
		assert_int_equal(r->r.status, 0);
		assert_memory_equal(out + at, in + at, len);
		host_req_free(s);
		host_req_free(r);
	}
	assert_true(tc(a)->lender.in >= 0);
	assert_true(none_lost(a) && none_lost(b));
}

static void lend__complete_when_answered(void **state)
{
	int fd = believed(PEER);
	struct host_req *s = asked_for(fd);
	struct o2g_hdr h = recv_raw(fd), fin = packet(O2G_PKT_FIN, s->r.id, 0);

	assert_int_equal(h.flags, O2G_PKTF_REFERENCE);
	assert_true(read_raw(a, fd, in, LEN));
	assert_memory_equal(in, out, LEN);
	host_idle(both, 1, 20);
	assert_false(s->done);
	send_raw(fd, &fin);
	assert_true(host_run(both, 1, &s->done, 2000));
	assert_int_equal(s->r.status, 0);
	close(fd);
}

/* What the peer has not read yet may change now: it must be able to tell. */
static void lend__error_resets(void **state)
{
	int fd = believed(PEER);
	struct host_req *s = asked_for(fd);
	struct pollfd p = { .fd = fd };

	assert_false(s->done);
	chan_peer_lost(&a->peers[PEER].cp, -O2G_ERR_PEER, "it has ended");
	assert_true(s->done);
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_int_equal(poll(&p, 1, 2000), 1);
	assert_true(p.revents & POLLERR);
	close(fd);
}

/* All of the message is there, and so is the reset: it is not to be believed. */
static void lend__reset_is_no_message(void **state)
{
	struct o2g_seg si = { in, PART };
	struct host_req *r = host_recv(a, PEER, 0, &si, 1);
	int fd = believed(PEER);
	struct o2g_hdr h = packet(O2G_PKT_RTS, 77, PART), cts;

	send_raw(fd, &h);
	cts = recv_raw(fd);
	assert_int_equal(cts.type, O2G_PKT_CTS);
	h = packet(O2G_PKT_DATA, cts.aux, PART);
	h.flags = O2G_PKTF_REFERENCE;
	send_raw(fd, &h);
	assert_int_equal(send(fd, out, PART, 0), PART);
	reset_raw(fd);
	assert_true(host_run(both, 1, &r->done, 2000));
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
}

/* The same without the flag: the bytes were copied, and are what was sent. */
static void lend__reset_after_a_copy(void **state)
{
	struct o2g_seg si = { in, PART };
	struct host_req *r = host_recv(a, PEER, 0, &si, 1);
	int fd = believed(PEER);
	struct o2g_hdr h = packet(O2G_PKT_RTS, 77, PART);

	send_raw(fd, &h);
	h = packet(O2G_PKT_DATA, recv_raw(fd).aux, PART);
	send_raw(fd, &h);
	assert_int_equal(send(fd, out, PART, 0), PART);
	reset_raw(fd);
	assert_true(host_run(both, 1, &r->done, 2000));
	assert_int_equal(r->r.status, 0);
}

/* No more descriptors: messages are copied, and nobody notices. */
static void lend__no_pipe(void **state)
{
	struct o2g_seg so = { out, LEN }, si = { in, LEN };
	struct rlimit before, none;
	struct host_req *s, *r;

	exchange(a, b, 10);
	fill(out, LEN, 9);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	r = host_recv(b, 0, 1, &si, 1);
	s = host_send(a, 1, 1, &so, 1);
	assert_true(both_run(&s->done, 5000));
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(r->done && tc(a)->lender.refused);
	assert_memory_equal(out, in, LEN);
}

/* Nobody wants it: the system's signal is not for the program. */
static void lend__peer_goes(void **state)
{
	int fd = believed(PEER);
	struct o2g_seg so = { out, sizeof(out) };
	struct host_req *s = host_send(a, PEER, 1, &so, 1);
	struct o2g_hdr cts = packet(O2G_PKT_CTS, s->r.id, sizeof(out));

	send_raw(fd, &cts);
	shutdown(fd, SHUT_RD);
	host_idle(both, 1, 20);
	close(fd);
	assert_true(host_run(both, 1, &s->done, 2000));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(lend__arrives),
		S(lend__complete_when_answered),
		S(lend__error_resets),
		S(lend__reset_is_no_message),
		S(lend__reset_after_a_copy),
		S(lend__no_pipe),
		S(lend__peer_goes),
	};

	return cmocka_run_group_tests(tests, loopback_only, NULL);
}
