/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver's calls, one by one: device [case]. Runs where /dev/o2g is. */
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"

#define MIB (1 << 20)

static struct dev a, b;
static unsigned char data[8 * MIB], buf[8 * MIB];

static void open_pair(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_join(&a, &b);
}

static void close_pair(void)
{
	dev_close(&a);
	dev_close(&b);
}

/* The next completion of @d is this receive, with these bytes. */
static void got(struct dev *d, uint32_t slot, uint64_t tag, uint64_t len)
{
	struct o2gd_cqe c = dev_next(d, buf, sizeof(buf));

	CHECK(c.slot == slot && c.status == 0);
	CHECK(c.tag == tag && c.length == len && c.msg_len == len);
	CHECK(!memcmp(buf, data, len));
	memset(buf, 0, len);
}

/* A send that is or will be over. */
static void send_all(struct dev *d, uint32_t slot, uint32_t peer, uint64_t tag,
		     uint64_t len)
{
	int ret = dev_submit(d, O2GD_OP_SEND, slot, peer, tag, data, len);

	CHECK(ret == 0 || ret == 1);
	if (ret == 0) {
		struct o2gd_cqe c = dev_next(d, NULL, 0);

		CHECK(c.slot == slot && c.status == 0);
	}
}

static void lost(struct dev *d, uint32_t peer, enum o2gd_lost why)
{
	struct o2gd_cqe c = dev_next(d, NULL, 0);

	CHECK(c.slot == O2GD_SLOT_PEER && c.source == peer);
	CHECK(c.status == -O2G_ERR_PEER && c.tag == why);
}

/* --- set-up --- */

static void setup__refuses(void)
{
	struct o2gd_setup good = { .version = O2GD_VERSION, .size = 2,
				   .sq_entries = 64, .cq_entries = 64,
				   .dump_size = 1 << 20, .eager_max = 1,
				   .data_chunk = 1 }, s;
	struct dev d = { .fd = open(O2GD_DEVICE, O_RDWR) };
	uint32_t n = 16;

	CHECK(dev_call(&d, O2GD_KICK, NULL) == -EBADFD);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0) == MAP_FAILED);
	s = good, s.version = 99;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EPROTO);
	s = good, s.rank = 2;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
	s = good, s.size = 0;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
	CHECK(dev_call(&d, O2GD_SETUP, (void *)8) == -EFAULT);
	s = good;
	CHECK(dev_call(&d, O2GD_SETUP, &s) == 0);
	CHECK(dev_call(&d, O2GD_SETUP, &s) == -EBUSY);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0) == MAP_FAILED);
	CHECK(mmap(NULL, s.map_size, PROT_READ | PROT_EXEC, MAP_SHARED, d.fd,
		   0) == MAP_FAILED);
	CHECK(dev_call(&d, O2GD_GROW, &n) == 0);
	n = 1u << 30;
	CHECK(dev_call(&d, O2GD_GROW, &n) == -E2BIG);
	CHECK(dev_call(&d, 0xF2FF, NULL) == -ENOTTY);
	close(d.fd);
}

