/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A 32-bit program that uses the driver, built without a C library, so that no 32-bit one
 * has to be installed: two endpoints, joined by a connection over lo. A message in pieces
 * is sent and received in other pieces, by struct iovec of 32 bits; then a counter is read.
 * It returns 0, or the number of the check that failed.
 */
#include <asm/unistd_32.h>
#include <linux/in.h>

#include "abi.h"

#define LEN 9000
#define CHECK(n, cond)          \
	do {                    \
		if (!(cond))    \
			end(n); \
	} while (0)

struct piece {
	__u32 base, len;
};

_Static_assert(sizeof(void *) == 4, "this is about 32-bit programs");

static unsigned char from[LEN], to[LEN];

void *memcpy(void *d, const void *s, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		((volatile char *)d)[i] = ((const char *)s)[i];
	return d;
}

void *memset(void *d, int c, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		((volatile char *)d)[i] = (char)c;
	return d;
}

static long call3(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return ret;
}

static long call5(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}

static void __attribute__((noreturn)) end(int code)
{
	for (;;)
		call3(__NR_exit_group, code, 0, 0);
}

static long control(int fd, unsigned long request, void *arg)
{
	return call3(__NR_ioctl, fd, (long)request, (long)arg);
}

/* The six arguments of mmap, as its older form takes them. */
static char *map(int fd, unsigned long size)
{
	unsigned long args[6] = { 0, size, 3, 1, (unsigned long)fd, 0 };

	return (char *)call3(__NR_mmap, (long)args, 0, 0);
}

/* An endpoint, and where its completions are. */
static int open_endpoint(__u32 rank, struct o2gd_cqe **cq)
{
	struct o2gd_setup s = { .version = O2GD_VERSION,
				.rank = rank,
				.size = 2,
				.sq_entries = 16,
				.cq_entries = 16,
				.dump_size = 1 << 20,
				.eager_max = 1 << 12,
				.data_chunk = 1 << 20,
				.peer_budget = 1 << 20 };
	int fd = (int)call3(__NR_open, (long)O2GD_DEVICE, 2, 0);
	__u32 slots = 8;
	char *at;

	CHECK(1, fd >= 0);
	CHECK(2, !control(fd, O2GD_SETUP, &s));
	CHECK(3, !control(fd, O2GD_GROW, &slots));
	at = map(fd, (unsigned long)s.map_size);
	CHECK(4, (unsigned long)at < -4096ul);
	*cq = (struct o2gd_cqe *)(at + s.cq_off);
	return fd;
}

static void connect_both(int fd[2])
{
	struct sockaddr_in a = { .sin_family = 2,
				 .sin_addr.s_addr = 0x0100007f };
	int listener = (int)call3(__NR_socket, 2, 1, 0), len = sizeof(a);

	CHECK(10, listener >= 0);
	CHECK(11, !call3(__NR_bind, listener, (long)&a, sizeof(a)));
	CHECK(12, !call3(__NR_listen, listener, 1, 0));
	CHECK(13, !call3(__NR_getsockname, listener, (long)&a, (long)&len));
	fd[0] = (int)call3(__NR_socket, 2, 1, 0);
	CHECK(14, !call3(__NR_connect, fd[0], (long)&a, sizeof(a)));
	fd[1] = (int)call5(__NR_accept4, listener, 0, 0, 0, 0);
	CHECK(15, fd[1] >= 0);
}

/* The first completion of an endpoint, waited for. */
static void completed(int fd, const volatile struct o2gd_cqe *c, __u64 len)
{
	struct o2gd_wait w = { .timeout_ms = 20000 };

	while (c->seq != 1)
		CHECK(20, !control(fd, O2GD_WAIT, &w));
	CHECK(21, !c->status && c->length == len);
}

static void send_and_receive(const int ep[2], struct o2gd_cqe *const cq[2])
{
	struct piece out[3] = { { (__u32)from, 1000 },
				{ (__u32)from + 1000, 0 },
				{ (__u32)from + 1000, LEN - 1000 } };
	struct piece in[2] = { { (__u32)to + 8000, LEN - 8000 },
			       { (__u32)to, 8000 } };
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = 1,
			      .peer = 0,
			      .tag = 5,
			      .addr = (__u32)in,
			      .nsegs = 2,
			      .len = LEN };

	CHECK(30, !control(ep[1], O2GD_SUBMIT, &e));
	e.op = O2GD_OP_SEND;
	e.flags = O2GD_SYNC;
	e.peer = 1;
	e.addr = (__u32)out;
	e.nsegs = 3;
	CHECK(31, control(ep[0], O2GD_SUBMIT, &e) >= 0);
	completed(ep[1], cq[1], LEN);
	for (int i = 0; i < LEN; i++)
		CHECK(32, to[(i + 8000) % LEN] == from[i]);
}

static void count(int fd)
{
	static struct o2gd_counter all[64];
	struct o2gd_counters c = { .peer = O2GD_ANY,
				   .entry = sizeof(all[0]),
				   .max = 64,
				   .addr = (__u32)all };

	CHECK(40, !control(fd, O2GD_COUNTERS, &c));
	CHECK(41, c.count > 10 && c.count < 64);
	CHECK(42, all[4].name[0] == 'm' && all[4].value == 1);
}

void _start(void)
{
	struct o2gd_cqe *cq[2];
	int ep[2], fd[2];

	for (int i = 0; i < LEN; i++)
		from[i] = (unsigned char)(i * 7 + i / 256);
	for (int i = 0; i < 2; i++)
		ep[i] = open_endpoint((__u32)i, &cq[i]);
	connect_both(fd);
	for (int i = 0; i < 2; i++) {
		struct o2gd_socket s = { .peer = !i, .fd = fd[i] };

		CHECK(16, !control(ep[i], O2GD_SOCKET, &s));
	}
	send_and_receive(ep, cq);
	count(ep[0]);
	end(0);
}
