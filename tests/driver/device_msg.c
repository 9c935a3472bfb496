/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Messages, put and get of the driver, by hand: device_msg [case]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

/* --- messages --- */

static const uint64_t lengths[] = { 0,	   1,	   8,	  16,
				    17,	   255,	   256,	  1000,
				    4096,  4097,   20000, 65536,
				    65537, 300001, MIB,	  5 * MIB + 3 };
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
		int ret =
			dev_submit(&a, O2GD_OP_SEND, i, 1, i, data, lengths[i]);

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
	struct o2gd_sqe e = { .op = O2GD_OP_SEND,
			      .flags = O2GD_SYNC,
			      .peer = 1,
			      .slot = 9,
			      .tag = 3,
			      .addr = (uintptr_t)data,
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
		      dev_submit(&a, O2GD_OP_SEND, (uint32_t)i, 1, 1, &i, 8) >=
			      0);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t n;
		struct o2gd_cqe c = dev_next(&b, &n, 8);

		CHECK(c.slot == i && n == i);
	}
	close_pair();
}

static void message__in_pieces(void)
{
	struct {
		void *base;
		size_t len;
	} v[3] = { { buf, 5000 }, { buf + 5000, 0 }, { buf + 5000, 95000 } };
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = 1,
			      .peer = 0,
			      .tag = 8,
			      .nsegs = 3,
			      .addr = (uintptr_t)v,
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
		b.sq[k] = (struct o2gd_sqe){ .op = (uint8_t)k,
					     .slot = k * 9999,
					     .peer = k,
					     .len = k * 1000 };
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
	struct o2gd_sqe e = { .op = O2GD_OP_MRECV,
			      .slot = 3,
			      .len = 500,
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

/* Memory that was not written to yet when it was registered, to be read only. */
static void rma__written_later(void)
{
	char *p = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct o2gd_mem m = { .addr = (uintptr_t)p,
			      .len = 2 * 4096,
			      .access = O2GD_READ,
			      .key = 43 };
	struct o2gd_sqe e = { .op = O2GD_OP_GET,
			      .peer = 1,
			      .key = 43,
			      .len = 2 * 4096,
			      .addr = (uintptr_t)buf };

	CHECK(p != MAP_FAILED && !*(volatile char *)p);
	open_pair();
	CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	memcpy(p, data, 2 * 4096);
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) == 0);
	CHECK(dev_next(&a, buf, sizeof(buf)).status == 0);
	CHECK(!memcmp(buf, data, 2 * 4096));
	close_pair();
	munmap(p, 2 * 4096);
}

static void rma__moves(void)
{
	static unsigned char mem[MIB];
	struct o2gd_mem m = { .addr = (uintptr_t)mem,
			      .len = sizeof(mem),
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = 42 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT,
			      .peer = 1,
			      .key = 42,
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
		CHECK(ret == 1 ||
		      (ret == 0 && dev_next(&a, NULL, 0).status == 0));
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

static const struct dev_case cases[] = {
	DEV_CASE(message__posted),    DEV_CASE(message__unexpected),
	DEV_CASE(message__truncated), DEV_CASE(message__sync_waits),
	DEV_CASE(message__many),      DEV_CASE(message__order),
	DEV_CASE(message__in_pieces), DEV_CASE(submit__refuses),
	DEV_CASE(cancel__works),      DEV_CASE(probe__and_take),
	DEV_CASE(rma__moves),	      DEV_CASE(rma__written_later),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