static void setup__bad_sizes(void)
{
	static const uint32_t sizes[][3] = { { 0, 64, 1 << 20 },
					     { 63, 64, 1 << 20 },
					     { 64, 1 << 30, 1 << 20 },
					     { 64, 64, 100 },
					     { 64, 64, 0 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct o2gd_setup s = { .version = O2GD_VERSION, .size = 2,
					.sq_entries = sizes[i][0],
					.cq_entries = sizes[i][1],
					.dump_size = sizes[i][2],
					.data_chunk = 1 };
		struct dev d = { .fd = open(O2GD_DEVICE, O_RDWR) };

		CHECK(dev_call(&d, O2GD_SETUP, &s) == -EINVAL);
		CHECK(dev_call(&d, O2GD_KICK, NULL) == -EBADFD);
		close(d.fd);
	}
}

/* Another process has the descriptor, but not the memory. */
static void setup__not_for_children(void)
{
	int status;

	dev_open(&a, 0, 2, 16);
	if (fork() == 0)
		_exit(dev_call(&a, O2GD_KICK, NULL) == -EBADFD ? 0 : 1);
	CHECK(wait(&status) > 0 && status == 0);
	CHECK(dev_call(&a, O2GD_KICK, NULL) == 0);
	dev_close(&a);
}

/* --- sockets --- */

static void socket__refuses(void)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	int fresh = socket(AF_INET, SOCK_STREAM, 0);
	int local[2], tcp[2];

	dev_open(&a, 0, 3, 16);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, local));
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, 9999) == -EBADF);
	CHECK(dev_register(&a, 1, a.fd) == -ENOTSOCK);
	CHECK(dev_register(&a, 1, udp) == -EPROTOTYPE);
	CHECK(dev_register(&a, 1, local[0]) == -EPROTOTYPE);
	CHECK(dev_register(&a, 1, fresh) == -ENOTCONN);
	CHECK(dev_register(&a, 3, tcp[0]) == -EINVAL);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&a, 2, tcp[0]) == -EBUSY);
	CHECK(dev_register(&a, 1, tcp[1]) == -EISCONN);
	dev_close(&a);
	close(udp), close(fresh), close(local[0]), close(local[1]);
	close(tcp[0]), close(tcp[1]);
}

/* What the driver has not read is there for read(2) afterwards. */
static void socket__given_back(void)
{
	char text[16];
	int tcp[2];

	for (int i = 0; i < 3; i++) {
		dev_tcp_pair(tcp);
		dev_open(&a, 0, 2, 16);
		CHECK(dev_register(&a, 1, tcp[0]) == 0);
		dev_close(&a);
		CHECK(write(tcp[1], "hello", 5) == 5);
		CHECK(read(tcp[0], text, 16) == 5 && !memcmp(text, "hello", 5));
		CHECK(write(tcp[0], "again", 5) == 5);
		CHECK(read(tcp[1], text, 16) == 5 && !memcmp(text, "again", 5));
		close(tcp[0]), close(tcp[1]);
	}
}

/* What came before registration is seen; the descriptor may be closed. */
static void socket__takes_what_is_there(void)
{
	int tcp[2];

	dev_tcp_pair(tcp);
	dev_open(&a, 0, 2, 16);
	dev_open(&b, 1, 2, 16);
	dev_recv(&b, 3, 0, 7, NULL, 100);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_inject(&a, 1, 7, data, 100) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	close(tcp[0]), close(tcp[1]);
	got(&b, 3, 7, 100);
	close_pair();
}

/* Sends wait for a socket. */
static void socket__late(void)
{
	dev_open(&a, 0, 2, 16);
	dev_open(&b, 1, 2, 16);
	CHECK(dev_inject(&a, 1, 1, data, 10) == 0);
	CHECK(dev_submit(&a, O2GD_OP_SEND, 4, 1, 2, data, 200000) == 0);
	dev_recv(&b, 1, 0, 1, NULL, 10);
	dev_recv(&b, 2, 0, 2, buf, 200000);
	dev_join(&a, &b);
	got(&b, 1, 1, 10);
	got(&b, 2, 2, 200000);
	CHECK(dev_next(&a, NULL, 0).slot == 4);
	close_pair();
}

/* --- messages --- */

static const uint64_t lengths[] = { 0, 1, 8, 16, 17, 255, 256, 1000, 4096, 4097,
				    20000, 65536, 65537, 300001, MIB,
				    5 * MIB + 3 };
#define NLENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void message__posted(void)
{
	open_pair();
	for (uint32_t i = 0; i < NLENGTHS; i++) {
		dev_recv(&b, i, 0, i, buf, lengths[i]);
		send_all(&a, i, 1, i, lengths[i]);
		got(&b, i, i, lengths[i]);
	}
	close_pair();
}

static void message__unexpected(void)
{
	uint64_t sent = 0;

	open_pair();
	for (uint32_t i = 0; i < NLENGTHS; i++) {
		int ret = dev_submit(&a, O2GD_OP_SEND, i, 1, i, data,
				     lengths[i]);

		CHECK(ret == 0 || ret == 1);
		sent += ret;
	}
	CHECK(sent > 8);
	for (uint32_t i = NLENGTHS; i-- > 0;) {
		dev_recv(&b, i, O2GD_ANY, i, buf, lengths[i]);
		got(&b, i, i, lengths[i]);
	}
	close_pair();
}

/* A large buffer, a small message; a small buffer, a large message. */
static void message__truncated(void)
{
	struct o2gd_cqe c;
	int ret;

	open_pair();
	dev_recv(&b, 1, 0, 5, buf, 100000);
	send_all(&a, 1, 1, 5, 10);
	got(&b, 1, 5, 10);
	for (int unexpected = 0; unexpected < 2; unexpected++) {
		for (uint64_t room = 0; room < 6000; room += 1999) {
			if (!unexpected)
				dev_recv(&b, 2, 0, 6, buf, room);
			ret = dev_submit(&a, O2GD_OP_SEND, 2, 1, 6, data,
					 200000);
			CHECK(ret == 0 || ret == 1);
			if (unexpected)
				dev_recv(&b, 2, 0, 6, buf, room);
			c = dev_next(&b, buf, sizeof(buf));
			CHECK(c.status == -O2G_ERR_TRUNCATED);
			CHECK(c.length == room && c.msg_len == 200000);
			CHECK(!memcmp(buf, data, room));
			if (!ret)
				CHECK(dev_next(&a, NULL, 0).status == 0);
		}
	}
	close_pair();
}

static void message__sync_waits(void)
{
	struct o2gd_sqe e = { .op = O2GD_OP_SEND, .flags = O2GD_SYNC, .peer = 1,
			      .slot = 9, .tag = 3, .addr = (uintptr_t)data,
			      .len = 50 };
	struct o2gd_wait w = { .timeout_ms = 50 };

	open_pair();
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_call(&a, O2GD_WAIT, &w) == -ETIME);
	dev_recv(&b, 1, 0, 3, NULL, 50);
	got(&b, 1, 3, 50);
	CHECK(dev_next(&a, NULL, 0).slot == 9);
	close_pair();
}

/* More messages than the completion ring, the slots' dump or the socket hold. */
static void message__many(void)
{
	enum { N = 600 };
	int sent = 0, seen = 0;

	dev_open(&a, 0, 2, 4096);
	dev_open(&b, 1, 2, 4096);
	dev_join(&a, &b);
	for (int i = 0; i < N; i++) {
		if (dev_inject(&a, 1, 4, data, 3000) == 0)
			continue;
		CHECK(dev_submit(&a, O2GD_OP_SEND, i, 1, 4, data, 3000) >= 0);
		sent++;
	}
	for (int i = 0; i < N; i++)
		CHECK(dev_submit(&b, O2GD_OP_RECV, i, 0, 4, buf, 3000) == 0);
	for (int i = 0; i < N; i++) {
		struct o2gd_cqe c = dev_next(&b, buf, sizeof(buf));

		CHECK(c.slot == (uint32_t)i && c.status == 0);
		CHECK(c.length == 3000 && !memcmp(buf, data, 3000));
		while (dev_has(&a)) {
			CHECK(dev_next(&a, NULL, 0).status == 0);
			seen++;
		}
	}
	CHECK(sent > 0 && seen <= sent);
	close_pair();
}

static void message__order(void)
{
	open_pair();
	for (uint32_t i = 0; i < 200; i++)
		dev_submit(&b, O2GD_OP_RECV, i, i % 3 ? 0 : O2GD_ANY, 1, buf,
			   8);
	/* Where there is no credit at the moment it takes a request. */
	for (uint64_t i = 0; i < 200; i++)
		CHECK(dev_inject(&a, 1, 1, &i, 8) == 0 ||
		      dev_submit(&a, O2GD_OP_SEND, (uint32_t)i, 1, 1, &i,
				 8) >= 0);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t n;
		struct o2gd_cqe c = dev_next(&b, &n, 8);

		CHECK(c.slot == i && n == i);
	}
	close_pair();
}

static void message__in_pieces(void)
{
	struct { void *base; size_t len; } v[3] = {
		{ buf, 5000 }, { buf + 5000, 0 }, { buf + 5000, 95000 } };
	struct o2gd_sqe e = { .op = O2GD_OP_RECV, .slot = 1, .peer = 0,
			      .tag = 8, .nsegs = 3, .addr = (uintptr_t)v,
			      .len = 100000 };

	open_pair();
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == 0);
	send_all(&a, 1, 1, 8, 100000);
	got(&b, 1, 8, 100000);
	e.len = 99999;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EFAULT);
	e.len = 100000, e.addr = 8;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EFAULT);
	e.nsegs = 1 << 30;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EINVAL);
	close_pair();
}

static void submit__refuses(void)
{
	struct o2gd_sqe e = { .op = O2GD_OP_RECV, .slot = 1, .len = 8 };
	struct o2gd_info i;

	open_pair();
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EBUSY);
	e.slot = 100000;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EINVAL);
	e.slot = 2, e.peer = 2;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EINVAL);
	e.peer = 0, e.op = 77;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EINVAL);
	e.op = O2GD_OP_RECV, e.flags = 0x80;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -EINVAL);
	e.flags = 0, e.op = O2GD_OP_MRECV, e.key = 5;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -ENOENT);
	CHECK(dev_submit(&b, O2GD_OP_SEND, 3, 0, 1, (void *)4096, 100) ==
	      -EFAULT);
	CHECK(dev_inject(&b, 0, 1, (void *)4096, 100) == -EFAULT);
	CHECK(dev_inject(&b, 0, 1, data, O2GD_SMALL + 1) == -EINVAL);
	CHECK(dev_inject(&b, 7, 1, data, 1) == -EINVAL);
	/* The posting ring, with all that can be wrong in it. */
	for (uint32_t k = 0; k < 64; k++) {
		b.sq[k] = (struct o2gd_sqe){ .op = (uint8_t)k, .slot = k * 9999,
					     .peer = k, .len = k * 1000 };
	}
	b.shared->sq_tail = 64;
	CHECK(dev_call(&b, O2GD_KICK, NULL) == 0);
	b.shared->sq_tail = 5000; /* more than there is room for */
	CHECK(dev_call(&b, O2GD_KICK, NULL) == 0);
	b.shared->cq_head = 12345;
	dev_info(&b, &i);
	CHECK(i.bad_posts > 60);
	close_pair();
}

static void cancel__works(void)
{
	uint32_t slot = 4;

	open_pair();
	dev_recv(&b, 4, 0, 9, NULL, 100);
	CHECK(dev_call(&b, O2GD_CANCEL, &slot) == 0);
	CHECK(dev_call(&b, O2GD_CANCEL, &slot) == -EBUSY);
	dev_recv(&b, 4, 0, 9, NULL, 100);
	send_all(&a, 1, 1, 9, 100);
	got(&b, 4, 9, 100);
	CHECK(dev_call(&b, O2GD_CANCEL, &slot) == -EBUSY);
	/* A send that waits for its receiver can be taken back. */
	CHECK(dev_submit(&a, O2GD_OP_SEND, 4, 1, 9, data, 100000) == 0);
	CHECK(dev_call(&a, O2GD_CANCEL, &slot) == -EINPROGRESS);
	CHECK(dev_next(&a, NULL, 0).status == -O2G_ERR_CANCELLED);
	close_pair();
}

static void probe__and_take(void)
{
	struct o2gd_probe p = { .source = O2GD_ANY, .ignore = ~0ull };
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV, .slot = 3, .len = 500,
			      .addr = (uintptr_t)buf };

	open_pair();
	CHECK(dev_call(&b, O2GD_PROBE, &p) == -EAGAIN);
	send_all(&a, 1, 1, 77, 500);
	while (dev_call(&b, O2GD_PROBE, &p) == -EAGAIN)
		;
	CHECK(p.from == 0 && p.msg_tag == 77 && p.length == 500);
	p.take = 1;
	CHECK(dev_call(&b, O2GD_PROBE, &p) == 0 && p.handle);
	CHECK(dev_call(&b, O2GD_PROBE, &p) == -EAGAIN);
	e.key = p.handle;
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == 0);
	got(&b, 3, 77, 500);
	CHECK(dev_call(&b, O2GD_SUBMIT, &e) == -ENOENT);
	/* One that is never received goes with the endpoint. */
	send_all(&a, 1, 1, 78, 500);
	while (dev_call(&b, O2GD_PROBE, &p) == -EAGAIN)
		;
	close_pair();
}

/* --- put and get --- */

static void rma__moves(void)
{
	static unsigned char mem[MIB];
	struct o2gd_mem m = { .addr = (uintptr_t)mem, .len = sizeof(mem),
			      .access = O2GD_READ | O2GD_WRITE, .key = 42 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT, .peer = 1, .key = 42,
			      .addr = (uintptr_t)data };

	open_pair();
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == -EEXIST);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint64_t len[] = { 8, 5000, 900000 };
		int ret;

		e.op = O2GD_OP_PUT, e.len = len[i], e.offset = 100, e.slot = i;
		e.addr = (uintptr_t)data;
		ret = dev_call(&a, O2GD_SUBMIT, &e);
		CHECK(ret == 1 || (ret == 0 &&
				   dev_next(&a, NULL, 0).status == 0));
		CHECK(!memcmp(mem + 100, data, len[i]));
		e.op = O2GD_OP_GET, e.addr = (uintptr_t)buf;
		CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
		CHECK(dev_next(&a, buf, sizeof(buf)).status == 0);
		CHECK(!memcmp(buf, data, len[i]));
	}
	e.offset = sizeof(mem) - 10, e.len = 11, e.slot = 9;
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_next(&a, NULL, 0).status == -ERANGE);
	CHECK(dev_call(&b, O2GD_MEM_DROP, &m.key) == 0);
	CHECK(dev_call(&b, O2GD_MEM_DROP, &m.key) == -ENOENT);
	e.offset = 0, e.len = 8;
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_next(&a, NULL, 0).status == -ENOENT);
	close_pair();
}

/* --- the end of a peer --- */

static void peer__closes(void)
{
	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	dev_recv(&b, 2, 0, 2, buf, 100000);
	CHECK(dev_submit(&b, O2GD_OP_SEND, 3, 0, 3, data, 100000) == 0);
	dev_close(&a);
	for (int i = 0; i < 3; i++) {
		struct o2gd_cqe c = dev_next(&b, NULL, 0);

		CHECK(c.slot != O2GD_SLOT_PEER && c.status == -O2G_ERR_PEER);
	}
	lost(&b, 0, O2GD_LOST_CLOSED);
	CHECK(dev_inject(&b, 0, 1, data, 8) == -EAGAIN);
	CHECK(dev_submit(&b, O2GD_OP_SEND, 3, 0, 3, data, 8) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	dev_close(&b);
}

static void peer__says_bye(void)
{
	uint32_t ms = 1000;

	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_call(&a, O2GD_BYE, &ms) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	lost(&b, 0, O2GD_LOST_BYE);
	close_pair();
}

static void peer__resets(void)
{
	struct linger hard = { .l_onoff = 1 };
	int tcp[2];

	dev_open(&a, 0, 2, 16);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	setsockopt(tcp[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(tcp[1]);
	lost(&a, 1, O2GD_LOST_ERROR);
	close(tcp[0]);
	dev_close(&a);
}

static void peer__sends_garbage(void)
{
	struct o2gd_cqe c;
	struct o2gd_info i;
	int tcp[2];

	dev_open(&a, 0, 2, 16);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	dev_recv(&a, 5, 1, 1, NULL, 100);
	CHECK(write(tcp[1], "GET / HTTP/1.0\r\nHost: a place far away and long\r\n\r\n",
		    51) == 51);
	c = dev_next(&a, NULL, 0);
	CHECK(c.slot == 5 && c.status == -O2G_ERR_PEER);
	lost(&a, 1, O2GD_LOST_HEADER);
	dev_info(&a, &i);
	CHECK(i.refused_headers == 1);
	close(tcp[0]), close(tcp[1]);
	dev_close(&a);
}

/* The end of the connection in the middle of a message. */
static void peer__dies_in_a_message(void)
{
	unsigned char h[48] = { 1, 1, 0, 48 };
	int tcp[2];

	for (int posted = 0; posted < 2; posted++) {
		dev_open(&a, 0, 2, 16);
		dev_tcp_pair(tcp);
		h[8] = 1;    /* src */
		h[24] = 200; /* length */
		if (posted)
			dev_recv(&a, 5, 1, 0, NULL, 1000);
		CHECK(dev_register(&a, 1, tcp[0]) == 0);
		CHECK(write(tcp[1], h, 48) == 48);
		CHECK(write(tcp[1], data, 100) == 100);
		close(tcp[1]);
		if (posted)
			CHECK(dev_next(&a, NULL, 0).status == -O2G_ERR_PEER);
		lost(&a, 1, O2GD_LOST_CLOSED);
		close(tcp[0]);
		dev_close(&a);
	}
}

static void peer__given_up(void)
{
	uint32_t rank = 0;

	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_call(&b, O2GD_PEER_DOWN, &rank) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	lost(&b, 0, O2GD_LOST_LOCAL);
	lost(&a, 1, O2GD_LOST_CLOSED);
	rank = 5;
	CHECK(dev_call(&b, O2GD_PEER_DOWN, &rank) == -EINVAL);
	close_pair();
}

/* --- limits --- */

/* No pinned memory for an ordinary user: everything works, by workers. */
static void limits__memlock(void)
{
	struct rlimit none = { 3 << 20, 3 << 20 };
	struct o2gd_info i;
	int status;

	if (fork() == 0) {
		CHECK(!setrlimit(RLIMIT_MEMLOCK, &none));
		CHECK(!setgid(65534) && !setuid(65534));
		open_pair();
		dev_recv(&b, 1, 0, 1, buf, 6 * MIB);
		send_all(&a, 1, 1, 1, 6 * MIB);
		got(&b, 1, 1, 6 * MIB);
		dev_info(&b, &i);
		CHECK(i.pin_refused == 1 && i.rx_bytes_worker > 0);
		a.fd = open(O2GD_DEVICE, O_RDWR);
		a.s.dump_size = 64 << 20;
		CHECK(dev_call(&a, O2GD_SETUP, &a.s) == -ENOMEM);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
}

static void wait__poll(void)
{
	struct pollfd p = { .events = POLLIN };

	open_pair();
	p.fd = b.fd;
	CHECK(poll(&p, 1, 0) == 0);
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_inject(&a, 1, 1, data, 8) == 0);
	CHECK(poll(&p, 1, 10000) == 1 && p.revents & POLLIN);
	got(&b, 1, 1, 8);
	CHECK(poll(&p, 1, 0) == 0);
	close_pair();
}

/* Endpoints and their queues, seen by their owner and by nobody else. */
static void look__owner_only(void)
{
	struct o2gd_list_entry e[8];
	struct o2gd_queue_entry q[8];
	struct o2gd_list l = { .max = 8, .addr = (uintptr_t)e };
	struct o2gd_look w = { .max = 8, .addr = (uintptr_t)q };
	struct o2gd_probe p = { .source = O2GD_ANY, .ignore = ~0ull };
	int status;

	open_pair();
	dev_recv(&b, 1, O2GD_ANY, 5, NULL, 100);
	send_all(&a, 1, 1, 6, 300);
	while (dev_call(&b, O2GD_PROBE, &p) == -EAGAIN)
		;
	CHECK(dev_call(&a, O2GD_LIST, &l) == 0 && l.count == 2);
	CHECK(e[1].pid == (uint32_t)getpid() && e[1].rank == 1);
	CHECK(e[1].info.posted == 1 && e[1].info.unexpected == 1);
	CHECK(e[0].info.messages_sent == 1 && e[0].info.bytes_sent == 300);
	CHECK(e[1].kind == O2GD_KIND_RANK && e[0].id != e[1].id);
	w.id = e[1].id;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == 0 && w.count == 2);
	CHECK(q[0].queue == O2GD_QUEUE_POSTED && q[0].source == O2GD_ANY);
	CHECK(q[0].tag == 5 && q[0].length == 100);
	CHECK(q[1].queue == O2GD_QUEUE_UNEXPECTED && q[1].source == 0);
	CHECK(q[1].tag == 6 && q[1].length == 300);
	w.max = 1;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == 0 && w.count == 2);
	w.id = 0;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == -ESRCH);
	w.max = O2GD_MAX_LOOK + 1;
	CHECK(dev_call(&a, O2GD_QUEUES, &w) == -EINVAL);
	w.max = 8, w.id = e[1].id;
	if (fork() == 0) {
		struct dev other = { .fd = open(O2GD_DEVICE, O_RDWR) };

		CHECK(!setgid(65534) && !setuid(65534));
		CHECK(dev_call(&other, O2GD_LIST, &l) == 0 && l.count == 0);
		CHECK(dev_call(&other, O2GD_QUEUES, &w) == -ESRCH);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	close_pair();
}

/* A process that dies at any moment leaves nothing that disturbs others. */
static void death__anywhere(void)
{
	for (int i = 0; i < 40; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			open_pair();
			for (uint32_t n = 0;; n++) {
				dev_recv(&b, n % 256, 0, 1, buf, 300000);
				dev_submit(&a, O2GD_OP_SEND, n % 256, 1, 1,
					   data, 300000);
				while (dev_has(&a))
					dev_next(&a, NULL, 0);
				dev_next(&b, buf, sizeof(buf));
			}
		}
		usleep(1000 * (i % 20) + 137 * i);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	}
}

/* --- endpoints of one host --- */

/* What has gone over the connection itself. */
static uint64_t tcp_sent(int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	CHECK(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len));
	return i.tcpi_bytes_sent;
}

static void local__copied_once(void)
{
	static unsigned char mem[4 * MIB];
	struct o2gd_mem m = { .addr = (uintptr_t)mem, .len = sizeof(mem),
			      .access = O2GD_READ, .key = 5 };
	struct o2gd_sqe e = { .op = O2GD_OP_GET, .slot = 9, .peer = 1, .key = 5,
			      .addr = (uintptr_t)buf, .len = sizeof(mem) };
	int tcp[2];

	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t len = 100001 << i;

		dev_recv(&b, 1, 0, i, buf, len);
		send_all(&a, 1, 1, i, len);
		got(&b, 1, i, len);
		dev_recv(&a, 1, 1, i, buf, len);
		send_all(&b, 1, 0, i, len);
		got(&a, 1, i, len);
	}
	memcpy(mem, data, sizeof(mem));
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_next(&a, NULL, 0).status == 0);
	CHECK(!memcmp(buf, data, sizeof(mem)));
	CHECK(tcp_sent(tcp[0]) < 5000 && tcp_sent(tcp[1]) < 5000);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

/* Nothing at all goes over a connection that has both ends here. */
static void local__no_tcp(void)
{
	static unsigned char mem[20000];
	struct o2gd_mem m = { .addr = (uintptr_t)mem, .len = sizeof(mem),
			      .access = O2GD_WRITE, .key = 5 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT, .slot = 9, .peer = 1, .key = 5,
			      .addr = (uintptr_t)data, .len = sizeof(mem) };
	int tcp[2], ret;

	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_mapped_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	CHECK(dev_register(&b, 0, tcp[1]) == 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	for (uint32_t i = 0; i < 15; i++) { /* longer ones wait for a receive */
		send_all(&a, 1, 1, i, 1 << i);
		dev_recv(&b, 1, 0, i, buf, 1 << i);
		got(&b, 1, i, 1 << i);
		dev_recv(&a, 1, 1, i, buf, 1 << i);
		send_all(&b, 1, 0, i, 1 << i);
		got(&a, 1, i, 1 << i);
	}
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	ret = dev_call(&a, O2GD_SUBMIT, &e);
	CHECK(ret >= 0);
	if (!ret)
		CHECK(dev_next(&a, NULL, 0).status == 0);
	CHECK(!memcmp(mem, data, sizeof(mem)));
	CHECK(tcp_sent(tcp[0]) == 0 && tcp_sent(tcp[1]) == 0);
	close(tcp[0]), close(tcp[1]);
	close_pair();
}

/* Several at once, of both kinds, both ways. */
static void local__many(void)
{
	enum { N = 24, LEN = 200000 };

	open_pair();
	for (uint32_t i = 0; i < N; i++) {
		dev_recv(&a, i, 1, i, buf, LEN);
		dev_recv(&b, i, 0, i, buf + MIB, LEN);
	}
	for (uint32_t i = 0; i < N; i++) {
		CHECK(dev_submit(&a, O2GD_OP_SEND, 100 + i, 1, i, data,
				 i % 3 ? LEN : 8) >= 0);
		CHECK(dev_submit(&b, O2GD_OP_SEND, 100 + i, 0, i, data,
				 i % 2 ? LEN : 12000) >= 0);
	}
	for (int ends = 0; ends < 2; ends++) {
		struct dev *d = ends ? &b : &a;

		for (int left = N; left;) {
			struct o2gd_cqe c = dev_next(d, data + 4 * MIB, MIB);

			CHECK(c.status == 0);
			left -= c.slot < N;
		}
	}
	CHECK(!memcmp(buf, data, LEN) && !memcmp(buf + MIB, data, LEN));
	close_pair();
}

/* The other process dies in the middle: an error, not a wait for ever. */
static void local__killed(void)
{
	for (int i = 0; i < 16; i++) {
		struct o2gd_cqe c = { 0 };
		bool sends = i % 2;
		int tcp[2];
		pid_t pid;

		dev_tcp_pair(tcp);
		pid = fork();
		dev_open(&a, pid == 0, 2, 512);
		CHECK(dev_register(&a, pid != 0, tcp[pid == 0]) == 0);
		close(tcp[0]), close(tcp[1]);
		for (uint32_t n = 0; pid || n < 1000000; n = (n + 1) % 400) {
			if ((pid != 0) == sends)
				dev_submit(&a, O2GD_OP_SEND, n, pid != 0, 1,
					   data, 3 * MIB);
			else
				dev_submit(&a, O2GD_OP_RECV, n, pid != 0, 1,
					   buf, 3 * MIB);
			if (n < 4)
				continue;
			c = dev_next(&a, NULL, 0);
			if (pid && n == 5 + (uint32_t)i / 4) {
				usleep(700 * (unsigned)i);
				kill(pid, SIGKILL);
			}
			if (c.slot == O2GD_SLOT_PEER)
				break;
		}
		CHECK(c.status == -O2G_ERR_PEER);
		CHECK(waitpid(pid, NULL, 0) == pid);
		dev_close(&a);
	}
}

static const struct dev_case cases[] = {
	DEV_CASE(setup__refuses),
	DEV_CASE(setup__bad_sizes),
	DEV_CASE(setup__not_for_children),
	DEV_CASE(socket__refuses),
	DEV_CASE(socket__given_back),
	DEV_CASE(socket__takes_what_is_there),
	DEV_CASE(socket__late),
	DEV_CASE(message__posted),
	DEV_CASE(message__unexpected),
	DEV_CASE(message__truncated),
	DEV_CASE(message__sync_waits),
	DEV_CASE(message__many),
	DEV_CASE(message__order),
	DEV_CASE(message__in_pieces),
	DEV_CASE(submit__refuses),
	DEV_CASE(cancel__works),
	DEV_CASE(probe__and_take),
	DEV_CASE(rma__moves),
	DEV_CASE(peer__closes),
	DEV_CASE(peer__says_bye),
	DEV_CASE(peer__resets),
	DEV_CASE(peer__sends_garbage),
	DEV_CASE(peer__dies_in_a_message),
	DEV_CASE(peer__given_up),
	DEV_CASE(limits__memlock),
	DEV_CASE(wait__poll),
	DEV_CASE(look__owner_only),
	DEV_CASE(local__copied_once),
	DEV_CASE(local__no_tcp),
	DEV_CASE(local__many),
	DEV_CASE(local__killed),
	DEV_CASE(death__anywhere),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
